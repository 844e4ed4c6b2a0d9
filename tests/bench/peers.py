#!/usr/bin/env python3
"""Measures pyasc against ONNX Runtime and OpenVINO on the same files, inputs and threads, alternating in one run.

    tests/bench/peers.py [--models a,b] [--threads 1,2] [--engines pyasc,onnxruntime,openvino] [--rounds 5] [--seconds 0.5]
                         [--json FILE] [--markdown [FILE]] [--dynamic] [--before BUILD]

Each engine has a process of its own; in each round they take turns, in an order that changes from round to round, so that a
machine that slows down slows all of them. `--before` measures another build of pyasc beside this one (BUILD is its build folder) and
lists the models that got slower. Peers are told the input shapes in advance (`--dynamic`: they get the file as it is).
Outputs are compared with ONNX Runtime's: each element may differ by 1e-4 of itself plus 1e-5 of the largest one (5e-5 where pyasc
uses Winograd's algorithm). The exit code is 1 when an engine failed or pyasc's outputs differ by more. Ratios that miss their target
(`report.TARGETS`) are listed.
"""

import argparse
import contextlib
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests import models
from tests.bench import report
from tests.bench.engines import BEFORE, ENGINES, THREAD_SETTINGS, installed
from tests.bench.worker import Worker, WorkerError

# Idle threads of some engines spin on for a while; the next engine shall have the cores for itself.
_PAUSE_S = 0.03


def _say(text):
    print(text, file=sys.stderr, flush=True)


def _measure(name, threads, engines, rounds, seconds, static, before):
    """One row: the times of all engines for one model and thread count."""
    packages = {BEFORE: before and before / "bindings/python"}
    results = {engine: {} for engine in engines}
    times = {engine: [] for engine in engines}
    settings, outputs = {}, {}
    file, feeds = models.path(name), models.inputs(name)
    with contextlib.ExitStack() as stack:
        workers = {}
        for engine in engines:
            _say(f"{name}, {threads} threads: loading into {engine}")
            workers[engine] = stack.enter_context(Worker(engine, packages.get(engine)))
            try:
                loaded = workers[engine].load(file, threads, feeds, static)
                settings[engine] = loaded.pop("settings")
                results[engine] |= loaded
                outputs[engine] = workers[engine].outputs()
            except WorkerError as error:
                _fail(workers, results, engine, error)
        for number in range(rounds):
            _say(f"{name}, {threads} threads: round {number + 1} of {rounds}")
            order = [e for e in engines if e in workers]
            turn = number % max(1, len(order))
            for engine in order[turn:] + order[:turn]:
                time.sleep(_PAUSE_S)
                try:
                    times[engine] += workers[engine].measure(seconds)
                except WorkerError as error:
                    _fail(workers, results, engine, error)
    for engine in workers:
        results[engine] |= report.summarise(times[engine])
        if "onnxruntime" in outputs and engine != "onnxruntime":
            results[engine] |= report.agreement(outputs[engine], outputs["onnxruntime"], results[engine]["winograd"])
    return {"model": name, "threads": threads, "engines": results}, settings


def _fail(workers, results, engine, error):
    del workers[engine]
    results[engine] = {"error": str(error)}
    _say(f"  {engine}: {error}")


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = lambda text: text.split(",")
    parser.add_argument("--models", type=names, default=list(report.NAMED), help="of: " + ", ".join(models.NAMES))
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    parser.add_argument("--engines", type=names, default=installed(), help="of: " + ", ".join(ENGINES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="time of an engine's turn")
    parser.add_argument("--dynamic", action="store_true", help="do not tell the peers the input shapes")
    parser.add_argument("--before", metavar="BUILD", type=pathlib.Path, help="the build folder of another pyasc, to measure too")
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    parser.add_argument("--markdown", metavar="FILE", nargs="?", const="-", help="a Markdown table, to FILE or printed")
    arguments = parser.parse_args()
    for what, given, known in (("model", arguments.models, models.NAMES), ("engine", arguments.engines, ENGINES)):
        for name in given:
            if name not in known:
                parser.error(f"no {what} is called {name!r}; there are {', '.join(known)}")
    if arguments.before:
        if not (arguments.before / "bindings/python/pyasc").is_dir():
            parser.error(f"{arguments.before} is not a build folder: it has no bindings/python/pyasc")
        arguments.before = arguments.before.resolve()
        arguments.engines = [*arguments.engines, BEFORE]
    return arguments


def main():
    arguments = _arguments()
    results = {
        "machine": report.machine(),
        "engines": arguments.engines,
        "threads": arguments.threads,
        "rounds": arguments.rounds,
        "seconds": arguments.seconds,
        "settings": {},
        "rows": [],
    }
    for name in arguments.models:
        for threads in arguments.threads:
            row, settings = _measure(
                name, threads, arguments.engines, arguments.rounds, arguments.seconds, not arguments.dynamic, arguments.before
            )
            results["rows"].append(row)
            results["settings"] |= settings
    for settings in results["settings"].values():
        for key in THREAD_SETTINGS & settings.keys():
            settings[key] = "as in the table"
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    markdown = report.as_markdown(results) + "\n"
    if arguments.markdown and arguments.markdown != "-":
        pathlib.Path(arguments.markdown).write_text(markdown, encoding="utf-8")
    print(markdown if arguments.markdown == "-" else report.as_text(results))
    bad = [
        result
        for row in results["rows"]
        for engine, result in row["engines"].items()
        if "error" in result or (engine.startswith("pyasc") and result.get("excess", 0) > 1)
    ]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
