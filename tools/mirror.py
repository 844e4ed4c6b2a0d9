#!/usr/bin/env python3
"""Links every file of source folders into a build folder, which may hold other files too.

    mirror.py SOURCE_DIR... BUILD_DIR STAMP

Makes a package usable from the build folder, beside what is generated there; an edit is seen at
once. Links whose file is gone are removed. meson.build files and caches are left out.
"""

import os
import pathlib
import sys


def main(*arguments):
    *sources, build, stamp = map(pathlib.Path, arguments)
    for folder, _, names in os.walk(build):
        for path in (pathlib.Path(folder, name) for name in names):
            if path.is_symlink() and not path.exists():
                path.unlink()
    for source in sources:
        for folder, subfolders, names in os.walk(source):
            subfolders[:] = [name for name in subfolders if name != "__pycache__"]
            target = build / pathlib.Path(folder).relative_to(source)
            target.mkdir(parents=True, exist_ok=True)
            for name in names:
                if name == "meson.build":
                    continue
                link, file = target / name, pathlib.Path(folder, name)
                if not (link.is_symlink() and os.readlink(link) == str(file)):
                    link.unlink(missing_ok=True)
                    link.symlink_to(file)
    stamp.touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
