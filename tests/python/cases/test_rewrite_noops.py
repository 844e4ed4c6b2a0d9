"""What looks like a no-op and is not, and what is one: each is compared with NumPy at levels 0 and 3."""

import numpy as np
import pytest

import engines
from oracle import (
    assert_load_or_run_refused,
    assert_refused,
    assert_same,
    check,
    f16,
    f32,
    f64,
    i32,
    i64,
    levels,
    make_model,
    onnx_type,
    random,
    run,
    short,
    u8,
)

X = np.array([[1.5, -2.0, 0.0], [np.nan, np.inf, -np.inf]], f32)
N = np.array([[3, -4, 0], [7, -128, 127]], i32)
ints = lambda *values: np.array(values, i64)
one, zero = np.float32(1), np.float32(0)

# id, x, nodes, initializers, expected
NEUTRAL_THAT_WIDENS = [
    ("add-zeros-widen", X, "y = Add(x, k)", {"k": np.zeros((2, 1, 3), f32)}, np.stack([X, X])),
    ("add-zeros-rank", X, "y = Add(k, x)", {"k": np.zeros((1, 1, 1), f32)}, X[None]),
    ("sub-zeros-widen", X, "y = Sub(x, k)", {"k": np.zeros((2, 2, 3), f32)}, np.stack([X, X])),
    ("mul-ones-widen", X, "y = Mul(x, k)", {"k": np.ones((2, 1, 1), f32)}, np.stack([X, X])),
    ("div-ones-rank", X, "y = Div(x, k)", {"k": np.ones((1, 1, 3), f32)}, X[None]),
    ("pow-ones-widen", X, "y = Pow(x, k)", {"k": np.ones((2, 1, 1), f32)}, np.stack([X, X])),
    ("add-zeros-empty", X, "y = Add(x, k)", {"k": np.zeros((0, 2, 3), f32)}, np.zeros((0, 2, 3), f32)),
    ("expand-smaller", X, "y = Expand(x, k)", {"k": ints(1, 3)}, X),
    ("expand-rank", X, "y = Expand(x, k)", {"k": ints(1, 1, 1)}, X[None]),
    ("max-lowest-widen", X[:1], "y = Max(x, k)", {"k": np.full((2, 1), -np.inf, f32)}, np.repeat(X[:1], 2, 0)),
    (
        "where-true-widen",
        X,
        "y = Where(c, x, k)",
        {"c": np.array(True), "k": np.zeros((2, 1, 1), f32)},
        np.stack([X, X]),
    ),
    ("where-same-widen", X, "y = Where(c, x, x)", {"c": np.ones((2, 1, 1), bool)}, np.stack([X, X])),
    (
        "and-true-widen",
        np.array([True, False]),
        "y = And(x, k)",
        {"k": np.ones((2, 1), bool)},
        np.array([[True, False]] * 2),
    ),
    ("unsqueeze-reshape", X, "u = Unsqueeze(x, a); y = Reshape(u, s)", {"a": ints(0), "s": ints(1, 2, 3)}, X[None]),
]

KEEPS_NAN = [
    ("mul-zero", X, "y = Mul(x, k)", {"k": zero}, np.array([[0, 0, 0], [np.nan] * 3], f32)),
    ("sub-self", X, "y = Sub(x, x)", {}, np.array([[0, 0, 0], [np.nan] * 3], f32)),
    ("div-self", X, "y = Div(x, x)", {}, np.array([[1, 1, np.nan], [np.nan] * 3], f32)),
    ("equal-self", X, "y = Equal(x, x)", {}, X == X),
    ("greater-equal-self", X, "y = GreaterOrEqual(x, x)", {}, X == X),
    ("not-less", X, "c = Less(x, k); y = Not(c)", {"k": zero}, ~(X < 0)),
    ("max-self", X, "y = Max(x, x)", {}, X),
    ("zero-div", X, "y = Div(k, x)", {"k": zero}, np.array([[0, 0, np.nan], [np.nan, 0, 0]], f32)),
    ("pow-zero", X, "y = Pow(x, k)", {"k": zero}, np.ones_like(X)),
    ("sqrt-square", X, "s = Sqrt(x); y = Mul(s, s)", {}, np.array([[1.5, np.nan, 0], [np.nan, np.inf, np.nan]], f32)),
    ("square-sqrt", X, "s = Mul(x, x); y = Sqrt(s)", {}, np.abs(X)),
    ("exp-log", X, "s = Log(x); y = Exp(s)", {}, np.array([[1.5, np.nan, 0], [np.nan, np.inf, np.nan]], f32)),
    ("reciprocal-pair", X, "s = Reciprocal(x); y = Reciprocal(s)", {}, X),
    ("min-max-same-bound", X, "s = Min(x, k); y = Max(s, k)", {"k": one}, np.array([[1, 1, 1], [np.nan, 1, 1]], f32)),
    ("relu-then-greater-equal", X, "s = Relu(x); y = GreaterOrEqual(s, k)", {"k": zero}, ~np.isnan(X)),
    ("matmul-zero-weights", X, "y = MatMul(x, k)", {"k": np.zeros((3, 1), f32)}, np.array([[0], [np.nan]], f32)),
    ("reduce-sum-of-zero-times", X, "s = Mul(x, k); y = ReduceSum<keepdims=0>(s)", {"k": zero}, np.array(np.nan, f32)),
    ("clip-without-bounds", X[:, :1], "y = Clip(x)", {}, X[:, :1]),
    ("softmax-of-one-column", X[:, :1], "y = Softmax<axis=1>(x)", {}, np.array([[1], [np.nan]], f32)),
]

