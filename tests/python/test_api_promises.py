"""What users are told of loading, building and errors and no other file here tests, sentence by sentence."""

import gc
import inspect
import logging
import re

import ml_dtypes
import numpy as np
import onnx
import onnx.helper as oh
import pytest

import pyasc
from pyasc import errors

FLOAT = onnx.TensorProto.FLOAT


def tensor(name, shape, dtype=FLOAT):
    return oh.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs, outputs, **graph):
    made = oh.make_graph(nodes, "test", inputs, outputs, **graph)
    return oh.make_model(made, opset_imports=[oh.make_opsetid("", 18)], ir_version=10)


def relu_model(shape=("N", 3)):
    return model_of([oh.make_node("Relu", ["x"], ["y"])], [tensor("x", shape)], [tensor("y", shape)])


# ---- loading and running ----


def test_the_default_is_the_host():
    assert pyasc.load(relu_model()).summary()["device"] == "cpu"
    with pyasc.Context() as ctx:
        assert ctx.device == "cpu"
        ctx.relu(ctx.input("x", (1,)))
        assert ctx.compile().summary()["device"] == "cpu"


def test_a_configuration_is_taken_at_load():
    for level in range(4):
        model = pyasc.load(relu_model(), config=pyasc.CompileConfig(graph_opt_level=level), threads=1)
        assert model.summary()["graph_opt_level"] == level
        assert model.counter("threads") == 1


def test_a_saved_model_is_mapped_and_not_compiled_again(tmp_path):
    weight = np.random.default_rng(0).standard_normal((256, 256)).astype(np.float32)
    nodes = [oh.make_node("MatMul", ["x", "w"], ["m"]), oh.make_node("Relu", ["m"], ["y"])]
    initializer = [onnx.numpy_helper.from_array(weight, "w")]
    model = pyasc.load(model_of(nodes, [tensor("x", ["N", 256])], [tensor("y", ["N", 256])], initializer=initializer))
    path = tmp_path / "saved.om"
    model.save(path)
    again = pyasc.load(path)
    assert str(path) in open("/proc/self/maps").read()
    assert model.pass_report() and again.pass_report() == {}
    assert again.graph.to_text() == model.graph.to_text()
    x = np.ones((2, 256), np.float32)
    assert again.run(x)["y"].tobytes() == model.run(x)["y"].tobytes()
    del again
    gc.collect()
    assert str(path) not in open("/proc/self/maps").read()


def test_an_optional_that_is_absent_comes_out_as_none():
    optional = oh.make_optional_type_proto(oh.make_tensor_type_proto(FLOAT, [2]))
    value = lambda name: oh.make_value_info(name, optional)
    model = pyasc.load(model_of([oh.make_node("Identity", ["x"], ["y"])], [value("x")], [value("y")]))
    assert model.run({"x": None})["y"] is None
    np.testing.assert_array_equal(model.run({"x": np.ones(2, np.float32)})["y"], [1, 1])


def test_sequences_of_strings_and_small_floats_come_out_as_they_went_in():
    for number, array in (
        (onnx.TensorProto.STRING, np.array(["a", "\u6f22"], object)),
        (onnx.TensorProto.BFLOAT16, np.array([1, 2], ml_dtypes.bfloat16)),
    ):
        value = lambda name: oh.make_tensor_sequence_value_info(name, number, None)
        model = pyasc.load(model_of([oh.make_node("Identity", ["x"], ["y"])], [value("x")], [value("y")]))
        (item,) = model.run({"x": [array]})["y"]
        assert item.dtype == array.dtype and item.tolist() == array.tolist()


@pytest.mark.parametrize("threads", [2**31, 2**63, 10**30])
def test_absurd_numbers_of_threads_are_capped(threads):
    assert pyasc.load(relu_model(), threads=threads).counter("threads") >= 1
    with pyasc.Context(threads=threads):
        pass


@pytest.mark.parametrize("threads", [-1, -(10**30)])
def test_negative_numbers_of_threads_are_refused(threads):
    with pytest.raises(errors.InvalidArgumentError, match="threads"):
        pyasc.load(relu_model(), threads=threads)


# ---- building ----


def test_the_graph_follows_what_is_built():
    with pyasc.Context() as ctx:
        graph = ctx.graph
        assert isinstance(graph, pyasc.Graph) and len(graph) == 0
        x = ctx.input("x", (1,))
        ctx.relu(x)
        assert len(graph) == 1 and [port.name for port in graph.inputs] == ["x"]
        ctx.output(x, name="same")
        assert [port.name for port in graph.outputs] == ["same"]


def test_settings_of_a_graph_that_are_not_there_are_refused():
    with pyasc.Context() as ctx:
        with pytest.raises(AttributeError):
            ctx.graph.pipeline_depth = 4
        with pytest.raises(errors.UnavailableError, match="Graph.config"):
            ctx.graph.config.pipeline_depth = 4


