"""What libasc exports is the ABI, no more and no less: capi/symbols.txt lists it."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASC_BUILD_DIR", ROOT / "build"))


def exported():
    lines = subprocess.check_output(
        ["nm", "-D", "--defined-only", "--format=posix", str(BUILD / "capi/libasc.so")], text=True
    ).splitlines()
    return sorted(line.split()[0] for line in lines)


def test_exports_are_the_checked_in_list():
    listed = (ROOT / "capi/symbols.txt").read_text().split()
    found = exported()
    assert listed == sorted(set(listed)), "capi/symbols.txt is not sorted"
    gone, new = set(listed) - set(found), set(found) - set(listed)
    assert not gone, f"an ABI break: no longer exported: {sorted(gone)}"
    assert not new, f"add to capi/symbols.txt (or hide): {sorted(new)}"


def test_exports_are_the_declared_functions():
    declared = set()
    for header in (ROOT / "capi/include/asc").glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
        for declaration in re.findall(r"^ASC_API ([^;]*);", text, flags=re.MULTILINE):
            declared.add(re.search(r"(asc_\w+)\s*\(", declaration)[1])
    assert sorted(declared) == exported()


def test_each_header_stands_alone(tmp_path):
    for header in sorted((ROOT / "capi/include/asc").glob("*.h")):
        source = tmp_path / "alone.c"
        source.write_text(f'#include "asc/{header.name}"\ntypedef int not_empty;\n')
        for language in (["-std=c11", "-xc"], ["-std=c++20", "-xc++"]):
            subprocess.run(
                ["g++", *language, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
                + [f"-I{ROOT / 'capi/include'}", str(source)],
                check=True,
            )
