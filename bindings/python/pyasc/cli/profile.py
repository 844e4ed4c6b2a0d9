"""`pyasc profile MODEL`: where the time of a model goes, step by step."""

from __future__ import annotations

import ast
import json
import time

import pyasc
from pyasc import profiler
from pyasc.cli import feeds
from pyasc.errors import FileError, InvalidArgumentError

_MOST_WARM_RUNS = 3


def add_to(commands):
    parser = commands.add_parser(
        "profile",
        help="time, kernel, GFLOP/s and share of the roofline of each step",
        description="Runs a model and shows for each step and each operator: time (the median of the runs), share of the call,"
        " GFLOP/s, GB/s and the share of the roofline, which is measured first. All times are measured ones.",
    )
    parser.add_argument("model", help="an .onnx or .om file")
    parser.add_argument("--threads", type=int, default=0, help="cores used at most; 0 is all (the default)")
    parser.add_argument("--device", default="cpu", help='"cpu" (the default) or "npu:N"')
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of CompileConfig, such as assume_finite=True or tune=True; may be repeated",
    )
    feeds.add_options(parser)
    parser.add_argument("--seconds", type=float, default=1.0, help="time to run for (1)")
    parser.add_argument("--runs", type=int, help="number of runs, instead of --seconds")
    parser.add_argument("--peak-gflops", type=float, help="peak GFLOP/s of the roofline; with --peak-gbs, instead of measuring")
    parser.add_argument("--peak-gbs", type=float, help="bandwidth of memory in GB/s of the roofline")
    parser.add_argument("--top", type=int, default=20, metavar="N", help="show the N slowest steps; 0 shows all (20)")
    parser.add_argument("--order", choices=("time", "execution"), default="time", help="of the steps shown (time)")
    parser.add_argument("--trace", metavar="FILE.json", help="also write a timeline, which Perfetto opens")
    parser.add_argument("--json", metavar="FILE", nargs="?", const="-", help="write the figures as JSON, to FILE or instead of the tables")
    parser.set_defaults(run=run)


def run(options):
    if (options.peak_gflops is None) != (options.peak_gbs is None):
        raise InvalidArgumentError("--peak-gflops and --peak-gbs go together")
    if options.runs is not None and options.runs < 1:
        raise InvalidArgumentError(f"--runs is at least 1, given {options.runs}")
    config = pyasc.CompileConfig(**dict(map(_option, options.config)))
    model = pyasc.load(options.model, device=options.device, threads=options.threads, config=config)
    inputs = feeds.make(model, options)
    start = time.perf_counter()
    for _ in range(_MOST_WARM_RUNS):
        model.run(inputs)
        if time.perf_counter() - start > options.seconds:
            break
    peaks = None if options.peak_gflops is None else (options.peak_gflops * 1e9, options.peak_gbs * 1e9)
    profiler.start(peaks, model.counter("threads"))
    try:
        _run_for(model, inputs, options)
    finally:
        profiler.stop()
    report = profiler.report()
    if options.trace:
        profiler.save(options.trace)
    if options.json:
        _write_json(options, report)
    if options.json != "-":
        print(_text(report, options))
    return 0


def _option(text):
    key, equals, value = text.partition("=")
    if not equals:
        raise InvalidArgumentError(f"expected KEY=VALUE, given '{text}'")
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value


def _run_for(model, inputs, options):
    count, end = 0, time.perf_counter() + options.seconds
    while count < options.runs if options.runs is not None else count == 0 or time.perf_counter() < end:
        model.run(inputs)
        count += 1


def _write_json(options, report):
    text = json.dumps({"model": options.model, "version": pyasc.__version__, **report}, indent=1)
    if options.json == "-":
        print(text)
        return
    try:
        with open(options.json, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise FileError(f"cannot write '{options.json}': {error.strerror}") from error


def _text(report, options):
    parts = []
    for index, plan in enumerate(report["plans"]):
        what = "graph" if plan["depth"] == 0 else "body"
        threads = "1 thread" if plan["threads"] == 1 else f"{plan['threads']} threads"
        parts.append(
            f"{what} '{plan['graph']}' on {plan['device']}, {threads}; {', '.join(plan['inputs'])}: median {plan['ms']:.4g} ms, least"
            f" {plan['min_ms']:.4g} ms of {plan['runs']} runs; {report.peaks_text()}"
        )
        parts.append(report.steps(index, options.top, options.order == "time"))
        parts.append(report.operators(index))
    return "\n\n".join([*parts, f"* takes over {profiler.SLOW_MS:g} ms a call"])
