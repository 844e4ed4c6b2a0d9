#!/usr/bin/env python3
"""Compiles Java sources and packs the classes.

make_jar.py OUTPUT.jar RAW_PACKAGE_DIR SOURCE.java...
"""

import pathlib
import subprocess
import sys
import tempfile

output, raw_package, *sources = sys.argv[1:]
sources += sorted(str(path) for path in pathlib.Path(raw_package).glob("*.java"))
with tempfile.TemporaryDirectory() as classes:
    subprocess.run(
        ["javac", "--release", "17", "-Xlint:all", "-Werror", "-d", classes, *sources], check=True
    )
    subprocess.run(["jar", "--create", "--file", output, "-C", classes, "."], check=True)
