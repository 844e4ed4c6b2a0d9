"""Pooling windows at the border: output sizes in 1, 2 and 3 dimensions, what padding counts for, NaN, and odd attributes."""

import itertools

import numpy as np
import pytest

import engines
from oracle import (
    FLOATS,
    assert_load_or_run_refused,
    bf16,
    check,
    difference,
    f16,
    f32,
    f64,
    i8,
    levels,
    make_model,
    node,
    one_node,
    random,
    seeded,
    short,
    u8,
)


def out_size(n, k, stride, before, after, dilation, ceil):
    span = dilation * (k - 1) + 1
    room = n + before + after - span
    size = (-(-room // stride) if ceil else room // stride) + 1
    if ceil and (size - 1) * stride >= n + before:  # a window may not start in the padding on the far side
        size -= 1
    return size


def pool(x, kind, kernel, strides=None, pads=None, dilations=None, ceil=0, include=0):
    """`max`, `average` or `lp` (p = 2) pooling of [N, C, ...] by plain loops."""
    n = len(kernel)
    strides, dilations, pads = strides or [1] * n, dilations or [1] * n, pads or [0] * 2 * n
    sizes = [
        out_size(x.shape[2 + i], kernel[i], strides[i], pads[i], pads[n + i], dilations[i], ceil) for i in range(n)
    ]
    y = np.zeros(x.shape[:2] + tuple(sizes), np.float64)
    for at in np.ndindex(*sizes):
        taps, counted = [], 0
        for offset in np.ndindex(*kernel):
            p = [at[i] * strides[i] - pads[i] + offset[i] * dilations[i] for i in range(n)]
            if all(0 <= p[i] < x.shape[2 + i] for i in range(n)):
                taps.append(x[(slice(None), slice(None), *p)].astype(np.float64))
            # Padding counts when asked for; what only ceil_mode reaches never does.
            counted += all(-pads[i] <= p[i] < x.shape[2 + i] + pads[n + i] for i in range(n))
        where = (slice(None), slice(None), *at)
        if kind == "max":
            y[where] = np.max(taps, 0)
        elif kind == "lp":
            y[where] = np.sqrt(sum(t * t for t in taps))
        else:
            y[where] = sum(taps) / (counted if include else len(taps))
    return y.astype(x.dtype)


OPS = {"max": "MaxPool", "average": "AveragePool", "lp": "LpPool"}


def pool_model(x, kind, kernel, strides=None, pads=None, dilations=None, ceil=0, include=0, dynamic=False, opset=22):
    attributes = dict(kernel_shape=kernel, strides=strides, pads=pads, dilations=dilations, ceil_mode=ceil)
    if kind == "average":
        attributes["count_include_pad"] = include
    spec = (x.dtype, [f"d{i}" for i in range(x.ndim)]) if dynamic else x
    return make_model(
        [node(OPS[kind], "x", "y", name="the_pool", **attributes)], {"x": spec}, {"y": x.dtype}, opset=opset
    )


@levels
def test_onnxruntime_15446(level):
    """MaxPool ceil_mode in 3-D."""
    x = random((1, 1, 3, 6, 5))
    model = pool_model(x, "max", [3] * 3, [3] * 3, [1] * 6, ceil=1)
    want = pool(x, "max", [3] * 3, [3] * 3, [1] * 6, ceil=1)
    assert want.shape == (1, 1, 2, 3, 2)
    check(model, {"x": x}, want, level)


@levels
def test_onnx_4958_onnxruntime_16351(level):
    """The border window neither averages padding in nor divides by nothing."""
    x = np.array([[[1, 2, 3, 4]]], f32)
    model = pool_model(x, "average", [3], [3], [1, 1], ceil=1, include=0)
    check(model, {"x": x}, np.array([[[1.5, 3.5]]], f32), level)


def grid(rank):
    """A sample of kernels, strides, pads, dilations and sizes; each axis drawn on its own."""
    generator = seeded("pool", rank)
    for _ in range({1: 120, 2: 60, 3: 25}[rank]):
        k = generator.integers(1, 4, rank)
        dilation = generator.integers(1, 3, rank) if generator.random() < 0.3 else np.ones(rank, int)
        pads = np.concatenate([generator.integers(0, k), generator.integers(0, k)])
        size = generator.integers(np.maximum(dilation * (k - 1) + 1 - pads[:rank] - pads[rank:], 1), 8)
        yield [v.tolist() for v in (size, k, generator.integers(1, 5, rank), pads, dilation)]


@levels
@pytest.mark.parametrize("ceil", [0, 1], ids=["floor", "ceil"])
@pytest.mark.parametrize(
    "kind, include",
    [("max", 0), ("average", 0), ("average", 1), ("lp", 0)],
    ids=["max", "average", "average-pads", "lp"],
)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_grid(rank, kind, include, ceil, level):
    wrong = []
    for size, k, strides, pads, dilations in grid(rank):
        x = random((2, 3, *size), f32, "pool")
        arguments = (kind, k, strides, pads, dilations, ceil, include)
        try:
            want = pool(x, *arguments)
        except (ValueError, ZeroDivisionError):  # a window without any element: not this test's matter
            continue
        text = difference(engines.load(pool_model(x, *arguments), level).run({"x": x})["y"], want)
        wrong += [f"size {size} kernel {k} strides {strides} pads {pads} dilations {dilations}: {text}"] if text else []
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(wrong[:8])


def same_pads(sizes, kernel, strides, upper):
    """SAME: ceil(n / stride) windows; an odd pad goes to the end (UPPER) or the start (LOWER)."""
    totals = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(sizes, kernel, strides)]
    less, more = [t // 2 for t in totals], [t - t // 2 for t in totals]
    return less + more if upper else more + less


@levels
@pytest.mark.parametrize("size", [4, 5, 6, 7])
@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize("kind", OPS)
def test_auto_pad(kind, auto_pad, size, level):
    """Strides 1 to 3 (also beyond the kernel), kernels 2 and 3."""
    x = random((1, 2, size, size + 1))
    for k, s in itertools.product([2, 3], [1, 2, 3]):
        kernel, strides = [k, k], [s, s]
        pads = same_pads(x.shape[2:], kernel, strides, auto_pad == "SAME_UPPER") if "SAME" in auto_pad else None
        model = one_node(OPS[kind], {"x": x}, kernel_shape=kernel, strides=strides, auto_pad=auto_pad)
        check(model, {"x": x}, pool(x, kind, kernel, strides, pads), level, peers=("onnxruntime",))


@levels
@pytest.mark.parametrize("dtype", FLOATS, ids=short)
@pytest.mark.parametrize("kind", OPS)
def test_types(kind, dtype, level):
    x = random((1, 2, 5, 4), dtype)
    want = pool(x, kind, [3, 2], [2, 1], [1, 0, 1, 1])
    model = pool_model(x, kind, [3, 2], [2, 1], [1, 0, 1, 1], dynamic=True)
    tolerance = {f16: 4e-3, bf16: 3e-2}.get(dtype)
    check(model, {"x": x}, want, level, peers=(), rtol=tolerance, atol=tolerance)


@levels
@pytest.mark.parametrize("dtype", [i8, u8], ids=short)
def test_integer_maxpool(dtype, level):
    """Padding is below every value, -128 too."""
    x = np.full((1, 1, 3, 3), np.iinfo(dtype).min, dtype)
    x[0, 0, 1, 1] = 5
    model = pool_model(x, "max", [2, 2], [2, 2], [1, 1, 1, 1], opset=12)
    check(model, {"x": x}, np.array([[[[x.min(), x.min()], [x.min(), 5]]]], dtype), level, peers=("onnxruntime",))


@levels
@pytest.mark.parametrize("dtype", [f32, f64], ids=short)
@pytest.mark.parametrize("where", [0, 3, 8])
@pytest.mark.parametrize("kind", ["max", "average"])
def test_nan(kind, where, dtype, level):
    """NaN anywhere in a window is the window's result; lowest and infinite values are kept."""
    x = np.full((1, 1, 9), -np.inf, dtype)
    x[0, 0, where] = np.nan
    for kernel, pads in (([3], [0, 0]), ([2], [1, 1]), ([9], [4, 4])):
        check(pool_model(x, kind, kernel, pads=pads), {"x": x}, pool(x, kind, kernel, pads=pads), level, peers=())


@levels
@pytest.mark.parametrize("op", ["GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"])
@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 4, 5), (1, 2, 3, 2, 4), (1, 1, 1, 1)], ids=str)
def test_global(op, shape, level):
    x = random(shape)
    axes = tuple(range(2, len(shape)))
    want = {
        "GlobalMaxPool": x.max(axes, keepdims=True),
        "GlobalAveragePool": x.mean(axes, keepdims=True),
        "GlobalLpPool": np.sqrt((x * x).sum(axes, keepdims=True)),
    }
    check(one_node(op, {"x": x}), {"x": x}, want[op], level, peers=("onnxruntime",))


