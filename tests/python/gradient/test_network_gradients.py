"""Gradients of the layers of networks against central differences: convolution, pooling, normalisation, losses."""

import numpy as np
import pytest

from gradient.gradient_oracle import Case, gradients_of
from oracle import assert_load_refused, f64, levels, make_model, random

opened = pytest.mark.parametrize("is_open", [False, True], ids=["static", "open"])


def ints(*values):
    return np.array(values, np.int64)


# attributes: shape of the data, of the weight
CONVOLUTIONS = {
    "": ((2, 3, 4, 5), (2, 3, 2, 3)),
    "pads=[1, 0, 0, 2]": ((1, 2, 4, 4), (3, 2, 3, 2)),
    "strides=[2, 3]": ((1, 2, 6, 6), (2, 2, 2, 2)),
    "strides=[2, 2], pads=[1, 1, 1, 1]": ((2, 1, 4, 5), (2, 1, 3, 3)),
    "dilations=[2, 1], pads=[1, 1, 1, 1]": ((1, 2, 5, 3), (2, 2, 2, 3)),
    "group=2, strides=[2, 1]": ((2, 4, 4, 3), (6, 2, 2, 2)),
    "group=3, pads=[1, 1, 1, 1]": ((2, 3, 3, 3), (3, 1, 3, 3)),
    'auto_pad="SAME_UPPER", strides=[2, 2]': ((1, 1, 5, 4), (2, 1, 3, 2)),
    'auto_pad="SAME_LOWER"': ((1, 1, 4, 4), (1, 1, 2, 3)),
    "strides=[2], dilations=[2]": ((2, 2, 8), (2, 2, 2)),
    "strides=[1, 2, 1]": ((1, 1, 2, 4, 3), (2, 1, 2, 1, 2)),
}


@levels
@opened
@pytest.mark.parametrize("attributes", CONVOLUTIONS)
def test_conv(attributes, is_open, level):
    x, w = (random(shape, f64, i) for i, shape in enumerate(CONVOLUTIONS[attributes]))
    feeds = {"x": x, "w": w, "b": random(w.shape[:1], f64, "b")}
    xs = None
    if is_open:
        if "SAME_UPPER" in attributes:
            pytest.skip("padding that depends on extents is refused")
        feeds, xs = {"x": x, "w": w}, ["x"]  # the kernel must be known
        Case(f"h = Conv<{attributes}>(x, w); y = Mul(h, h)", feeds, xs, constants=["w"], is_open=True).check(level, order=2)
        text = f"h = Conv<kernel_shape={list(w.shape[2:])}{', ' * bool(attributes)}{attributes}>(x, w); y = Mul(h, h)"
        # The gradient of the weight is a convolution by a kernel as large as the result, of extents that are not known.
        return Case(text, feeds, is_open=True).check(level)
    Case(f"h = Conv<{attributes}>(x, w, b); y = Mul(h, h)", feeds, xs).check(level, order=2)


# attributes: shape of the data, of the weight
TRANSPOSED = {
    "": ((2, 2, 2, 3), (2, 3, 2, 2)),
    "strides=[2, 2], pads=[1, 0, 0, 1]": ((1, 2, 3, 2), (2, 1, 3, 3)),
    "strides=[3, 2], output_padding=[2, 1]": ((1, 1, 2, 2), (1, 2, 2, 2)),
    "group=2, dilations=[2, 1]": ((2, 4, 2, 3), (4, 2, 2, 2)),
    'auto_pad="SAME_UPPER", strides=[2, 2]': ((1, 1, 2, 3), (1, 2, 3, 3)),
    "output_shape=[5, 6], strides=[2, 2]": ((1, 1, 3, 3), (1, 1, 2, 2)),
    "output_shape=[4, 5], strides=[2, 2]": ((1, 2, 3, 3), (2, 1, 2, 3)),
    "strides=[2]": ((2, 2, 3), (2, 1, 3)),
}


