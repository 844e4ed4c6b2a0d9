"""`pyasc.profiler` and `pyasc profile`: what they collect, print and refuse."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import pyasc
from pyasc import cli

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEAKS = (1e11, 2e10)


@pytest.fixture
def model():
    with pyasc.Context() as ctx:
        x = ctx.input("x", shape=("N", 8))
        ctx.output(ctx.relu(ctx.matmul(x, np.ones((8, 4), np.float32))))
        yield ctx.compile()


@pytest.fixture
def file(tmp_path, model):
    path = tmp_path / "model.om"
    model.save(path)
    return str(path)


def profiled(model, runs=3, rows=2):
    pyasc.profiler.start(PEAKS)
    try:
        for _ in range(runs):
            model.run(np.ones((rows, 8), np.float32))
    finally:
        pyasc.profiler.stop()
    return pyasc.profiler.report()


def test_a_report_has_operators_and_plans(model):
    report = profiled(model)
    assert report["runs"] == 3 and report["dropped_runs"] == 0
    assert report["peaks"] == {"flops_per_second": 1e11, "bytes_per_second": 2e10, "source": "given"}
    (plan,) = report["plans"]
    assert plan["inputs"] == ["float32[2, 8]"] and plan["runs"] == 3
    assert 0 < plan["min_ms"] <= plan["ms"] <= report["total_ms"]
    product = max(plan["steps"], key=lambda step: step["flops"])
    assert product["flops"] >= 2 * 2 * 8 * 4
    assert product["flops_per_second"] == pytest.approx(product["flops"] / product["ms"] * 1e3)
    bound_ms = max(product["flops"] / PEAKS[0], product["bytes"] / PEAKS[1]) * 1e3
    assert product["roofline"] == pytest.approx(bound_ms / product["ms"])
    assert sum(step["share"] for step in plan["steps"]) == pytest.approx(1)
    assert sum(group["calls"] for group in report["operators"]) == 3 * len(plan["steps"])


def test_reports_print_as_tables(model):
    report = profiled(model)
    for text in (str(report), report.operators(), report.steps(), report.steps(by_time=False)):
        assert "MatMul" in text and "GFLOP/s" in text and "roofline" in text
    assert "3 runs in" in str(report) and "100 GFLOP/s, 20 GB/s (given)" in str(report)
    steps = len(report["plans"][0]["steps"])
    if steps > 1:
        assert f"{steps - 1} more steps take" in report.steps(top=1)


def test_slow_operators_are_marked():
    entry = {"calls": 2, "share": 1, "flops": 0, "flops_per_second": 0, "bytes": 0, "bytes_per_second": 0, "roofline": None}
    entry |= {"name": "n" * 99, "operator": "Conv", "kernel": "k"}
    plan = {"steps": [entry | {"ms": 6}], "operators": []}
    report = pyasc.profiler.Report(plans=[plan], operators=[entry | {"ms": 9, "steps": 1}], total_ms=1, runs=2)
    report |= {"dropped_runs": 7, "peaks": {"source": "unknown"}}
    report = pyasc.profiler.Report(report)
    assert " 6 * " in report.steps() and "9  " in str(report) and "*" not in str(report).splitlines()[2]
    assert "n" * 99 not in report.steps() and "..." + "n" * 45 in report.steps()
    assert "7 more runs" in str(report) and "roofline: not known" in str(report)


def test_the_peaks_are_measured_when_not_given(model):
    pyasc.profiler.start()
    try:
        model.run(np.ones((1, 8), np.float32))
    finally:
        pyasc.profiler.stop()
    peaks = pyasc.profiler.report()["peaks"]
    assert peaks["source"] == "measured" and peaks["flops_per_second"] > 1e8 and peaks["bytes_per_second"] > 1e8


def test_asynchronous_runs_are_seen_too(model):
    pyasc.profiler.start(PEAKS)
    try:
        model.run_async(np.ones((1, 8), np.float32)).result()
    finally:
        pyasc.profiler.stop()
    assert pyasc.profiler.report()["runs"] == 1


def test_a_timeline_is_saved(model, tmp_path):
    profiled(model)
    path = tmp_path / "trace.json"
    pyasc.profiler.save(path)
    events = json.loads(path.read_text())["traceEvents"]
    assert {event["cat"] for event in events} == {"run", "step"}
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)


def test_what_makes_no_sense_is_refused(model, tmp_path):
    profiled(model, 1)
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="does not collect"):
        pyasc.profiler.stop()
    pyasc.profiler.start(PEAKS)
    try:
        with pytest.raises(pyasc.errors.InvalidArgumentError, match="already"):
            pyasc.profiler.start(PEAKS)
    finally:
        pyasc.profiler.stop()
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="flops_per_second"):
        pyasc.profiler.start((-1, 1))
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="json"):
        pyasc.profiler.save(tmp_path / "trace.txt")
    with pytest.raises(pyasc.errors.UnavailableError, match="page"):
        pyasc.profiler.save(tmp_path / "report.html")
    with pytest.raises(pyasc.errors.FileError, match="no_such_folder"):
        pyasc.profiler.save(tmp_path / "no_such_folder" / "trace.json")


# ---- the command line ----

QUICK = ["--runs", "2", "--threads", "1", "--peak-gflops", "100", "--peak-gbs", "20"]


def test_profile_prints_steps_and_operators(file, capsys):
    assert cli.main(["profile", file, *QUICK, "--dim", "N=3"]) == 0
    text = capsys.readouterr().out
    assert "float32[3, 8]" in text and "of 2 runs" in text and "100 GFLOP/s, 20 GB/s (given)" in text
    assert "step" in text and "operator" in text and "MatMul" in text


def test_profile_writes_json_and_a_timeline(file, tmp_path, capsys):
    figures, trace = tmp_path / "figures.json", tmp_path / "trace.json"
    assert cli.main(["profile", file, *QUICK, "--json", str(figures), "--trace", str(trace)]) == 0
    report = json.loads(figures.read_text())
    assert report["model"] == file and report["version"] == pyasc.__version__
    assert report["plans"][0]["inputs"] == ["float32[1, 8]"]  # the first extent is 1 unless it is given
    assert json.loads(trace.read_text())["traceEvents"]
    capsys.readouterr()
    assert cli.main(["profile", file, *QUICK, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["plans"][0]["steps"]


def test_profile_takes_arrays_from_a_file(file, tmp_path, capsys):
    arrays = tmp_path / "inputs.npz"
    np.savez(arrays, x=np.zeros((5, 8), np.float32))
    assert cli.main(["profile", file, *QUICK, "--inputs", str(arrays)]) == 0
    assert "float32[5, 8]" in capsys.readouterr().out
    np.savez(arrays, y=np.zeros(1))
    assert cli.main(["profile", file, *QUICK, "--inputs", str(arrays)]) == 1
    assert "E5004: the model has no input 'y'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--dim", "M=3"], "no dimension 'M'"),
        (["--dim", "N"], "NAME=VALUE"),
        (["--dim", "N=x"], "whole number"),
        (["--shape", "z=1x2"], "no input 'z'"),
        (["--shape", "x=2x9"], "E5001"),
        (["--runs", "0"], "at least 1"),
        (["--inputs", "no_such.npz"], "E5010"),
        (["--json", "no_such_folder/x.json"], "E5010"),
        (["--device", "npu:77"], "E5020"),
        (["--config", "tune"], "KEY=VALUE"),
        (["--config", "tun=True"], "did you mean 'tune'"),
    ],
)
def test_profile_refuses_with_the_engines_words(file, capsys, arguments, words):
    assert cli.main(["profile", file, *QUICK, *arguments]) == 1
    assert words in capsys.readouterr().err


def test_profile_takes_compile_options(file, capsys, tmp_path):
    options = ["--config", "assume_finite=True", "--config", "tune=True", "--config", f"tune_cache={tmp_path / 'choices'}"]
    assert cli.main(["profile", file, *QUICK, *options]) == 0
    assert "MatMul" in capsys.readouterr().out and (tmp_path / "choices").exists()


def test_peaks_go_together(file, capsys):
    assert cli.main(["profile", file, "--peak-gflops", "1"]) == 1
    assert "go together" in capsys.readouterr().err


def test_extents_that_are_not_the_batch_must_be_given(tmp_path, capsys):
    with pyasc.Context() as ctx:
        ctx.relu(ctx.input("x", shape=(2, "length", None)))
        path = str(tmp_path / "open.om")
        ctx.compile().save(path)
    assert cli.main(["profile", path, *QUICK]) == 1
    assert "give --dim length=N" in capsys.readouterr().err
    assert cli.main(["profile", path, *QUICK, "--dim", "length=4"]) == 1
    assert "give --shape x=AxBxC" in capsys.readouterr().err
    assert cli.main(["profile", path, *QUICK, "--shape", "x=2x4x5"]) == 0
    assert "float32[2, 4, 5]" in capsys.readouterr().out


def test_exit_codes(capsys):
    assert cli.main(["profile", "no_such_model.onnx"]) == 1
    assert "pyasc: E5010" in capsys.readouterr().err
    assert cli.main(["no_such_command"]) == 2
    assert cli.main([]) == 2
    assert cli.main(["--version"]) == 0
    assert pyasc.__version__ in capsys.readouterr().out


def test_the_package_runs_as_a_program(file):
    done = subprocess.run(
        [sys.executable, "-m", "pyasc", "profile", file, *QUICK, "--top", "1"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "MatMul" in done.stdout, done.stderr


def test_the_examples_of_the_page_run(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs/profiling.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (command,) = re.findall(r"-m pyasc (.*)", page)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "docs/profiling.md", "exec"), {})
    assert "10 runs in" in capsys.readouterr().out and (tmp_path / "trace.json").exists()
    assert cli.main([*shlex.split(command), "--runs", "1"]) == 0
    assert "roofline" in capsys.readouterr().out
