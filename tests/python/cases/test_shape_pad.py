"""Pad: negative pads crop, whatever the mode; pads that the data cannot serve are refused."""

import itertools

import numpy as np
import pytest

from oracle import (
    NUMBERS,
    assert_load_or_run_refused,
    assert_run_refused,
    boolean,
    check,
    f32,
    i64,
    levels,
    make_model,
    node,
    random,
    short,
)


def numpy_pad(x, pads, mode="constant", value=0, axes=None):
    """Crops by the negative pads, then pads by the positive ones: `constant`, `reflect`, `edge` or `wrap`."""
    axes = list(range(x.ndim)) if axes is None else [a % x.ndim for a in axes]
    before, after = [0] * x.ndim, [0] * x.ndim
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[i + len(axes)]
    crop = tuple(slice(max(-b, 0), n - max(-a, 0)) for b, a, n in zip(before, after, x.shape))
    widths = [(max(b, 0), max(a, 0)) for b, a in zip(before, after)]
    if not widths:
        return x
    options = {"constant_values": value} if mode == "constant" else {}
    return np.pad(x[crop], widths, mode=mode, **options)


def pad_model(x, pads, mode=None, value=None, axes=None, constant=True, opset=19, shape=None):
    values = {"pads": np.array(pads, i64)}
    if value is not None:
        values["value"] = np.array(value, x.dtype)
    if axes is not None:
        values["axes"] = np.array(axes, i64)
    names = "x,pads," + ("value" if value is not None else "") + (",axes" if axes is not None else "")
    nodes = [node("Pad", names.rstrip(","), "y", name="the_pad", mode=mode)]
    inputs = {"x": (x.dtype, shape or x.shape)}
    if constant:
        return make_model(nodes, inputs, {"y": x.dtype}, values, opset=opset), {"x": x}
    return make_model(nodes, {**inputs, **values}, {"y": x.dtype}, opset=opset), {"x": x, **values}


@levels
@pytest.mark.parametrize("constant", [True, False], ids=["constant", "input"])
def test_onnxruntime_13332(constant, level):
    """A negative pad eats the whole axis, the positive one fills it."""
    x = np.ones((1, 1, 4, 4), f32)
    model, feeds = pad_model(x, (0, 0, 4, 1, 0, 0, -4, -1), value=0, constant=constant)
    check(model, feeds, np.zeros((1, 1, 4, 4), f32), level, peers=("onnxruntime",))


@levels
@pytest.mark.parametrize("constant", [True, False], ids=["constant", "input"])
@pytest.mark.parametrize(
    "shape, pads, mode",
    [
        ((3,), [5, 0], "reflect"),
        ((3,), [0, 3], "reflect"),
        ((1,), [1, 0], "reflect"),
        ((0,), [1, 1], "reflect"),
        ((0,), [1, 1], "edge"),
        ((0,), [1, 1], "wrap"),
        ((2, 3), [0, 3, 0, 0], "reflect"),
        ((5,), [3, -3], "reflect"),
    ],
    ids=lambda v: "x".join(map(str, v)) if isinstance(v, (tuple, list)) else v,
)
def test_onnxruntime_27652(shape, pads, mode, constant, level):
    """A mode that has no data to copy from: out of bounds in a careless kernel."""
    model, feeds = pad_model(np.zeros(shape, f32), pads, mode, constant=constant)
    refuse = assert_load_or_run_refused if constant else assert_run_refused
    refuse(model, feeds, level, node="the_pad")


@levels
@pytest.mark.parametrize("constant", [True, False], ids=["constant", "input"])
@pytest.mark.parametrize(
    "pads",
    [[-100, 0], [0, -100], [-3, -3], [-(2**63), 0], [2**62, 2**62], [2**63 - 1, 1], [0, 0, 0], [0], [0, 0, 0, 0]],
    ids=lambda v: ",".join(map(str, v)),
)
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_executorch_18018(mode, pads, constant, level):
    """More cropped than there is, sizes beyond memory, the wrong number of pads."""
    model, feeds = pad_model(np.zeros(4, f32), pads, mode, constant=constant)
    refuse = assert_load_or_run_refused if constant else assert_run_refused
    refuse(model, feeds, level, node="the_pad")


WIDTHS = [-2, -1, 0, 1, 2]