@levels
@opened
@pytest.mark.parametrize("attributes", TRANSPOSED)
def test_conv_transpose(attributes, is_open, level):
    x, w = (random(shape, f64, i) for i, shape in enumerate(TRANSPOSED[attributes]))
    if is_open:
        if "SAME" in attributes or "output_shape" in attributes:
            pytest.skip("padding that depends on extents is refused")
        text = f"h = ConvTranspose<{attributes}>(x, w); y = Mul(h, h)"
        return Case(text, {"x": x, "w": w}, ["x"], constants=["w"], is_open=True).check(level, order=2)
    feeds = {"x": x, "w": w, "b": random((w.shape[1] * (2 if "group" in attributes else 1),), f64, "b")}
    Case(f"h = ConvTranspose<{attributes}>(x, w, b); y = Mul(h, h)", feeds).check(level, order=2)


POOLS = {
    "AveragePool": [
        "kernel_shape=[2, 2]", "kernel_shape=[2, 3], strides=[2, 2], pads=[1, 1, 0, 2]",
        "kernel_shape=[2, 3], strides=[2, 2], pads=[1, 1, 0, 2], count_include_pad=1", "kernel_shape=[2, 2], dilations=[2, 2]",
        "kernel_shape=[3, 2], strides=[2, 3], ceil_mode=1", "kernel_shape=[3, 2], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1, count_include_pad=1",
        'kernel_shape=[2, 2], auto_pad="SAME_UPPER"',
    ],
    "MaxPool": [
        "kernel_shape=[2, 2]", "kernel_shape=[2, 3], strides=[2, 2], pads=[1, 1, 0, 2]", "kernel_shape=[2, 2], dilations=[2, 2]",
        "kernel_shape=[3, 2], strides=[2, 3], ceil_mode=1", 'kernel_shape=[2, 2], auto_pad="SAME_LOWER", strides=[2, 2]',
    ],
    "LpPool": ["kernel_shape=[2, 2], p=1", "kernel_shape=[2, 2], strides=[2, 1], pads=[1, 0, 0, 1]", "kernel_shape=[2, 3], p=3"],
}  # fmt: skip


@levels
@opened
@pytest.mark.parametrize("op,attributes", [(op, a) for op, all_of in POOLS.items() for a in all_of])
def test_pool(op, attributes, is_open, level):
    if is_open and "ceil_mode" in attributes and op == "AveragePool":
        pytest.skip("counts that depend on extents are refused")
    x = random((2, 2, 5, 6), f64, op)
    Case(f"h = {op}<{attributes}>(x); y = Mul(h, h)", {"x": x}, is_open=is_open).check(level, order=2)


@levels
def test_max_pool_that_gives_places(level):
    x = random((1, 2, 4, 4), f64)
    for order in (0, 1):
        text = f"h, places = MaxPool<kernel_shape=[2, 2], storage_order={order}>(x); y = Mul(h, h)"
        Case(text, {"x": x}).check(level, order=2)


@levels
@opened
@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "GlobalLpPool<p=1>", "GlobalLpPool<p=3>"])
def test_global_pool(op, is_open, level):
    Case(f"h = {op}(x); y = Mul(h, h)", {"x": random((2, 3, 2, 3), f64)}, is_open=is_open).check(level, order=2)


@levels
@opened
@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "LpNormalization", "LpNormalization<p=1>"])
@pytest.mark.parametrize("axis", [None, 0, -2])
def test_along_an_axis(op, axis, is_open, level):
    name, _, attributes = op.partition("<")
    attributes = ", ".join(filter(None, [attributes.rstrip(">"), axis is not None and f"axis={axis}"]))
    Case(f"h = {name}<{attributes}>(x); y = Mul(h, h)", {"x": random((2, 3, 2), f64)}, is_open=is_open).check(level, order=2)


