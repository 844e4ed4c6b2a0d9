"""Where the time of runs goes, step by step.

    pyasc.profiler.start()
    model.run(...)                       # any runs, of any models
    pyasc.profiler.stop()
    print(pyasc.profiler.report())       # a table by operator
    pyasc.profiler.save("trace.json")    # a timeline, which Perfetto (ui.perfetto.dev) opens

All times are measured. The roofline is what the machine allows: for each step the larger of its floating-point operations by the peak
rate and of its bytes by the bandwidth of memory, each operand once. A share above 100 % means that data came from the caches, or that
the kernel needs fewer operations than the textbook's algorithm.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any

from pyasc import _asc
from pyasc.errors import FileError, InvalidArgumentError, UnavailableError
from pyasc.report import _table, size_text

__all__ = ["Report", "report", "save", "start", "stop"]

# Operators whose calls take longer are marked.
SLOW_MS = 5.0
_MOST_NAME = 48

_lock = threading.Lock()
_profiler = None


def start(peaks: tuple[float, float] | None = None, threads: int = 0) -> None:
    """Begins to collect, and drops what was collected before. E5003 when it collects already.

    peaks: what the machine can do, float32 operations and bytes from memory per second, for the roofline. None measures
    it first, in about a quarter of a second, with that many threads (0: all cores).
    """
    global _profiler
    with _lock:
        if _profiler is None:
            _profiler = _asc.asc_profiler_create()
        if peaks is not None:
            flops, bytes_ = peaks
            _asc.asc_profiler_set_peaks(_profiler, float(flops), float(bytes_))
        _asc.asc_profiler_start(_profiler)
        if peaks is None:
            try:
                _asc.asc_profiler_measure_peaks(_profiler, threads)
            except BaseException:
                _asc.asc_profiler_stop(_profiler)
                raise


def stop() -> None:
    """Ends collecting; what was collected stays. E5003 when it does not collect."""
    _asc.asc_profiler_stop(_started())


def report() -> Report:
    """What was collected so far, as a `Report`; E5003 when nothing was ever started."""
    return Report(json.loads(_asc.asc_profiler_create_report(_started())))


def save(path: str | os.PathLike[str]) -> None:
    """Writes the timeline of all runs as a .json file in the Trace Event Format. E5003 for other endings, E5010 when the file
    cannot be written."""
    path = os.fsdecode(path)
    ending = os.path.splitext(path)[1].lower()
    if ending in (".html", ".htm"):
        raise UnavailableError("pyasc.profiler.save as a page is not built yet", hint="save a .json file")
    if ending != ".json":
        raise InvalidArgumentError(f"a timeline is a .json file, given {path!r}")
    text = _asc.asc_profiler_create_trace(_started())
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise FileError(f"cannot write '{path}': {error.strerror}") from error


def _started():
    if _profiler is None:
        raise InvalidArgumentError("the profiler was not started", hint="call pyasc.profiler.start() first")
    return _profiler


class Report(dict[str, Any]):
    """What runs spent their time on: `str()` is a table by operator, `steps()` one of single steps.

    As a dict: runs, dropped_runs (more than are kept), total_ms, peaks (flops_per_second, bytes_per_second, source),
    operators (over all runs, the slowest first) and plans: each a graph for one set of input shapes, with graph, device,
    threads, inputs, depth (of bodies of control flow), runs, ms (the median), min_ms, steps and operators. Steps and
    operators have calls, ms, min_ms, share (of the time of all steps), flops, bytes, flops_per_second,
    bytes_per_second, roofline (None where the peaks are not known); steps also name, operator, kernel and outputs. In a
    plan these are of one run (ms: the median of the runs), elsewhere sums over all.
    """

    def __str__(self):
        rows = [(entry["operator"], str(entry["calls"]), *_figures(entry)) for entry in self["operators"]]
        table = _table(("operator", "calls", *_HEADER), rows)
        return "\n".join([table, *self._foot()])

    def operators(self, plan: int = 0) -> str:
        """The table by operator of one run of one plan."""
        rows = [(entry["operator"], str(entry["steps"]), *_figures(entry)) for entry in self["plans"][plan]["operators"]]
        return _table(("operator", "steps", *_HEADER), rows)

    def steps(self, plan: int = 0, top: int = 0, by_time: bool = True) -> str:
        """The table of single steps of one plan: the `top` slowest (0: all), or in the order of execution."""
        steps = list(enumerate(self["plans"][plan]["steps"]))
        slowest = sorted(steps, key=lambda item: -item[1]["ms"])[: top or None]
        if not by_time:
            slowest.sort()
        rows = [
            (str(index), _shortened(step["name"]), step["operator"], step["kernel"], *_figures(step))
            for index, step in slowest
        ]
        table = _table(("step", "name", "operator", "kernel", *_HEADER), rows)
        rest = len(steps) - len(rows)
        if not rest:
            return table
        share = 1 - sum(step["share"] for _, step in slowest)
        return f"{table}\n{rest} more steps take {share:.1%}"

    def _foot(self):
        runs = "1 run" if self["runs"] == 1 else f"{self['runs']} runs"
        yield f"{runs} in {_ms(self['total_ms'])} ms; * takes over {SLOW_MS:g} ms a call"
        if self["dropped_runs"]:
            yield f"{self['dropped_runs']} more runs are not in it: there were too many steps to keep"
        yield self.peaks_text()

    def peaks_text(self) -> str:
        """A line about what the roofline is."""
        peaks = self["peaks"]
        if peaks["source"] == "unknown":
            return "roofline: not known"
        rates = f"{peaks['flops_per_second'] / 1e9:.4g} GFLOP/s, {peaks['bytes_per_second'] / 1e9:.4g} GB/s"
        return f"roofline: {rates} ({peaks['source']})"


_HEADER = ("ms", "share", "GFLOP", "GFLOP/s", "bytes", "GB/s", "roofline")


def _ms(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def _shortened(name):
    """The end of a long name tells more than its beginning."""
    return name if len(name) <= _MOST_NAME else "..." + name[3 - _MOST_NAME :]


def _figures(entry):
    slow = entry["ms"] / max(1, entry["calls"]) if "steps" in entry else entry["ms"]
    roofline = entry["roofline"]
    return (
        _ms(entry["ms"]) + (" *" if slow > SLOW_MS else ""),
        f"{entry['share']:.1%}",
        f"{entry['flops'] / 1e9:.3g}",
        f"{entry['flops_per_second'] / 1e9:.3g}",
        size_text(round(entry["bytes"])),
        f"{entry['bytes_per_second'] / 1e9:.3g}",
        "-" if roofline is None else f"{roofline:.0%}",
    )
