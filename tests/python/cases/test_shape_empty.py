"""Dimensions of size zero through every kind of operator: a result of the right shape, not a crash and not a refusal."""

import numpy as np
import pytest

from oracle import (
    FLOATS,
    INTS,
    assert_load_or_run_refused,
    assert_same,
    boolean,
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
)

Z = lambda *shape, dtype=f32: np.zeros(shape, dtype)
ints = lambda *values: np.array(values, i64)
BN = {"g": Z(3), "b": Z(3), "m": Z(3), "v": np.ones(3, f32)}
C123 = np.array([1, 2, 3], f32)

# id, nodes, inputs, constants, expected y
MATRICES = [
    ("onnxruntime#4559", "y = MatMul(x, w)", {"x": Z(1, 0, 4)}, {"w": random((4, 2))}, Z(1, 0, 2)),
    ("onnxruntime#348", "y = Gemm(x, w, c)", {"x": Z(2, 0), "w": Z(0, 3)}, {"c": C123}, np.stack([C123, C123])),
    ("matmul-inner-0", "y = MatMul(x, w)", {"x": Z(2, 0)}, {"w": Z(0, 3)}, Z(2, 3)),
    (
        "matmul-inner-0-relu",
        "m = MatMul(x, w); a = Add(m, c); y = Relu(a)",
        {"x": Z(2, 0)},
        {"w": Z(0, 3), "c": C123},
        np.stack([C123, C123]),
    ),
    ("matmul-columns-0", "y = MatMul(x, w)", {"x": Z(2, 3)}, {"w": Z(3, 0)}, Z(2, 0)),
    ("matmul-batch-0", "y = MatMul(x, w)", {"x": Z(0, 2, 3)}, {"w": random((3, 4))}, Z(0, 2, 4)),
    ("matmul-batch-0-by-1", "y = MatMul(x, w)", {"x": Z(0, 2, 3)}, {"w": random((1, 3, 4))}, Z(0, 2, 4)),
    ("matmul-vector-0", "y = MatMul(x, w)", {"x": Z(0)}, {"w": Z(0)}, np.float32(0)),
    ("matmul-vector-0-matrix", "y = MatMul(x, w)", {"x": Z(0)}, {"w": Z(0, 2)}, Z(2)),
    ("matmul-f64", "y = MatMul(x, w)", {"x": Z(2, 0, dtype=f64)}, {"w": Z(0, 3, dtype=f64)}, Z(2, 3, dtype=f64)),
    ("matmul-i32", "y = MatMul(x, w)", {"x": Z(2, 0, dtype=i32)}, {"w": Z(0, 3, dtype=i32)}, Z(2, 3, dtype=i32)),
    ("gemm-rows-0", "y = Gemm(x, w, c)", {"x": Z(0, 2)}, {"w": random((2, 3)), "c": C123}, Z(0, 3)),
    ("gemm-transA-rows-0", "y = Gemm<transA=1>(x, w)", {"x": Z(2, 0)}, {"w": random((2, 3))}, Z(0, 3)),
    ("gemm-inner-0-no-c", "y = Gemm<transB=1>(x, w)", {"x": Z(2, 0)}, {"w": Z(3, 0)}, Z(2, 3)),
    ("gemm-inner-0-beta", "y = Gemm<beta=0.5>(x, w, c)", {"x": Z(1, 0), "w": Z(0, 3)}, {"c": C123}, C123[None] / 2),
    ("einsum-inner-0", 'y = Einsum<equation="ij,jk->ik">(x, w)', {"x": Z(2, 0), "w": Z(0, 3)}, {}, Z(2, 3)),
    ("einsum-rows-0", 'y = Einsum<equation="ij,jk->ik">(x, w)', {"x": Z(0, 2), "w": Z(2, 3)}, {}, Z(0, 3)),
]

