#!/usr/bin/env python3
"""What a call costs from C and from Python: a graph of one Relu on 2 by 3 numbers, whose own work is nothing beside the call.

    tests/bench/call_cost.py [--rounds 5]

The two take turns; the least time of each counts. Needs a build with the C tests (ASC_BUILD_DIR, default `build`).
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

import pyasc

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASC_BUILD_DIR", ROOT / "build"))


def from_c():
    """Nanoseconds of a call from C, the best of its 200 series."""
    return float(subprocess.check_output([BUILD / "tests/capi/asc_call_time"]))


def from_python(series=200, calls=100):
    """Nanoseconds of a call from Python, the best of `series` means."""
    with pyasc.Context() as ctx:
        ctx.relu(ctx.input("x", shape=(2, 3)))
        model = ctx.compile()
    feeds = {"x": np.ones((2, 3), np.float32)}
    best = float("inf")
    for _ in range(series):
        start = time.perf_counter_ns()
        for _ in range(calls):
            model.run(feeds)
        best = min(best, (time.perf_counter_ns() - start) / calls)
    return best


def measure(rounds):
    """{"c": ns, "python": ns}, measured in turns."""
    best = {"c": float("inf"), "python": float("inf")}
    for _ in range(rounds):
        best["c"] = min(best["c"], from_c())
        best["python"] = min(best["python"], from_python())
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    best = measure(parser.parse_args().rounds)
    added = best["python"] - best["c"]
    print(f"a call from C: {best['c']:.0f} ns, from Python: {best['python']:.0f} ns; Python adds {added / 1000:.2f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
