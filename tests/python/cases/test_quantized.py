"""Quantised models: pairs of QuantizeLinear and DequantizeLinear change numbers, and what stands between them is computed as written."""

import numpy as np
import pytest

from oracle import check, check_folded, f16, f32, f64, i8, i32, i64, levels, make_model, random, u8, u16

floats = lambda *values: np.array(values, f32)
S = np.float32
CODES = lambda shape, dtype, *seed: random(shape, dtype, *seed, low=-128, high=256)
ZERO8, ZERO128 = np.array(0, i8), np.array(128, u8)
CHANNELS = {"s": floats(0.1, 0.2, 0.3), "z": np.array([1, 2, 3], u8)}
IN, OUT = "a = DequantizeLinear(x, s, z)", "y = QuantizeLinear(b, t, z)"
BYTES = {"s": S(0.25), "t": S(0.5), "z": ZERO128}

# inputs by name, nodes, constants, what comes out (None: as the oracles say), opset
ROWS = {
    "int8-ends": ({"x": floats(-129, -128, -127.5, 126.5, 127.5, 128, np.inf, -np.inf)}, "y = QuantizeLinear(x, s, z)", {"s": S(1), "z": ZERO8}, np.array([-128, -128, -128, 126, 127, 127, 127, -128], i8)),
    "half-to-even-before-zero-point": ({"x": floats(0.5, 1.5, 2.5, -0.5, -1.5, 300)}, "y = QuantizeLinear(x, s, z)", {"s": S(1), "z": np.array(10, u8)}, np.array([10, 12, 12, 10, 8, 255], u8)),
    "odd-zero-point-on-ties": ({"x": floats(0.5, 1.5, 2.5, -0.5)}, "y = QuantizeLinear(x, s, z)", {"s": S(1), "z": np.array(1, u8)}, np.array([1, 3, 3, 1], u8)),
    "no-zero-point-is-uint8": ({"x": floats(-1, 0, 254.5, 256)}, "y = QuantizeLinear(x, s)", {"s": S(1)}, np.array([0, 0, 254, 255], u8)),
    "output-type": ({"x": floats(-1, 0, 254.5, 256)}, "y = QuantizeLinear<output_dtype=3>(x, s)", {"s": S(1)}, np.array([-1, 0, 127, 127], i8), 21),
    "uint16": ({"x": floats(-1, 0, 65534.5, 65536)}, "y = QuantizeLinear(x, s, z)", {"s": S(1), "z": np.array(1, u16)}, np.array([0, 1, 65535, 65535], u16), 21),
    "divides": ({"x": floats(*np.arange(-50, 50)) * S(0.1)}, "y = QuantizeLinear(x, s, z)", {"s": S(0.2), "z": np.array(3, u8)}, None),
    "there-and-back": ({"x": floats(0.26, -5, 1000)}, "a = QuantizeLinear(x, s, z); y = DequantizeLinear(a, s, z)", {"s": S(0.5), "z": ZERO8}, floats(0.5, -5, 63.5)),
    "back-by-another-scale": ({"x": floats(0.26, -5, 1000)}, "a = QuantizeLinear(x, s, z); y = DequantizeLinear(a, t, z)", {"s": S(0.5), "t": S(2), "z": ZERO8}, floats(2, -20, 254)),
    "to-another-type": ({"x": np.array([-128, 0, 127], i8)}, "a = DequantizeLinear(x, s, z); y = QuantizeLinear(a, s, w)", {"s": S(0.5), "z": ZERO8, "w": np.array(0, u8)}, np.array([0, 0, 127], u8)),
    "to-another-zero-point": ({"x": np.array([0, 128, 255], u8)}, "a = DequantizeLinear(x, s, z); y = QuantizeLinear(a, s, w)", {"s": S(0.5), "z": ZERO128, "w": np.array(200, u8)}, np.array([72, 200, 255], u8)),
    "negative-through-reshape": ({"x": np.array([[-30, 20]], i8)}, "a = DequantizeLinear<axis=1>(x, s); y = Reshape(a, r)", {"s": floats(0.01, 0.02), "r": np.array([2, 1])}, floats(-0.3, 0.4).reshape(2, 1)),
    "channels-between-transposes": ({"x": random((2, 3, 4), f32, low=0, high=20)}, "a = Transpose<perm=[0, 2, 1]>(x); q = QuantizeLinear<axis=2>(a, s, z); b = DequantizeLinear<axis=2>(q, s, z); y = Transpose<perm=[0, 2, 1]>(b)", CHANNELS, None),
    "channels-of-a-cube-between-transposes": ({"x": random((3, 3, 3), f32, low=0, high=20)}, "a = Transpose<perm=[1, 2, 0]>(x); q = QuantizeLinear<axis=0>(a, s, z); b = DequantizeLinear<axis=0>(q, s, z); y = Transpose<perm=[2, 0, 1]>(b)", CHANNELS, None),
    "one-scale-between-transposes": ({"x": random((2, 3, 4))}, "a = Transpose<perm=[0, 2, 1]>(x); q = QuantizeLinear(a, s, z); b = DequantizeLinear(q, s, z); y = Transpose<perm=[0, 2, 1]>(b)", {"s": S(0.1), "z": ZERO128}, None),
    "axis-from-the-end": ({"x": CODES((2, 3, 4), u8)}, "y = DequantizeLinear<axis=-2>(x, s, z)", {"s": floats(0.1, 0.2, 0.3), "z": np.array([1, 2, 255], u8)}, None),
    "int32-beyond-float32": ({"x": np.array([2**31 - 1, -(2**31), 5], i32)}, "y = DequantizeLinear(x, s)", {"s": S(0.5)}, floats(2**30, -(2**30), 2.5)),
    "blocks": ({"x": CODES((2, 4), i8)}, "y = DequantizeLinear<axis=1, block_size=2>(x, s, z)", {"s": random((2, 2)), "z": CODES((2, 2), i8, 1)}, None, 21),
    "blocks-that-end-early": ({"x": random((2, 4))}, "y = QuantizeLinear<axis=1, block_size=3>(x, s)", {"s": abs(random((2, 2)))}, None, 21),
    "softmax-that-saturates": ({"x": np.array([[127, -128, -128, -128]], i8)}, "a = DequantizeLinear(x, s, z); b = Softmax(a); y = QuantizeLinear(b, t, w)", {"s": S(1), "z": ZERO8, "t": S(1 / 256), "w": np.array(-128, i8)}, np.array([[127, -128, -128, -128]], i8)),
    "mean-on-a-tie": ({"x": np.array([[[1, 2, 4, 7, 10]]], u8)}, "a = DequantizeLinear(x, s, z); b = AveragePool<kernel_shape=[2]>(a); y = QuantizeLinear(b, s, z)", {"s": S(1), "z": np.array(0, u8)}, np.array([[[2, 3, 6, 8]]], u8)),
    "relu": ({"x": np.array([0, 100, 128, 200], u8)}, f"{IN}; b = Relu(a); {OUT}", {**BYTES, "t": S(0.25)}, np.array([128, 128, 128, 200], u8)),
    "sum-of-two-scales": ({"x": CODES((64,), u8), "w": CODES((64,), u8, 1)}, f"{IN}; c = DequantizeLinear(w, t, z); b = Add(a, c); {OUT}", BYTES, None),
    "convolution": ({"x": CODES((1, 2, 4, 4), u8)}, f"{IN}; c = DequantizeLinear<axis=0>(w, v); b = Conv<pads=[1, 1, 1, 1]>(a, c); {OUT}", {**BYTES, "w": CODES((3, 2, 3, 3), i8), "v": floats(0.01, 0.02, 0.03)}, None),
    "product": ({"x": CODES((3, 5), u8)}, f"{IN}; c = DequantizeLinear<axis=1>(w, v, o); b = MatMul(a, c); {OUT}", {**BYTES, "w": CODES((5, 2), i8, 1), "v": floats(0.5, 0.1), "o": np.array([1, -3], i8)}, None),
    "moves-between": ({"x": CODES((1, 2, 4, 4), u8)}, f"{IN}; c = MaxPool<kernel_shape=[2, 2]>(a); d = Transpose<perm=[0, 2, 3, 1]>(c); b = Reshape(d, r); {OUT}", {**BYTES, "r": np.array([1, -1])}, None),
    "QLinearConv": ({"x": CODES((1, 2, 4, 4), u8)}, "y = QLinearConv<pads=[1, 1, 1, 1]>(x, s, z, w, v, o, t, z, b)", {**BYTES, "w": CODES((3, 2, 3, 3), i8), "v": floats(0.01, 0.02, 0.03), "o": np.zeros(3, i8), "b": np.array([1000, -1000, 0], i32)}, None),
    "QLinearMatMul": ({"x": CODES((3, 5), u8)}, "y = QLinearMatMul(x, s, z, w, v, o, t, z)", {**BYTES, "w": CODES((5, 2), i8), "v": floats(0.05, 0.01), "o": np.array([3, -3], i8)}, None),
    "MatMulInteger-of-extremes": ({"x": np.full((1, 600), 255, u8), "w": np.full((600, 1), -128, i8)}, "y = MatMulInteger(x, w)", {}, np.array([[-255 * 128 * 600]], i32)),
    "MatMulInteger-zero-point-of-each-column": ({"x": CODES((2, 3, 5), u8), "w": CODES((5, 2), i8)}, "y = MatMulInteger(x, w, a, b)", {"a": np.array(3, u8), "b": np.array([1, -2], i8)}, None),
    "ConvInteger": ({"x": CODES((1, 2, 4, 4), u8), "w": CODES((2, 2, 3, 3), u8)}, "y = ConvInteger<pads=[1, 1, 1, 1]>(x, w, a, b)", {"a": ZERO128, "b": np.array(7, u8)}, None),
}  # fmt: skip


