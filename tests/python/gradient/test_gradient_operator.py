"""Gradient of ai.onnx.preview.training: which part of the graph it differentiates, where, and what it refuses (docs/decisions/0014-gradient.md)."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import engines
from gradient.gradient_oracle import TRAINING, gradient_node, training_model
from oracle import assert_load_refused, assert_same, f64, levels, make_graph, node, parse_nodes, random

A, B, C = (random((2, 3), f64, name) for name in "abc")


def run(nodes, feeds, outputs, level, **options):
    return engines.load(training_model(nodes, feeds, outputs, **options), level).run(feeds)


@levels
def test_gradient_of_each_variable(level):
    nodes = [*parse_nodes("h = Mul(a, b); y = Mul(h, a)"), gradient_node("ab", "y", ["da", "db"])]
    got = run(nodes, {"a": A, "b": B}, ["y", "da", "db"], level)
    assert_same(got, {"y": A * A * B, "da": 2 * A * B, "db": A * A})


@levels
def test_y_may_be_a_variable_and_need_no_variable(level):
    nodes = [*parse_nodes("y = Mul(a, a)"), gradient_node("ab", "y", ["da", "db"]), gradient_node("a", "a", ["one"])]
    got = run(nodes, {"a": A, "b": B[0]}, ["da", "db", "one"], level)
    assert_same(got, {"da": 2 * A, "db": np.zeros(3), "one": np.ones_like(A)})


@levels
def test_outputs_may_be_left_out(level):
    nodes = [*parse_nodes("h = Mul(a, b); y = Mul(h, c)"), gradient_node("abc", "y", ["", "db"])]
    assert_same(run(nodes, {"a": A, "b": B, "c": C}, ["db"], level), {"db": A * C})


@levels
def test_zs_are_constants(level):
    """Nothing is looked at behind zs: z is made from a, and stays as it is."""
    nodes = [*parse_nodes("z = Mul(a, a); y = Mul(z, a)"), gradient_node("a", "y", ["da"], zs="z"), gradient_node("a", "y", ["whole"])]
    assert_same(run(nodes, {"a": A}, ["da", "whole"], level), {"da": A * A, "whole": 3 * A * A})


@levels
def test_intermediate_values(level):
    """dy/dh, and both h and what it is made from as if they were independent."""
    nodes = [*parse_nodes("h = Exp(a); k = Mul(h, h); y = Mul(k, a)"), gradient_node("h", "y", ["dh"]), gradient_node("ah", "y", ["da", "dh2"])]
    h = np.exp(A)
    assert_same(run(nodes, {"a": A}, ["dh", "da", "dh2"], level), {"dh": 2 * h * A, "da": h * h, "dh2": 2 * h * A})


@levels
def test_values_at_which_the_gradient_is_taken(level):
    """Inputs that are not the named tensors: what leads to y is computed again with them, and y stays what it was."""
    nodes = [*parse_nodes("h = Mul(a, a); y = Mul(h, b)"), gradient_node("ab", "y", ["da", "db"], inputs="cb"), gradient_node("a", "y", ["dk"], inputs="k", zs="")]
    nodes = [*parse_nodes("k = Neg(a)"), *nodes]
    got = run(nodes, {"a": A, "b": B, "c": C}, ["y", "da", "db", "dk"], level)
    assert_same(got, {"y": A * A * B, "da": 2 * C * B, "db": C * C, "dk": -2 * A * B})


@levels
def test_one_tensor_for_two_variables(level):
    nodes = [*parse_nodes("y = Mul(a, b)"), gradient_node("ab", "y", ["da", "db"], inputs="cc"), gradient_node("ab", "y", ["ea", "eb"], inputs="ba")]
    got = run(nodes, {"a": A, "b": B, "c": C}, ["da", "db", "ea", "eb"], level)
    assert_same(got, {"da": C, "db": C, "ea": A, "eb": B})


@levels
def test_a_value_fed_at_an_intermediate_tensor(level):
    """The example of ONNX's text: the gradient with respect to H where H is H_1."""
    feeds = {"x": random((1, 2, 4, 4), f64), "w": random((3, 2, 3, 3), f64), "h1": random((1, 3, 2, 2), f64), "z": random((2, 5), f64)}
    nodes = [*parse_nodes("h = Conv(x, w); y = MatMul(h, z)"), gradient_node(["h", "z"], "y", ["dh", "dz"], inputs=["h1", "z"])]
    got = run(nodes, feeds, ["dh", "dz"], level)
    rows = feeds["h1"].reshape(-1, 2)
    assert_same(got, {"dh": np.broadcast_to(feeds["z"].sum(1), (1, 3, 2, 2)), "dz": rows.T @ np.ones((6, 5))})


