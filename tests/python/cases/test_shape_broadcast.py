"""Broadcasting over ranks, ones and names; optional inputs by empty names; graph outputs that are inputs or constants."""

import itertools

import numpy as np
import pytest

from oracle import (
    assert_load_or_run_refused,
    assert_same,
    boolean,
    check,
    f32,
    f64,
    i64,
    levels,
    make_model,
    node,
    random,
    run,
)

SHAPES = [
    (),
    (1,),
    (5,),
    (1, 1),
    (1, 5),
    (3, 1),
    (3, 5),
    (1, 1, 5),
    (2, 3, 1),
    (2, 1, 5),
    (1, 3, 1),
    (4, 1, 1, 5),
    (1, 1, 1, 1),
]
PAIRS = list(itertools.product(SHAPES, SHAPES))
OPS = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Max": np.maximum,
    "Min": np.minimum,
    "Less": np.less,
    "Equal": np.equal,
    "GreaterOrEqual": np.greater_equal,
    "PRelu": lambda a, b: np.where(a < 0, a * b, a),
}


@levels
@pytest.mark.parametrize("form", ["static", "dynamic", "unknown-rank", "constant-right", "constant-left"])
@pytest.mark.parametrize("op", OPS)
def test_onnx_mlir_2150_2158(op, form, level):
    """Every pair of 13 shapes, one graph with all of them; [1,1,5] + [5] is the row."""
    pairs = PAIRS
    if op == "PRelu":  # its slope may only broadcast towards x
        pairs = [(a, b) for a, b in PAIRS if len(b) <= len(a) and np.broadcast_shapes(a, b) == a]
    dtype = boolean if op in ("Less", "Equal", "GreaterOrEqual") else f32
    values = {f"v{i}": random(s, f32, i) for i, s in enumerate(SHAPES)}
    values |= {f"w{i}": random(s, f32, i, "w", low=1) for i, s in enumerate(SHAPES)}
    nodes, want = [], {}
    for a, b in pairs:
        left, right = f"v{SHAPES.index(a)}", f"w{SHAPES.index(b)}"
        nodes.append(node(op, f"{left},{right}", f"y_{left}_{right}"))
        want[f"y_{left}_{right}"] = np.asarray(OPS[op](values[left], values[right]), dtype)
    constant = {"constant-right": "w", "constant-left": "v"}.get(form, "-")
    weights = {n: v for n, v in values.items() if n[0] == constant}
    feeds = {n: v for n, v in values.items() if n[0] != constant}
    spec = dict(feeds)
    if form == "dynamic":
        spec = {n: (f32, [f"{n}_{i}" for i in range(v.ndim)]) for n, v in feeds.items()}
    elif form == "unknown-rank":
        spec = dict.fromkeys(feeds, f32)
    model = make_model(nodes, spec, dict.fromkeys(want, dtype), weights)
    assert_same(run(model, feeds, level), want)


@levels
@pytest.mark.parametrize("op", ["Sum", "Mean", "Max", "Min"])
def test_variadic(op, level):
    """Five inputs of five shapes."""
    feeds = {f"a{i}": random(s, f32, i) for i, s in enumerate([(2, 1, 1), (3, 1), (5,), (), (1, 3, 5)])}
    function = {"Sum": sum, "Mean": lambda v: sum(v) / f32.type(5), "Max": None, "Min": None}[op]
    values = list(feeds.values())
    if function is None:
        ufunc = np.maximum if op == "Max" else np.minimum
        function = lambda vs: ufunc(ufunc(ufunc(ufunc(vs[0], vs[1]), vs[2]), vs[3]), vs[4])
    model = make_model([node(op, ",".join(feeds), "y")], dict(feeds), {"y": f32})
    check(model, feeds, function(values).astype(f32), level)


@levels
@pytest.mark.parametrize(
    "shapes",
    [((2, 3), (2, 1), ()), ((1,), (2, 1), (3,)), ((), (), ()), ((3,), (2, 3), (2, 1)), ((), (2, 3), (1,))],
    ids=str,
)
def test_where(shapes, level):
    c, a, b = random(shapes[0], boolean), random(shapes[1], f32, 1), random(shapes[2], f32, 2)
    feeds = {"c": c, "a": a, "b": b}
    check(make_model("y = Where(c, a, b)", dict(feeds), {"y": f32}), feeds, np.where(c, a, b).astype(f32), level)


