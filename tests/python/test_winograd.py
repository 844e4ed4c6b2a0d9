"""Convolutions and products by Winograd's algorithms: where they are chosen, and that results are those of the direct ones.

Allowed is an error of 3e-5 of the largest output with it and of 1e-5 without; for whole models 5e-5 and 1e-5, beside
1e-4 relative.
"""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import pyasc
from tests import models


def net(channels, outputs, activation="Relu"):
    """Two 3x3 convolutions with a residual sum, on images of any size."""
    random = np.random.default_rng(channels)
    weights = {
        "w1": random.standard_normal((outputs, channels, 3, 3)) / np.sqrt(9 * channels),
        "b1": random.standard_normal(outputs),
        "w2": random.standard_normal((outputs, outputs, 3, 3)) / np.sqrt(9 * outputs),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
        helper.make_node(activation, ["c1"], ["a1"]),
        helper.make_node("Conv", ["a1", "w2"], ["c2"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "a1"], ["sum"]),
        helper.make_node(activation, ["sum"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", channels, "h", "w"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", outputs, "h", "w"])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def kernels(model, feeds):
    """The kernels of the convolutions and products of a run."""
    pyasc.profiler.start()
    model.run(feeds)
    pyasc.profiler.stop()
    steps = pyasc.profiler.report()["plans"][0]["steps"]
    return [step["kernel"] for step in steps if step["kernel"].startswith(("winograd", "onednn", "gemm"))]


def load(model, **options):
    return pyasc.load(model, config=pyasc.CompileConfig(**options))


def run_peer(model, feeds):
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feeds)


@pytest.mark.parametrize("winograd", [False, True])
@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("channels, outputs, activation", [(64, 64, "Relu"), (36, 52, "Sigmoid")])
def test_agrees_with_onnxruntime_at_every_level(channels, outputs, activation, level, winograd):
    model = net(channels, outputs, activation).SerializeToString()
    ours = load(model, graph_opt_level=level, winograd=winograd)
    for n, h, w in [(1, 14, 14), (2, 9, 30), (1, 5, 3), (1, 14, 14)]:
        x = np.random.default_rng(h).standard_normal((n, channels, h, w)).astype(np.float32)
        (want,) = run_peer(model, {"x": x})
        got = ours.run({"x": x})["y"]
        assert np.abs(got - want).max() <= (3e-5 if winograd else 1e-5) * np.abs(want).max()
        assert np.array_equal(ours.run({"x": x})["y"], got)


def test_is_chosen_where_it_is_faster_and_can_be_switched_off():
    x = np.zeros((1, 64, 28, 28), np.float32)
    for winograd in (True, False):
        model = load(net(64, 64).SerializeToString(), winograd=winograd)
        convolutions = kernels(model, {"x": x})
        assert all(kernel.startswith("winograd:f4x4") == winograd for kernel in convolutions), convolutions
        assert convolutions


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_spoils_no_other_windows(bad, threads):
    model = net(64, 64).SerializeToString()
    x = np.random.default_rng(0).standard_normal((1, 64, 20, 20)).astype(np.float32)
    clean = pyasc.load(model, threads=threads).run({"x": x})["y"]
    x[0, 5, 3, 16] = bad
    got = pyasc.load(model, threads=threads).run({"x": x})["y"]
    direct = pyasc.load(model, threads=threads, config=pyasc.CompileConfig(winograd=False)).run({"x": x})["y"]
    assert np.array_equal(np.isfinite(got), np.isfinite(direct))
    assert np.array_equal(np.isnan(got), np.isnan(direct))
    far = np.ones((20, 20), bool)
    far[1:6, 14:19] = False  # two convolutions reach two pixels
    np.testing.assert_allclose(got[..., far], clean[..., far], atol=3e-5 * np.abs(clean).max())


@pytest.mark.parametrize("threads", [1, 2])
def test_stays_as_saved(tmp_path, threads):
    x = np.random.default_rng(0).standard_normal((1, 64, 28, 28)).astype(np.float32)
    for winograd in (True, False):
        model = load(net(64, 64).SerializeToString(), threads=threads, winograd=winograd)
        want = model.run({"x": x})["y"]
        model.save(tmp_path / "net.om")
        again = pyasc.load(tmp_path / "net.om", threads=threads)
        assert np.array_equal(again.run({"x": x})["y"], want)
        assert any("winograd" in kernel for kernel in kernels(again, {"x": x})) == winograd


@pytest.mark.parametrize("winograd", [False, True])
@pytest.mark.parametrize("name", ["resnet50", "vgg19", "densenet121", "ocr_det"])
def test_models(name, winograd):
    path, feeds = str(models.path(name)), models.inputs(name)
    model = load(path, winograd=winograd)
    got = model.run(feeds)
    assert any("winograd" in kernel for kernel in kernels(model, feeds)) == winograd
    for ours, want in zip(got.values(), run_peer(path, feeds), strict=True):
        assert models.excess(ours, want, absolute_of_largest=5e-5 if winograd else 1e-5) <= 1


def test_sizes_that_want_three_forms_of_a_weight_make_do_with_two():
    file = net(256, 256).SerializeToString()
    model = load(file, threads=1)
    seen = {}
    for size in (28, 7, 1):
        x = np.random.default_rng(size).standard_normal((1, 256, size, size)).astype(np.float32)
        seen[size] = set(kernels(model, {"x": x}))
        (want,) = run_peer(file, {"x": x})
        assert np.abs(model.run({"x": x})["y"] - want).max() <= 3e-5 * np.abs(want).max()
    alone = load(file, threads=1)
    assert seen[28] == {"winograd:f4x4"} and seen[7] == {"winograd:f2x2"}
    assert all(kernel.startswith("winograd") for kernel in seen[1])
    assert all(kernel.startswith("onednn") for kernel in kernels(alone, {"x": x}))
    assert model.counter("forms_made") == 4


@pytest.mark.parametrize("winograd", [False, True])
def test_large_products_by_strassens_algorithm(winograd):
    weight = np.random.default_rng(1).standard_normal((256, 320), dtype=np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [128, 256])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [128, 320])],
        [numpy_helper.from_array(weight, "w")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model = load(proto.SerializeToString(), winograd=winograd)
    x = np.random.default_rng(2).standard_normal((128, 256), dtype=np.float32)
    assert kernels(model, {"x": x}) == ["gemm:strassen" if winograd else "gemm:matmul"]
    want = x.astype(np.float64) @ weight.astype(np.float64)
    assert np.abs(model.run({"x": x})["y"] - want).max() <= 3e-6 * np.abs(want).max()


@pytest.mark.parametrize("scale", [0, 1e-10, 1e3, 1e10])
def test_a_row_of_another_size_leaves_the_others_exact(scale):
    weight = np.random.default_rng(1).standard_normal((512, 512), dtype=np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [256, 512])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [256, 512])],
        [numpy_helper.from_array(weight, "w")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model = load(proto.SerializeToString(), winograd=True)
    x = np.random.default_rng(2).standard_normal((256, 512), dtype=np.float32)
    x[3] *= np.float32(scale)
    assert kernels(model, {"x": x}) == ["gemm:strassen"]
    want = x.astype(np.float64) @ weight.astype(np.float64)
    largest = np.abs(want).max(axis=1)
    assert (np.abs(model.run({"x": x})["y"] - want).max(axis=1) <= 3e-6 * largest).all()
