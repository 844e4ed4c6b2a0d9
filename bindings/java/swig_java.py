#!/usr/bin/env python3
"""Runs SWIG for Java into an empty package folder: a class whose C type is gone must not stay.

swig_java.py PACKAGE_DIR SWIG_COMMAND...
"""

import pathlib
import shutil
import subprocess
import sys

package = pathlib.Path(sys.argv[1])
shutil.rmtree(package, ignore_errors=True)
package.mkdir(parents=True)
sys.exit(subprocess.call(sys.argv[2:]))
