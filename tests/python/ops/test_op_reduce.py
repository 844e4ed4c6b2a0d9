"""Reductions and ArgMax/ArgMin: axes as attribute and as input, keepdims, no axes, negative axes, rank 0, empty, every type."""

import numpy as np
import pytest

from ops.table import OPSET, each_type, modes, types_of, verify, verify_node
from oracle import (
    assert_load_or_run_refused,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    i32,
    i64,
    make_model,
    node,
    one_node,
    random,
)

LOOSE = {f16: 1e-2, bf16: 6e-2, f32: 2e-5, f64: 1e-9}
log_sum = lambda x, **k: np.log(np.sum(x, **k))
FUNCTIONS = {
    "ReduceSum": np.sum,
    "ReduceMean": np.mean,
    "ReduceMax": np.max,
    "ReduceMin": np.min,
    "ReduceProd": np.prod,
    "ReduceL1": lambda x, **k: np.sum(np.abs(x), **k),
    "ReduceL2": lambda x, **k: np.sqrt(np.sum(x * x, **k)),
    "ReduceSumSquare": lambda x, **k: np.sum(x * x, **k),
    "ReduceLogSum": log_sum,
    "ReduceLogSumExp": lambda x, **k: np.log(np.sum(np.exp(x), **k)),
}
# shape, axes (None: all)
CASES = [
    ((2, 3, 4), None),
    ((2, 3, 4), (0,)),
    ((2, 3, 4), (1,)),
    ((2, 3, 4), (2,)),
    ((2, 3, 4), (-1,)),
    ((2, 3, 4), (0, 2)),
    ((2, 3, 4), (1, 2)),
    ((2, 3, 4), (-3, 1)),
    ((2, 3, 4), (2, 0, 1)),
    ((5,), (0,)),
    ((), None),
    ((1, 1), (0, 1)),
    ((3, 37), (1,)),
    ((37, 3), (0,)),
    ((2, 1, 3, 1, 2), (1, 4)),
]


def expected(op, x, axes, keepdims):
    function = FUNCTIONS[op]
    if x.dtype == boolean:
        return np.asarray(function(x, axis=axes, keepdims=bool(keepdims)))
    work = (
        x.astype(f64)
        if x.dtype not in (i64, np.dtype(np.uint64))
        or op in ("ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp")
        else x
    )
    with np.errstate(all="ignore"):
        return np.asarray(function(work, axis=axes, keepdims=bool(keepdims))).astype(x.dtype)


def low_high(op):
    return (1, 4) if op in ("ReduceLogSum", "ReduceProd") else (-3, 3)


@modes
@each_type([*FUNCTIONS])
def test_reduction(op, dtype, mode):
    """Axes as a constant input, keepdims 0 and 1."""
    low, high = low_high(op)
    for number, (shape, axes) in enumerate(CASES):
        x = random(shape, dtype, op, low=low, high=high if x_size(shape, axes) < 20 or op != "ReduceProd" else 2)
        keepdims = number % 2
        if op == "ReduceLogSumExp" and dtype.kind in "iu" and x_size(shape, axes) == 1:
            continue  # log(exp(2)) may be a little less than 2, and an integer shows it
        feeds = {"x": x} | ({} if axes is None else {"axes": np.array(axes, i64)})
        tolerance = LOOSE.get(dtype)
        verify_node(
            op,
            feeds,
            expected(op, x, axes, keepdims),
            mode,
            peers=(),
            constants=("axes",) if axes is not None else (),
            rtol=tolerance,
            atol=tolerance,
            keepdims=keepdims,
        )


def x_size(shape, axes):
    return int(np.prod([shape[a] for a in (axes if axes is not None else range(len(shape)))], dtype=int))


