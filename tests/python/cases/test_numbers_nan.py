"""NaN propagates: through Relu, Clip, Min, Max, reductions and pools, in every float type, wherever it stands."""

import numpy as np
import pytest

import engines
from oracle import (
    FLOATS,
    assert_same,
    bf16,
    boolean,
    check,
    check_folded,
    f16,
    f32,
    f64,
    i64,
    levels,
    make_model,
    node,
    one_node,
    random,
    run,
    short,
)

floats = pytest.mark.parametrize("dtype", FLOATS, ids=short)
nan, inf = np.nan, np.inf
SIZES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 64, 100]

REDUCE_ROWS = [
    ("onnxruntime#10514", [nan, nan, nan, 42]),
    ("iree#24503", [2, nan]),
    ("tvm#19572", [nan, 1]),
    ("one-nan-among-infinities", [inf, -inf, nan]),
    ("only-nan", [nan]),
]


@levels
@floats
@pytest.mark.parametrize(
    "op",
    [
        "ReduceMax",
        "ReduceMin",
        "ReduceSum",
        "ReduceMean",
        "ReduceProd",
        "ReduceL1",
        "ReduceL2",
        "ReduceSumSquare",
        "ReduceLogSumExp",
    ],
)
@pytest.mark.parametrize("values", [r[1] for r in REDUCE_ROWS], ids=[r[0] for r in REDUCE_ROWS])
def test_reductions(values, op, dtype, level):
    x = np.array(values, dtype)
    model = make_model(f"y = {op}<keepdims=0>(x)", {"x": x}, {"y": dtype})
    check(model, {"x": x}, np.array(nan, dtype), level, peers=())
    check_folded(model, {"x": x}, np.array(nan, dtype), peers=())