@levels
@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 1, 3, 4), (5, 4, 2)),
        ((4,), (3, 4, 2)),
        ((3, 2, 4), (4,)),
        ((4,), (4,)),
        ((1, 2, 4), (6, 4, 1)),
        ((2, 3, 1, 4), (4, 5)),
    ],
    ids=str,
)
def test_matmul_batches(shapes, level):
    a, b = random(shapes[0], f32, 1), random(shapes[1], f32, 2)
    check(make_model("y = MatMul(a, b)", {"a": a, "b": b}, {"y": f32}), {"a": a, "b": b}, np.asarray(a @ b), level)


@levels
@pytest.mark.parametrize("bias", [(), (1,), (3,), (1, 3), (2, 1), (2, 3), (1, 1)], ids=str)
def test_gemm_bias_is_broadcast_one_way(bias, level):
    a, b, c = random((2, 4), f32, 1), random((4, 3), f32, 2), random(bias, f32, 3)
    model = make_model("y = Gemm(a, b, c)", {"a": a, "b": b, "c": c}, {"y": f32})
    check(model, {"a": a, "b": b, "c": c}, a @ b + c, level)


@levels
@pytest.mark.parametrize("op", ["Add", "Less", "Pow", "Where", "Max", "PRelu", "Mod"])
@pytest.mark.parametrize("static", [True, False], ids=["static", "dynamic"])
@pytest.mark.parametrize("shapes", [((2,), (3,)), ((2, 3), (2,)), ((4, 1, 2), (3, 3))], ids=str)
def test_shapes_that_do_not_broadcast(shapes, static, op, level):
    a, b = random(shapes[0]), random(shapes[1])
    spec = (
        {"a": a, "b": b}
        if static
        else {"a": (f32, [f"a{i}" for i in range(a.ndim)]), "b": (f32, [f"b{i}" for i in range(b.ndim)])}
    )
    nodes = [node(op, "c,a,b" if op == "Where" else "a,b", "y", name="misfit", fmod=1 if op == "Mod" else None)]
    model = make_model(nodes, spec, {"y": boolean if op == "Less" else f32}, {"c": np.array(True)})
    # 2 against 3 is refused when it is seen, whenever that is.
    assert_load_or_run_refused(model, {"a": a, "b": b}, level, node="misfit")


@levels
def test_same_name_dimension_must_agree(level):
    """x and z both say N; feeding 2 and 3 is refused; so is 1 against 3, which would broadcast silently."""
    model = make_model("y = Add(x, z)", {"x": (f32, ["N", 2]), "z": (f32, ["N", 2])}, {"y": f32})
    feeds = {"x": random((3, 2)), "z": random((3, 2), f32, 1)}
    check(model, feeds, feeds["x"] + feeds["z"], level)
    assert_load_or_run_refused(model, {"x": random((2, 2)), "z": random((3, 2))}, level)


# ---- inputs and outputs of the graph ---------------------------------------------------------------------------------------


@levels
def test_onnxruntime_26339(level):
    """graph (x) => (v, x), v = 0."""
    x = np.array(2.3, f32)
    model = make_model("v = Constant<value_float=0.0>()", {"x": x}, {"v": f32, "x": f32})
    got = run(model, {"x": x}, level)
    assert_same(got, {"v": np.float32(0), "x": x})


@levels
def test_onnxruntime_26339_kind(level):
    """Outputs: an input, an initializer, an input through Identity, one value through two names, an optional-free pass of all types."""
    x, n = random((2, 2)), np.array([1, 2], i64)
    text = "a = Identity(x); b = Identity(a); c = Identity(n)"
    weights = {"k": np.array([[5.0]], f64)}
    model = make_model(text, {"x": x, "n": n}, {"x": f32, "k": f64, "a": f32, "b": f32, "c": i64, "n": i64}, weights)
    got = run(model, {"x": x, "n": n}, level)
    assert_same(got, {"x": x, "k": weights["k"], "a": x, "b": x, "c": n, "n": n})
    x += 1  # results are the caller's own
    assert_same(got["a"], x - 1)
    assert_same(got["x"], x - 1)


