"""Models that bend the letter of the specification, ask for more than there is, or call functions without end."""

import numpy as np
import pytest
from onnx import helper

import engines
from cases.hostile_parts import BRANCH, COND, X, changed, model_of
from oracle import (
    assert_load_or_run_refused,
    assert_load_refused,
    assert_same,
    f32,
    i64,
    levels,
    make_graph,
    node,
    parse_nodes,
    random,
    run,
)

# Broken to the letter of the specification, harmless to us: a right answer or a clear refusal.
EITHER = {
    "operator-newer-than-the-opset": (
        model_of("y = Swish(x)", opset=18),
        lambda x: (x / (1 + np.exp(-x))).astype(f32),
    ),
    "ir-version-missing": (
        changed(model_of("y = Neg(x)"), lambda m: m.ClearField("ir_version")),
        lambda x: -x,
    ),
    "nodes-out-of-order": (model_of("y = Neg(a); a = Relu(x)"), lambda x: -np.maximum(x, 0)),
    "output-shape-contradicted": (model_of("y = Relu(x)", outputs={"y": (f32, (3,))}), lambda x: np.maximum(x, 0)),
    "inner-shape-contradicted": (
        changed(
            model_of("a = Relu(x); y = Neg(a)"),
            lambda m: m.graph.value_info.add().CopyFrom(helper.make_tensor_value_info("a", 1, (7,))),
        ),
        lambda x: -np.maximum(x, 0),
    ),
    "inner-value-without-type": (
        changed(model_of("a = Relu(x); y = Neg(a)"), lambda m: m.graph.value_info.add(name="a")),
        lambda x: -np.maximum(x, 0),
    ),
    "value-info-for-nothing": (
        changed(
            model_of("y = Neg(x)"),
            lambda m: m.graph.value_info.add().CopyFrom(helper.make_tensor_value_info("ghost", 1, (7,))),
        ),
        lambda x: -x,
    ),
    "branch-shadows-an-outer-name": (
        model_of(
            [
                node(
                    "If",
                    "c",
                    "y",
                    then_branch=make_graph(parse_nodes("x = Identity(k); r = Neg(x)"), {}, {"r": f32}),
                    else_branch=BRANCH,
                )
            ],
            COND,
            weights={"k": np.ones(2, f32)},
        ),
        lambda x: -np.ones(2, f32),
    ),
    "same-node-name-twice": (
        model_of([node("Relu", "x", "a", name="n"), node("Neg", "a", "y", name="n")]),
        lambda x: -np.maximum(x, 0),
    ),
    "no-node-names": (
        changed(model_of("a = Relu(x); y = Neg(a)"), lambda m: [n.ClearField("name") for n in m.graph.node]),
        lambda x: -np.maximum(x, 0),
    ),
    "input-dimension-negative": (model_of("y = Neg(x)", {"x": (f32, (-1,))}), lambda x: -x),
    "output-twice": (
        changed(model_of("y = Neg(x)"), lambda m: m.graph.output.add().CopyFrom(m.graph.output[0])),
        lambda x: -x,
    ),
    "initializer-without-name": (
        changed(
            model_of("y = Neg(x)", weights={"k": np.ones(2, f32)}), lambda m: m.graph.initializer[0].ClearField("name")
        ),
        lambda x: -x,
    ),
    "graph-without-name": (changed(model_of("y = Neg(x)"), lambda m: m.graph.ClearField("name")), lambda x: -x),
    "names-of-every-kind": (
        changed(
            model_of([node("Relu", "x", "a b/c:0\n\u00e9", name="\u4e2d"), node("Neg", "a b/c:0\n\u00e9", "y")]),
            lambda m: None,
        ),
        lambda x: -np.maximum(x, 0),
    ),
    "unused-initializer-of-any-size": (
        model_of("y = Neg(x)", weights={"unused": np.ones((50, 50), f32)}),
        lambda x: -x,
    ),
    "ir-version-old": (model_of("y = Neg(x)", opset=8, ir_version=3), lambda x: -x),
}


@levels
@pytest.mark.parametrize("why", EITHER)
def test_right_or_refused(why, level):
    model, function = EITHER[why]
    x = np.array([-1, 2], f32)
    feeds = {"x": x} | ({"c": np.array(True)} if any(i.name == "c" for i in model.graph.input) else {})
    try:
        got = run(model, feeds, level)["y"]
    except engines.refusals():
        assert_load_or_run_refused(model, feeds, level)
    else:
        assert_same(got, function(x))