@levels
@pytest.mark.parametrize("where", [0, 1, 11])
@pytest.mark.parametrize("op", ["GlobalMaxPool", "GlobalAveragePool"])
def test_global_nan(op, where, level):
    x = random((1, 2, 3, 4))
    x.flat[where] = np.nan
    want = (x.max if op == "GlobalMaxPool" else x.mean)((2, 3), keepdims=True)
    check(one_node(op, {"x": x}), {"x": x}, want, level, peers=())


@levels
@pytest.mark.parametrize("storage_order", [0, 1])
def test_maxpool_indices(storage_order, level):
    """Flat indices into the whole tensor, in row- or column-major order; ties take the first."""
    x = random((2, 2, 4, 5)).round()
    attributes = dict(kernel_shape=[2, 3], strides=[2, 1], pads=[0, 1, 0, 1], storage_order=storage_order)
    model = one_node("MaxPool", {"x": x}, "y,i", **attributes)
    check(model, {"x": x}, level=level, peers=("onnxruntime",))


@levels
@pytest.mark.parametrize(
    "attributes",
    [
        dict(kernel_shape=[2, 2], pads=[0, 0, 0]),
        dict(kernel_shape=[2]),
        dict(kernel_shape=[2, 2], strides=[0, 1]),
        dict(kernel_shape=[0, 2]),
        dict(kernel_shape=[-1, 2]),
        dict(kernel_shape=[2, 2], strides=[1, -1]),
        dict(kernel_shape=[2, 2], dilations=[0, 1]),
        dict(kernel_shape=[9, 9]),
        dict(kernel_shape=[2, 2], pads=[0, 0, -5, 0]),
        dict(kernel_shape=[2, 2], pads=[2, 2, 2, 2]),
        dict(kernel_shape=[2**31, 2**31]),
        dict(kernel_shape=[2, 2], strides=[1]),
        dict(),
        dict(kernel_shape=[2, 2], auto_pad="SIDEWAYS"),
        dict(kernel_shape=[2**62, 2], pads=[2**62, 0, 2**62, 0]),
    ],
    ids=lambda a: "-".join(f"{k}={v}" for k, v in a.items()).replace(" ", "") or "no-kernel",
)
def test_attributes_that_make_no_sense(attributes, level):
    x = random((1, 1, 4, 4))
    model = make_model([node("MaxPool", "x", "y", name="the_pool", **attributes)], {"x": x}, {"y": f32})
    assert_load_or_run_refused(model, {"x": x}, level, node="the_pool")


