#!/usr/bin/env python3
"""What many threads get that run one model at once, beside what one gets: runs a second, and the process's threads.

    tests/bench/callers.py [--models a,b] [--callers 8] [--runs 200] [--threads N] [--rounds 3] [--json FILE]

A round measures one caller, then all callers, who share the runs; the best round of each counts. `--threads` is what the model is loaded
with (default: the cores). The whole process has at most callers + cores + 2 threads.
"""

import argparse
import json
import os
import pathlib
import sys
import threading
import time

# NumPy's own team of threads is not what is counted here.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import numpy as np

import pyasc
from tests import models
from tests.bench import report


def cores():
    return len(os.sched_getaffinity(0))


def process_threads():
    """The threads of this process now."""
    for line in pathlib.Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("Threads:"):
            return int(line.split()[1])
    raise RuntimeError("/proc/self/status names no threads")


def run_callers(run, feeds, runs):
    """One thread for each of `feeds`, which share `runs` calls of `run`; gives seconds, most threads, and each caller's last result."""
    start, results = threading.Barrier(len(feeds) + 1), [None] * len(feeds)

    def call(number):
        share = runs * (number + 1) // len(feeds) - runs * number // len(feeds)
        start.wait()
        for _ in range(share):
            results[number] = run(feeds[number])

    callers = [threading.Thread(target=call, args=(number,)) for number in range(len(feeds))]
    for caller in callers:
        caller.start()
    start.wait()
    begin, most = time.perf_counter(), 0
    for caller in callers:
        while caller.is_alive():
            most = max(most, process_threads())
            caller.join(0.05)
    return time.perf_counter() - begin, most, results


def different_inputs(name, count):
    """`count` sets of inputs: floats differ from one to the next."""
    feeds = models.inputs(name)
    return [
        {k: v * v.dtype.type(1 + i / 16) if np.issubdtype(v.dtype, np.floating) else v for k, v in feeds.items()}
        for i in range(count)
    ]


def measure(name, callers, runs, threads, rounds):
    """A row of the table."""
    model = pyasc.load(models.path(name), threads=threads)
    feeds = different_inputs(name, callers)
    alone = [dict(model.run(feed)) for feed in feeds]
    best, most, equal = {1: float("inf"), callers: float("inf")}, 0, True
    for _ in range(rounds):
        seconds, _, _ = run_callers(model.run, feeds[:1], runs)
        best[1] = min(best[1], seconds)
        seconds, seen, results = run_callers(model.run, feeds, runs)
        best[callers] = min(best[callers], seconds)
        most = max(most, seen)
        equal &= all(
            np.array_equal(result[k], want[k], equal_nan=True) for result, want in zip(results, alone, strict=True) for k in want
        )
    return {
        "model": name,
        "threads": threads,
        "callers": callers,
        "runs_per_second": {"one": runs / best[1], "all": runs / best[callers]},
        "ratio": best[1] / best[callers],
        "process_threads": most,
        "allowed_threads": callers + cores() + 2,
        "bit_equal": equal,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=lambda text: text.split(","), default=["ocr_cls", "ocr_rec", "resnet50"])
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--runs", type=int, default=200, help="calls in a round, of all callers together")
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    rows = []
    print(", ".join(f"{key} {value}" for key, value in report.machine().items()))
    print("| model | threads= | callers | runs/s, one | runs/s, all | ratio | threads of the process (allowed) | bit-equal |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.models:
        row = measure(name, arguments.callers, arguments.runs, arguments.threads, arguments.rounds)
        rows.append(row)
        rates = row["runs_per_second"]
        print(
            f"| {name} | {row['threads']} | {row['callers']} | {rates['one']:.4g} | {rates['all']:.4g} | {row['ratio']:.2f} | "
            f"{row['process_threads']} ({row['allowed_threads']}) | {'yes' if row['bit_equal'] else 'NO'} |",
            flush=True,
        )
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if all(row["bit_equal"] and row["process_threads"] <= row["allowed_threads"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
