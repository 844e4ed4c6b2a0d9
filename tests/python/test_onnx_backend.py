"""`pyasc.onnx_backend`: the interface onnx.backend.base.Backend. What it computes is tested in test_conformance.py."""

import subprocess
import sys
import unittest

import ml_dtypes
import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx.backend.base import Backend, BackendRep

import pyasc
from pyasc import onnx_backend

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
X = np.array([[-1, 2, 3]], np.float32)


def model_of(nodes, inputs, outputs, **graph):
    made = oh.make_graph(nodes, "test", inputs, outputs, **graph)
    return oh.make_model(made, opset_imports=[oh.make_opsetid("", 18)], ir_version=10)


def scaled(ir_version=10):
    """y = x * w, z = -x; w is an initializer and an input too."""
    nodes = [oh.make_node("Mul", ["x", "w"], ["y"]), oh.make_node("Neg", ["x"], ["z"])]
    ports = {name: oh.make_tensor_value_info(name, FLOAT, ["N", 3]) for name in "xyz"}
    w = onnx.numpy_helper.from_array(np.float32([2, 2, 2]), "w")
    model = model_of(
        nodes,
        [oh.make_tensor_value_info("w", FLOAT, [3]), ports["x"]],
        [ports["y"], ports["z"]],
        initializer=[w],
    )
    model.ir_version = ir_version
    return model


def test_the_classes():
    assert issubclass(onnx_backend.PyascBackend, Backend)
    assert isinstance(onnx_backend.prepare(scaled()), BackendRep)
    assert pyasc.onnx_backend is onnx_backend


def test_pyasc_does_not_need_onnx():
    code = "import sys, pyasc; assert 'onnx' not in sys.modules; pyasc.onnx_backend; assert 'onnx' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_devices():
    for device in ("CPU", "cpu", "CPU:0", "NPU", "NPU:0"):
        assert onnx_backend.supports_device(device)
        assert onnx_backend.run_model(scaled(), [X], device)[0].tolist() == [[-2, 4, 6]]
    for device in ("CUDA", "CUDA:1", "NPU:77", "TPU"):
        assert not onnx_backend.supports_device(device)
        with pytest.raises((pyasc.errors.DeviceError, pyasc.errors.InvalidArgumentError)):
            onnx_backend.prepare(scaled(), device)


@pytest.mark.parametrize("form", [lambda m: m, lambda m: m.SerializeToString()])
def test_outputs_have_places_and_names(form):
    outputs = onnx_backend.prepare(form(scaled())).run([X])
    assert isinstance(outputs, tuple) and len(outputs) == 2
    assert outputs[0].tolist() == outputs["y"].tolist() == outputs.y.tolist() == [[-2, 4, 6]]
    assert outputs[1].tolist() == [[1, -2, -3]]


def test_forms_of_inputs():
    rep = onnx_backend.prepare(scaled())
    for inputs in ([X], (X,), X, {"x": X}, {"x": X.tolist()}):
        assert rep.run(inputs)[0].tolist() == [[-2, 4, 6]]
    w = np.float32([1, 10, 100])
    # All inputs of the graph, in its order; by name in any.
    assert rep.run([w, X])[0].tolist() == [[-1, 20, 300]]
    assert rep.run({"x": X, "w": w})[0].tolist() == [[-1, 20, 300]]
    for inputs in ([], [w, X, X]):
        with pytest.raises(pyasc.errors.InvalidArgumentError):
            rep.run(inputs)
    with pytest.raises(TypeError, match="verbose"):
        rep.run([X], verbose=True)


def test_options():
    config = pyasc.CompileConfig(graph_opt_level=0)
    rep = onnx_backend.prepare(scaled(), threads=1, config=config)
    assert rep.model.summary()["graph_opt_level"] == 0 and rep.model.counter("threads") == 1
    onnx_backend.prepare(scaled(), rtol=1e-3, atol=1e-5)
    with pytest.raises(TypeError, match="level"):
        onnx_backend.prepare(scaled(), level=3)


def test_compatibility():
    x, y = (oh.make_tensor_value_info(name, FLOAT, [1]) for name in "xy")
    missing = model_of([oh.make_node("Nothing", ["x"], ["y"])], [x], [y])
    assert onnx_backend.is_compatible(scaled())
    assert not onnx_backend.is_compatible(missing)
    with pytest.raises(pyasc.errors.UnsupportedOperatorError):
        onnx_backend.prepare(missing)