@levels
@pytest.mark.parametrize("constant", [True, False], ids=["constant", "input"])
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_grid(mode, constant, level):
    """All pads from -2 to 2 around a [4, 5] tensor, on the last axis all pairs, on the first a sample."""
    x = random((4, 5))
    for before, after in itertools.product(WIDTHS, WIDTHS):
        if mode != "constant" and (before < 0 or after < 0):
            continue
        pads = [after, before, before, after]
        model, feeds = pad_model(x, pads, mode, constant=constant)
        check(model, feeds, numpy_pad(x, pads, mode), level, peers=())


@levels
@pytest.mark.parametrize("mode", ["edge", "reflect"])
def test_crop_then_pad_by_mode(mode, level):
    """With a negative pad on one side the copied values come from what is left."""
    x = np.arange(6, dtype=f32)
    model, feeds = pad_model(x, [2, -2], mode)
    check(model, feeds, numpy_pad(x, [2, -2], mode), level, peers=("onnxruntime",))


@levels
@pytest.mark.parametrize("dtype", NUMBERS + (boolean,), ids=short)
def test_types(dtype, level):
    x = random((2, 3), dtype)
    value = np.array(1, dtype)
    model, feeds = pad_model(x, [1, 0, 0, 2], value=value)
    check(model, feeds, numpy_pad(x, [1, 0, 0, 2], value=value), level, peers=())


@levels
@pytest.mark.parametrize(
    "shape, pads, axes",
    [
        ((2, 3, 4), [1, 2], [1]),
        ((2, 3, 4), [1, 2], [-1]),
        ((2, 3, 4), [1, 0, 0, 2], [2, 0]),
        ((2, 3, 4), [-1, 1, 0, -2], [-2, 2]),
        ((2, 3), [], []),
        ((0, 3), [1, 0, 1, 0], None),
        ((0, 3), [0, 1, 0, 1], None),
        ((), [], None),
        ((3,), [-1, -2], None),
        ((1, 2, 1, 2, 1), [0, 1, 0, 0, 1, 1, 0, 0, 1, 0], None),
    ],
    ids=lambda v: ("rank-0" if v == () else "x".join(map(str, v))) if isinstance(v, tuple) else str(v).replace(" ", ""),
)
def test_shapes_and_axes(shape, pads, axes, level):
    x = random(shape)
    model, feeds = pad_model(x, pads, axes=axes)
    check(model, feeds, numpy_pad(x, pads, axes=axes), level, peers=())


@levels
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
@pytest.mark.parametrize("opset", [2, 11, 13, 18])
def test_older_forms(opset, mode, level):
    """Opset 2 has pads and value as attributes."""
    x, pads = random((3, 4)), [1, 0, 2, 1]
    if opset == 2:
        nodes = [node("Pad", "x", "y", mode=mode, pads=pads, value=1.5)]
        model = make_model(nodes, {"x": x}, {"y": f32}, opset=2)
    else:
        model, _ = pad_model(x, pads, mode, value=1.5, opset=opset)
    check(model, {"x": x}, numpy_pad(x, pads, mode, 1.5), level, peers=())


@levels
@pytest.mark.parametrize("axes", [[2], [-3], [0, 0], [0, -2]], ids=str)
def test_bad_axes_are_refused(axes, level):
    model, feeds = pad_model(np.zeros((2, 3), f32), [1] * 2 * len(axes), axes=axes)
    assert_load_or_run_refused(model, feeds, level, node="the_pad")


@levels
@pytest.mark.parametrize("dtype", [f32, np.dtype(np.float64), i64, boolean, np.dtype(object)], ids=short)
@pytest.mark.parametrize(
    "shape, pads, out",
    [
        ((2, 0, 4), (0, 2, 0, 0, -1, 0), (2, 1, 4)),
        ((2, 1, 4), (0, 3, 0, 0, -2, 0), (2, 2, 4)),
        ((0,), (-1, 3), (2,)),
        ((3,), (40, -39), (4,)),
        ((3,), (-5, 9), (7,)),
        ((2, 3), (-4, 0, 3, 0), (1, 3)),
        ((1, 4), (0, 20, 0, -22), (1, 2)),
        ((2, 2, 2), (0, 3, 3, 0, -4, -5), (2, 1, 0)),
    ],
    ids=str,
)
def test_one_end_cuts_into_what_the_other_adds(shape, pads, out, dtype, level):
    """Nothing of the data is left, and of the new elements only some."""
    value = "v" if dtype == object else 1
    for constant in (True, False):
        model, feeds = pad_model(random(shape, dtype), pads, value=value, constant=constant)
        check(model, feeds, np.full(out, value, dtype), level, peers=())