@levels
@floats
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin"])
def test_reductions_over_each_axis_and_place(op, axis, dtype, level):
    """NaN at every position of every length, so that vector bodies and tails both see it."""
    function = np.max if op == "ReduceMax" else np.min
    model = make_model(
        f"y = {op}<keepdims=0>(x, a)", {"x": (dtype, ["a", "b", "c"])}, {"y": dtype}, {"a": np.array([axis])}
    )
    loaded = engines.load(model, level)
    for size in SIZES:
        shape = [2, 3, 2]
        shape[axis] = size
        for where in {0, size // 2, size - 1}:
            x = random(shape, f32, "reduce").astype(dtype)
            index = [1, 0, 1]
            index[axis] = where
            x[tuple(i if k == axis else min(i, shape[k] - 1) for k, i in enumerate(index))] = nan
            assert_same(
                loaded.run({"x": x})["y"],
                function(x.astype(f64), axis).astype(dtype),
                what=f"size {size}, NaN at {where}",
            )


def values_with_nan(dtype, size):
    x = random((size,), f32, "nan", size).astype(dtype)
    x[:: max(size // 3, 1)] = nan
    return x


UNARY = {
    "relu": ("y = Relu(x)", {}, lambda x: np.maximum(x, 0)),
    "clip": ("y = Clip(x, lo, hi)", {"lo": -1, "hi": 1}, lambda x: np.clip(x, -1, 1)),
    "clip-low": ("y = Clip(x, lo)", {"lo": -1}, lambda x: np.maximum(x, -1)),
    "clip-high": ("y = Clip(x, , hi)", {"hi": 1}, lambda x: np.minimum(x, 1)),
    "relu6": ("r = Relu(x); y = Clip(r, lo, hi)", {"lo": 0, "hi": 6}, lambda x: np.clip(x, 0, 6)),
    "clip-relu": ("c = Clip(x, lo, hi); y = Relu(c)", {"lo": -6, "hi": 6}, lambda x: np.clip(x, 0, 6)),
    "min-constant": ("y = Min(x, k)", {"k": 1}, lambda x: np.minimum(x, 1)),
    "constant-min": ("y = Min(k, x)", {"k": 1}, lambda x: np.minimum(x, 1)),
    "max-constant": ("y = Max(x, k)", {"k": 1}, lambda x: np.maximum(x, 1)),
    "constant-max": ("y = Max(k, x)", {"k": 1}, lambda x: np.maximum(x, 1)),
    "max-min": ("m = Max(x, lo); y = Min(m, hi)", {"lo": -1, "hi": 1}, lambda x: np.clip(x, -1, 1)),
    "leaky-relu": ("y = LeakyRelu<alpha=0.5>(x)", {}, lambda x: np.where(x < 0, x * 0.5, x)),
    "prelu": ("y = PRelu(x, s)", {"s": 0.5}, lambda x: np.where(x < 0, x * 0.5, x)),
    "abs": ("y = Abs(x)", {}, np.abs),
    "neg": ("y = Neg(x)", {}, np.negative),
    "floor": ("y = Floor(x)", {}, np.floor),
    "round": ("y = Round(x)", {}, np.round),
    "sign": ("y = Sign(x)", {}, np.sign),
    "sqrt": ("y = Sqrt(x)", {}, np.sqrt),
    "exp": ("y = Exp(x)", {}, np.exp),
    "sigmoid": ("y = Sigmoid(x)", {}, lambda x: 1 / (1 + np.exp(-x))),
    "tanh": ("y = Tanh(x)", {}, np.tanh),
    "hard-sigmoid": ("y = HardSigmoid(x)", {}, lambda x: np.clip(float(np.float32(0.2)) * x + 0.5, 0, 1)),
    "hard-swish": ("y = HardSwish(x)", {}, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "softsign": ("y = Softsign(x)", {}, lambda x: x / (1 + np.abs(x))),
    "elu": ("y = Elu(x)", {}, lambda x: np.where(x < 0, np.exp(np.minimum(x, 0)) - 1, x)),
    "where": ("c = Greater(x, z); y = Where(c, x, z)", {"z": 0}, lambda x: np.where(x > 0, x, 0)),
}
DROPS_BY_DEFINITION = ("where",)


@levels
@floats
@pytest.mark.parametrize("name", UNARY)
def test_elementwise(name, dtype, level):
    """Vector bodies and tails of all lengths."""
    text, weights, function = UNARY[name]
    weights = {k: np.array(v, dtype) for k, v in weights.items()}
    model = make_model(text, {"x": (dtype, ["n"])}, {"y": dtype}, weights, opset=22)
    loaded = engines.load(model, level)
    tolerance = 4e-2 if dtype == bf16 else None
    for size in SIZES:
        x = values_with_nan(dtype, size)
        with np.errstate(all="ignore"):
            want = function(x.astype(f64)).astype(dtype)
        assert name in DROPS_BY_DEFINITION or np.isnan(want[0])
        assert_same(loaded.run({"x": x})["y"], want, tolerance, tolerance, what=f"size {size}")


@levels
@floats
@pytest.mark.parametrize("op", ["Min", "Max"])
def test_min_and_max_of_tensors(op, dtype, level):
    """NaN on the left, on the right, on both sides, in the third operand, and broadcast."""
    function = np.minimum if op == "Min" else np.maximum
    a, b, c = (np.array(v, dtype) for v in ([nan, 1, nan, 2, inf], [3, nan, nan, -inf, 1], [1, 1, 1, nan, 0]))
    feeds = {"a": a, "b": b, "c": c}
    check(one_node(op, {"a": a, "b": b}), {"a": a, "b": b}, function(a, b), level, peers=())
    check(one_node(op, feeds), feeds, function(function(a, b), c), level, peers=())
    s = np.array([[nan], [0]], dtype)
    check(one_node(op, {"a": a, "s": s}), {"a": a, "s": s}, function(a, s), level, peers=())


@levels
@floats
def test_onnx_6002_6003_TensorRT_4773(dtype, level):
    """Clip([NaN,5], -1, 1), with bounds as constants, as inputs and as attributes of opset 6."""
    x, want = np.array([nan, 5], dtype), np.array([nan, 1], dtype)
    lo, hi = np.array(-1, dtype), np.array(1, dtype)
    check(one_node("Clip", {"x": x, "lo": lo, "hi": hi}, constants=("lo", "hi")), {"x": x}, want, level, peers=())
    feeds = {"x": x, "lo": lo, "hi": hi}
    check(one_node("Clip", feeds), feeds, want, level, peers=())
    check_folded(one_node("Clip", feeds), feeds, want, peers=())
    if dtype != bf16:
        check(one_node("Clip", {"x": x}, opset=6, min=-1.0, max=1.0), {"x": x}, want, level, peers=())


@levels
@pytest.mark.parametrize("dtype", FLOATS + (np.dtype("int32"), i64, np.dtype("uint8"), np.dtype("int8")), ids=short)
@pytest.mark.parametrize("form", ["constant", "input"])
def test_onnxruntime_25057(form, dtype, level):
    """Clip with min > max: min(max(x, lo), hi), so max wins everywhere."""
    x = np.array([2, 0, 6], dtype) if dtype.kind == "u" else np.array([-2, 0, 6], dtype)
    feeds = {"x": x, "lo": np.array(2, dtype), "hi": np.array(1, dtype)}
    constants = ("lo", "hi") if form == "constant" else ()
    model = one_node("Clip", feeds, constants=constants)
    check(model, {k: v for k, v in feeds.items() if k not in constants}, np.ones(3, dtype), level, peers=())


FUSED = {
    "conv-relu": ("c = Conv(x, w); y = Relu(c)", {"w": np.ones((1, 1, 1), f32)}, lambda x: np.maximum(x, 0)),
    "conv-clip": (
        "c = Conv(x, w); y = Clip(c, lo, hi)",
        {"w": np.ones((1, 1, 1), f32), "lo": f32.type(0), "hi": f32.type(6)},
        lambda x: np.clip(x, 0, 6),
    ),
    "conv-add-relu": (
        "c = Conv(x, w); a = Add(c, x); y = Relu(a)",
        {"w": np.ones((1, 1, 1), f32)},
        lambda x: np.maximum(2 * x, 0),
    ),
    "conv-max": (
        "c = Conv(x, w); y = Max(c, z)",
        {"w": np.ones((1, 1, 1), f32), "z": f32.type(0)},
        lambda x: np.maximum(x, 0),
    ),
    "conv-min": (
        "c = Conv(x, w); y = Min(c, z)",
        {"w": np.ones((1, 1, 1), f32), "z": f32.type(0)},
        lambda x: np.minimum(x, 0),
    ),
    "conv-leaky": (
        "c = Conv(x, w); y = LeakyRelu<alpha=0.5>(c)",
        {"w": np.ones((1, 1, 1), f32)},
        lambda x: np.where(x < 0, x / 2, x),
    ),
    "conv-hardswish": (
        "c = Conv(x, w); y = HardSwish(c)",
        {"w": np.ones((1, 1, 1), f32)},
        lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    ),
    "conv-hardsigmoid": (
        "c = Conv(x, w); y = HardSigmoid(c)",
        {"w": np.ones((1, 1, 1), f32)},
        lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    ),
    "conv-maxpool": ("c = Conv(x, w); y = MaxPool<kernel_shape=[1]>(c)", {"w": np.ones((1, 1, 1), f32)}, lambda x: x),
    "matmul-relu": ("c = MatMul(x, w); y = Relu(c)", {"w": np.ones((1, 1), f32)}, lambda x: np.maximum(x, 0)),
    "matmul-bias-relu": (
        "c = MatMul(x, w); b = Add(c, o); y = Relu(b)",
        {"w": np.ones((1, 1), f32), "o": np.ones(1, f32)},
        lambda x: np.maximum(x + 1, 0),
    ),
    "matmul-clip": (
        "c = MatMul(x, w); y = Clip(c, lo, hi)",
        {"w": np.ones((1, 1), f32), "lo": f32.type(-1), "hi": f32.type(1)},
        lambda x: np.clip(x, -1, 1),
    ),
    "bn-relu": (
        "c = BatchNormalization<epsilon=0.0>(x, o, z, z, o); y = Relu(c)",
        {"o": np.ones(1, f32), "z": np.zeros(1, f32)},
        lambda x: np.maximum(x, 0),
    ),
    "add-relu": ("c = Add(x, o); y = Relu(c)", {"o": f32.type(1)}, lambda x: np.maximum(x + 1, 0)),
    "mul-add-clip": (
        "c = Mul(x, o); d = Add(c, o); y = Clip(d, o, h)",
        {"o": f32.type(1), "h": f32.type(2)},
        lambda x: np.clip(x + 1, 1, 2),
    ),
}


@levels
@pytest.mark.parametrize("name", FUSED)
def test_fused_activations(name, level):
    """The rule binds fused kernels too: NaN, both infinities and numbers through each activation after a convolution or product."""
    text, weights, function = FUSED[name]
    for size in (5, 16, 37):
        values = np.resize(np.array([nan, -2, 0.5, 8, nan, 3, -7], f32), size)
        # A product of one column: every element stands alone, NaN must stay where it is.
        x = values.reshape((size, 1, 1) if "matmul" not in name else (size, 1))
        check(make_model(text, {"x": x}, {"y": f32}, weights), {"x": x}, function(x).astype(f32), level, peers=())


@levels
@pytest.mark.parametrize("op, want", [("ArgMax", 1), ("ArgMin", 1)])
@pytest.mark.parametrize("dtype", [f16, f32, f64], ids=short)
def test_arg_of_the_first_nan(op, want, dtype, level):
    """As in NumPy, NaN is taken for the extreme."""
    x = np.array([3, nan, 9, nan], dtype)
    check(one_node(op, {"x": x}, axis=0, keepdims=0), {"x": x}, np.array(want), level, peers=())


@levels
@floats
def test_softmax_with_nan_and_infinity(dtype, level):
    """A row with NaN is NaN; a row that is -inf but for one number is one-hot."""
    x = np.array([[1, nan, 2], [-inf, 5, -inf], [1, 1, 1]], dtype)
    want = np.array([[nan] * 3, [0, 1, 0], [1 / 3] * 3], f64).astype(dtype)
    check(one_node("Softmax", {"x": x}, axis=-1), {"x": x}, want, level, peers=())


@levels
@floats
@pytest.mark.parametrize(
    "op, want",
    [
        ("Equal", [0, 0, 1]),
        ("Less", [0, 0, 0]),
        ("Greater", [0, 0, 0]),
        ("LessOrEqual", [0, 0, 1]),
        ("GreaterOrEqual", [0, 0, 1]),
    ],
)
def test_comparisons(op, want, dtype, level):
    a, b = np.array([nan, nan, 1], dtype), np.array([nan, 1, 1], dtype)
    model = one_node(op, {"a": a, "b": b}, opset=18)
    check(model, {"a": a, "b": b}, np.array(want, bool), level, peers=())


@levels
def test_nan_tests_and_booleans(level):
    x = np.array([nan, 0, -0.0, inf, -inf], f32)
    text = "n = IsNaN(x); i = IsInf(x); p = IsInf<detect_negative=0>(x); b = Cast<to=9>(x); m = Not(n)"
    got = run(make_model(text, {"x": x}, ["n", "i", "p", "b", "m"]), {"x": x}, level)
    want = {"n": np.isnan(x), "i": np.isinf(x), "p": np.isposinf(x), "b": x.astype(bool), "m": ~np.isnan(x)}
    assert_same(got, want)
    assert got["n"].dtype == boolean


@levels
def test_topk_loses_nothing(level):
    """Wherever TopK puts a NaN, it is there once and the others are too."""
    x = np.array([1, nan, 3, 2], f32)
    model = make_model([node("TopK", "x,k", "v,i")], {"x": x}, {"v": f32, "i": i64}, {"k": np.array([4])})
    got = run(model, {"x": x}, level)
    assert sorted(got["i"].tolist()) == [0, 1, 2, 3] and np.isnan(got["v"]).sum() == 1
    assert_same(got["v"], x[got["i"]])
