"""What the measurements say: ratios to the better peer, geometric means, and tables of them."""

import math
import os
import platform
import statistics

from tests import models
from tests.bench.engines import BEFORE, PEERS

# The models that the geometric mean is over. Others may be measured too; they do not change it.
NAMED = (
    "ocr_det",
    "ocr_rec",
    "ocr_cls",
    "minilm",
    "silero_sequence",
    "resnet50",
    "mobilenet_v2",
    "vgg19",
    "densenet121",
    "bert_base",
    "vit_small",
    "gpt",
    "lstm",
    "small20",
)
# How many times faster than the better peer each shall be, at least; the mean over all of them as well.
TARGETS = dict.fromkeys(NAMED, 0.95) | {
    "ocr_det": 1.1,
    "minilm": 1.1,
    "silero_sequence": 1.2,
    "resnet50": 1.2,
    "mobilenet_v2": 1.1,
    "vgg19": 2.4,
    "bert_base": 1.1,
    "vit_small": 1.1,
    "lstm": 1.2,
    "small20": 2.0,
}
MEAN_TARGET = 1.3
# What the build before may be faster by, of its time.
SLOWER = 0.05
_FLAGS = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile")


def machine():
    """The processor and system, for the head of a report."""
    info = {}
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            key, _, value = line.partition(":")
            info.setdefault(key.strip(), value.strip())
    flags = set(info.get("flags", "").split())
    return {
        "cpu": info.get("model name", platform.machine()),
        "family": "/".join(info.get(k, "?") for k in ("cpu family", "model")),
        "cores": len(os.sched_getaffinity(0)),
        "instructions": [flag for flag in _FLAGS if flag in flags],
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "load_average": round(os.getloadavg()[0], 2),
    }


def summarise(times):
    """Minimum and median of the runs, in milliseconds."""
    return {"min_ms": min(times), "median_ms": statistics.median(times), "runs": len(times)}


def agreement(got, want, winograd=False):
    """How outputs by name agree with the expected ones: the error as a multiple of what is allowed, and as a part of the largest
    element."""
    allowed = {"absolute_of_largest": models.ABSOLUTE_OF_LARGEST_WINOGRAD} if winograd else {}
    return {
        "excess": max(models.excess(got.get(name), value, **allowed) for name, value in want.items()),
        "difference": max(models.difference(got.get(name), value) for name, value in want.items()),
    }


def ratio(row, engine, figure="min_ms"):
    """How many times faster than the better peer `engine` was; None where one of them has no figure."""
    mine = row["engines"].get(engine, {}).get(figure)
    peers = [row["engines"][p][figure] for p in PEERS if figure in row["engines"].get(p, {})]
    return min(peers) / mine if mine and peers else None


def geometric_means(rows, engine):
    """{threads: (mean ratio, number of named models in it)}, with "all" for all thread counts together."""
    groups = {}
    for row in rows:
        value = ratio(row, engine) if row["model"] in NAMED else None
        if value:
            for key in (row["threads"], "all"):
                groups.setdefault(key, []).append(value)
    return {key: (math.exp(statistics.fmean(map(math.log, v))), len(v)) for key, v in groups.items()}


def slower(rows):
    """(row, part) of those where pyasc takes longer than the build before by more than SLOWER, as a part of its time."""
    for row in rows:
        now, before = (row["engines"].get(engine, {}).get("min_ms") for engine in ("pyasc", BEFORE))
        if now and before and now > before * (1 + SLOWER):
            yield row, now / before - 1


def _own(results):
    return [engine for engine in results["engines"] if engine not in PEERS]


def _ms(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _cells(row, engines):
    for engine in engines:
        result = row["engines"][engine]
        if "error" in result:
            yield "failed"
        else:
            mark = "" if result.get("excess", 0) <= 1 else " !"
            yield f"{_ms(result['min_ms'])} ({_ms(result['median_ms'])}){mark}"
    for engine in engines:
        if engine not in PEERS:
            value = ratio(row, engine)
            yield f"{value:.2f}" if value else "-"
    for engine in engines:
        if engine not in PEERS:
            value = row["engines"][engine].get("difference")
            yield "-" if value is None else f"{value:.1e}"


def table(results):
    """The rows of the table, its header first."""
    engines = results["engines"]
    own = _own(results)
    header = ["model", "threads", *engines, *(f"better peer / {e}" for e in own), *(f"difference, {e}" for e in own)]
    return [header] + [[row["model"], str(row["threads"]), *_cells(row, engines)] for row in results["rows"]]


def head(results):
    """Lines that say on what and how it was measured."""
    m = results["machine"]
    yield f"{m['cpu']} (family/model {m['family']}), {m['cores']} cores, {' '.join(m['instructions'])}; {m['system']}"
    yield (
        f"{results['rounds']} rounds of {results['seconds']} s an engine, alternating; load average at the start "
        f"{m['load_average']}"
    )
    for engine, settings in results["settings"].items():
        yield f"{engine}: " + ", ".join(f"{k} {v}" for k, v in settings.items())


def foot(results):
    """Lines below the table: geometric means, wrong outputs, failures."""
    for engine in _own(results):
        for threads, (mean, count) in geometric_means(results["rows"], engine).items():
            which = "all rows" if threads == "all" else f"{threads} thread{'s' if threads != 1 else ''}"
            total = len(NAMED) * (len(results["threads"]) if threads == "all" else 1)
            yield f"{engine}, {which}: {mean:.3f} times the better peer's speed (geometric mean over {count} of {total})"
            if mean < MEAN_TARGET:
                yield f"target missed: {engine}, {which}: {mean:.3f}, not {MEAN_TARGET}"
    for row in results["rows"]:
        # The default mode is the one that counts.
        value, target = ratio(row, "pyasc"), TARGETS.get(row["model"], 0)
        if value and value < target:
            yield f"target missed: {row['model']}, {row['threads']} threads: {value:.2f}, not {target}"
    for row, part in slower(results["rows"]):
        yield f"slower than the build before: {row['model']}, {row['threads']} threads: by {part:.0%}"
    for row in results["rows"]:
        for engine, result in row["engines"].items():
            where = f"{row['model']}, {row['threads']} threads, {engine}"
            if "error" in result:
                yield f"{where}: {result['error']}"
            elif result.get("excess", 0) > 1:
                yield (
                    f"! {where}: outputs differ from ONNX Runtime's by {result['excess']:.3g} times what is allowed, at most by"
                    f" {result['difference']:.1e} of the largest element"
                )


def as_text(results):
    rows = table(results)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*head(results), "", "min (median) in ms", *lines, "", *foot(results)])


def as_markdown(results):
    rows = table(results)
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    bullets = [f"- {line}" for line in head(results)]
    return "\n".join([*bullets, "", "Minimum (median) in milliseconds; ratios of minima; largest difference to ONNX Runtime's outputs, as a part of the largest element.", "", *lines, "", *(f"- {x}" for x in foot(results))])
