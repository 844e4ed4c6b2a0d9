#!/usr/bin/env python3
"""What opening each shipped model takes, against the creation of ONNX Runtime's session.

    tests/bench/compile_time.py [--rounds 5] [--threads 1] [--markdown]

The engines take turns in one process; each time is the least of all rounds, of the process's CPU time with one thread. Files are in the page cache. Ends with 1 where
pyasc takes longer.
"""

import argparse
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)

from tests.models.shipped import shipped_files


def _openers(threads):
    import onnxruntime

    import pyasc

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return {
        "pyasc": lambda file: pyasc.load(file, threads=threads),
        "onnxruntime": lambda file: onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    openers, slower = _openers(options.threads), []
    clock = time.process_time if options.threads == 1 else time.perf_counter
    if options.markdown:
        print("| file | pyasc ms | ONNX Runtime ms | ratio |\n|---|---|---|---|")
    for _, file in shipped_files():
        least = dict.fromkeys(openers, float("inf"))
        for _ in range(options.rounds):
            for engine, opener in openers.items():
                begin = clock()
                opened = opener(file)
                least[engine] = min(least[engine], 1e3 * (clock() - begin))
                del opened
        ours, theirs = least.values()
        row = (file.stem, f"{ours:.1f}", f"{theirs:.1f}", f"{ours / theirs:.2f}")
        print(f"| {' | '.join(row)} |" if options.markdown else "{:<36}{:>10}{:>10}{:>8}".format(*row), flush=True)
        if ours > theirs:
            slower.append(file.stem)
    for name in slower:
        print(f"target missed: {name}")
    return int(bool(slower))


if __name__ == "__main__":
    sys.exit(main())