@levels
def test_gradients_of_gradients(level):
    nodes = [
        *parse_nodes("h = Mul(a, a); k = Mul(h, a); y = Mul(k, b)"),
        gradient_node("ab", "y", ["da", "db"]),
        gradient_node("ab", "da", ["daa", "dab"]),
        gradient_node("a", "daa", ["daaa"]),
        gradient_node("a", "daaa", ["daaaa"]),
    ]
    got = run(nodes, {"a": A, "b": B}, ["daa", "dab", "daaa", "daaaa"], level)
    assert_same(got, {"daa": 6 * A * B, "dab": 3 * A * A, "daaa": 6 * B, "daaaa": np.zeros_like(A)})


@levels
def test_initializers_are_variables_too(level):
    nodes = [*parse_nodes("y = Mul(a, w)"), gradient_node("w", "y", ["dw"]), gradient_node("w", "y", ["dv"], zs="a")]
    got = run(nodes, {"a": A}, ["dw", "dv"], level, initializers={"w": B[0]})
    assert_same(got, {"dw": A.sum(0), "dv": A.sum(0)})


def test_nodes_may_come_in_any_order():
    nodes = [gradient_node("a", "y", ["da"]), *parse_nodes("y = Mul(a, a)")]
    assert_same(run(nodes, {"a": A}, ["da"], 3), {"da": 2 * A})


@levels
def test_in_a_function(level):
    """The names are those of the function's own graph."""
    opsets = [helper.make_opsetid("", 28), helper.make_opsetid(TRAINING, 1)]
    body = [*parse_nodes("y = Mul(p, q)"), gradient_node("pq", "y", ["dp", "dq"])]
    function = helper.make_function("own", "Product", ["p", "q"], ["y", "dp", "dq"], body, opsets)
    calls = [node("Product", "a,b", "y,da,db", domain="own"), node("Product", "y,c", "t,dy,dc", domain="own")]
    got = run(calls, {"a": A, "b": B, "c": C}, ["y", "da", "db", "t", "dy", "dc"], level, functions=[function])
    assert_same(got, {"y": A * B, "da": B, "db": A, "t": A * B * C, "dy": C, "dc": A * B})


def branch(nodes, output="out"):
    return make_graph(nodes, {}, {output: TensorProto.DOUBLE}, name="branch")


def conditional(then_nodes, else_nodes=None):
    otherwise = else_nodes or parse_nodes("out = Neg(a)")
    return helper.make_node("If", ["t"], ["d"], name="if", then_branch=branch(then_nodes), else_branch=branch(otherwise))


@levels
def test_in_a_branch(level):
    """y in the branch, variables from the graph around."""
    nodes = [conditional([*parse_nodes("y = Mul(a, b)"), gradient_node("ab", "y", ["out"])])]
    for taken in (True, False):
        got = run(nodes, {"a": A, "b": B, "t": np.array(taken)}, ["d"], level)
        assert_same(got, {"d": B if taken else -A})


@levels
def test_a_value_of_the_graph_around_may_be_a_variable(level):
    inside = [*parse_nodes("y = Mul(h, h)"), gradient_node("h", "y", ["out"])]
    got = run([*parse_nodes("h = Exp(a)"), conditional(inside)], {"a": A, "t": np.array(True)}, ["d"], level)
    assert_same(got, {"d": 2 * np.exp(A)})


@levels
def test_descent_in_a_loop(level):
    """Each turn of the loop is a step: (w - a)^2 comes to its least."""
    body = make_graph(
        [
            *parse_nodes("e = Sub(w, a); s = Mul(e, e)"),
            gradient_node("w", "s", ["dw"], zs="a"),
            *parse_nodes("step = Mul(dw, rate); next = Sub(w, step); go = Identity(c)"),
        ],
        {"i": (np.dtype(np.int64), ()), "c": (np.dtype(bool), ()), "w": None},
        {"go": np.dtype(bool), "next": f64},
        name="body",
    )
    nodes = [helper.make_node("Loop", ["turns", "", "b"], ["d"], name="loop", body=body)]
    feeds = {"a": A, "b": B, "turns": np.array(80), "rate": np.array(0.2)}
    assert_same(run(nodes, feeds, ["d"], level), {"d": A})