CONVOLUTIONS = [
    ("conv-batch-0", "y = Conv(x, w)", {"x": Z(0, 1, 4, 4)}, {"w": random((2, 1, 3, 3))}, Z(0, 2, 2, 2)),
    ("conv-batch-0-1d", "y = Conv<pads=[1, 1]>(x, w)", {"x": Z(0, 1, 4)}, {"w": random((2, 1, 3))}, Z(0, 2, 4)),
    (
        "conv-bn-relu-batch-0",
        "c = Conv(x, w); n = BatchNormalization(c, g, b, m, v); y = Relu(n)",
        {"x": Z(0, 2, 4, 4)},
        {"w": random((3, 2, 1, 1)), **BN},
        Z(0, 3, 4, 4),
    ),
    (
        "conv-depthwise-batch-0",
        "y = Conv<group=2>(x, w)",
        {"x": Z(0, 2, 3, 3)},
        {"w": random((2, 1, 3, 3))},
        Z(0, 2, 1, 1),
    ),
    (
        "conv-transpose-batch-0",
        "y = ConvTranspose(x, w)",
        {"x": Z(0, 1, 2, 2)},
        {"w": random((1, 2, 3, 3))},
        Z(0, 2, 4, 4),
    ),
    ("maxpool-batch-0", "y = MaxPool<kernel_shape=[2, 2]>(x)", {"x": Z(0, 3, 4, 4)}, {}, Z(0, 3, 3, 3)),
    (
        "avgpool-batch-0",
        "y = AveragePool<kernel_shape=[2, 2], strides=[2, 2]>(x)",
        {"x": Z(0, 3, 4, 4)},
        {},
        Z(0, 3, 2, 2),
    ),
    ("global-avgpool-batch-0", "y = GlobalAveragePool(x)", {"x": Z(0, 3, 4, 4)}, {}, Z(0, 3, 1, 1)),
    ("bn-batch-0", "y = BatchNormalization(x, g, b, m, v)", {"x": Z(0, 3, 2)}, BN, Z(0, 3, 2)),
    ("layernorm-rows-0", "y = LayerNormalization(x, g, b)", {"x": Z(0, 3)}, {"g": BN["g"], "b": BN["b"]}, Z(0, 3)),
    ("resize-batch-0", "y = Resize(x, , s)", {"x": Z(0, 1, 2, 2)}, {"s": np.array([1, 1, 2, 2], f32)}, Z(0, 1, 4, 4)),
    ("depth-to-space-batch-0", "y = DepthToSpace<blocksize=2>(x)", {"x": Z(0, 4, 2, 2)}, {}, Z(0, 1, 4, 4)),
]