INTEGERS = [
    (
        "div-mul-back",
        N,
        "s = Div(x, k); y = Mul(s, k)",
        {"k": np.int32(2)},
        np.array([[2, -4, 0], [6, -128, 126]], i32),
    ),
    (
        "mul-div-back-wraps",
        N,
        "s = Mul(x, k); y = Div(s, k)",
        {"k": np.int32(2**30)},
        np.array([[-1, 0, 0], [-1, 0, -1]], i32),
    ),
    (
        "shift-pair",
        N.astype(u8),
        's = BitShift<direction="LEFT">(x, k); y = BitShift<direction="RIGHT">(s, k)',
        {"k": u8.type(1)},
        N.astype(u8) & 0x7F,
    ),
    ("mod-one", N, "y = Mod(x, k)", {"k": np.int32(1)}, np.zeros_like(N)),
    ("div-one", N, "y = Div(x, k)", {"k": np.int32(1)}, N),
    ("neg-neg", np.array([-(2**31), 5], i32), "s = Neg(x); y = Neg(s)", {}, np.array([-(2**31), 5], i32)),
    ("abs-of-abs", N, "s = Abs(x); y = Abs(s)", {}, np.abs(N)),
    (
        "sub-add-wraps",
        np.array([-(2**31)], i32),
        "s = Sub(x, k); y = Add(s, k)",
        {"k": np.int32(1)},
        np.array([-(2**31)], i32),
    ),
    (
        "float-cast-floor",
        X[:1],
        f"s = Cast<to={onnx_type(i64)}>(x); y = Cast<to={onnx_type(f32)}>(s)",
        {},
        np.array([[1, -2, 0]], f32),
    ),
    ("pow-of-int-by-float", N[:1], "y = Pow(x, k)", {"k": np.float32(1)}, N[:1]),
    (
        "floor-of-int-cast",
        N,
        f"s = Cast<to={onnx_type(f64)}>(x); f = Floor(s); y = Cast<to={onnx_type(i32)}>(f)",
        {},
        N,
    ),
]