@modes
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("shape, axes", CASES, ids=str)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_axes_at_run_time(op, shape, axes, keepdims, mode):
    """Axes come as an input of the graph: the rank of the result depends on how many there are."""
    low, high = low_high(op)
    x = random(shape, f32, op, low=low, high=high if x_size(shape, axes) < 20 or op != "ReduceProd" else 2)
    given = np.array(range(len(shape)) if axes is None else axes, i64)
    verify_node(
        op,
        {"x": x, "axes": given},
        expected(op, x, tuple(given), keepdims),
        mode,
        peers=(),
        keepdims=keepdims,
        rtol=2e-5,
        atol=2e-5,
    )


@modes
@pytest.mark.parametrize("op", FUNCTIONS)
def test_no_axes(op, mode):
    """Empty axes mean all, or none with noop_with_empty_axes, for which the other steps of the formula still apply."""
    x = random((2, 3), f32, op, low=1, high=3)
    empty = np.zeros(0, i64)
    for feeds in ({"x": x}, {"x": x, "axes": empty}):
        constants = ("axes",) if len(feeds) == 2 else ()
        verify_node(op, feeds, expected(op, x, None, 1), mode, peers=(), constants=constants, rtol=2e-5)
    each = {"ReduceL1": np.abs(x), "ReduceL2": np.abs(x), "ReduceSumSquare": x * x, "ReduceLogSum": np.log(x)}.get(
        op, x
    )
    verify_node(op, {"x": x}, each, mode, peers=(), noop_with_empty_axes=1, rtol=2e-5)
    verify_node(
        op, {"x": x, "axes": empty}, each, mode, peers=(), constants=("axes",), noop_with_empty_axes=1, rtol=2e-5
    )


@pytest.mark.parametrize("opset", [1, 11, 13, 18])
@pytest.mark.parametrize("op", FUNCTIONS)
def test_axes_as_attribute(op, opset):
    """Before opset 18 (ReduceSum: 13) axes were an attribute."""
    x = random((2, 3, 4), f32, op, low=1, high=2)
    attribute = opset < (13 if op == "ReduceSum" else 18)
    for axes in ((1,), (0, 2)) if opset == 1 else ((1,), (0, -1)):
        if attribute:
            verify_node(
                op, {"x": x}, expected(op, x, axes, 0), opset=opset, axes=list(axes), keepdims=0, peers=(), rtol=2e-5
            )
        else:
            verify_node(
                op,
                {"x": x, "a": np.array(axes)},
                expected(op, x, axes, 0),
                opset=opset,
                constants=("a",),
                keepdims=0,
                peers=(),
                rtol=2e-5,
            )
    verify_node(op, {"x": x}, expected(op, x, None, 1), opset=opset, peers=(), rtol=2e-4)


@pytest.mark.parametrize("axes", [(3,), (-4,), (0, 0), (1, -2)], ids=str)
@pytest.mark.parametrize("op", ["ReduceSum", "ReduceMax"])
def test_bad_axes(op, axes):
    x = random((2, 3, 4))
    model = one_node(op, {"x": x, "a": np.array(axes)}, opset=OPSET, constants=("a",))
    assert_load_or_run_refused(model, {"x": x}, node=f"{op.lower()}_y")


@modes
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("last", [0, 1])
@each_type(["ArgMax", "ArgMin"])
def test_arg(op, dtype, last, keepdims, mode):
    """Ties take the first, or the last with select_last_index."""
    for shape, axis in [((2, 3), 0), ((2, 3), 1), ((2, 3), -1), ((4,), 0), ((2, 5, 3), 1), ((3, 37), 1)]:
        x = random(shape, dtype, op).round() if dtype in (f16, bf16, f32, f64) else random(shape, dtype, op)
        side = np.flip(x, axis) if last else x
        want = (np.argmax if op == "ArgMax" else np.argmin)(side.astype(f64), axis)
        want = shape[axis] - 1 - want if last else want
        want = np.expand_dims(want, axis) if keepdims else want
        verify_node(
            op, {"x": x}, np.asarray(want, i64), mode, peers=(), axis=axis, keepdims=keepdims, select_last_index=last
        )


