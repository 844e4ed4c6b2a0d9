"""Every model of ONNX's own test suite goes out and comes back: same names, same outputs to the bit, good for the checker and,
where it ran the original, for ONNX Runtime.
"""

import collections
import functools
import glob
import os
import warnings

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

import pyasc

# (kind, how many models at least).
KINDS = [("node", 1880), ("simple", 23), ("pytorch-operator", 35), ("pytorch-converted", 82)]
PROTOS = {"tensor_type": onnx.TensorProto, "sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}


@functools.cache
def cases(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_model_tests(kind=kind)


def read_value(path, value_info):
    proto = PROTOS[value_info.type.WhichOneof("value")]()
    with open(path, "rb") as file:
        proto.ParseFromString(file.read())
    return proto


def to_value(proto):
    if isinstance(proto, onnx.TensorProto):
        return numpy_helper.to_array(proto)
    if isinstance(proto, onnx.SequenceProto):
        return numpy_helper.to_list(proto)
    if isinstance(proto, onnx.OptionalProto):
        return numpy_helper.to_optional(proto)
    return proto


def model_and_feeds(case):
    model = case.model if case.model is not None else onnx.load(os.path.join(case.model_dir, "model.onnx"))
    if case.data_sets:
        given = case.data_sets[0][0]
    else:
        folder = sorted(glob.glob(os.path.join(case.model_dir, "test_data_set_*")))[0]
        paths = [os.path.join(folder, f"input_{i}.pb") for i in range(len(model.graph.input))]
        given = [read_value(path, info) for path, info in zip(paths, model.graph.input) if os.path.exists(path)]
    return model, {info.name: to_value(proto) for info, proto in zip(model.graph.input, given)}


def bits(value):
    if isinstance(value, list):
        return [bits(item) for item in value]
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    if not isinstance(value, np.ndarray):
        return value
    content = value.tolist() if value.dtype == object else value.tobytes()
    return value.dtype, value.shape, content


def peer_outputs(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def is_close(got, want):
    if isinstance(want, list):
        return len(got) == len(want) and all(map(is_close, got, want))
    if want is None or not isinstance(want, np.ndarray) or want.dtype == object:
        return np.array_equal(got, want)
    return np.allclose(got.astype(np.float64), want.astype(np.float64), rtol=1e-3, atol=1e-4, equal_nan=True)


def is_good(model):
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return str(error)
    return ""


def ports(model):
    return [[(port.name, port.dtype) for port in side] for side in (model.inputs, model.outputs, model.overridable)]


def round_trip(case, seen):
    """What is wrong with the case's model once it is exported."""
    proto, feeds = model_and_feeds(case)
    original = proto.SerializeToString()
    try:
        model = pyasc.load(original, threads=1)
        want = model.run(feeds)
    except pyasc.errors.PyascError:
        return  # nothing to compare with: other tests count what loads
    seen["models"] += 1
    exported = pyasc.onnx.export(model)
    again = pyasc.load(exported, threads=1)
    if ports(again) != ports(model):
        yield "inputs or outputs differ"
    if bits(again.run(feeds)) != bits(want):
        yield "outputs differ"
    refusal = is_good(exported)
    if refusal and not is_good(original):
        yield refusal
    try:
        peer = peer_outputs(original, feeds)
    except Exception:  # noqa: BLE001: whatever it lacks
        return
    seen["peer"] += 1
    if not is_close(peer_outputs(exported, feeds), peer):
        yield "ONNX Runtime's outputs differ"


@pytest.mark.parametrize(("kind", "least"), KINDS)
def test_models_come_back_the_same(kind, least):
    wrong, seen = [], collections.Counter()
    for case in cases(kind):
        try:
            wrong += [f"{case.name}: {what}" for what in round_trip(case, seen)]
        except Exception as error:  # noqa: BLE001: a test case of its own
            wrong.append(f"{case.name}: {type(error).__name__}: {error}")
    print(f"{kind}: {seen['models']} models, {seen['peer']} of them in ONNX Runtime")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:20])
    assert seen["models"] >= least
