"""Runs of the pipeline as numbers and tables, in a form that goes from process to process as JSON."""

import statistics
import time


def measure(pipeline, image, repeats):
    """Reads `image` once and then `repeats` times more; a dict that JSON can hold, times in milliseconds.

    `first` is the first run, which plans for the picture's shapes; `stages` has for each stage the medians of
    the later runs (of the first one, where there are none).
    """
    start = time.perf_counter()
    page = pipeline.read(image)
    first = time.perf_counter() - start
    runs = [pipeline.read(image).times for _ in range(repeats)] or [page.times]
    stages = [
        {
            "stage": samples[0].stage,
            "calls": samples[0].calls,
            "total": 1e3 * statistics.median(sample.seconds for sample in samples),
            "model": 1e3 * statistics.median(sample.model_seconds for sample in samples),
        }
        for samples in zip(*runs)
    ]
    lines = [{"text": line.text, "confidence": line.confidence} for line in page.lines]
    return page, {"first": 1e3 * first, "stages": stages, "lines": lines}


def lines_table(lines):
    """The numbered lines with their confidences."""
    rows = [f"{number:3}  {line['confidence']:.3f}  {line['text']}" for number, line in enumerate(lines, start=1)]
    return "\n".join(rows) if rows else "  (no text found)"


def times_table(report):
    """Time per stage, in all and inside the models."""
    rows = [f"  {'stage':<12} {'calls':>5} {'total ms':>10} {'model ms':>10}"]
    for stage in [*report["stages"], _sum(report["stages"])]:
        rows.append(f"  {stage['stage']:<12} {stage['calls']:>5} {stage['total']:>10.1f} {stage['model']:>10.1f}")
    rows.append(f"  first run, which plans for the picture's shapes: {report['first']:.1f} ms")
    return "\n".join(rows)


def comparison_table(name, report, peer_name, peer):
    """Both engines' time in the models per stage, the ratio of the two, and lines that they read differently."""
    rows = [f"  {'model ms':<12} {name:>12} {peer_name:>12} {'ratio':>7}"]
    pairs = zip([*report["stages"], _sum(report["stages"])], [*peer["stages"], _sum(peer["stages"])])
    for ours, theirs in pairs:
        ratio = f"{ours['model'] / theirs['model']:.2f}" if theirs["model"] else "-"
        rows.append(f"  {ours['stage']:<12} {ours['model']:>12.1f} {theirs['model']:>12.1f} {ratio:>7}")
    rows.append(f"  {'load':<12} {report['load']:>12.1f} {peer['load']:>12.1f}")
    rows.append(f"  {'first run':<12} {report['first']:>12.1f} {peer['first']:>12.1f}")
    texts, peer_texts = ([line["text"] for line in side["lines"]] for side in (report, peer))
    if texts == peer_texts:
        rows.append(f"  both read the same {len(texts)} lines")
    else:
        rows.append(f"  {name} read {texts}")
        rows.append(f"  {peer_name} read {peer_texts}")
    return "\n".join(rows)


def _sum(stages):
    return {"stage": "all", **{key: sum(stage[key] for stage in stages) for key in ("calls", "total", "model")}}