@modes
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
@each_type(["CumSum"])
def test_cumsum(op, dtype, reverse, exclusive, mode):
    for shape, axis in [((5,), 0), ((2, 3), 0), ((2, 3), 1), ((2, 3, 4), -2), ((0, 2), 0)]:
        x = random(shape, dtype)
        turned = np.flip(x, axis) if reverse else x
        total = np.cumsum(turned.astype(f64), axis)
        total = total - turned.astype(f64) if exclusive else total
        want = (np.flip(total, axis) if reverse else total).astype(dtype)
        tolerance = {f16: 1e-2, bf16: 6e-2}.get(dtype)
        for axis_type in (i32, i64):
            feeds = {"x": x, "axis": np.array(axis, axis_type)}
            verify_node(
                op, feeds, want, mode, peers=(), reverse=reverse, exclusive=exclusive, rtol=tolerance, atol=tolerance
            )


@modes
@each_type(["TopK"])
def test_topk(op, dtype, mode):
    """Both ends, sorted; ties by the lower index."""
    for shape, axis, k in [
        ((6,), 0, 3),
        ((3, 5), 1, 5),
        ((3, 5), 0, 2),
        ((2, 4, 3), -2, 1),
        ((2, 40), -1, 7),
        ((3, 5), -1, 0),
    ]:
        x = random(shape, dtype, "topk", low=-20, high=20)
        for largest in (0, 1):
            key = -x.astype(f64) if largest else x.astype(f64)
            index = np.take(np.argsort(key, axis, kind="stable"), np.arange(k), axis)
            want = {"v": np.take_along_axis(x, index, axis), "i": index.astype(i64)}
            verify_node(
                op, {"x": x, "k": np.array([k])}, want, mode, outputs="v,i", peers=(), axis=axis, largest=largest
            )


@modes
def test_topk_unsorted(mode):
    """sorted=0: the same set in any order, values and indices belonging together."""
    from oracle import run

    x = random((40,))
    model = make_model(
        [node("TopK", "x,k", "v,i", sorted=0)], {"x": x}, {"v": f32, "i": i64}, {"k": np.array([7])}, opset=OPSET
    )
    got = run(model, {"x": x}, 0 if mode == "level0" else 3)
    assert sorted(got["v"].tolist()) == sorted(np.sort(x)[-7:].tolist()) and np.array_equal(x[got["i"]], got["v"])


@modes
@pytest.mark.parametrize("op", [*FUNCTIONS, "ArgMax", "ArgMin"])
def test_against_the_peers(op, mode):
    x = random((3, 4, 5), f32, op, low=0.5, high=2)
    if op.startswith("Arg"):
        verify_node(op, {"x": x}, None, mode, axis=1)
    else:
        verify_node(op, {"x": x, "a": np.array([0, 2])}, None, mode, constants=("a",), rtol=2e-5)


@modes
@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin"])
def test_boolean(op, mode):
    """any and all, since opset 20."""
    assert boolean in types_of(op)
    x = np.array([[True, False], [True, True]])
    verify_node(
        op, {"x": x, "a": np.array([1])}, expected(op, x, (1,), 0), mode, peers=(), constants=("a",), keepdims=0
    )


@modes
def test_large_sum_is_accurate(mode):
    """100,000 times 0.1 in float32: pairwise or wider accumulation, off by less than 1e-5 of the total."""
    x = np.full((100_000,), 0.1, f32)
    verify_node("ReduceSum", {"x": x}, np.array(x.astype(f64).sum(), f32), mode, peers=(), keepdims=0, rtol=1e-5)
    verify(
        make_model("y = ReduceMean<keepdims=0>(x)", {"x": x}, {"y": f32}),
        {"x": x},
        np.array(0.1, f32),
        mode,
        peers=(),
        rtol=1e-5,
    )
