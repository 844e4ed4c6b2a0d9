"""Fusions must see who else needs a value: each pattern is run alone and with its inner value used in other ways too.

A pattern is nodes from `x` over an inner value `m` to `y`. Oracle: the reference evaluator, and ONNX Runtime without optimisation.
"""

import numpy as np
import pytest

import engines
from cases.fusion_patterns import BN, CONV, IMAGE, INNER_TYPE, NORM, PATTERNS, W
from oracle import (
    assert_same,
    boolean,
    check,
    f16,
    f32,
    f64,
    i32,
    i64,
    levels,
    make_graph,
    make_model,
    node,
    parse_nodes,
    random,
    run,
)

# How else the inner value is used: extra nodes and extra outputs.
USES = {
    "alone": ("", []),
    "inner-is-output": ("", ["m"]),
    "inner-has-second-consumer": ("extra = Neg(m)", ["extra"]),
    "inner-feeds-relu": ("extra = Relu(m)", ["extra"]),
    "inner-twice-in-one-node": ("extra = Mul(m, m)", ["extra"]),
    "inner-output-and-consumer": ("extra = Neg(m)", ["extra", "m"]),
    "result-goes-on": ("extra = Neg(y)", ["extra"]),
    "captured-by-branch": ("If", ["extra"]),
    "outputs-twice": ("y2 = Identity(y); m2 = Identity(m)", ["y2", "m2", "m"]),
}


def if_reading(value):
    """If(true) whose branches capture an outer value by name."""
    branches = [make_graph([node(op, value, f"in_{op}")], {}, {f"in_{op}": None}, name=op) for op in ("Neg", "Abs")]
    return node("If", "flag", "extra", then_branch=branches[0], else_branch=branches[1])


def pattern_model(name, use="alone", shape=None):
    x_shape, text, weights = PATTERNS[name]
    more_nodes, more_outputs = USES[use]
    if more_nodes == "If":
        weights, extra = {**weights, "flag": np.array(True)}, [if_reading("m")]
    else:
        extra = parse_nodes(more_nodes) if more_nodes else []
    inner = INNER_TYPE.get(name, f32)
    types = {"y": f32, "y2": f32, "extra": f32 if use == "result-goes-on" else inner, "m": inner, "m2": inner}
    outputs = {o: types[o] for o in ["y"] + more_outputs}
    return make_model(parse_nodes(text) + extra, {"x": (f32, shape or x_shape)}, outputs, weights)


@levels
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", PATTERNS)
def test_pattern(name, use, level):
    check(pattern_model(name, use), {"x": random(PATTERNS[name][0], f32, "x")}, level=level)


@levels
@pytest.mark.parametrize("name", PATTERNS)
def test_pattern_with_dynamic_shape(name, level):
    """All dimensions of x are names, the rewrite may rely on none of them."""
    shape = PATTERNS[name][0]
    model = pattern_model(name, shape=[f"d{i}" for i in range(len(shape))])
    check(model, {"x": random(shape, f32, "x")}, level=level)


@levels
@pytest.mark.parametrize("name", [n for n in PATTERNS if "pool" not in n and "negative" not in n])
def test_pattern_keeps_nan_and_infinity(name, level):
    """The reference evaluator is the oracle; pools, where it drops NaN, and negative pads, which it lacks, are left out."""
    x = random(PATTERNS[name][0], f32, "x")
    x.flat[0], x.flat[-1] = np.nan, np.inf
    if "narrow" in name:
        x = np.nan_to_num(x, posinf=9)
    check(pattern_model(name), {"x": x}, level=level, peers=("reference",))


# ---- the rows themselves, and what is near them ----------------------------------------------------------------------------

CONV_NORM = f"c = {CONV}; y = {NORM.format('c')}"


@levels
def test_onnxruntime_4110(level):
    """A value asked for as graph output is not fused away."""
    x = np.array([[[1, -2, 3]]], f32)
    model = make_model("c = Conv(x, w); y = Relu(c)", {"x": x}, ["y", "c"], {"w": np.array([[[-1]]], f32)})
    want = {"y": np.array([[[0, 2, 0]]], f32), "c": np.array([[[-1, 2, -3]]], f32)}
    check(model, {"x": x}, want, level)


@levels
def test_executorch_20601(level):
    """Conv -> {BatchNormalization, Relu}: the Relu sees the un-normalised output."""
    x = random((1, 1, 4, 4), f32, 1)
    model = make_model(CONV_NORM + "; r = Relu(c)", {"x": x}, ["y", "r"], {"w": W, **BN})
    check(model, {"x": x}, level=level)


@levels
@pytest.mark.parametrize("perm", [[0, 1], [1, 0]], ids=["identity", "swap"])
@pytest.mark.parametrize("side", ["A", "B"])
def test_onnxruntime_32418(side, perm, level):
    """An identity Transpose of a Gemm operand is not a transposition."""
    a, b = random((3, 4), f32, "a"), random((4, 5), f32, "b")
    w, x = (a, b) if side == "A" else (b, a)
    w = w if perm == [0, 1] else np.ascontiguousarray(w.T)
    text = f"t = Transpose<perm={perm}>(w); y = Gemm({'t, x' if side == 'A' else 'x, t'})"
    check(make_model(text, {"x": x}, ["y"], {"w": w}), {"x": x}, a @ b, level)