REDUCTIONS = [
    ("sum-of-nothing", "y = ReduceSum(x, a)", {"x": Z(2, 0)}, {"a": ints(1)}, Z(2, 1)),
    ("sum-of-nothing-flat", "y = ReduceSum<keepdims=0>(x, a)", {"x": Z(2, 0)}, {"a": ints(1)}, Z(2)),
    ("sum-all-of-nothing", "y = ReduceSum<keepdims=0>(x)", {"x": Z(2, 0)}, {}, np.float32(0)),
    ("sum-the-other-axis", "y = ReduceSum<keepdims=0>(x, a)", {"x": Z(2, 0)}, {"a": ints(0)}, Z(0)),
    ("prod-of-nothing", "y = ReduceProd<keepdims=0>(x, a)", {"x": Z(2, 0)}, {"a": ints(1)}, np.ones(2, f32)),
    ("l1-of-nothing", "y = ReduceL1<keepdims=0>(x, a)", {"x": Z(2, 0)}, {"a": ints(1)}, Z(2)),
    ("l2-of-nothing", "y = ReduceL2<keepdims=0>(x, a)", {"x": Z(2, 0)}, {"a": ints(1)}, Z(2)),
    ("sumsquare-of-nothing", "y = ReduceSumSquare<keepdims=0>(x, a)", {"x": Z(2, 0)}, {"a": ints(1)}, Z(2)),
    (
        "logsum-of-nothing",
        "y = ReduceLogSum<keepdims=0>(x, a)",
        {"x": Z(2, 0)},
        {"a": ints(1)},
        np.full(2, -np.inf, f32),
    ),
    (
        "logsumexp-of-nothing",
        "y = ReduceLogSumExp<keepdims=0>(x, a)",
        {"x": Z(2, 0)},
        {"a": ints(1)},
        np.full(2, -np.inf, f32),
    ),
    ("max-of-nothing", "y = ReduceMax<keepdims=0>(x, a)", {"x": Z(2, 0)}, {"a": ints(1)}, np.full(2, -np.inf, f32)),
    ("min-of-nothing", "y = ReduceMin<keepdims=0>(x, a)", {"x": Z(2, 0)}, {"a": ints(1)}, np.full(2, np.inf, f32)),
    (
        "max-of-nothing-int",
        "y = ReduceMax<keepdims=0>(x, a)",
        {"x": Z(2, 0, dtype=i32)},
        {"a": ints(1)},
        np.full(2, -(2**31), i32),
    ),
    ("max-other-axis", "y = ReduceMax<keepdims=0>(x, a)", {"x": Z(2, 0)}, {"a": ints(0)}, Z(0)),
    ("mean-other-axis", "y = ReduceMean<keepdims=1>(x, a)", {"x": Z(2, 0)}, {"a": ints(0)}, Z(1, 0)),
    ("argmax-other-axis", "y = ArgMax<axis=0, keepdims=0>(x)", {"x": Z(2, 0)}, {}, Z(0, dtype=i64)),
    ("softmax-empty-axis", "y = Softmax<axis=1>(x)", {"x": Z(2, 0)}, {}, Z(2, 0)),
    ("softmax-no-rows", "y = Softmax<axis=-1>(x)", {"x": Z(0, 3)}, {}, Z(0, 3)),
    ("logsoftmax-no-rows", "y = LogSoftmax(x)", {"x": Z(0, 3)}, {}, Z(0, 3)),
    ("cumsum-empty", "y = CumSum(x, a)", {"x": Z(2, 0)}, {"a": np.array(1)}, Z(2, 0)),
    ("topk-0", "y, i = TopK(x, k)", {"x": random((2, 3))}, {"k": ints(0)}, Z(2, 0)),
    ("topk-no-rows", "y, i = TopK(x, k)", {"x": Z(0, 3)}, {"k": ints(2)}, Z(0, 2)),
]