def test_a_way_through_the_graph_around_is_refused():
    outer = parse_nodes("h = Exp(a)")
    inside = [*parse_nodes("y = Mul(h, a)"), gradient_node("a", "y", ["out"])]
    model = training_model([*outer, conditional(inside)], {"a": A, "t": np.array(True)}, ["d"])
    assert_load_refused(model, code="E5033", words=["'h'", "Gradient"])
    inside = [gradient_node("a", "h", ["out"])]
    model = training_model([*outer, conditional(inside)], {"a": A, "t": np.array(True)}, ["d"])
    assert_load_refused(model, code="E5033", words=["'h'"])


@levels
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_other_types(dtype, level):
    kind = {"float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16, "float32": TensorProto.FLOAT}[dtype]
    nodes = [
        helper.make_node("Cast", ["a"], ["x"], to=kind),
        *parse_nodes("h = Tanh(x); k = MatMul(h, x); s = Softmax(k); y = ReduceMean(s)"),
        *parse_nodes("n = LayerNormalization(x, w); z = Mul(n, n)"),
        gradient_node("x", "z", ["dx"]),
        helper.make_node("Cast", ["dx"], ["d"], to=TensorProto.DOUBLE),
        gradient_node("x", "y", ["ex"]),
        helper.make_node("Cast", ["ex"], ["e"], to=TensorProto.DOUBLE),
        helper.make_node("Cast", ["v"], ["w"], to=kind),
    ]
    nodes.insert(0, nodes.pop())
    feeds = {"a": random((3, 3), f64), "v": random((3,), f64)}
    got = run(nodes, feeds, ["d", "e"], level)
    wide = run([*parse_nodes("n = LayerNormalization(a, v); z = Mul(n, n)"), gradient_node("a", "z", ["d"])], feeds, ["d"], level)
    np.testing.assert_allclose(got["d"], wide["d"], atol={"float16": 2e-2, "bfloat16": 0.2, "float32": 1e-5}[dtype])
    np.testing.assert_allclose(got["e"], 0, atol=1e-2)  # the sum of a softmax does not change


# ---- what is refused -------------------------------------------------------------------------------------------------------


def refused(nodes, gradient, code, words, feeds=None):
    nodes = parse_nodes(nodes) if nodes else []
    model = training_model([*nodes, gradient], feeds or {"a": A, "b": B}, ["da"])
    return assert_load_refused(model, code=code, words=words)


def test_refuses_names_that_nothing_makes():
    refused("y = Mul(a, b)", gradient_node("a", "z", ["da"]), "E5005", ["gradient_of_z", "'z'"])
    refused("y = Mul(a, b)", gradient_node(["c"], "y", ["da"], inputs="a"), "E5005", ["'c'"])
    refused("y = Mul(a, b)", gradient_node("a", "y", ["da"], inputs="c"), "E5005", ["'c'"])


def test_refuses_wrong_counts():
    refused("y = Mul(a, b)", gradient_node("ab", "y", ["da"], inputs="a"), "E5003", ["2", "1"])
    refused("y = Mul(a, b)", gradient_node("a", "y", ["da", "db"]), "E5003", ["1", "2"])
    refused("y = Mul(a, b)", gradient_node("a", "y", ["da"], zs="a", inputs="ab"), "E5003", ["'a'", "twice"])
    refused("y = Mul(a, b)", gradient_node("ab", "y", ["da"], inputs=["a", ""]), "E5003", ["'b'"])


def test_refuses_wrong_attributes():
    def gradient(**attributes):
        return helper.make_node("Gradient", ["a"], ["da"], name="g", domain=TRAINING, **attributes)

    refused("y = Mul(a, b)", gradient(xs=["a"]), "E5003", ["'y'"])
    refused("y = Mul(a, b)", gradient(y="y"), "E5003", ["'xs'"])
    refused("y = Mul(a, b)", gradient(xs="a", y="y"), "E5003", ["'xs'"])
    refused("y = Mul(a, b)", gradient(xs=["a"], y="y", order=2), "E5003", ["'order'"])


def test_refuses_integers():
    ints = {"a": np.arange(3), "b": np.arange(3)}
    refused("y = Mul(a, b)", gradient_node("a", "y", ["da"]), "E5002", ["'y'", "int64"], ints)
    refused("c = Cast<to=11>(a); y = Mul(c, c)", gradient_node("a", "y", ["da"]), "E5002", ["'a'", "int64"], ints)


def test_refuses_operators_without_a_gradient():
    error = refused("h = Det(a); y = Mul(h, h)", gradient_node("a", "y", ["da"]), "E5033", ["Det", "gradient"], {"a": np.eye(3)})
    assert "det_h" in error.node
    refused('y = ScatterElements<reduction="mul">(a, i, b)', gradient_node("a", "y", ["da"]), "E5033", ["ScatterElements", "mul"],
            {"a": A, "b": B, "i": np.zeros((2, 3), np.int64)})
    refused("h = SequenceConstruct(a, b); y = ConcatFromSequence<axis=0>(h)", gradient_node("a", "y", ["da"]), "E5033", ["Sequence"])


def test_an_operator_without_a_gradient_beside_the_way_does_no_harm():
    nodes = [*parse_nodes("h = Det(b); k = Mul(a, h); y = Mul(k, a)"), gradient_node("a", "y", ["da"])]
    square = random((3, 3), f64)
    assert_same(run(nodes, {"a": A, "b": square}, ["da"], 3), {"da": 2 * A * np.linalg.det(square)}, 1e-9)


def test_results_keep_the_names_of_the_model():
    nodes = [*parse_nodes("y = Mul(a, a)"), gradient_node("a", "y", ["da"]), *parse_nodes("s = ReduceSum(da)")]
    model = training_model(nodes, {"a": A}, ["s", "da"])
    loaded = engines.load(model, 3)
    assert set(loaded.run({"a": A})) == {"s", "da"}


NETWORK = """
    c = Conv<pads=[1, 1, 1, 1]>(x, w); n = BatchNormalization(c, s, b, m, v); r = Relu(n); p = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(r);
    f = Flatten(p); h = Gemm<transB=1>(f, u, t); y = SoftmaxCrossEntropyLoss(h, l)
"""


def network(dtype, batch):
    """A small classifier: its nodes, its inputs, and the parameters that are trained."""
    parameters = {
        "w": (4, 2, 3, 3), "s": (4,), "b": (4,), "m": (4,), "v": (4,), "u": (3, 36), "t": (3,),
    }  # fmt: skip
    feeds = {name: random(shape, dtype, name, low=0.2, high=0.5) for name, shape in parameters.items()}
    feeds["x"] = random((batch, 2, 6, 6), dtype)
    feeds["l"] = random((batch,), np.int64, low=0, high=3)
    xs = ["w", "s", "b", "u", "t"]
    return [*parse_nodes(NETWORK), gradient_node(xs, "y", [f"d{x}" for x in xs], zs=["x", "m", "v", "l"])], feeds, xs


@pytest.mark.parametrize("is_open", [False, True], ids=["static", "open"])
@pytest.mark.parametrize("optimized", [False, True])
def test_exported_gradients_run_elsewhere(optimized, is_open):
    """What the operator became goes out as ordinary operators, which ONNX Runtime runs."""
    import pyasc

    nodes, feeds, xs = network(np.float32, 3)
    specs = {name: (value.dtype, ["N", *value.shape[1:]]) if is_open and name in "xl" else value for name, value in feeds.items()}
    graph = make_graph(nodes, specs, {name: (np.dtype(np.float32), feeds[name[1:]].shape) for name in map("d{}".format, xs)})
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(TRAINING, 1)], ir_version=9)
    loaded = pyasc.load(model)
    exported = pyasc.onnx.export(loaded, optimized=optimized)
    onnx.checker.check_model(exported, full_check=True)
    assert {opset.domain for opset in onnx.load_from_string(exported).opset_import} == {""}
    want = loaded.run(feeds)
    assert_same(pyasc.load(exported).run(feeds), want, 1e-5)
    session = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"])
    got = dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds), strict=True))
    assert_same(got, want, 1e-4, 1e-5)


@levels
def test_training_by_momentum_makes_the_loss_smaller(level):
    """Gradient and an optimiser's operator in one model: a step of training is a run."""
    nodes, feeds, xs = network(np.float32, 16)
    states = {f"v_{x}": np.zeros_like(feeds[x]) for x in xs}
    groups = [xs, [f"d{x}" for x in xs], list(states)]
    outputs = [f"new_{name}" for name in (*xs, *states)]
    step = helper.make_node("Momentum", ["rate", "count", *sum(groups, [])], outputs, name="step", domain=TRAINING,
                            alpha=0.9, beta=1.0, mode="standard", norm_coefficient=0.0)
    feeds |= {"rate": np.float32(0.05), "count": np.int64(0), **states}
    graph = make_graph([*nodes, step], feeds, dict.fromkeys(["y", *outputs], np.dtype(np.float32)))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(TRAINING, 1)], ir_version=9)
    loaded = engines.load(model, level)
    losses = []
    for _ in range(60):
        got = loaded.run(feeds)
        losses.append(float(got["y"]))
        feeds |= {name.removeprefix("new_"): got[name] for name in outputs}
    assert losses[-1] < 0.3 * losses[0], losses