# ---- transposed convolution: tract#991 -------------------------------------------------------------------------------------


@levels
def test_tract_991(level):
    """Negative pads of ConvTranspose: right (it adds columns, here a zero) or refused clearly."""
    x, w = np.array([[[1, 2]]], f32), np.ones((1, 1, 3), f32)
    model = make_model(
        [node("ConvTranspose", "x,w", "y", name="up", strides=[2], pads=[0, -1])], {"x": x}, {"y": f32}, {"w": w}
    )
    try:
        got = engines.load(model, level).run({"x": x})["y"]
    except engines.refusals():
        assert_load_or_run_refused(model, {"x": x}, level, node="up")
    else:
        assert difference(got, np.array([[[1, 1, 3, 2, 2, 0]]], f32)) is None


@levels
@pytest.mark.parametrize(
    "attributes",
    [
        dict(),
        dict(strides=[2]),
        dict(strides=[2], pads=[1, 0]),
        dict(strides=[2], output_padding=[1]),
        dict(strides=[3], output_shape=[7]),
        dict(dilations=[2]),
        dict(strides=[2], auto_pad="SAME_UPPER"),
        dict(strides=[2], auto_pad="SAME_LOWER"),
        dict(strides=[3], pads=[1, 1], output_padding=[2]),
        dict(strides=[2], output_shape=[5], auto_pad="SAME_UPPER"),
    ],
    ids=lambda a: "-".join(f"{k}={v}" for k, v in a.items()) or "plain",
)
def test_conv_transpose_sizes(attributes, level):
    x, w = random((2, 2, 3)), random((2, 3, 3), f32, "w")
    model = one_node("ConvTranspose", {"x": x, "w": w}, constants=("w",), **attributes)
    check(model, {"x": x}, level=level, peers=("onnxruntime",))