@levels
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("row", ROWS)
def test_rows(row, known, level):
    feeds, text, constants, want, *opset = ROWS[row]
    spec = {n: a if known else (a.dtype, [f"{n}{i}" for i in range(a.ndim)]) for n, a in feeds.items()}
    model = make_model(text, spec, ["y"], constants, opset=opset[0] if opset else 19)
    peers = ("reference", "onnxruntime") if want is None else ()
    check(model, feeds, want, level, peers)
    if level == 3:
        check_folded(make_model(text, dict(feeds), ["y"], constants, opset=opset[0] if opset else 19), feeds, want, peers)


@levels
@pytest.mark.parametrize("x", [[0, 0], [5, 5], [-5, -5], [1, 2, 3], [-1, -2], [0, 255], [-1e-30, 1e-30], [-1, 254.5]], ids=str)
def test_dynamic(x, level):
    """The range always has zero in it, and the zero point is rounded to even."""
    model = make_model("y, s, z = DynamicQuantizeLinear(x)", {"x": (f32, ["n"])}, "ysz")
    check(model, {"x": floats(*x)}, level=level, peers=("onnxruntime",))


CASTS = {
    "to-bool": (floats(0, -0.0, 0.1, np.nan, np.inf), "y = Cast<to=9>(x)", np.array([0, 0, 1, 1, 1], bool)),
    "to-text": (floats(0, 0.1, 1e20, 1, -1.5, 1e-7), "y = Cast<to=8>(x)", np.array(["0", "0.1", "1e+20", "1", "-1.5", "1e-07"], object)),
    "from-text": (np.array(["1.5", "-inf", "1e3", "INF", "0"], object), "y = Cast<to=1>(x)", floats(1.5, -np.inf, 1000, np.inf, 0)),
    "integers-from-text": (np.array(["1", "-5"], object), "y = Cast<to=7>(x)", np.array([1, -5])),
    "bits-lost": (np.array([2**24 + 1, 2**53 + 1]), "a = Cast<to=1>(x); y = Cast<to=7>(a)", np.array([2**24, 2**53])),
    "int32-by-float32": (np.array([2**24 + 1, 7], i32), "a = Cast<to=1>(x); y = Cast<to=6>(a)", np.array([2**24, 7], i32)),
    "int32-by-float64": (np.array([2**24 + 1, 7], i32), "a = Cast<to=11>(x); y = Cast<to=6>(a)", np.array([2**24 + 1, 7], i32)),
    "wraps": (np.array([2**40 + 5, -1]), "y = Cast<to=6>(x)", np.array([5, -1], i32)),
    "half-overflows": (np.array([65504, 65519, 65520, -70000]), "y = Cast<to=10>(x)", np.array([65504, 65504, np.inf, -np.inf], f16)),
    "rounded-once": (np.array([1 + 2**-11 + 2**-40, 1 + 2**-11]), "y = Cast<to=10>(x)", np.array([1 + 2**-10, 1], f16)),
    "by-bool": (floats(2, 0, -3), "a = Cast<to=9>(x); y = Cast<to=1>(a)", floats(1, 0, 1)),
}  # fmt: skip


@levels
@pytest.mark.parametrize("row", CASTS)
def test_casts(row, level):
    x, text, want = CASTS[row]
    assert x.dtype in (f32, f64, i32, i64, object)
    model = make_model(text, {"x": (x.dtype, ["n"])}, ["y"])
    check(model, {"x": x}, want, level, peers=())
    check_folded(make_model(text, {"x": x}, ["y"]), {"x": x}, want, peers=())
