"""Patterns that optimisers rewrite: name -> (shape of x, nodes from `x` over an inner value `m` to `y`, initializers)."""

import numpy as np

from oracle import f32, f64, i32, onnx_type, random

W = random((2, 1, 3, 3), f32, "w")
BN = {
    "gamma": np.array([1.5, -0.5], f32),
    "beta": np.array([0.25, 1], f32),
    "mean": np.array([0.5, -1], f32),
    "var": np.array([0.3, 2], f32),
}
IMAGE, MATRIX, CUBE = (1, 1, 5, 5), (4, 6), (2, 3, 4)
CONV = "Conv<pads=[1, 1, 1, 1]>(x, w)"
NORM = "BatchNormalization<epsilon=0.001>({}, gamma, beta, mean, var)"
scalar, ints = np.float32, lambda *values: np.array(values, np.int64)
F32, F64, I32 = (onnx_type(t) for t in (f32, f64, i32))
W63, B3 = random((6, 3)), random((3,))

CONVOLUTIONS = {
    "conv-bn": (IMAGE, f"m = {CONV}; y = {NORM.format('m')}", {"w": W, **BN}),
    "conv-relu": (IMAGE, f"m = {CONV}; y = Relu(m)", {"w": W}),
    "conv-bn-relu": (IMAGE, f"c = {CONV}; m = {NORM.format('c')}; y = Relu(m)", {"w": W, **BN}),
    "conv-bias": (IMAGE, f"m = {CONV}; y = Add(m, b)", {"w": W, "b": random((1, 2, 1, 1))}),
    "conv-bias-per-column": (IMAGE, f"m = {CONV}; y = Add(m, b)", {"w": W, "b": random((5,))}),
    "conv-bias-full": (IMAGE, f"m = {CONV}; y = Add(b, m)", {"w": W, "b": random((2, 5, 5))}),
    "conv-scale": (IMAGE, f"m = {CONV}; y = Mul(m, s)", {"w": W, "s": random((2, 1, 1))}),
    "conv-scale-widening": (IMAGE, f"m = {CONV}; y = Mul(m, s)", {"w": W, "s": random((3, 1, 1, 1))}),
    "conv-relu6": (IMAGE, f"m = {CONV}; y = Clip(m, lo, hi)", {"w": W, "lo": scalar(0), "hi": scalar(6)}),
    "conv-silu": (IMAGE, f"m = {CONV}; s = Sigmoid(m); y = Mul(m, s)", {"w": W}),
    "conv-hardswish": (IMAGE, f"m = {CONV}; y = HardSwish(m)", {"w": W}),
    "conv-leaky": (IMAGE, f"m = {CONV}; y = LeakyRelu<alpha=0.3>(m)", {"w": W}),
    "conv-prelu": (IMAGE, f"m = {CONV}; y = PRelu(m, slope)", {"w": W, "slope": random((2, 1, 1))}),
    "conv-tanh": (IMAGE, f"m = {CONV}; y = Tanh(m)", {"w": W}),
    "conv-conv": (IMAGE, f"m = {CONV}; y = Conv(m, w2)", {"w": W, "w2": random((3, 2, 1, 1))}),
    "bn-conv": (
        IMAGE,
        f"c = Concat<axis=1>(x, x); m = {NORM.format('c')}; y = Conv<pads=[1, 1, 1, 1]>(m, w2)",
        {"w2": random((1, 2, 3, 3)), **BN},
    ),
    "conv-pool": (IMAGE, f"m = {CONV}; y = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(m)", {"w": W}),
    "conv-residual": (IMAGE, f"m = {CONV}; s = Add(m, x); y = Relu(s)", {"w": W}),
    "pad-conv": (IMAGE, "m = Pad(x, p); y = Conv(m, w)", {"w": W, "p": ints(0, 0, 1, 2, 0, 0, 0, 1)}),
    "pad-value-conv": (
        IMAGE,
        "m = Pad(x, p, v); y = Conv(m, w)",
        {"w": W, "p": ints(0, 0, 1, 2, 0, 0, 0, 1), "v": scalar(2)},
    ),
    "pad-channel-conv": (
        IMAGE,
        "m = Pad(x, p); y = Conv(m, w)",
        {"w": random((2, 2, 3, 3)), "p": ints(0, 1, 1, 1, 0, 0, 1, 1)},
    ),
    "pad-negative-conv": (IMAGE, "m = Pad(x, p); y = Conv(m, w)", {"w": W, "p": ints(0, 0, -1, 1, 0, 0, 0, -1)}),
    "pad-edge-conv": (
        IMAGE,
        'm = Pad<mode="edge">(x, p); y = Conv(m, w)',
        {"w": W, "p": ints(0, 0, 1, 1, 0, 0, 1, 1)},
    ),
    "pad-maxpool": (IMAGE, "m = Pad(x, p); y = MaxPool<kernel_shape=[2, 2]>(m)", {"p": ints(0, 0, 1, 1, 0, 0, 1, 1)}),
    "pad-avgpool": (
        IMAGE,
        "m = Pad(x, p); y = AveragePool<kernel_shape=[3, 3]>(m)",
        {"p": ints(0, 0, 1, 1, 0, 0, 1, 1)},
    ),
}