def test_values_of_a_destroyed_context_can_still_be_printed():
    with pyasc.Context() as ctx:
        x = ctx.input("x", (1,))
        assert repr(x) == "<pyasc.Value x: float32[1]>"
    assert repr(x) == "<pyasc.Value of a destroyed context>"


# ---- errors ----


def context():
    return pyasc.Context(threads=1)


def in_context(action):
    def call():
        with context() as ctx:
            x = ctx.input("x", (2, 3))
            return action(ctx, x)

    return call


def scale(ctx, x, **options):
    ctx.relu(x, name="r")
    return ctx.execute({"x": np.zeros((2, 3), np.float32)}, **options)


MISSPELT = {
    "operator": (in_context(lambda ctx, x: ctx.rellu(x)), "relu"),
    "function": (lambda: pyasc.ops.rellu, "relu"),
    "parameter": (in_context(lambda ctx, x: ctx.softmax(x, dimm=1)), "dim"),
    "input": (in_context(lambda ctx, x: (ctx.relu(x), ctx.execute({"xx": np.zeros(3)}))), "x"),
    "result": (in_context(lambda ctx, x: scale(ctx, x)["rr"]), "r"),
    "out": (in_context(lambda ctx, x: scale(ctx, x, out={"rr": np.zeros(1)})), "r"),
    "variable": (in_context(lambda ctx, x: (ctx.variable(np.zeros(1), "state"), ctx.relu(x), ctx.compile().get_variable("stat"))), "state"),
    "dtype": (in_context(lambda ctx, x: ctx.input("y", (1,), "folat32")), "float32"),
    "counter": (lambda: pyasc.load(relu_model()).counter("plans_mad"), "plans_made"),
    "option": (lambda: pyasc.CompileConfig(graph_opt_leve=1), "graph_opt_level"),
    "precision": (lambda: pyasc.CompileConfig(precision_mode="force_fp166"), "force_fp16"),
    "fusion": (lambda: pyasc.FusionScope().disable_fusion("Conv2d+BiasAd"), "Conv2d+BiasAdd"),
    "mode": (lambda: pyasc.FusionScope().set_mode("DEFALT"), "DEFAULT"),
    "layout": (lambda: pyasc.FusionScope().set_tensor_layout("x", "NCHWW"), "NCHW"),
    "pinned layout": (in_context(lambda ctx, x: ctx.conv2d_custom(x, x, expected_format="NHWCC")), "NHWC"),
    "log level": (lambda: pyasc.logging.set_level("WARNIN"), "WARNING"),
    "graph form": (in_context(lambda ctx, x: ctx.graph.print("txt")), "text"),
    "CANN": (lambda: pyasc.check_compatibility(cann="5.1.RC"), "5.1.RC2"),
    "operator of a file": (
        lambda: pyasc.load(model_of([oh.make_node("Rellu", ["x"], ["y"])], [tensor("x", [1])], [tensor("y", [1])])),
        "Relu",
    ),
    "value of a file": (
        lambda: pyasc.load(model_of([oh.make_node("Relu", ["data_"], ["y"])], [tensor("data", [1])], [tensor("y", [1])])),
        "data",
    ),
}


@pytest.mark.parametrize("what", MISSPELT)
def test_misspelt_names_are_refused_with_the_nearest(what):
    action, nearest = MISSPELT[what]
    with pytest.raises(errors.PyascError) as raised:
        action()
    assert raised.value.hint == f"did you mean '{nearest}'?"
    assert re.fullmatch(r"E5\d{3}", raised.value.code)


# What was given, what was expected, and the node of the user's graph where there is one.
SAID = {
    "broadcast": (in_context(lambda ctx, x: ctx.add(x, np.zeros((4, 5), np.float32), name="sum")), "E5001", "sum", ("[2, 3]", "[4, 5]")),
    "feed": (
        in_context(lambda ctx, x: (ctx.relu(x), ctx.execute({"x": np.zeros((2, 4), np.float32)}))),
        "E5001",
        "",
        ("[2, 3]", "[2, 4]"),
    ),
    "dtype": (
        in_context(lambda ctx, x: (ctx.relu(x), ctx.execute({"x": np.zeros((2, 3))}))),
        "E5002",
        "",
        ("float32", "float64"),
    ),
    "attribute": (in_context(lambda ctx, x: ctx.softmax(x, dim=2, name="soft")), "E5003", "soft", ("2",)),
    "index": (
        in_context(
            lambda ctx, x: (
                ctx.gather(x, ctx.input("i", ("K",), "int64"), axis=0, name="pick"),
                ctx.execute({"x": np.zeros((2, 3), np.float32), "i": np.array([5])}),
            )
        ),
        "E5007",
        "pick",
        ("5", "2"),
    ),
    "layout": (
        in_context(lambda ctx, x: ctx.conv2d_custom(ctx.input("i", (1, 3, 8, 8)), np.zeros((1, 3, 1, 1), np.float32), expected_format="NHWC", name="pinned")),
        "E5008",
        "pinned",
        ("NHWC", "NCHW"),
    ),
    "file": (lambda: pyasc.load("nowhere.onnx"), "E5010", "", ("nowhere.onnx",)),
    "device": (lambda: pyasc.Context("npu:9"), "E5020", "", ("npu:9",)),
    "operator": (
        lambda: pyasc.load(model_of([oh.make_node("Rel", ["x"], ["y"], name="first")], [tensor("x", [1])], [tensor("y", [1])])),
        "E5033",
        "first",
        ("Rel",),
    ),
}


