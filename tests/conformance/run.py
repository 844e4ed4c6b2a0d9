#!/usr/bin/env python3
"""Runs the tests of the `onnx` package (tests/conformance/suite.py), and counts what passes.

    tests/conformance/run.py [--engines pyasc.onnx_backend,pyasc.load,onnxruntime,openvino] [--levels 0,3]
                             [--kinds node,simple,pytorch-operator,pytorch-converted] [--match REGEX]
                             [--workers N] [--timeout SECONDS] [--json FILE] [--quiet]

Each engine runs each test at each graph optimisation level. Values are compared by the rules of onnx's own test runner.
Tests run in worker processes; one that crashes its worker or runs out of time has failed. A summary comes last: counts,
and failures by operator. The exit code is 1 when pyasc failed a test.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.conformance import suite, worker
from tests.conformance.engines import ENGINES, WITHOUT_LEVELS


def main(arguments=None):
    options = _options(arguments)
    start = time.monotonic()
    cases = [case for case in suite.collect(options.kinds) if options.match.search(case.name)]
    operators = suite.operators(cases)
    runs = [
        (engine, level)
        for engine in options.engines
        for level in (options.levels[-1:] if engine in WITHOUT_LEVELS else options.levels)
    ]
    tasks = [worker.Task(i, engine, level) for engine, level in runs for i in range(len(cases))]
    print(f"{len(cases)} tests; {time.monotonic() - start:.1f} s to make them", flush=True)
    failures = {run: {} for run in runs}
    seconds = collections.Counter()
    for outcome in worker.run(cases, tasks, ENGINES, options.workers, options.timeout):
        run = outcome.task.engine, outcome.task.level
        seconds[run] += outcome.seconds
        if outcome.failure:
            name = cases[outcome.task.index].name
            failures[run][name] = outcome.failure
            if not options.quiet:
                print(f"{_label(run)}: {name}: {outcome.failure[:300]}", flush=True)
    for run in runs:
        _report(run, cases, failures[run], operators, seconds[run])
    if options.json:
        _write_json(options.json, cases, failures)
    return 1 if any(failures[run] for run in runs if run[0].startswith("pyasc")) else 0


def _options(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=_list_of(ENGINES), default=["pyasc.onnx_backend", "pyasc.load"])
    parser.add_argument("--levels", type=lambda text: [int(each) for each in text.split(",")], default=[0, 3])
    parser.add_argument("--kinds", type=_list_of(suite.KINDS), default=list(suite.KINDS))
    parser.add_argument("--match", type=re.compile, default=re.compile(""))
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--quiet", action="store_true", help="print counts only, not each failure")
    return parser.parse_args(arguments)


def _list_of(allowed):
    def parse(text):
        given = text.split(",")
        for each in given:
            if each not in allowed:
                raise argparse.ArgumentTypeError(f"'{each}' is none of {', '.join(allowed)}")
        return given

    return parse


def _label(run):
    engine, level = run
    return engine if engine in WITHOUT_LEVELS else f"{engine} at level {level}"


def _counts(cases, failed):
    """Passed and all by kind, in the order of kinds."""
    counts = {}
    for case in cases:
        passed, whole = counts.get(case.kind, (0, 0))
        counts[case.kind] = passed + (case.name not in failed), whole + 1
    return counts


def _report(run, cases, failed, operators, seconds):
    counts = ", ".join(f"{kind} {passed} of {whole}" for kind, (passed, whole) in _counts(cases, failed).items())
    print(f"\n{_label(run)}: {counts} ({seconds:.0f} s)")
    by_operator = collections.Counter(operators[name] for name in failed)
    for operator, count in sorted(by_operator.items(), key=lambda item: (-item[1], item[0])):
        print(f"  {count:4} {operator}")


def _write_json(path, cases, failures):
    runs = [
        {"engine": engine, "level": level, "counts": _counts(cases, failed), "failures": failed}
        for (engine, level), failed in failures.items()
    ]
    path.write_text(json.dumps({"runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