MATRICES = {
    "matmul-add": (MATRIX, "m = MatMul(x, w); y = Add(m, b)", {"w": W63, "b": B3}),
    "matmul-add-column": (MATRIX, "m = MatMul(x, w); y = Add(m, b)", {"w": W63, "b": random((4, 1))}),
    "matmul-add-widening": (MATRIX, "m = MatMul(x, w); y = Add(m, b)", {"w": W63, "b": random((2, 1, 3))}),
    "matmul-add-relu": (MATRIX, "c = MatMul(x, w); m = Add(c, b); y = Relu(m)", {"w": W63, "b": B3}),
    "matmul-scale": (MATRIX, "m = MatMul(x, w); y = Mul(m, s)", {"w": W63, "s": scalar(0.25)}),
    "matmul-gelu": (
        MATRIX,
        "m = MatMul(x, w); a = Div(m, r); e = Erf(a); o = Add(e, one); p = Mul(m, o); y = Mul(p, half)",
        {"w": W63, "r": scalar(np.sqrt(2)), "one": scalar(1), "half": scalar(0.5)},
    ),
    "gemm-relu": (MATRIX, "m = Gemm<transB=1>(x, w, b); y = Relu(m)", {"w": random((3, 6)), "b": B3}),
    "gemm-alpha-beta": (
        MATRIX,
        "m = Gemm<alpha=0.5, beta=2.0>(x, w, b); y = Add(m, b)",
        {"w": W63, "b": B3},
    ),
    "transpose-matmul": (MATRIX, "m = Transpose<perm=[1, 0]>(x); y = MatMul(m, w)", {"w": random((4, 3))}),
    "transpose-gemm": (MATRIX, "m = Transpose<perm=[1, 0]>(x); y = Gemm<transA=1>(m, w)", {"w": W63}),
    "transpose-identity-gemm": (
        MATRIX,
        "m = Transpose<perm=[0, 1]>(x); y = Gemm<transA=1>(w, m)",
        {"w": random((4, 3))},
    ),
    "softmax-log": (MATRIX, "m = Softmax<axis=0>(x); y = Log(m)", {}),
    "layernorm": (
        MATRIX,
        "mu = ReduceMean(x, ax); m = Sub(x, mu); sq = Mul(m, m); v = ReduceMean(sq, ax); ve = Add(v, eps);"
        "sd = Sqrt(ve); n = Div(m, sd); ng = Mul(n, g); y = Add(ng, b)",
        {"ax": ints(-1), "eps": scalar(1e-5), "g": random((6,)), "b": random((6,), f32, 2)},
    ),
    "attention": (
        CUBE,
        "k = Transpose<perm=[0, 2, 1]>(x); s = MatMul(x, k); m = Div(s, d); p = Softmax<axis=-1>(m); y = MatMul(p, x)",
        {"d": scalar(2)},
    ),
}