@levels
def test_graph_without_nodes(level):
    x = random((3,))
    assert_same(run(make_model([], {"x": x}, {"x": f32}), {"x": x}, level), {"x": x})


@levels
def test_graph_without_inputs(level):
    got = run(make_model("y = Add(a, a)", {}, {"y": f32}, {"a": np.ones(2, f32)}), {}, level)
    assert_same(got, {"y": np.full(2, 2, f32)})


@levels
def test_initializer_that_is_an_input_is_a_default(level):
    """It may be left out; feeding it counts."""
    inputs, weights = {"x": (f32, (2,)), "w": (f32, (2,))}, {"w": np.array([2, 3], f32)}
    model = make_model("y = Mul(x, w)", inputs, {"y": f32}, weights)
    x, w = np.array([1, 10], f32), np.array([7, 7], f32)
    check(model, {"x": x}, np.array([2, 30], f32), level, peers=())
    assert_same(run(model, {"x": x, "w": w}, level)["y"], np.array([7, 70], f32))


@levels
def test_default_that_is_baked_into_the_graph(level):
    """Upsample's scales become an attribute of Resize, Reshape's target decides a shape: overriding them counts all the same."""
    x = np.arange(4, dtype=f32).reshape(1, 1, 2, 2)
    inputs = {"x": x, "s": (f32, (4,)), "t": (i64, (1,))}
    weights = {"s": np.array([1, 1, 1, 1], f32), "t": np.array([-1], i64)}
    model = make_model("u = Upsample(x, s); y = Reshape(u, t)", inputs, {"y": f32}, weights, opset=9)
    check(model, {"x": x}, x.reshape(-1), level, peers=())
    wide = run(model, {"x": x, "s": np.array([1, 1, 1, 2], f32)}, level)["y"]
    assert_same(wide, x.repeat(2, 3).reshape(-1))
    assert_same(run(model, {"x": x, "t": np.array([4], i64)}, level)["y"], x.reshape(4))


@levels
def test_default_that_a_body_uses(level):
    """A branch sees the overridden value, too."""
    model = make_model(
        "y = If(c)<then_branch=g() => (float[2] a) {a = Mul(x, w)}, else_branch=h() => (float[2] b) {b = Add(x, w)}>",
        {"c": (boolean, ()), "x": (f32, (2,)), "w": (f32, (2,))},
        {"y": f32},
        {"w": np.array([2, 3], f32)},
    )
    x, w = np.array([1, 10], f32), np.array([7, 7], f32)
    for c, default, given in ((True, [2, 30], [7, 70]), (False, [3, 13], [8, 17])):
        feeds = {"c": np.array(c), "x": x}
        check(model, feeds, np.array(default, f32), level, peers=())
        assert_same(run(model, {**feeds, "w": w}, level)["y"], np.array(given, f32))


@levels
def test_initializers_of_ir_version_3(level):
    """Old models have to list every initializer as an input; nobody feeds them."""
    inputs, weights = {"x": (f32, (2,)), "w": (f32, (2,))}, {"w": np.array([2, 3], f32)}
    model = make_model("y = Mul(x, w)", inputs, {"y": f32}, weights, opset=8, ir_version=3)
    x = np.array([1, 10], f32)
    check(model, {"x": x}, np.array([2, 30], f32), level)
    assert_load_or_run_refused(model, {"x": x, "w": x}, level, words=["w"])


CLIP = np.array([-2, 0, 9], f32)


@levels
def test_onnx_2451(level):
    """Clip(X,"",6)."""
    model = make_model("y = Clip(x, , hi)", {"x": CLIP}, {"y": f32}, {"hi": np.float32(6)})
    check(model, {"x": CLIP}, np.array([-2, 0, 6], f32), level)