MOVES = [
    ("onnxruntime#3777", "y = Reshape(x, s)", {"x": Z(0, 4)}, {"s": ints(2, -1)}, Z(2, 0)),
    ("reshape-copy-0", "y = Reshape(x, s)", {"x": Z(0, 4)}, {"s": ints(0, 2, 2)}, Z(0, 2, 2)),
    ("reshape-allowzero", "y = Reshape<allowzero=1>(x, s)", {"x": Z(0, 4)}, {"s": ints(7, 0)}, Z(7, 0)),
    ("reshape-copy-0-infer", "y = Reshape(x, s)", {"x": Z(3, 0)}, {"s": ints(0, 0)}, Z(3, 0)),
    ("flatten-0", "y = Flatten<axis=1>(x)", {"x": Z(0, 4, 2)}, {}, Z(0, 8)),
    ("flatten-2", "y = Flatten<axis=2>(x)", {"x": Z(3, 4, 0)}, {}, Z(12, 0)),
    ("transpose", "y = Transpose<perm=[2, 0, 1]>(x)", {"x": Z(2, 0, 3)}, {}, Z(3, 2, 0)),
    ("concat-with-empty", "y = Concat<axis=0>(x, w)", {"x": Z(0, 3)}, {"w": random((2, 3))}, random((2, 3))),
    ("concat-all-empty", "y = Concat<axis=1>(x, x)", {"x": Z(0, 3)}, {}, Z(0, 6)),
    ("split-with-0", "y, z = Split<axis=0>(x, s)", {"x": random((2, 3))}, {"s": ints(0, 2)}, Z(0, 3)),
    ("split-empty", "y, z = Split<axis=1, num_outputs=2>(x)", {"x": Z(0, 4)}, {}, Z(0, 2)),
    ("expand-to-0", "y = Expand(x, s)", {"x": random((1, 3))}, {"s": ints(0, 1)}, Z(0, 3)),
    ("expand-empty", "y = Expand(x, s)", {"x": Z(0, 1)}, {"s": ints(1, 4)}, Z(0, 4)),
    ("tile-0", "y = Tile(x, s)", {"x": random((2, 3))}, {"s": ints(0, 2)}, Z(0, 6)),
    ("gather-no-indices", "y = Gather<axis=0>(x, i)", {"x": random((2, 3))}, {"i": ints()}, Z(0, 3)),
    ("gather-2d-no-indices", "y = Gather<axis=1>(x, i)", {"x": random((2, 3))}, {"i": Z(0, 2, dtype=i64)}, Z(2, 0, 2)),
    ("gather-from-rows-0", "y = Gather<axis=1>(x, i)", {"x": Z(0, 3)}, {"i": ints(2, -1)}, Z(0, 2)),
    (
        "gather-elements-none",
        "y = GatherElements<axis=0>(x, i)",
        {"x": random((2, 3))},
        {"i": Z(0, 3, dtype=i64)},
        Z(0, 3),
    ),
    ("gathernd-none", "y = GatherND(x, i)", {"x": random((2, 3))}, {"i": Z(0, 1, dtype=i64)}, Z(0, 3)),
    (
        "scatternd-none",
        "y = ScatterND(x, i, u)",
        {"x": random((2, 3)), "u": Z(0, 3)},
        {"i": Z(0, 1, dtype=i64)},
        random((2, 3)),
    ),
    (
        "scatter-elements-none",
        "y = ScatterElements(x, i, u)",
        {"x": random((2, 3)), "u": Z(0, 3)},
        {"i": Z(0, 3, dtype=i64)},
        random((2, 3)),
    ),
    ("where-empty", "y = Where(c, x, x)", {"x": Z(0, 3)}, {"c": np.ones((1, 3), bool)}, Z(0, 3)),
    ("nonzero-none", "y = NonZero(x)", {"x": Z(2, 3)}, {}, Z(2, 0, dtype=i64)),
    ("nonzero-empty", "y = NonZero(x)", {"x": Z(0, 3)}, {}, Z(2, 0, dtype=i64)),
    ("compress-none", "y = Compress<axis=0>(x, c)", {"x": random((2, 3))}, {"c": np.zeros(2, bool)}, Z(0, 3)),
    (
        "range-empty",
        "y = Range(x, l, d)",
        {"x": np.array(3, i64)},
        {"l": np.array(3), "d": np.array(1)},
        Z(0, dtype=i64),
    ),
    (
        "range-backwards",
        "y = Range(x, l, d)",
        {"x": np.array(0, i64)},
        {"l": np.array(3), "d": np.array(-1)},
        Z(0, dtype=i64),
    ),
    ("constant-of-shape-0", "y = ConstantOfShape(x)", {"x": ints(2, 0)}, {}, Z(2, 0)),
    (
        "one-hot-none",
        "y = OneHot(x, d, v)",
        {"x": Z(0, dtype=i64)},
        {"d": np.array(3), "v": np.array([0, 1], f32)},
        Z(0, 3),
    ),
    ("shape-of-empty", "y = Shape(x)", {"x": Z(2, 0, 3)}, {}, ints(2, 0, 3)),
    ("size-of-empty", "y = Size(x)", {"x": Z(2, 0, 3)}, {}, np.array(0, i64)),
    ("unsqueeze", "y = Unsqueeze(x, a)", {"x": Z(0)}, {"a": ints(0)}, Z(1, 0)),
    ("squeeze", "y = Squeeze(x)", {"x": Z(1, 0)}, {}, Z(0)),
    ("cast-empty", f"y = Cast<to={onnx_type(i32)}>(x)", {"x": Z(0, 2)}, {}, Z(0, 2, dtype=i32)),
    ("trilu-empty", "y = Trilu(x)", {"x": Z(2, 0, 3)}, {}, Z(2, 0, 3)),
    ("eyelike-empty", "y = EyeLike(x)", {"x": Z(0, 3)}, {}, Z(0, 3)),
    (
        "chain",
        "a = Relu(x); b = Mul(a, w); c = Exp(b); d = Transpose(c); y = Concat<axis=1>(d, d)",
        {"x": Z(0, 3)},
        {"w": C123},
        Z(3, 0),
    ),
]
ROWS = MATRICES + CONVOLUTIONS + REDUCTIONS + MOVES
each_row = pytest.mark.parametrize(
    "text, feeds, weights, want", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)


