#!/usr/bin/env python3
"""Collects the shared libraries that a wheel must carry for libasc to load elsewhere.

    shared_libraries.py OUTPUT_DIR LIBRARY...      a pkg-config module, a path, or -lNAME

Copies each and all that they need in turn, without those that every Linux with this C library has,
to OUTPUT_DIR, lets them find each other there, and prints the copies. libgomp is carried under its
plain soname, so that the loader never has two of them.
"""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys

EVERYWHERE = re.compile(
    r"^(ld-linux.*|linux-vdso|libc|libm|libdl|librt|libpthread|libresolv|libutil|libstdc\+\+|libgcc_s)\.so"
)


def output(*command):
    return subprocess.check_output(command, text=True)


def linker_paths(argument):
    """The .so files behind one argument."""
    if "/" in argument:
        return [argument]
    flags = (
        [argument]
        if argument.startswith("-l")
        else shlex.split(output("pkg-config", "--libs", argument))
    )
    folders = [flag for flag in flags if flag.startswith("-L")]
    found = []
    for flag in flags:
        if flag.startswith("-l"):
            name = f"lib{flag[2:]}.so"
            path = output("g++", *folders, f"-print-file-name={name}").strip()
            if path != name:  # otherwise a static library only
                found.append(path)
    return found


def soname(path):
    match = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-d", path))
    return match[1] if match else pathlib.Path(path).name


def needed(path):
    """soname -> path of everything that the loader would load with this library."""
    found = {}
    for line in output("ldd", path).splitlines():
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match:
            found[match[1]] = match[2]
        elif "not found" in line:
            sys.exit(f"{path}: {line.strip()}")
    return found


def main(folder, *arguments):
    carried = {}
    for argument in arguments:
        for path in linker_paths(argument):
            carried.update({soname(path): path, **needed(path)})
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for name, path in sorted(carried.items()):
        if EVERYWHERE.match(name):
            continue
        copy = pathlib.Path(folder, name)
        shutil.copyfile(path, copy)
        if "$ORIGIN" not in output("readelf", "-d", path):
            subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", copy], check=True)
        print(copy)


if __name__ == "__main__":
    main(*sys.argv[1:])