@levels
@pytest.mark.parametrize("dtype", [f16, f32, f64, i32, i64], ids=str)
def test_onnxruntime_10936_11836_23116(dtype, level):
    """Relu then Clip in every type."""
    x = np.array([-2, 0.5, 6]).astype(dtype)
    bounds = {"lo": np.array(-1, dtype), "hi": np.array(1, dtype)}
    model = make_model("r = Relu(x); y = Clip(r, lo, hi)", {"x": x}, ["y"], bounds)
    peers = ("reference", "onnxruntime") if dtype in (f16, f32) else ("reference",)
    check(model, {"x": x}, np.array([0, 0.5, 1]).astype(dtype), level, peers)


@levels
@pytest.mark.parametrize("count", [2, 5])
def test_one_weight_for_many_consumers(count, level):
    """Folding a BatchNormalization into a weight that other convolutions share leaves theirs alone."""
    text = "; ".join([CONV_NORM] + [f"z{i} = {CONV}" for i in range(count)])
    model = make_model(text, {"x": (f32, IMAGE)}, ["y"] + [f"z{i}" for i in range(count)], {"w": W, **BN})
    check(model, {"x": random(IMAGE)}, level=level)


@levels
def test_weight_is_a_graph_output_too(level):
    model = make_model(CONV_NORM + "; v = Identity(w)", {"x": (f32, IMAGE)}, ["y", "v"], {"w": W, **BN})
    check(model, {"x": random(IMAGE)}, level=level)


@levels
@pytest.mark.parametrize("fed", ["w", "gamma", "var"])
def test_folded_parameters_that_are_inputs(fed, level):
    """Nothing can be folded when one of the parameters comes at run time."""
    weights = {"w": W, **BN}
    feeds = {"x": random(IMAGE), fed: weights.pop(fed) + f32.type(1)}
    check(make_model(CONV_NORM, dict(feeds), ["y"], weights), feeds, level=level)


@levels
def test_dead_nodes_do_no_harm(level):
    x = random((3,))
    text = "y = Relu(x); unused = Div(k, zero); unused2 = Neg(unused)"
    model = make_model(text, {"x": x}, ["y"], {"k": np.ones(1, i32), "zero": np.zeros(1, i32)})
    check(model, {"x": x}, np.maximum(x, 0), level, peers=())


@levels
@pytest.mark.parametrize("dead", ["u = Expand(x, s)", "u = Reshape(x, s)", "u = Squeeze(x, z)", "u = MatMul(x, x)", "u = Gather(x, s)"])
@pytest.mark.parametrize("where", ["graph", "branch", "body"])
def test_dead_nodes_of_wrong_shapes_do_no_harm(where, dead, level):
    """What no output needs is not asked for its shape by a run, at level 0 either."""
    x, weights = random((2, 3)), {"s": np.array([5, 4], i64), "z": np.array([0], i64)}
    weights = {k: v for k, v in weights.items() if f" {k})" in dead}
    known = {"x": (f32, ["n", "m"] if where == "graph" else None)}
    if where == "graph":
        model, feeds = make_model(f"y = Neg(x); {dead}; w = Neg(u)", known, ["y"], weights), {}
    elif where == "branch":
        branches = [make_graph(parse_nodes(t), {}, {"t": f32}) for t in (f"{dead}; t = Neg(x)", "t = Abs(x)")]
        nodes = [node("If", "c", "y", then_branch=branches[0], else_branch=branches[1])]
        model, feeds = make_model(nodes, known | {"c": (boolean, ())}, {"y": f32}, weights), {"c": np.array(True)}
    else:
        body = make_graph(
            parse_nodes(f"{dead}; keep = Identity(go); b = Neg(a)"),
            {"i": (i64, ()), "go": (boolean, ()), "a": (f32, None)},
            {"keep": (boolean, ()), "b": f32},
        )
        model, feeds = make_model([node("Loop", "m,,x", "y", body=body)], known | {"m": (i64, ())}, {"y": f32}, weights), {"m": np.array(3)}
    check(model, {"x": x} | feeds, -x, level, peers=())


@levels
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (1, 1, 1), (2, 1, 1, 1), (1, 16, 1, 1), (1, 1, 1, 3)], ids=str)
def test_normalised_images_of_one_element(shape, known, level):
    """Channels are an axis even where no operand has more than one element: a pixel of one channel after a global pool."""
    channels = shape[1]
    x, z = random(shape), random(shape, f32, 1)
    vectors = {name: abs(random((channels,), f32, name)) + 0.5 for name in ("g", "b", "m", "v")}
    weights = {"w": random((channels, channels) + (1,) * (len(shape) - 2)), **vectors}
    spec = {"x": x, "z": z} if known else {n: (f32, [f"{n}{i}" for i in range(len(shape))]) for n in "xz"}
    for text in (
        "c = Conv(x, w); n = BatchNormalization(c, g, b, m, v); y = Max(n, z)",
        "c = Neg(x); n = BatchNormalization(c, g, b, m, v); y = Max(n, z)",
        "c = Identity(x); y = BatchNormalization(x, g, b, m, v)",
    ):
        check(make_model(text, dict(spec), "yc", weights), {"x": x, "z": z}, level=level)