@levels
@each_row
def test_static(text, feeds, weights, want, level):
    check(make_model(text, dict(feeds), {"y": want.dtype}, weights), feeds, want, level, peers=())


@levels
@each_row
def test_dynamic(text, feeds, weights, want, level):
    """The zero is known only at run time."""
    inputs = {n: (v.dtype, [f"{n}{i}" for i in range(v.ndim)]) for n, v in feeds.items()}
    check(make_model(text, inputs, {"y": want.dtype}, weights), feeds, want, level, peers=())


@each_row
def test_folded(text, feeds, weights, want):
    """Everything is constant: the folder has to cope with empty tensors too."""
    assert_same(run(make_model(text, {}, {"y": want.dtype}, {**weights, **feeds}), {}), {"y": np.asarray(want)})


UNARY = "Relu Neg Abs Exp Log Sqrt Floor Ceil Round Sigmoid Tanh Erf Softplus Sign Reciprocal Sin Identity HardSwish Gelu".split()


@levels
@pytest.mark.parametrize("op", UNARY)
def test_elementwise(op, level):
    for shape in [(0,), (0, 3), (2, 0, 4)]:
        check(
            make_model(f"y = {op}(x)", {"x": (f32, shape)}, {"y": f32}, opset=20),
            {"x": Z(*shape)},
            Z(*shape),
            level,
            peers=(),
        )


@levels
@pytest.mark.parametrize("dtype", FLOATS + INTS, ids=short)
@pytest.mark.parametrize(
    "shapes", [((0,), (1,)), ((2, 0), (2, 1)), ((0, 1), (1, 0)), ((0,), ()), ((3, 1, 0), (4, 1))], ids=str
)
def test_onnxruntime_1670(shapes, dtype, level):
    """Zero broadcasts with one."""
    a, b = (np.ones(s, dtype) for s in shapes)
    want = np.broadcast_shapes(*shapes)
    for op in ["Add", "Mul", "Sub", "Div", "Max"] + (["Pow"] if dtype in FLOATS + (i32, i64) else []):
        model = make_model(f"y = {op}(a, b); z = {op}(b, a)", {"a": a, "b": b}, {"y": dtype, "z": dtype})
        check(model, {"a": a, "b": b}, {"y": np.zeros(want, dtype), "z": np.zeros(want, dtype)}, level, peers=())


FUSED = {
    "channels": "a = BatchNormalization(x, c, c, c, c); y = Floor(a)",
    "channels-twice": "a = Mul(x, k); b = Add(a, k); d = Relu(b); y = Mul(d, k)",
    "row": "a = Add(x, r); b = Sigmoid(a); y = Mul(b, r)",
    "rows": "a = Sub(x, q); b = Tanh(a); y = Mul(b, q)",
    "softmax": "a = Mul(x, s); b = Softmax(a); y = Add(b, s)",
    "mean": "m = ReduceMean<keepdims=1>(x, ax); d = Sub(x, m); e = Mul(d, d); v = ReduceMean<keepdims=1>(e, ax); y = Add(v, s)",
    "conv": "a = Conv(x, w, c); b = BatchNormalization(a, c, c, c, c); y = Relu(b)",
    "matmul": "a = MatMul(x, mm); b = Add(a, s); y = Gelu(b)",
}


