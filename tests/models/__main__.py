"""Generates model files: `python -m tests.models [NAME...]`, all generated ones without arguments."""

import sys
import time

from . import GENERATED, path

for name in sys.argv[1:] or GENERATED:
    start = time.monotonic()
    file = path(name)
    print(f"{name:<20} {file.stat().st_size / 1e6:8.1f} MB {time.monotonic() - start:6.1f} s  {file}", flush=True)