NORMALIZATIONS = {
    "LayerNormalization(x, s, b)": {"s": (4,), "b": (4,)},
    "LayerNormalization<axis=1, epsilon=0.1>(x, s, b)": {"s": (3, 4), "b": (4,)},
    "LayerNormalization<axis=-2>(x, s)": {"s": (3, 1)},
    "RMSNormalization(x, s)": {"s": (4,)},
    "RMSNormalization<axis=1, epsilon=0.1>(x, s)": {"s": (1,)},
    "InstanceNormalization(x, s, b)": {"s": (3,), "b": (3,)},
    "BatchNormalization(x, s, b, m, v)": {"s": (3,), "b": (3,), "m": (3,), "v": (3,)},
    "MeanVarianceNormalization<axes=[0, 2]>(x)": {},
    "LRN<size=2, alpha=0.5, beta=0.6, bias=1.2>(x)": {},
    "LRN<size=3, alpha=0.5>(x)": {},
}


@levels
@opened
@pytest.mark.parametrize("op", NORMALIZATIONS)
def test_normalization(op, is_open, level):
    if is_open and "LRN" in op:
        pytest.skip("the channels must be known")
    feeds = {"x": random((2, 3, 4), f64)}
    feeds |= {name: random(shape, f64, name, low=0.5, high=2) for name, shape in NORMALIZATIONS[op].items()}
    Case(f"h = {op}; y = Mul(h, h)", feeds, is_open=is_open).check(level, order=2)


@levels
@opened
def test_batch_normalization_in_training(is_open, level):
    feeds = {name: random((3,), f64, name, low=0.5, high=2) for name in "sbmv"}
    text = "h, n, w = BatchNormalization<training_mode=1>(x, s, b, m, v); y = Mul(h, h)"
    Case(text, {"x": random((3, 3, 2), f64), **feeds}, is_open=is_open).check(level, order=2)


@levels
@opened
def test_group_normalization(is_open, level):
    feeds = {"x": random((2, 4, 3), f64), "s": random((4,), f64, "s"), "b": random((4,), f64, "b")}
    Case("h = GroupNormalization<num_groups=2>(x, s, b); y = Mul(h, h)", feeds, is_open=is_open).check(level, order=2)


@levels
@opened
@pytest.mark.parametrize("ignored", [None, 2, -1])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("extents", [(), (2,)], ids=str)
def test_losses(extents, reduction, weights, ignored, is_open, level):
    labels = random((4, *extents), np.int64, "labels", low=0, high=3)
    if ignored is not None:
        labels.reshape(-1)[1] = ignored
    feeds = {"x": random((4, 3, *extents), f64), "l": labels.astype(np.int32)}
    if weights:
        feeds["w"] = random((3,), f64, "w", low=0.5, high=2)
    attributes = f'reduction="{reduction}"' + (f", ignore_index={ignored}" if ignored is not None else "")
    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        text = f"h = {op}<{attributes}>({', '.join(feeds)}); y = Mul(h, h)"
        Case(text, feeds, ["x"], is_open=is_open).check(level, order=2)
    text = f"h, p = SoftmaxCrossEntropyLoss<{attributes}>({', '.join(feeds)}); y = Mul(h, h); z = Mul(p, p)"
    Case(text, feeds, ["x"], outputs=["y", "z"], is_open=is_open).check(level, order=2)
    Case(text, feeds, ["x"], outputs=["z"], is_open=is_open).check(level)


@levels
def test_dropout(level):
    x = random((40,), f64, low=0.5, high=1)
    for training in (None, False):
        feeds = {"x": x, **({} if training is None else {"r": np.array(0.5), "t": np.array(training)})}
        Case(f"y = Dropout({', '.join(feeds)})", feeds, ["x"], constants=list(feeds.keys() - {"x"})).check(level)
    # With a seed each run draws the same mask.
    for constants in ([], ["t"], ["r", "t"]):
        for outputs in ("h", "h, mask"):
            feeds = {"x": x, "r": np.array(0.25), "t": np.array(True)}
            text = f"{outputs} = Dropout<seed=7>(x, r, t); y = Mul(h, h)"
            Case(text, feeds, ["x"], constants=constants).check(level)
    got = gradients_of("y = Dropout(x, r, t)", {"x": x, "r": np.array(0.25), "t": np.array(True)}, ["x"], level)
    assert set(np.unique(np.round(got[0], 6))) == {0, round(1 / 0.75, 6)}
