"""The yardstick measures what it says: figures, ratios, means, and failures that do not stop it."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from tests import models
from tests.bench import report
from tests.bench.worker import ROOT, Worker, WorkerError


def _row(model, threads, **min_ms):
    engines = {name.replace("_", "-"): {"min_ms": ms, "median_ms": 2 * ms} for name, ms in min_ms.items()}
    return {"model": model, "threads": threads, "engines": engines}


def test_ratio_is_to_the_better_peer():
    row = _row("resnet50", 1, pyasc=8, onnxruntime=10, openvino=12, pyasc_finite=5)
    assert report.ratio(row, "pyasc") == 1.25
    assert report.ratio(row, "pyasc-finite") == 2
    row["engines"]["onnxruntime"] = {"error": "no"}
    assert report.ratio(row, "pyasc") == 1.5
    row["engines"]["pyasc"] = {"error": "no"}
    assert report.ratio(row, "pyasc") is None
    assert report.ratio(_row("resnet50", 1, pyasc=8), "pyasc") is None


def test_geometric_mean_is_over_named_models_only():
    rows = [
        _row("resnet50", 1, pyasc=1, onnxruntime=4),
        _row("vgg19", 1, pyasc=1, onnxruntime=1),
        _row("vgg19", 2, pyasc=1, onnxruntime=0.5),
        _row("light_squeezenet", 1, pyasc=1, onnxruntime=100),
    ]
    means = report.geometric_means(rows, "pyasc")
    assert means[1] == (pytest.approx(2), 2)
    assert means[2] == (pytest.approx(0.5), 1)
    assert means["all"] == (pytest.approx(2 ** (1 / 3)), 3)
    assert report.geometric_means(rows, "pyasc-finite") == {}


def test_agreement_is_the_worst_outputs_and_wider_for_winograd():
    want = {"a": np.float32([1, 2]), "b": np.float32([0, 100])}
    got = {"a": np.float32([1, 2]), "b": np.float32([0.003, 100])}
    assert report.agreement(got, want) == {"excess": pytest.approx(3), "difference": pytest.approx(3e-5)}
    assert report.agreement(got, want, winograd=True)["excess"] == pytest.approx(0.6)
    assert report.agreement({"a": want["a"]}, want) == {"excess": np.inf, "difference": np.inf}


def test_named_models_exist():
    assert set(report.TARGETS) == set(report.NAMED)
    assert set(report.NAMED) <= set(models.NAMES)


def test_tables_mark_wrong_outputs_and_failures():
    row = _row("resnet50", 1, pyasc=8, onnxruntime=10, openvino=12)
    row["engines"]["pyasc"] |= {"excess": 3.0, "difference": 4e-3}
    row["engines"]["openvino"] = {"error": "cannot"}
    results = {
        "machine": report.machine(),
        "engines": ["pyasc", "onnxruntime", "openvino"],
        "threads": [1],
        "rounds": 1,
        "seconds": 1,
        "settings": {"pyasc": {"version": "0"}},
        "rows": [row],
    }
    for text in (report.as_text(results), report.as_markdown(results)):
        assert "8 (16) !" in text and "failed" in text and "1.25" in text
        assert "differ from ONNX Runtime's by 3 times" in text and "cannot" in text and "4.0e-03" in text
        assert "target missed: pyasc, 1 thread: 1.250, not 1.3" in text and "missed: resnet50" not in text
        assert "(geometric mean over 1 of 14)" in text


def test_models_that_got_slower_are_listed():
    rows = [_row("vgg19", n, pyasc=ms, pyasc_before=10, onnxruntime=9) for n, ms in ((1, 10.4), (2, 12))] + [
        _row("gpt", 1, pyasc=8)
    ]
    assert [(row["threads"], part) for row, part in report.slower(rows)] == [(2, pytest.approx(0.2))]


def test_peers_run(tmp_path):
    file, page = tmp_path / "figures.json", tmp_path / "table.md"
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/bench/peers.py"), "--models", "small20", "--threads", "1", "--rounds", "2"]
        + ["--seconds", "0.01", "--engines", "onnxruntime,openvino", "--json", str(file), "--markdown", str(page)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(file.read_text())
    (row,) = results["rows"]
    assert row["engines"]["openvino"]["excess"] <= 1 and row["engines"]["openvino"]["difference"] < 1e-4
    for figures in row["engines"].values():
        assert 0 < figures["min_ms"] <= figures["median_ms"] and figures["runs"] >= 6
    assert results["settings"]["openvino"]["INFERENCE_PRECISION_HINT"] == "f32"
    assert "small20" in done.stdout and "| small20 | 1 |" in page.read_text()


def test_another_build_is_measured_too(tmp_path):
    import pyasc

    (tmp_path / "bindings").mkdir()
    (tmp_path / "bindings/python").symlink_to(pathlib.Path(pyasc.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/bench/peers.py"), "--models", "small20", "--threads", "1", "--rounds", "1"]
        + ["--seconds", "0.01", "--engines", "pyasc,onnxruntime", "--before", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "better peer / pyasc-before" in done.stdout


def test_unknown_names_are_refused(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/bench/peers.py"), "--before", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "not a build folder" in done.stderr
    for option in ("--models", "--engines"):
        done = subprocess.run(
            [sys.executable, str(ROOT / "tests/bench/peers.py"), option, "nothing"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2 and "'nothing'; there are" in done.stderr


def test_worker_reports_errors_and_survives_them(tmp_path):
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model")
    with Worker("onnxruntime") as worker:
        with pytest.raises(WorkerError, match="(?i)protobuf"):
            worker.load(broken, 1, {}, static=False)
        worker.load(models.path("small20"), 1, models.inputs("small20"), static=True)
        assert len(worker.measure(0)) == 3
        worker._process.kill()
        with pytest.raises(WorkerError, match="ended with code -9"):
            worker.measure(0)