GROUPS = {
    "between-two-groups": (
        "a = Neg(x); b = Exp(a); c = Abs(a); d = Add(b, k); e = Sign(d); f = Clip(d, , k); h = Hardmax(d);"
        "p = Add(e, f); q = Add(h, f); r = Sin(h); s = Ceil(h)",
        "cpqrs",
    ),
    "reads-first-feeds-last": ("a = Neg(x); h = Hardmax(a); c = Exp(a); p = Add(h, c); q = Mul(p, a)", "pqc"),
    "two-crossing": ("a = Neg(x); b = Exp(x); g = Hardmax(a); h = Hardmax(b); p = Add(a, h); q = Add(b, g)", "pq"),
    "ladder": (
        "a = Neg(x); h = Hardmax(a); b = Add(a, h); i = Hardmax(b); c = Add(b, i); j = Hardmax(c); p = Add(c, j);"
        "q = Add(a, i); r = Add(b, j); s = Add(a, j)",
        "pqrs",
    ),
}


@levels
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("row", GROUPS)
def test_groups_do_not_wait_for_each_other(row, known, level):
    """Chains of element-wise operators with a reader outside that feeds them again: joined too far, they make a cycle."""
    text, outputs = GROUPS[row]
    x = random((2, 3, 8), f32, 1)
    spec = x if known else (f32, ["A", "B", "C"])
    model = make_model(text, {"x": spec}, list(outputs), {"k": np.float32(1)})
    check(model, {"x": x}, level=level)


@levels
@pytest.mark.parametrize("order", ["a, b", "b, a"])
def test_common_subexpressions_mind_order_and_attributes(order, level):
    feeds = {"a": random((2, 2), f32, 1), "b": random((2, 2), f32, 2)}
    text = f"p = Sub(a, b); q = Sub({order}); r = LeakyRelu<alpha=0.1>(p); s = LeakyRelu<alpha=0.2>(q); y = Sub(r, s)"
    check(make_model(text, dict(feeds), ["y", "p", "q"]), feeds, level=level)


@levels
def test_random_nodes_are_not_common_subexpressions(level):
    text = "p = RandomNormal<shape=[64]>(); q = RandomNormal<shape=[64]>()"
    got = run(make_model(text, {}, ["p", "q"]), {}, level)
    assert got["p"].shape == (64,) and not np.array_equal(got["p"], got["q"])


@levels
def test_outputs_do_not_share_memory(level):
    """Two Identity outputs of one value, and one constant under two names."""
    x = random((3,))
    text = "a = Identity(x); b = Identity(x); c = Identity(k); d = Identity(k)"
    k = np.array([1, 2], i64)
    loaded = engines.load(make_model(text, {"x": x}, ["a", "b", "c", "d"], {"k": k}), level)
    for _ in range(2):
        got = loaded.run({"x": x})
        assert_same(got, {"a": x, "b": x, "c": k, "d": k})
        for name in "ac":
            if got[name].flags.writeable:
                got[name][:] = 0
        assert_same(got["b"], random((3,)))
        assert_same(got["d"], k)
        assert_same(x, random((3,)))


DEEP = {
    "scaled": "a = Exp(x); b = Add(a, k); d = Mul(a, b); e = Div(d, s)",
    "gated": "a = Add(x, x); b = Add(a, k); c = Clip(b, , s); d = Mul(a, c); e = Sigmoid(d)",
    "shared": "a = Tanh(x); b = Mul(a, a); d = Sub(b, a); c = Abs(d); e = Add(c, a)",
    "chain": "a = Neg(x); b = Exp(a); c = Add(b, k); d = Div(b, c); f = Mul(d, d); e = Sqrt(f)",
    "rows": "a = Neg(x); b = Exp(a); d = Mul(a, b); m = ReduceMax(d, axis); e = Sub(d, m)",
}


@levels
@pytest.mark.parametrize("dtype", [f32, f16], ids=str)
@pytest.mark.parametrize("ends", ["y = Add(e, d)", "y = Add(d, e)", "p = Mul(e, d); q = Sub(d, e); y = Div(p, q)", "y = Max(e, d, a)"])
@pytest.mark.parametrize("row", DEEP)
def test_operands_that_are_made_of_the_others(row, ends, dtype, level):
    """The value that is needed for the first operand is the second one: it is made once, and in either order."""
    constants = {"k": dtype.type(3), "s": dtype.type(6), "axis": np.array([-1])}
    for shape in ((8, 4), (3, 40), (7,)):
        x = random(shape, dtype)
        model = make_model(f"{DEEP[row]}; {ends}", {"x": x}, ["y"], constants)
        check(model, {"x": x}, None, level, ("reference",), 2e-2 if dtype == f16 else 1e-4, 1e-2 if dtype == f16 else 1e-5)
