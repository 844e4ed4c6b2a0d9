#!/usr/bin/env python3
"""Measures what it takes from opening a model to its first result, in time and memory, against ONNX Runtime.

    tests/bench/load_time.py [--models a,b] [--threads 1,2] [--rounds 3] [--no-memory] [--json FILE] [--markdown]

Each load has a fresh process, in which the engine has loaded and run another model before; the engines take turns. Files are in
the page cache. "load" is `pyasc.load` or the creation of a session, "first" the first run, which with free shapes makes pyasc's plan. pyasc
loads the .onnx file and, as "om", the file that it saves after a run. Memory is the most that the process holds from before the load to after
the first run, less what it held before: resident pages, those of mapped files included, and anonymous ones alone, which the
system cannot drop.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)

from tests import models
from tests.bench import report, watched

ENGINES = ("pyasc", "om", "onnxruntime")
_WARM_UP = ROOT / "tests/data/linear.onnx"
# Creation of ONNX Runtime's session by the load of a compiled model, at least.
OM_TARGETS = {"resnet50": 5.0, "bert_base": 5.0}


def _open_pyasc(file, threads):
    import pyasc

    return pyasc.load(file, threads=threads).run


def _open_onnxruntime(file, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def child(engine, file, threads, feeds):
    """In a process of its own: prints "ready" and waits for a line, then loads, runs, prints the times and waits for the end."""
    start = {"pyasc": _open_pyasc, "om": _open_pyasc, "onnxruntime": _open_onnxruntime}[engine]
    start(str(_WARM_UP), int(threads))({"x": np.ones((1, 3), np.float32)})
    with np.load(feeds) as arrays:
        inputs = dict(arrays)
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.perf_counter()
    run = start(file, int(threads))
    loaded = time.perf_counter()
    run(inputs)
    done = time.perf_counter()
    print(json.dumps({"load_ms": 1e3 * (loaded - begin), "first_ms": 1e3 * (done - loaded)}), flush=True)
    sys.stdin.readline()


def measure(engine, file, threads, feeds, memory=False):
    """{"load_ms", "first_ms"} of one load, or {"resident_mb", "anonymous_mb"}: watching takes time of its own."""
    command = [sys.executable, __file__, "--child", engine, str(file), str(threads), str(feeds)]
    try:
        answer, resident, anonymous = watched.run(command, watch=memory)
    except RuntimeError as error:
        raise RuntimeError(f"{engine} could not load or run {file}") from error
    return {"resident_mb": resident / 2**20, "anonymous_mb": anonymous / 2**20} if memory else json.loads(answer)


def save_compiled(file, threads, feeds, target):
    """Writes the .om file, with the packed weights that a run makes."""
    code = (
        "import sys, numpy, pyasc\n"
        "model = pyasc.load(sys.argv[1], threads=int(sys.argv[2]))\n"
        "model.run(dict(numpy.load(sys.argv[3])))\n"
        "model.save(sys.argv[4])\n"
    )
    subprocess.run([sys.executable, "-c", code, str(file), str(threads), str(feeds), str(target)], check=True)


def row(name, threads, rounds, memory, folder):
    """The figures of one model: the least times of all rounds."""
    file, feeds, compiled = models.path(name), folder / "feeds.npz", folder / "model.om"
    np.savez(feeds, **models.inputs(name))
    save_compiled(file, threads, feeds, compiled)
    files = {"pyasc": file, "om": compiled, "onnxruntime": file}
    runs = {engine: [] for engine in ENGINES}
    for number in range(rounds):
        turn = number % len(ENGINES)
        for engine in ENGINES[turn:] + ENGINES[:turn]:
            runs[engine].append(measure(engine, files[engine], threads, feeds))
    engines = {}
    for engine, times in runs.items():
        engines[engine] = {key: min(time[key] for time in times) for key in ("load_ms", "first_ms")}
        engines[engine]["total_ms"] = min(time["load_ms"] + time["first_ms"] for time in times)
        if memory:
            engines[engine] |= measure(engine, files[engine], threads, feeds, memory=True)
    compiled.unlink()
    return {"model": name, "threads": threads, "engines": engines}


def table(rows, memory):
    """The rows of the table, its header first."""
    header = ["model", "threads"]
    header += ["pyasc: load + first", "om: load + first", "ONNX Runtime: load + first"]
    header += ["ONNX Runtime / pyasc", "ONNX Runtime's load / om's load"]
    if memory:
        header += ["resident MB: pyasc, om, ONNX Runtime", "anonymous MB: pyasc, om, ONNX Runtime"]
    lines = [header]
    for entry in rows:
        engines = entry["engines"]
        line = [entry["model"], str(entry["threads"])]
        line += [f"{engines[e]['load_ms']:.1f} + {engines[e]['first_ms']:.1f}" for e in ENGINES]
        line.append(f"{engines['onnxruntime']['total_ms'] / engines['pyasc']['total_ms']:.2f}")
        line.append(f"{engines['onnxruntime']['load_ms'] / engines['om']['load_ms']:.1f}")
        if memory:
            line += [", ".join(f"{engines[e][key]:.0f}" for e in ENGINES) for key in ("resident_mb", "anonymous_mb")]
        lines.append(line)
    return lines


def missed(rows, memory):
    """Lines about targets that are not met."""
    for entry in rows:
        engines, where = entry["engines"], f"{entry['model']}, {entry['threads']} threads"
        ours, theirs = engines["pyasc"], engines["onnxruntime"]
        if ours["total_ms"] > theirs["total_ms"]:
            yield f"target missed: {where}: {ours['total_ms']:.1f} ms to the first result, ONNX Runtime {theirs['total_ms']:.1f}"
        ratio = theirs["load_ms"] / engines["om"]["load_ms"]
        if ratio < OM_TARGETS.get(entry["model"], 0):
            yield f"target missed: {where}: the compiled model loads {ratio:.1f} times as fast, not {OM_TARGETS[entry['model']]}"
        if memory and ours["anonymous_mb"] > theirs["anonymous_mb"]:
            yield f"target missed: {where}: {ours['anonymous_mb']:.0f} MB anonymous, ONNX Runtime {theirs['anonymous_mb']:.0f}"


def as_text(rows, memory):
    cells = table(rows, memory)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in cells)


def as_markdown(rows, memory):
    lines = ["| " + " | ".join(line) + " |" for line in table(rows, memory)]
    return "\n".join([lines[0], "|" + "---|" * (lines[0].count("|") - 1), *lines[1:]])


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=lambda text: text.split(","), default=list(report.NAMED))
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-memory", dest="memory", action="store_false", help="times only")
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    for name in options.models:
        if name not in models.NAMES:
            parser.error(f"no model is called {name!r}; there are {', '.join(models.NAMES)}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models:
            for threads in options.threads:
                print(f"{name}, {threads} threads", file=sys.stderr, flush=True)
                rows.append(row(name, threads, options.rounds, options.memory, pathlib.Path(folder)))
    if options.json:
        text = json.dumps({"machine": report.machine(), "rounds": options.rounds, "rows": rows}, indent=1)
        pathlib.Path(options.json).write_text(text + "\n", encoding="utf-8")
    print("\n".join([(as_markdown if options.markdown else as_text)(rows, options.memory), *missed(rows, options.memory)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