# Small files that ask for more memory than any machine has.
BIG = np.array([2**40, 2**40], i64)
GREEDY = {
    "constant-of-shape": ("y = ConstantOfShape(s)", {"s": BIG}),
    "constant-of-shape-8TB": ("y = ConstantOfShape(s)", {"s": np.array([2**41], i64)}),
    "expand": ("y = Expand(x, s)", {"s": np.array([2**60, 2], i64)}),
    "tile": ("y = Tile(x, s)", {"s": np.array([2**62], i64)}),
    "pad": ("y = Pad(x, s)", {"s": np.array([2**62, 0], i64)}),
    "range": ("y = Range(a, b, c)", {"a": f32.type(0), "b": f32.type(3e38), "c": f32.type(1e-30)}),
    "resize": ("y = Resize(x, , , s)", {"s": np.array([2**45], i64)}),
    "one-hot": ("y = OneHot(i, d, v)", {"i": np.zeros(4, i64), "d": np.array(2**60), "v": np.array([0, 1], f32)}),
    "constant-of-shape-wraps-to-0": ("y = ConstantOfShape(s)", {"s": np.array([2**32, 2**32], i64)}),
    "constant-of-shape-wraps-to-small": ("y = ConstantOfShape(s)", {"s": np.array([2**62 + 1, 4], i64)}),
    "random": (f"y = RandomNormal<shape=[{2**40}, {2**40}]>()", {}),
    "tile-twice": ("a = Tile(x, s); y = Tile(a, s)", {"s": np.array([2**40], i64)}),
    "outer-product": (
        "a = Expand(k, s); b = Transpose(a); y = MatMul(b, a)",
        {"k": np.ones((1, 1), f32), "s": np.array([1, 2**23], i64)},
    ),
    "upsample": ("y = Resize(x, , s)", {"s": np.array([1e13], f32)}),
    "eye": ("e = ConstantOfShape(s); y = EyeLike<dtype=1>(e)", {"s": np.array([2**31, 2**31], i64)}),
}


@levels
@pytest.mark.parametrize("where", ["constant", "input"])
@pytest.mark.parametrize("what", GREEDY)
def test_sizes_beyond_memory(what, where, level):
    """Also sizes whose product wraps to something small: refused as too large, at load or at run, and not folded."""
    text, weights = GREEDY[what]
    feeds = {"x": np.ones(2, f32)}
    if where == "constant":
        assert_load_or_run_refused(model_of(text, weights=weights), feeds, level)
    else:
        inputs = {"x": X} | {n: (v.dtype, v.shape) for n, v in weights.items()}
        assert_load_or_run_refused(
            model_of(text, inputs), feeds | {n: np.asarray(v) for n, v in weights.items()}, level
        )


def function_model(text, calls="y = com.example.F(x)", body_opset=18):
    body = parse_nodes(text)
    function = helper.make_function(
        "com.example",
        "F",
        ["a"],
        ["b"],
        body,
        [helper.make_opsetid("", body_opset), helper.make_opsetid("com.example", 1)],
    )
    return model_of(calls, domains=["com.example"], functions=[function])


def test_a_function_runs():
    x = random((2,))
    assert_same(run(function_model("t = Neg(a); b = Exp(t)"), {"x": x})["y"], np.exp(-x))


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(function_model("b = com.example.F(a)"), id="calls-itself"),
        pytest.param(function_model("t = Neg(a)"), id="output-nobody-makes"),
        pytest.param(function_model("b = Neg(ghost)"), id="reads-what-nobody-makes"),
        pytest.param(function_model("b = Neg(x)"), id="reads-an-outer-value"),
        pytest.param(function_model("b = Frobnicate(a)"), id="unknown-operator-inside"),
        pytest.param(function_model("b = Neg(a)", "y = com.example.F(x, x)"), id="too-many-arguments"),
        pytest.param(function_model("b = Neg(a)", "y, z = com.example.F(x)"), id="too-many-results"),
    ],
)
def test_bad_functions(model):
    assert_load_refused(model)


def test_functions_that_call_each_other_in_a_ring():
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.example", 1)]
    functions = [
        helper.make_function(
            "com.example", f"F{i}", ["a"], ["b"], parse_nodes(f"b = com.example.F{(i + 1) % 3}(a)"), opsets
        )
        for i in range(3)
    ]
    assert_load_refused(model_of("y = com.example.F0(x)", domains=["com.example"], functions=functions))


def test_functions_that_double_at_each_step():
    """30 functions, each calls the next twice: 2^30 nodes when expanded. Refused, or run without expanding; not an hour and all memory."""
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.example", 1)]
    step = lambda i: f"t = com.example.F{i + 1}(a); b = com.example.F{i + 1}(t)" if i < 30 else "b = Neg(a)"
    functions = [
        helper.make_function("com.example", f"F{i}", ["a"], ["b"], parse_nodes(step(i)), opsets) for i in range(31)
    ]
    assert_load_refused(model_of("y = com.example.F0(x)", domains=["com.example"], functions=functions))
