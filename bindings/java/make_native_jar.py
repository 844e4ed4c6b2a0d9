#!/usr/bin/env python3
"""Adds the native libraries to a jar, so that it runs anywhere on this kind of machine.

    make_native_jar.py OUTPUT.jar CLASSES.jar LIBRARY.so TOOLS_DIR SYSTEM-MACHINE

Takes the library and all that it needs in turn, without those that every Linux with this C library
has, and lists them so that each comes after those that it needs. They are stored uncompressed: most
of the time that a jar takes would go there.
"""

import pathlib
import re
import shutil
import sys
import zipfile


def main(output, classes, library, tools, machine):
    sys.path.insert(0, tools)
    from shared_libraries import EVERYWHERE, needed, output as output_of, soname

    paths = {soname(library): library, **needed(library)}
    ordered = []

    def add(name):
        if name in ordered or EVERYWHERE.match(name) or name not in paths:
            return
        for other in re.findall(r"NEEDED.*\[(.*)\]", output_of("readelf", "-d", paths[name])):
            add(other)
        ordered.append(name)

    add(soname(library))
    shutil.copyfile(classes, output)
    with zipfile.ZipFile(output, "a") as jar:
        folder = f"org/pyasc/native/{machine}"
        for name in ordered:
            jar.write(paths[name], f"{folder}/{name}")
        jar.writestr(f"{folder}/libraries.txt", "\n".join(ordered))


if __name__ == "__main__":
    main(*sys.argv[1:])
