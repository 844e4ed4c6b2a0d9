"""Every .onnx file that the packages rapidocr-onnxruntime, silero-vad, magika and onnx (its `light` folder) ship loads and gives ONNX Runtime's outputs within
1e-4 (of the largest output), with inputs that are seeded numbers of the extents that the model names.

What the models make of real inputs is compared in test_models.py.
"""

import numpy as np
import onnxruntime
import pytest

import pyasc
from oracle import seeded
from tests.models.shipped import shipped_files

# Extents that a file leaves free: enough for the poolings and windows of its network.
FREE = {"rapidocr_onnxruntime": 64, "silero_vad": 2, "magika": 2}
DTYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}
FILES = shipped_files()


def _extent(package, name, i, dim):
    if isinstance(dim, int):
        return dim
    if package == "rapidocr_onnxruntime":
        return {0: 1, 1: 3, 2: 48 if "rec" in name or "cls" in name else FREE[package], 3: FREE[package]}[i]
    return FREE[package]


def make_feeds(package, file, session):
    rng, feeds = seeded(file.name), {}
    for entry in session.get_inputs():
        dims = [_extent(package, file.name, i, dim) for i, dim in enumerate(entry.shape)]
        if entry.name == "sr":
            feeds["sr"] = np.array(16000, np.int64).reshape(dims)
        elif package == "silero_vad":
            samples = 576  # 32 ms at 16 kHz with 4 ms before
            if entry.name == "input":
                dims[-1] = samples
            if entry.name in ("h", "c"):
                dims[1] = 1
            scale = 0.1 if entry.name == "input" else 0.5
            feeds[entry.name] = (scale * rng.standard_normal(dims)).astype(np.float32)
        elif DTYPES[entry.type] != np.float32:
            if package == "magika":
                dims[-1] = 2048
            feeds[entry.name] = rng.integers(0, 257, dims).astype(DTYPES[entry.type])
        else:
            feeds[entry.name] = rng.uniform(-1, 1, dims).astype(np.float32)
    return feeds


@pytest.mark.parametrize("package, file", FILES, ids=[file.stem for _, file in FILES])
def test_a_shipped_model_agrees(package, file):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    feeds = make_feeds(package, file, session)
    want = session.run(None, feeds)
    got = pyasc.load(file).run(feeds)
    for output, expected in zip(session.get_outputs(), want, strict=True):
        result = np.asarray(got[output.name])
        assert result.shape == expected.shape and result.dtype == expected.dtype, output.name
        error = np.abs(result.astype(np.float64) - expected).max(initial=0)
        assert error <= 1e-4 * max(1.0, np.abs(expected).max(initial=0)), f"{output.name}: off by {error}"


def test_no_file_is_forgotten():
    counts = {}
    for package, _ in FILES:
        counts[package] = counts.get(package, 0) + 1
    assert counts == {"rapidocr_onnxruntime": 3, "silero_vad": 6, "magika": 1, "onnx": 9}
