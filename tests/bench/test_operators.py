"""The measurement of operators works, covers the registry, and pyasc's outputs are right at its sizes."""

import json
import subprocess
import sys

import pyasc
import pytest
from pyasc import _operators

from tests.bench import operators
from tests.bench.operator_cases import cases
from tests.bench.worker import ROOT

# No data of middle size passes through these, or it passes untouched.
_NO_WORK = set(
    (
        "BitCast Constant Flatten Optional OptionalGetElement OptionalHasElement Reshape SequenceAt SequenceConstruct SequenceEmpty"
        " SequenceErase SequenceInsert SequenceLength Shape Size SplitToSequence Squeeze Unsqueeze"
    ).split()
)
_OTHERS_BODIES = {"If", "Loop", "Scan", "SequenceMap"}
_MISSING_IN_PEER = {"CausalConvWithState", "ConcatFromSequence", "ImageDecoder", "LinearAttention", "SwiGLU"}


def test_every_standard_operator_has_a_case():
    standard = {o.row["name"] for o in _operators.registry().values() if o.row["domain"] == ""}
    measured = {case.operator for case in cases()}
    assert standard - measured == _NO_WORK | _OTHERS_BODIES | _MISSING_IN_PEER
    assert measured <= standard


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name.replace(" ", "-"))
def test_outputs_are_those_of_onnx_runtime(case):
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(case.model(), options, providers=["CPUExecutionProvider"])
        want = session.run(None, case.inputs)
    except Exception as error:
        pytest.skip(f"ONNX Runtime can't: {str(error).splitlines()[0][:100]}")
    names = [output.name for output in session.get_outputs()]
    got = pyasc.load(case.model()).run(case.inputs)
    assert not operators.differ(case.operator, dict(got), dict(zip(names, want, strict=True)))


def test_operators_are_measured(tmp_path):
    file, table = tmp_path / "figures.json", tmp_path / "table.md"
    command = [sys.executable, ROOT / "tests/bench/operators.py", "--only", "Hann,Relu", "--threads", "1", "--rounds", "1"]
    subprocess.run([*command, "--seconds", "0.001", "--json", file, "--markdown", table], check=True, timeout=300)
    rows = json.loads(file.read_text())["rows"]
    assert [row["operator"] for row in rows] == ["LeakyRelu", "Relu", "ThresholdedRelu", "PRelu", "HannWindow"]
    assert all(row["ratio"] > 0 and not row["differ"] for row in rows)
    assert "| HannWindow | " in table.read_text()


def test_missed_targets_and_differences_are_listed():
    row = {"case": "Abs", "threads": 1, "engines": {"pyasc": {"min_ms": 3}, "onnxruntime": {"min_ms": 1}}, "ratio": 1 / 3}
    lines = list(operators.summary({"threads": [1], "rows": [row | {"differ": True}]}))
    assert lines[1] == "target missed: Abs, 1 threads: 0.33"
    assert lines[2] == "! Abs, 1 threads: the outputs differ from ONNX Runtime's"


def test_rows_that_threads_slowed_are_hindered():
    def row(case, threads, mine, peer):
        return {"case": case, "threads": threads, "engines": {"pyasc": mine, "onnxruntime": peer}}

    time = lambda ms: {"min_ms": ms}
    rows = [row("Abs", 1, time(2), time(2)), row("Abs", 2, time(2.4), time(1)), row("Not", 1, time(2), {"error": "no"})]
    rows += [row("Not", 2, time(2.6), {"error": "no"}), row("Exp", 1, time(2), time(2)), row("Exp", 2, time(1), time(3))]
    assert operators.hindered(rows) == [3, 5]