@pytest.mark.parametrize("what", SAID)
def test_errors_say_node_given_and_expected(what):
    action, code, node, words = SAID[what]
    with pytest.raises(errors.PyascError) as raised:
        action()
    error = raised.value
    assert error.code == code
    assert error.node.startswith(node) if node else error.node == ""
    assert all(word in error.message for word in words), error.message
    assert error.hint and str(error).startswith(code)


def test_an_error_in_a_run_names_the_users_node_through_fusions():
    with context() as ctx:
        x = ctx.input("x", (1, 2, 4, 4))
        index = ctx.input("i", ("K",), dtype="int64")
        y = ctx.relu(ctx.conv2d(x, np.ones((3, 2, 1, 1), np.float32), name="stem"))
        ctx.gather(y, index, axis=1, name="pick")
        with pytest.raises(errors.OutOfRangeError) as raised:
            ctx.execute({"x": np.ones((1, 2, 4, 4), np.float32), "i": np.array([7])})
        assert raised.value.node.startswith("pick (test_api_promises.py:")


def test_what_is_refused_leaves_everything_as_it_was():
    with context() as ctx:
        x = ctx.input("x", (2, 3))
        ctx.relu(x)
        before = ctx.graph.to_text()
        for wrong in (lambda: ctx.add(x, np.zeros((4, 5), np.float32)), lambda: ctx.concat([x, 1.0, object()], dim=0), lambda: ctx.softmax(x, dim=7), lambda: ctx.rellu(x)):
            with pytest.raises(errors.PyascError):
                wrong()
        assert ctx.graph.to_text() == before
        assert set(ctx.execute({"x": np.zeros((2, 3), np.float32)})) == {"relu_out"}


# ---- logs, documentation ----


def test_messages_of_the_engine_reach_pythons_logging(caplog):
    """Found shapes win over declared ones, with a warning."""
    model = relu_model((2, 3))
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 7
    with caplog.at_level(logging.INFO, logger="pyasc"):
        pyasc.load(model)
    (record,) = [each for each in caplog.records if each.name == "pyasc" and "'y'" in each.getMessage()]
    assert record.levelno == logging.WARNING and "[7, 3]" in record.getMessage()
    caplog.clear()
    pyasc.logging.set_level(pyasc.logging.OFF)
    try:
        pyasc.load(model)
    finally:
        pyasc.logging.set_level(pyasc.logging.WARNING)
    assert not caplog.records


@pytest.mark.parametrize("module", [pyasc, pyasc.device, pyasc.errors, pyasc.logging, pyasc.testing])
def test_everything_public_is_documented(module):
    assert inspect.getdoc(module)
    for name in module.__all__:
        thing = getattr(module, name)
        if callable(thing) or inspect.ismodule(thing):
            assert inspect.getdoc(thing), name
        if inspect.isclass(thing):
            for key, member in vars(thing).items():
                if not key.startswith("_") and (callable(member) or isinstance(member, property)):
                    assert inspect.getdoc(member), f"{name}.{key}"


def written_here(module):
    """Public functions, methods and properties of a module, without those that come from the registry."""
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing):
            for key, member in vars(thing).items():
                function = member.fget if isinstance(member, property) else member
                if inspect.isfunction(function) and (key == "__init__" or not key.startswith("_")):
                    yield f"{name}.{key}", function


@pytest.mark.parametrize("module", [pyasc, pyasc.device, pyasc.logging, pyasc.testing])
def test_everything_public_is_typed(module):
    """Operators are typed by generated stubs."""
    for name, function in written_here(module):
        signature = inspect.signature(function)
        untyped = [
            key for key, each in signature.parameters.items() if each.annotation is each.empty and key != "self"
        ]
        assert not untyped and signature.return_annotation is not signature.empty, f"{name}: {untyped}"