@levels
@pytest.mark.parametrize("shape", [(1, 3, 1, 0), (0, 3, 2, 4), (2, 3, 0, 4), (0, 3, 0, 0), (2, 3, 0, 1), (0, 3, 1, 1)], ids=str)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", FUSED)
def test_fused(name, known, shape, level):
    """What is fused keeps its shape and does not divide by the size of nothing."""
    n = shape[-1]
    weights = {"c": np.ones(3, f32), "k": np.ones((3, 1, 1), f32), "r": np.ones(n, f32), "q": np.ones((*shape[-2:],), f32)}
    weights |= {"s": np.array(2, f32), "ax": ints(-1), "w": np.ones((3, 3, 1, 1), f32), "mm": np.ones((n, 5), f32)}
    text = FUSED[name]
    if name == "conv" and 0 in shape[2:]:
        pytest.skip("a window must lie on something")
    used = {k: v for k, v in weights.items() if f"{k})" in text or f"{k}," in text}
    model = make_model(text, {"x": (f32, shape if known else list("abcd"))}, {"y": f32}, used, opset=20)
    want = {"mean": (*shape[:3], 1), "matmul": (*shape[:3], 5)}.get(name, shape)
    y = run(model, {"x": Z(*shape)}, level)["y"]
    assert y.shape == want and y.dtype == f32


@levels
@pytest.mark.parametrize("op", ["Equal", "Less", "GreaterOrEqual", "And", "Xor"])
def test_comparisons_with_empty(op, level):
    dtype = boolean if op in ("And", "Xor") else f32
    a, b = np.zeros((0, 1), dtype), np.ones((1, 3), dtype)
    check(
        make_model(f"y = {op}(a, b)", {"a": a, "b": b}, {"y": boolean}),
        {"a": a, "b": b},
        np.zeros((0, 3), bool),
        level,
        peers=(),
    )


@levels
@pytest.mark.parametrize("shapes", [((0,), (2,)), ((2, 0), (2, 3)), ((0, 3), (2, 3))], ids=str)
def test_zero_does_not_broadcast_with_more_than_one(shapes, level):
    a, b = (np.ones(s, f32) for s in shapes)
    assert_load_or_run_refused(
        make_model("y = Add(a, b)", {"a": a, "b": b}, {"y": f32}), {"a": a, "b": b}, level, node="add_y"
    )


REFUSED = [
    ("gather-from-nothing", "y = Gather<axis=0>(x, i)", {"x": Z(0, 3)}, {"i": ints(0)}, "gather_y"),
    ("argmax-of-nothing", "y = ArgMax<axis=1>(x)", {"x": Z(2, 0)}, {}, "argmax_y"),
    ("topk-of-nothing", "y, i = TopK(x, k)", {"x": Z(2, 0)}, {"k": ints(1)}, "topk_y"),
    ("reshape-0-to-2", "y = Reshape(x, s)", {"x": Z(0, 4)}, {"s": ints(2, 2)}, "reshape_y"),
    ("reshape-ambiguous", "y = Reshape<allowzero=1>(x, s)", {"x": Z(0, 4)}, {"s": ints(0, -1)}, "reshape_y"),
    ("matmul-0-by-2", "y = MatMul(x, w)", {"x": Z(3, 0)}, {"w": random((2, 3))}, "matmul_y"),
    ("maxpool-no-width", "y = MaxPool<kernel_shape=[2, 2]>(x)", {"x": Z(1, 1, 4, 0)}, {}, "maxpool_y"),
]


@levels
@pytest.mark.parametrize("text, feeds, weights, where", [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_empty_cannot_give_is_refused(text, feeds, weights, where, level):
    dtype = i64 if "ArgMax" in text else f32
    assert_load_or_run_refused(make_model(text, dict(feeds), {"y": dtype}, weights), feeds, level, node=where)


@levels
@pytest.mark.parametrize("dtype", [f16, f32, f64], ids=short)
def test_mean_of_nothing_is_nan(dtype, level):
    model = make_model("y = ReduceMean<keepdims=0>(x, a)", {"x": Z(2, 0, dtype=dtype)}, {"y": dtype}, {"a": ints(1)})
    check(model, {"x": Z(2, 0, dtype=dtype)}, np.full(2, np.nan, dtype), level, peers=())