def test_one_node():
    node = oh.make_node("Add", ["a", "b"], ["c"])
    assert onnx_backend.run_node(node, [X, X])[0].tolist() == [[-2, 4, 6]]
    assert onnx_backend.run_node(node, {"a": X, "b": X})["c"].tolist() == [[-2, 4, 6]]
    half = X.astype(ml_dtypes.bfloat16)
    assert onnx_backend.run_node(node, [half, half])[0].dtype == ml_dtypes.bfloat16
    # An input twice, an input and an output without a name.
    assert onnx_backend.run_node(oh.make_node("Mul", ["a", "a"], ["c"]), [X])[0].tolist() == [[1, 4, 9]]
    clipped = onnx_backend.run_node(oh.make_node("Clip", ["x", "", "max"], ["y"]), [X, np.float32(2)])
    assert clipped[0].tolist() == [[-1, 2, 2]]
    values, k = np.float32([3, 1, 2]), np.int64([2])
    indices = onnx_backend.run_node(oh.make_node("TopK", ["x", "k"], ["", "indices"]), [values, k])
    assert len(indices) == 1 and indices[0].tolist() == [0, 2]


def test_one_node_with_too_many_values_or_too_few():
    add = oh.make_node("Add", ["a", "b"], ["c"], name="sum")
    x = np.ones(2, np.float32)
    for inputs in ([], [x], [x, x, x], x):
        with pytest.raises(pyasc.errors.InvalidArgumentError, match="'sum' of Add takes 2 inputs"):
            onnx_backend.run_node(add, inputs)
    with pytest.raises(pyasc.errors.InvalidArgumentError, match=r"'sum' of Add has no value for its inputs \['b'\]"):
        onnx_backend.run_node(add, {"a": x})
    with pytest.raises(pyasc.errors.PyascError, match="no input 'z'"):
        onnx_backend.run_node(add, {"a": x, "b": x, "z": x})


def test_one_node_with_sequences_and_optionals():
    rows = [np.float32([1]), np.float32([2])]
    joined = onnx_backend.run_node(oh.make_node("ConcatFromSequence", ["s"], ["y"], axis=0), [rows])
    assert joined[0].tolist() == [1, 2]
    has = onnx_backend.run_node(oh.make_node("OptionalHasElement", ["o"], ["y"]), [None])
    assert has[0].item() is False


def test_one_node_of_an_old_version():
    # Before version 13, Softmax worked on the flattened rest.
    x = np.zeros((1, 2, 2), np.float32)
    node = oh.make_node("Softmax", ["x"], ["y"])
    assert onnx_backend.run_node(node, [x], opset_version=11)[0].ravel().tolist() == [0.25] * 4
    assert onnx_backend.run_node(node, [x])[0].ravel().tolist() == [0.5] * 4


def test_what_one_node_gives_may_be_declared():
    node = oh.make_node("Relu", ["x"], ["y"])
    assert onnx_backend.run_node(node, [X], outputs_info=[(np.float32, (1, 3))])[0].tolist() == [[0, 2, 3]]
    with pytest.raises(pyasc.errors.TypeMismatchError):
        onnx_backend.run_node(node, [X], outputs_info=[("number", (1, 3))])


def test_the_test_runner_of_onnx_takes_the_module():
    """As its documentation shows; the tests themselves are run by test_conformance.py."""
    import onnx.backend.test.runner as runner

    with pytest.MonkeyPatch.context() as patch:
        # Those of nodes take seconds to make.
        load = runner.load_model_tests
        patch.setattr(runner, "load_model_tests", lambda kind: load(kind=kind) if kind == "simple" else [])
        tests = onnx.backend.test.BackendTest(onnx_backend, __name__)
    tests.include("test_sequence_model.*|test_expand_shape_model.*|test_single_relu_model.*")
    result = unittest.TextTestRunner(verbosity=0).run(tests.test_suite)
    assert result.wasSuccessful() and result.testsRun == 46
    ran = result.testsRun - len(result.skipped)
    assert ran == 13, [reason for _, reason in result.skipped]
