"""pyasc.onnx.export: what it takes, options, names, and what it refuses."""

import os
import pathlib

import numpy as np
import onnx
import onnx.helper as oh
import onnxruntime
import pytest

import pyasc

FLOAT = onnx.TensorProto.FLOAT


def checked(model):
    onnx.checker.check_model(model, full_check=True)
    return onnx.load_from_string(model)


def overridable_model():
    graph = oh.make_graph(
        [oh.make_node("Add", ["x", "bias"], ["y"], name="shift")],
        "net",
        [oh.make_tensor_value_info("x", FLOAT, ["N", 2]), oh.make_tensor_value_info("bias", FLOAT, [2])],
        [oh.make_tensor_value_info("y", FLOAT, ["N", 2])],
        [onnx.numpy_helper.from_array(np.ones(2, np.float32), "bias")],
    )
    model = oh.make_model(graph, opset_imports=[oh.make_opsetid("", 17)], ir_version=8)
    oh.set_model_props(model, {"author": "someone"})
    return model


def test_a_context_gives_what_it_has_built():
    with pyasc.Context() as ctx:
        x = ctx.input("x", shape=("N", 3))
        ctx.softmax(ctx.relu(x), dim=-1)
        model = checked(pyasc.onnx.export(ctx))
    assert [node.op_type for node in model.graph.node] == ["Relu", "Softmax"]
    assert [output.name for output in model.graph.output] == ["softmax_out"]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "N"
    assert model.graph.node[0].doc_string.startswith(os.path.basename(__file__)) or __file__ in model.graph.node[0].doc_string


def test_a_graph_gives_itself():
    with pyasc.Context() as ctx:
        ctx.output(ctx.exp(ctx.input("x", shape=(2,))), name="y")
        model = checked(pyasc.onnx.export(ctx.graph))
    assert [output.name for output in model.graph.output] == ["y"]


def test_a_model_gives_the_graph_that_was_loaded_or_the_optimized_one():
    proto = overridable_model()
    model = pyasc.load(proto)
    same = checked(pyasc.onnx.export(model))
    assert [node.name for node in same.graph.node] == ["shift"]
    assert same.metadata_props[0].value == "someone"
    assert [port.name for port in pyasc.load(pyasc.onnx.export(model)).overridable] == ["bias"]
    fixed = checked(pyasc.onnx.export(model, optimized=True))
    assert [value.name for value in fixed.graph.input] == ["x"]


def test_a_compiled_file_gives_the_optimized_graph(tmp_path):
    pyasc.load(overridable_model()).save(tmp_path / "net.om")
    model = checked(pyasc.onnx.export(pyasc.load(tmp_path / "net.om")))
    assert [value.name for value in model.graph.input] == ["x"]


def test_the_graph_stays_when_the_file_is_replaced(tmp_path):
    path = tmp_path / "net.onnx"
    onnx.save(overridable_model(), path)
    model = pyasc.load(path)
    path.unlink()
    path.write_bytes(b"something else")
    assert checked(pyasc.onnx.export(model)).graph.node[0].name == "shift"


def test_onnxruntime_runs_a_graph_of_fused_operators():
    rng = np.random.default_rng(5)
    weights = rng.standard_normal((4, 3, 3, 3), np.float32)
    image = rng.standard_normal((1, 3, 8, 8), np.float32)
    with pyasc.Context() as ctx:
        y = ctx.relu(ctx.conv2d(ctx.input("x", shape=(1, 3, 8, 8)), ctx.constant(weights), padding=1))
        ctx.output(y / ctx.reduce_max(y, axes=[1, 2, 3]) - 0.5, name="y")
        model = ctx.compile()
        want = model.run(image)["y"]
    optimized = pyasc.onnx.export(model, optimized=True)
    assert {node.domain for node in checked(optimized).graph.node} == {""}
    session = onnxruntime.InferenceSession(optimized, providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(["y"], {"x": image})[0], want, rtol=1e-4, atol=1e-5)


def test_a_file_with_weights_beside_it(tmp_path):
    weights = np.arange(4096, dtype=np.float32).reshape(64, 64)
    with pyasc.Context() as ctx:
        ctx.output(ctx.matmul(ctx.input("x", shape=(1, 64)), ctx.constant(weights, name="w")), name="y")
        assert pyasc.onnx.export(ctx, tmp_path / "inside.onnx") is None
        pyasc.onnx.export(ctx, tmp_path / "beside.onnx", external_data=True)
        pyasc.onnx.export(ctx, tmp_path / "small.onnx", external_data=1 << 20)
        with pytest.raises(pyasc.errors.InvalidArgumentError, match="needs a path"):
            pyasc.onnx.export(ctx, external_data=True)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["beside.onnx", "beside.onnx.data", "inside.onnx", "small.onnx"]
    onnx.checker.check_model(str(tmp_path / "beside.onnx"), full_check=True)
    x = np.ones((1, 64), np.float32)
    for name in ("inside.onnx", "beside.onnx"):
        session = onnxruntime.InferenceSession(str(tmp_path / name), providers=["CPUExecutionProvider"])
        assert np.array_equal(session.run(["y"], {"x": x})[0], x @ weights)
        assert np.array_equal(pyasc.load(tmp_path / name).run(x)["y"], x @ weights)