MATRICES |= {
    "attention-mask": (
        CUBE,
        "k = Transpose<perm=[0, 2, 1]>(x); s = MatMul(x, k); f = Where(c, s, low); m = Add(f, b);"
        "p = Softmax<axis=-1>(m); y = MatMul(p, x)",
        {"c": np.tril(np.ones((3, 3), bool)), "low": scalar(-1e4), "b": random((2, 1, 3))},
    ),
    "attention-heads": (
        (2, 3, 2, 4),
        "q = Transpose<perm=[0, 2, 1, 3]>(x); k = Transpose<perm=[0, 2, 3, 1]>(x); s = MatMul(q, k);"
        "p = Softmax<axis=-1>(s); m = MatMul(p, q); y = Transpose<perm=[0, 2, 1, 3]>(m)",
        {},
    ),
}

MOVES = {
    "slice-slice": (CUBE, "m = Slice(x, a, e, a); y = Slice(m, a, e, b)", {"a": ints(1), "e": ints(9), "b": ints(-1)}),
    "concat-concat": (CUBE, "n = Neg(x); m = Concat<axis=0>(n, x); a = Abs(m); y = Concat<axis=0>(m, a)", {}),
    "transpose-inverse": (CUBE, "m = Transpose<perm=[1, 2, 0]>(x); y = Transpose<perm=[2, 0, 1]>(m)", {}),
    "transpose-compose": (CUBE, "m = Transpose<perm=[1, 2, 0]>(x); y = Transpose<perm=[1, 2, 0]>(m)", {}),
    "transpose-default": (CUBE, "m = Transpose(x); y = Transpose(m)", {}),
    "transpose-through-relu": (
        CUBE,
        "m = Transpose<perm=[2, 0, 1]>(x); r = Relu(m); y = Transpose<perm=[1, 2, 0]>(r)",
        {},
    ),
    "transpose-through-add": (
        CUBE,
        "m = Transpose<perm=[2, 0, 1]>(x); r = Add(m, b); y = Transpose<perm=[1, 2, 0]>(r)",
        {"b": random((3,))},
    ),
    "transpose-through-softmax": (
        CUBE,
        "m = Transpose<perm=[2, 0, 1]>(x); r = Softmax<axis=1>(m); y = Transpose<perm=[1, 2, 0]>(r)",
        {},
    ),
    "transpose-through-reduce": (
        CUBE,
        "m = Transpose<perm=[2, 0, 1]>(x); y = ReduceSum<keepdims=0>(m, axes)",
        {"axes": ints(0)},
    ),
    "transpose-through-concat": (
        CUBE,
        "m = Transpose<perm=[2, 0, 1]>(x); r = Concat<axis=0>(m, m); y = Transpose<perm=[1, 2, 0]>(r)",
        {},
    ),
    "transpose-through-slice": (
        CUBE,
        "m = Transpose<perm=[2, 0, 1]>(x); r = Slice(m, a, b, a); y = Transpose<perm=[1, 2, 0]>(r)",
        {"a": ints(1), "b": ints(3)},
    ),
    "cast-pair-exact": (MATRIX, f"m = Cast<to={F64}>(x); y = Cast<to={F32}>(m)", {}),
    "cast-pair-narrow": (MATRIX, f"m = Cast<to={I32}>(x); y = Cast<to={F32}>(m)", {}),
    "reshape-pair": (CUBE, "m = Reshape(x, a); y = Reshape(m, b)", {"a": ints(4, -1), "b": ints(2, 3, 4)}),
    "reshape-zero": (CUBE, "m = Reshape(x, a); y = Reshape(m, b)", {"a": ints(0, -1), "b": ints(0, 6, -1)}),
    "reshape-transpose": (MATRIX, "m = Reshape(x, a); y = Transpose<perm=[0, 2, 1]>(m)", {"a": ints(4, 2, 3)}),
    "flatten-reshape": (CUBE, "m = Flatten<axis=2>(x); y = Reshape(m, b)", {"b": ints(2, 12)}),
    "unsqueeze-squeeze": (MATRIX, "m = Unsqueeze(x, a); y = Squeeze(m, a)", {"a": ints(1)}),
    "unsqueeze-squeeze-all": ((1, 6), "m = Unsqueeze(x, a); y = Squeeze(m)", {"a": ints(1)}),
    "identity-pair": (MATRIX, "m = Identity(x); y = Identity(m)", {}),
    "slice-slice": (
        MATRIX,
        "m = Slice(x, a, b, ax); y = Slice(m, c, d, ax, st)",
        {"a": ints(1), "b": ints(5), "c": ints(-1), "d": ints(-9), "ax": ints(1), "st": ints(-2)},
    ),
    "concat-slice": (
        MATRIX,
        "m = Concat<axis=1>(x, k); y = Slice(m, a, b, ax)",
        {"k": random((4, 2)), "a": ints(0), "b": ints(6), "ax": ints(1)},
    ),
    "split-concat": (MATRIX, "m, n = Split<axis=1, num_outputs=2>(x); y = Concat<axis=1>(n, m)", {}),
    "expand-add": (MATRIX, "m = Expand(x, e); y = Add(m, x)", {"e": ints(2, 1, 6)}),
    "gather-gather": (
        MATRIX,
        "m = Gather<axis=1>(x, i); y = Gather<axis=0>(m, j)",
        {"i": ints(5, -6, 2), "j": np.array(-1)},
    ),
}