MOVES = [
    ("reshape-same", X, "y = Reshape(x, s)", {"s": ints(2, 3)}, X),
    ("reshape-minus-one", X, "y = Reshape(x, s)", {"s": ints(0, -1)}, X),
    ("reshape-rank-only", X[:1, :1], "y = Reshape(x, s)", {"s": ints(1)}, X[0, :1]),
    ("slice-all", X, "y = Slice(x, a, b, ax)", {"a": ints(0), "b": ints(2**63 - 1), "ax": ints(1)}, X),
    ("slice-all-but-one", X, "y = Slice(x, a, b, ax)", {"a": ints(0), "b": ints(-1), "ax": ints(1)}, X[:, :-1]),
    (
        "slice-reversed-twice",
        X,
        "r = Slice(x, a, b, ax, st); y = Slice(r, a, b, ax, st)",
        {"a": ints(-1), "b": ints(-(2**63)), "ax": ints(1), "st": ints(-1)},
        X,
    ),
    ("gather-all", X, "y = Gather<axis=1>(x, i)", {"i": ints(0, 1, 2)}, X),
    ("gather-scalar", X, "y = Gather<axis=0>(x, i)", {"i": np.array(0)}, X[0]),
    ("gather-of-one", X[:1], "y = Gather<axis=0>(x, i)", {"i": np.array(0)}, X[0]),
    ("tile-ones", X, "y = Tile(x, r)", {"r": ints(1, 1)}, X),
    ("tile-one-dim", X, "y = Tile(x, r)", {"r": ints(1, 2)}, np.tile(X, (1, 2))),
    ("pad-zeros", X, "y = Pad(x, p)", {"p": ints(0, 0, 0, 0)}, X),
    ("pad-and-crop", X, "s = Pad(x, p); y = Pad(s, q)", {"p": ints(0, 1, 0, 1), "q": ints(0, -1, 0, -1)}, X),
    (
        "crop-and-pad",
        X,
        "s = Pad(x, q); y = Pad(s, p)",
        {"p": ints(0, 1, 0, 1), "q": ints(0, -1, 0, -1)},
        np.pad(X[:, 1:-1], ((0, 0), (1, 1))),
    ),
    ("concat-one", X, "y = Concat<axis=0>(x)", {}, X),
    ("concat-empty", X, "y = Concat<axis=0>(k, x, k)", {"k": np.zeros((0, 3), f32)}, X),
    ("split-one", X, "y = Split<axis=0, num_outputs=1>(x)", {}, X),
    ("squeeze-nothing", X, "y = Squeeze(x)", {}, X),
    (
        "squeeze-unsqueeze-elsewhere",
        X[:1],
        "s = Squeeze(x, a); y = Unsqueeze(s, b)",
        {"a": ints(0), "b": ints(1)},
        X[0][:, None],
    ),
    ("transpose-ones", X[:1], "y = Transpose<perm=[1, 0]>(x)", {}, X[:1].T.copy()),
    ("flatten-0", X, "y = Flatten<axis=0>(x)", {}, X.reshape(1, 6)),
    ("reduce-no-axes-noop", X, "y = ReduceSum<noop_with_empty_axes=1>(x, a)", {"a": ints()}, X),
    ("reduce-ones", X[:1], "y = ReduceMax<keepdims=1>(x, a)", {"a": ints(0)}, X[:1]),
    ("reduce-drop-one", X[:1], "y = ReduceMax<keepdims=0>(x, a)", {"a": ints(0)}, X[0]),
    ("sum-one", X, "y = Sum(x)", {}, X),
    ("mean-one", X, "y = Mean(x)", {}, X),
    ("max-one", X, "y = Max(x)", {}, X),
    ("einsum-same", X[:1], 'y = Einsum<equation="ij->ij">(x)', {}, X[:1]),
    ("resize-same", X[None, None], "y = Resize(x, , s)", {"s": np.ones(4, f32)}, X[None, None]),
    ("dropout-no-training", X, "y, m = Dropout(x, r)", {"r": np.float32(0.9)}, {"y": X, "m": np.ones_like(X, bool)}),
    ("dropout-training-ratio-0", X, "y = Dropout(x, r, t)", {"r": zero, "t": np.array(True)}, X),
    ("trilu-below-all", X, "y = Trilu<upper=1>(x, k)", {"k": np.array(-5)}, X),
    ("cast-same", X, f"y = Cast<to={onnx_type(f32)}>(x)", {}, X),
    (
        "scatter-all",
        X,
        "y = ScatterElements<axis=0>(x, i, u)",
        {"i": np.zeros((1, 3), i64), "u": np.zeros((1, 3), f32)},
        np.vstack([np.zeros((1, 3), f32), X[1:]]),
    ),
]
ROWS = NEUTRAL_THAT_WIDENS + KEEPS_NAN + INTEGERS + MOVES


