"""The measurement of loads works; what it gives is for docs/performance.md, as no test fails on time."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.bench import load_time
from tests.bench.load_time import ROOT


def test_loads_are_measured(tmp_path):
    file = tmp_path / "figures.json"
    command = [sys.executable, str(ROOT / "tests/bench/load_time.py"), "--models", "small20", "--threads", "1"]
    done = subprocess.run(
        [*command, "--rounds", "1", "--json", str(file), "--markdown"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(file.read_text())["rows"]
    for figures in row["engines"].values():
        assert figures["load_ms"] > 0 and figures["first_ms"] > 0 and figures["resident_mb"] > 0
        assert figures["total_ms"] == pytest.approx(figures["load_ms"] + figures["first_ms"])
    assert "| small20 | 1 |" in done.stdout


def test_missed_targets_are_listed():
    def figures(load, first, memory):
        return {"load_ms": load, "first_ms": first, "total_ms": load + first, "anonymous_mb": memory, "resident_mb": 1}

    engines = {"pyasc": figures(5, 9, 3), "om": figures(3, 1, 1), "onnxruntime": figures(9, 4, 2)}
    rows = [{"model": "resnet50", "threads": 1, "engines": engines}]
    lines = list(load_time.missed(rows, True))
    assert len(lines) == 3 and "14.0 ms to the first result, ONNX Runtime 13.0" in lines[0]
    assert "3.0 times as fast, not 5" in lines[1] and "3 MB anonymous, ONNX Runtime 2" in lines[2]
    engines["onnxruntime"] = figures(15, 4, 3)
    assert not list(load_time.missed(rows, True))


def test_a_model_that_cannot_be_loaded_is_an_error(tmp_path):
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model")
    np.savez(tmp_path / "feeds.npz")
    with pytest.raises(RuntimeError, match="broken.onnx"):
        load_time.measure("onnxruntime", broken, 1, tmp_path / "feeds.npz")