@levels
def test_onnx_3500(level):
    """Resize(X,"","",sizes)."""
    x = np.array([[[[1, 2]]]], f32)
    model = make_model("y = Resize(x, , , s)", {"x": x}, {"y": f32}, {"s": np.array([1, 1, 1, 4])})
    check(model, {"x": x}, np.array([[[[1, 1, 2, 2]]]], f32), level)


OPTIONAL = {
    "clip-lo-only": ("y = Clip(x, lo)", {"x": CLIP}, {"lo": np.float32(0)}),
    "clip-trailing-empty": ('y = Clip(x, lo, "")', {"x": CLIP}, {"lo": np.float32(0)}),
    "clip-none": ("y = Clip(x, , )", {"x": CLIP}, {}),
    "slice-no-axes": (
        "y = Slice(x, s, e, , t)",
        {"x": CLIP},
        {"s": np.array([0]), "e": np.array([3]), "t": np.array([2])},
    ),
    "pad-no-value": ("y = Pad(x, p, , a)", {"x": CLIP}, {"p": np.array([1, 0]), "a": np.array([0])}),
    "conv-empty-bias": ("y = Conv(x, w, )", {"x": random((1, 1, 3))}, {"w": random((1, 1, 2))}),
    "gemm-empty-c": ("y = Gemm(x, w, )", {"x": random((2, 3))}, {"w": random((3, 2))}),
    "layernorm-empty-bias": ("y = LayerNormalization(x, g, )", {"x": random((2, 3))}, {"g": random((3,))}),
    "reduce-empty-axes": ("y = ReduceSum(x, )", {"x": random((2, 3))}, {}),
    "squeeze-empty-axes": ("y = Squeeze(x, )", {"x": random((1, 3))}, {}),
    "dropout-no-ratio": ("y = Dropout(x, , t)", {"x": CLIP}, {"t": np.array(False)}),
    "dropout-mask-not-wanted": ("y, = Dropout(x)", {"x": CLIP}, {}),
    "topk-values-only": ("y, unused = TopK(x, k)", {"x": CLIP}, {"k": np.array([2])}),
    "unique-inverse": ("unused, , i = Unique(x); y = Cast<to=1>(i)", {"x": CLIP}, {}),
    "maxpool-no-indices": ("y, = MaxPool<kernel_shape=[2]>(x)", {"x": random((1, 1, 4))}, {}),
    "lstm-skips": (
        "y, h, = LSTM<hidden_size=2>(x, w, r, , , h0)",
        {"x": random((3, 1, 2))},
        {"w": random((1, 8, 2)), "r": random((1, 8, 2)), "h0": random((1, 1, 2))},
    ),
    "lstm-last-state-only": (
        ", , y = LSTM<hidden_size=2>(x, w, r)",
        {"x": random((3, 1, 2))},
        {"w": random((1, 8, 2)), "r": random((1, 8, 2))},
    ),
    "gru-skips": (
        "y, = GRU<hidden_size=2>(x, w, r, , , h0)",
        {"x": random((3, 1, 2))},
        {"w": random((1, 6, 2)), "r": random((1, 6, 2)), "h0": random((1, 1, 2))},
    ),
    "resize-roi-empty-tensor": (
        "y = Resize(x, r, s)",
        {"x": random((1, 1, 2, 2))},
        {"r": np.zeros(0, f32), "s": np.array([1, 1, 2, 2], f32)},
    ),
    "resize-scales-empty-tensor": (
        "y = Resize(x, r, e, s)",
        {"x": random((1, 1, 2, 2))},
        {"r": np.zeros(0, f32), "e": np.zeros(0, f32), "s": np.array([1, 1, 4, 4])},
    ),
    "batchnorm-one-output": (
        "y, = BatchNormalization(x, g, b, m, v)",
        {"x": random((1, 2, 3))},
        {"g": np.ones(2, f32), "b": np.zeros(2, f32), "m": np.ones(2, f32), "v": np.ones(2, f32)},
    ),
}


@levels
@pytest.mark.parametrize("row", OPTIONAL)
def test_onnx_3500_kind(row, level):
    """Optional inputs and outputs named by the empty string, in the middle and at the end."""
    text, feeds, weights = OPTIONAL[row]
    check(make_model(text, dict(feeds), {"y": f32}, weights), feeds, level=level)