def test_opsets():
    with pyasc.Context() as ctx:
        ctx.gelu(ctx.input("x", shape=(2,)), name="act")
        assert checked(pyasc.onnx.export(ctx)).opset_import[0].version == 20
        assert checked(pyasc.onnx.export(ctx, opset=23)).opset_import[0].version == 23
        with pytest.raises(pyasc.errors.InvalidArgumentError, match="too old for Gelu.* came with opset 20") as caught:
            pyasc.onnx.export(ctx, opset=13)
        assert caught.value.node.startswith("act")
        with pytest.raises(pyasc.errors.InvalidArgumentError, match="13 to 28"):
            pyasc.onnx.export(ctx, opset=99)


def test_types_of_intermediate_values_may_stay_out():
    with pyasc.Context() as ctx:
        ctx.relu(ctx.exp(ctx.input("x", shape=(2,))))
        assert len(checked(pyasc.onnx.export(ctx)).graph.value_info) == 1
        assert not checked(pyasc.onnx.export(ctx, value_info=False)).graph.value_info


def test_name_clashes():
    with pyasc.Context() as ctx:
        x = ctx.input("x", shape=(2,))
        ctx.output(ctx.relu(x), name="x")
        with pytest.raises(pyasc.errors.InvalidArgumentError, match="name of an input") as caught:
            pyasc.onnx.export(ctx)
    assert caught.value.hint


def test_paths_that_cannot_be_written(tmp_path):
    with pyasc.Context() as ctx:
        ctx.relu(ctx.input("x", shape=(2,)))
        for path in (tmp_path / "nowhere" / "net.onnx", tmp_path):
            with pytest.raises(pyasc.errors.PyascError) as caught:
                pyasc.onnx.export(ctx, path)
            assert caught.value.code == "E5010"
            assert str(path) in str(caught.value)
        with pytest.raises(pyasc.errors.InvalidArgumentError, match="empty"):
            pyasc.onnx.export(ctx, "")
    assert list(tmp_path.iterdir()) == []
    assert not pathlib.Path(f"{tmp_path}.data").exists()


def test_what_is_no_file_stays(tmp_path):
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    with pyasc.Context() as ctx:
        ctx.matmul(ctx.input("x", shape=(1, 8)), ctx.constant(np.ones((8, 8), np.float32)))
        for path in (pipe, folder, f"{folder}/"):
            for external in (False, True):
                with pytest.raises(pyasc.errors.PyascError, match="expected a file") as caught:
                    pyasc.onnx.export(ctx, path, external_data=external)
                assert caught.value.code == "E5010"
        with pytest.raises(pyasc.errors.PyascError, match="expected a file"):
            ctx.compile().save(pipe)
    assert pipe.is_fifo() and folder.is_dir()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder", "pipe"]


def test_what_is_no_graph():
    with pytest.raises(pyasc.errors.TypeMismatchError, match="Graph, Model or Context"):
        pyasc.onnx.export("net.onnx")
    with pyasc.Context() as ctx:
        ctx.relu(ctx.input("x", shape=(2,)))
        with pytest.raises(pyasc.errors.InvalidArgumentError, match="not optimised"):
            pyasc.onnx.export(ctx, optimized=True)


def test_the_dump_has_a_model_for_every_pass(tmp_path):
    rng = np.random.default_rng(6)
    x = rng.standard_normal((1, 16, 8, 8), np.float32)
    with pyasc.Context(config=pyasc.CompileConfig(dump_path=str(tmp_path / "dump"))) as ctx:
        y = ctx.conv2d(ctx.input("x", shape=x.shape), ctx.constant(rng.standard_normal((16, 16, 3, 3), np.float32)))
        z = ctx.softmax(ctx.relu(y) * 2.0 + 1.0, dim=-1)
        ctx.output(ctx.matmul(z, ctx.constant(rng.standard_normal((6, 4), np.float32))), name="z")
        want = ctx.execute({"x": x})["z"]
    files = sorted((tmp_path / "dump").glob("*.onnx"))
    assert len(files) == len(list((tmp_path / "dump").glob("*.dot"))) > 2
    for file in files:
        checked(file.read_bytes())
        np.testing.assert_allclose(pyasc.load(file).run(x)["z"], want, rtol=1e-4, atol=1e-5)