ELEMENTWISE = {
    "relu-relu": (MATRIX, "m = Relu(x); y = Relu(m)", {}),
    "relu-clip": (MATRIX, "m = Relu(x); y = Clip(m, lo, hi)", {"lo": scalar(-1), "hi": scalar(1)}),
    "clip-relu": (MATRIX, "m = Clip(x, lo, hi); y = Relu(m)", {"lo": scalar(-2), "hi": scalar(-1)}),
    "clip-clip-disjoint": (
        MATRIX,
        "m = Clip(x, a, b); y = Clip(m, c, d)",
        {"a": scalar(-2), "b": scalar(-1), "c": scalar(1), "d": scalar(2)},
    ),
    "scale-shift": (MATRIX, "m = Mul(x, s); y = Add(m, t)", {"s": random((6,)), "t": random((4, 1))}),
    "add-add": (MATRIX, "m = Add(x, s); y = Add(m, t)", {"s": random((6,)), "t": random((4, 1), f32, 2)}),
    "mul-mul-widening": ((1, 6), "m = Mul(x, s); y = Mul(t, m)", {"s": random((3, 1)), "t": random((2, 1, 1))}),
    "reduce-reduce": (CUBE, "m = ReduceSum(x, a); y = ReduceSum(m, b)", {"a": ints(0), "b": ints(2)}),
    "mean-square": (MATRIX, "m = Mul(x, x); y = ReduceMean<keepdims=0>(m, ax)", {"ax": ints(0)}),
    "neg-neg": (MATRIX, "m = Neg(x); y = Neg(m)", {}),
    "sub-add-back": (MATRIX, "m = Sub(x, s); y = Add(m, s)", {"s": random((6,))}),
    "where-mask": (MATRIX, "c = Less(x, z); m = Where(c, z, x); y = Sqrt(m)", {"z": scalar(0)}),
    "min-max": (MATRIX, "m = Min(x, a); y = Max(m, b)", {"a": scalar(1), "b": scalar(2)}),
}

PATTERNS = CONVOLUTIONS | MATRICES | MOVES | ELEMENTWISE

# The element type of the inner value where it is not float32.
INNER_TYPE = {"cast-pair-exact": f64, "cast-pair-narrow": i32}
