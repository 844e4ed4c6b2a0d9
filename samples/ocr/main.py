"""Reads the text of a picture with three OCR models that pyasc runs."""

# The first thing of all: whatever is imported later can't bring ONNX Runtime in.
from .isolation import block_onnxruntime

block_onnxruntime()

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import cv2
import pyasc

from .draw import draw_lines
from .files import example_page, load_picture, model_paths
from .pipeline import OcrPipeline
from .report import comparison_table, lines_table, measure, times_table


def main(arguments=None):
    options = _parse(arguments)
    picture = Path(options.image) if options.image else example_page()
    try:
        image = load_picture(picture)
        print(f"picture: {picture} ({image.shape[1]} x {image.shape[0]})", flush=True)
        paths = model_paths(options.models)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1

    start = time.perf_counter()
    models = {stage: pyasc.load(str(path), threads=options.threads) for stage, path in paths.items()}
    load = 1e3 * (time.perf_counter() - start)
    print(f"models: {', '.join(path.name for path in paths.values())}, loaded in {load:.0f} ms", flush=True)

    page, report = measure(OcrPipeline(**models), image, options.repeat)
    report["load"] = load
    print(f"\n{lines_table(report['lines'])}\n\n{times_table(report)}\n", flush=True)

    out = Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    if not cv2.imwrite(str(out), draw_lines(image, page.lines)):
        print(f"error: could not write {out}", file=sys.stderr)
        return 1
    print(f"the picture with boxes: {out}")

    if options.compare:
        print("\nthe same on ONNX Runtime, in a second process ...", flush=True)
        peer = _run_peer(picture, options)
        if peer is None:
            return 1
        print(comparison_table("pyasc", report, "ONNX Runtime", peer))
    return 0


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="samples/run.sh", description=__doc__)
    parser.add_argument("image", metavar="IMAGE", nargs="?", help="picture to read (default: a photographed page)")
    parser.add_argument("--out", default="out/ocr.png", help="where the picture with boxes goes (%(default)s)")
    parser.add_argument("--compare", action="store_true", help="also time ONNX Runtime, in a second process")
    parser.add_argument("--threads", type=int, default=0, help="cores to use at most (default: the engine's choice)")
    parser.add_argument("--repeat", type=int, default=3, help="timed runs after the first one (%(default)s)")
    parser.add_argument("--models", help="folder of the three models (default: those of rapidocr-onnxruntime)")
    return parser.parse_args(arguments)


def _run_peer(picture, options):
    """What `peer.py` reports, or None after a message."""
    command = [sys.executable, "-P", "-m", f"{__package__}.peer", str(picture)]
    command += ["--threads", str(options.threads), "--repeat", str(options.repeat)]
    command += ["--models", options.models] if options.models else []
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = done.stderr.strip().splitlines()
        print(f"error: the second process failed: {reason[-1] if reason else done.returncode}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