@levels
@pytest.mark.parametrize("x, text, weights, want", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_looks_like_a_no_op(x, text, weights, want, level):
    outputs = list(want) if isinstance(want, dict) else ["y"]
    check(make_model(text, {"x": x}, outputs, weights), {"x": x}, want, level, peers=())


@levels
@pytest.mark.parametrize("x, text, weights, want", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_looks_like_a_no_op_with_unknown_shape(x, text, weights, want, level):
    """The shape of x is not known when the rewrite decides."""
    spec = (x.dtype, [f"d{i}" for i in range(x.ndim)])
    outputs = list(want) if isinstance(want, dict) else ["y"]
    check(make_model(text, {"x": spec}, outputs, weights), {"x": x}, want, level, peers=())


@levels
@pytest.mark.parametrize("dtype", [f16, f32, f64, i32, i64, u8], ids=short)
@pytest.mark.parametrize("op, neutral", [("Add", 0), ("Sub", 0), ("Mul", 1), ("Div", 1)])
def test_neutral_elements_by_type(op, neutral, dtype, level):
    """x op neutral is x for neutral constants of rank 0, rank 1 and full shape, on both sides where it commutes."""
    x = random((2, 3), dtype)
    weights = {"s": np.array(neutral, dtype), "v": np.full(1, neutral, dtype), "f": np.full((2, 3), neutral, dtype)}
    text = "; ".join(f"right_{k} = {op}(x, {k})" for k in weights)
    if op in ("Add", "Mul"):
        text += "; " + "; ".join(f"left_{k} = {op}({k}, x)" for k in weights)
    names = [part.split("=")[0].strip() for part in text.split(";")]
    got = run(make_model(text, {"x": x}, {n: dtype for n in names}, weights), {"x": x}, level)
    assert_same(got, dict.fromkeys(names, x))


@levels
def test_negative_zero(level):
    """x + 0 turns -0 into +0, x - 0 and x * 1 keep its sign."""
    x = np.array([-0.0, 0.0], f32)
    text = "a = Add(x, z); s = Sub(x, z); m = Mul(x, o); n = Neg(x)"
    got = run(make_model(text, {"x": x}, ["a", "s", "m", "n"], {"z": zero, "o": one}), {"x": x}, level)
    signs = {name: np.signbit(value).tolist() for name, value in got.items()}
    assert signs["s"] == signs["m"] == [True, False] and signs["n"] == [False, True]
    assert signs["a"] == [False, False]


# What only runs for some extents: text, constants, fitting shape, shape that does not fit.
FITS_OR_NOT = {
    "squeeze": ("y = Squeeze(x, k)", [0], (1, 3), (2, 3)),
    "squeeze-last": ("y = Squeeze(x, k)", [1], (3, 1), (3, 2)),
    "squeeze-of-nothing": ("y = Squeeze(x, k)", [1], (0, 1), (0, 2)),
    "squeeze-then-unsqueeze": ("a = Squeeze(x, k); y = Unsqueeze(a, k)", [0], (1, 3), (2, 3)),
    "reshape-twice": ("a = Reshape(x, k); b = Reshape(a, m); y = Neg(b)", [3, -1], (3, 2), (4, 2)),
    "flatten-reshape": ("a = Flatten<axis=0>(x); b = Reshape(a, k); y = Reshape(b, m)", [5, -1], (5, 2), (3, 2)),
    "squeeze-transpose": ("a = Squeeze(x, k); b = Unsqueeze(a, one); y = Transpose<perm=[1, 0]>(b)", [0], (1, 3), (2, 3)),
}


@levels
@pytest.mark.parametrize("shape", [("n", "m"), (None, None), None], ids=str)
@pytest.mark.parametrize("name", FITS_OR_NOT)
def test_rewritten_views_refuse_what_the_view_would(name, shape, level):
    text, k, good, bad = FITS_OR_NOT[name]
    weights = {"k": np.array(k, i64), "m": np.array([-1], i64), "one": np.array([1], i64)}
    model = make_model(text, {"x": (f32, shape)}, {"y": f32}, {n: v for n, v in weights.items() if f"{n})" in text})
    loaded = engines.load(model, level)
    want = engines.ask("reference", model, {"x": random(good)})["y"]
    assert_same(loaded.run({"x": random(good)})["y"], want)
    assert_refused(lambda: loaded.run({"x": random(bad)}))
    assert_same(loaded.run({"x": random(good)})["y"], want)


@levels
@pytest.mark.parametrize("known", [True, False])
def test_slice_of_a_scalar_is_refused(known, level):
    """It gives the shape that it takes, and still names an axis that is not there."""
    constants = {"s": ints(0), "e": ints(1)} | ({"a": ints(0)} if known else {})
    inputs = {"x": (f32, ())} | ({} if known else {"a": (i64, (1,))})
    model = make_model("y = Slice(x, s, e, a)", inputs, {"y": f32}, constants)
    feeds = {"x": np.array(1, f32)} | ({} if known else {"a": ints(0)})
    assert_load_or_run_refused(model, feeds, level)
