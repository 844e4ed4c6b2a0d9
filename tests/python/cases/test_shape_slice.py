"""Slice over starts, ends and steps of both signs, empty results and the extremes of int64, against a few lines of Python."""

import itertools

import numpy as np
import pytest

import engines
from oracle import (
    assert_load_or_run_refused,
    assert_run_refused,
    assert_same,
    check,
    f32,
    i32,
    i64,
    levels,
    make_model,
    node,
    run,
    seeded,
)

LOW, HIGH = -(2**63), 2**63 - 1
EDGES = [LOW, -(2**31), -12, -6, -5, -4, -1, 0, 1, 4, 5, 6, 11, 2**31 - 1, HIGH]
STEPS = [LOW, -7, -3, -2, -1, 1, 2, 3, 7, HIGH]

ROWS = [
    ("tvm#19532", 10, (0, 5, -1), []),
    ("tvm#19532-forward", 10, (5, 0, 1), []),
    ("onnxruntime#2272-int64-min", 4, (-1, LOW, -1), [3, 2, 1, 0]),
    ("onnxruntime#2272-int32-min", 4, (-1, -(2**31) + 1, -1), [3, 2, 1, 0]),
    ("onnxruntime#2272-int64-max-start", 4, (HIGH, LOW, -1), [3, 2, 1, 0]),
    ("onnx/onnx#7735", 0, (-1, LOW, -1), []),
    ("onnx/onnx#7735-forward", 0, (0, HIGH, 1), []),
    ("onnx/onnx#7735-start-0", 0, (0, LOW, -2), []),
]


def sliced(x, start, end, step, axis=0):
    """ONNX Slice: negative bounds count from the end once, then are clamped; a negative step clamps its start to 0, not to -1."""
    size = x.shape[axis]
    start, end = (v + size if v < 0 else v for v in (int(start), int(end)))
    if step > 0:
        start, end = min(max(start, 0), size), min(max(end, 0), size)
    else:
        start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
    return np.take(x, np.arange(size)[[i for i in range(start, end, int(step))]].astype(int), axis)


def constant_model(x, start, end, step, dtype=i64, shape=None):
    one = lambda v: np.array([v], dtype)
    weights = {"s": one(start), "e": one(end), "a": one(0), "st": one(step)}
    return make_model("y = Slice(x, s, e, a, st)", {"x": (x.dtype, shape or x.shape)}, {"y": x.dtype}, weights)


@levels
@pytest.mark.parametrize("size, what, want", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_row(size, what, want, level):
    x = np.arange(size, dtype=f32)
    assert_same(sliced(x, *what), np.array(want, f32))
    for shape in (None, ["n"]):
        check(constant_model(x, *what, shape=shape), {"x": x}, np.array(want, f32), level, peers=())


@levels
@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_grid_at_run_time(size, level):
    """Starts, ends and steps come as inputs: 2,250 slices of one loaded model."""
    x = np.arange(size, dtype=f32)
    spec = (i64, (1,))
    inputs = {"x": (f32, ["n"]), "s": spec, "e": spec, "a": spec, "st": spec}
    loaded = engines.load(make_model("y = Slice(x, s, e, a, st)", inputs, {"y": f32}), level)
    axis, wrong = np.array([0]), []
    for start, end, step in itertools.product(EDGES, EDGES, STEPS):
        feeds = {"x": x, "s": np.array([start]), "e": np.array([end]), "a": axis, "st": np.array([step])}
        got, want = loaded.run(feeds)["y"], sliced(x, start, end, step)
        if got.shape != want.shape or not np.array_equal(got, want):
            wrong.append(f"[{start}:{end}:{step}] expected {want.tolist()}, got {got.tolist()}")
    assert not wrong, f"{len(wrong)} wrong, such as {wrong[:5]}"


@levels
@pytest.mark.parametrize("size", [0, 1, 2, 5, None])
def test_grid_of_constants(size, level):
    """120 slices with constant bounds in one graph, so that shape inference has to know them; None: the size is a name."""
    x = np.arange(5 if size is None else size, dtype=f32)
    cases = list(itertools.product(EDGES, EDGES, STEPS))
    cases = [cases[i] for i in seeded("slices", size).choice(len(cases), 120, replace=False)]
    weights, nodes, want = {"a": np.array([0])}, [], {}
    for i, case in enumerate(cases):
        for key, value in zip("set", case):
            weights[f"{key}{i}"] = np.array([value])
        nodes.append(node("Slice", f"x,s{i},e{i},a,t{i}", f"y{i}"))
        want[f"y{i}"] = sliced(x, *case)
    model = make_model(nodes, {"x": (f32, ["n"] if size is None else x.shape)}, dict.fromkeys(want, f32), weights)
    assert_same(run(model, {"x": x}, level), want)


@levels
@pytest.mark.parametrize("dtype", [i32, i64], ids=str)
@pytest.mark.parametrize(
    "starts, ends, axes, steps",
    [
        ([1], [3], None, None),
        ([1, 0], [3, 99], None, None),
        ([0, -1], [2, -99], [1, 2], [1, -2]),
        ([-1, -2, -3], [-99, -99, -99], [2, 0, 1], [-1, -1, -1]),
        ([5, 0], [9, 2], [0, 2], None),
        ([1], [2], [-1], [1]),
        ([-1], [-(2**31)], [-3], [-1]),
        ([], [], [], []),
    ],
    ids=lambda v: "none" if v is None else ",".join(map(str, v)) or "empty",
)
def test_several_axes(starts, ends, axes, steps, dtype, level):
    """int32 and int64 bounds; negative axes; axes and steps left out."""
    x = np.arange(3 * 4 * 5, dtype=f32).reshape(3, 4, 5)
    want = x
    for i, (start, end) in enumerate(zip(starts, ends)):
        want = sliced(want, start, end, steps[i] if steps else 1, axes[i] if axes else i)
    given = {"s": starts, "e": ends, "a": axes, "st": steps}
    weights = {k: np.array(v, dtype) for k, v in given.items() if v is not None}
    names = ",".join(k for k in given if given[k] is not None)
    model = make_model([node("Slice", f"x,{names}", "y")], {"x": x}, {"y": f32}, weights)
    check(model, {"x": x}, want, level, peers=())


@levels
@pytest.mark.parametrize("opset", [1, 9])
def test_old_attribute_form(opset, level):
    x = np.arange(12, dtype=f32).reshape(3, 4)
    text = "y = Slice<starts=[1, -3], ends=[9, -1], axes=[0, 1]>(x)"
    model = make_model(text, {"x": x}, {"y": f32}, opset=opset)
    check(model, {"x": x}, x[1:9, -3:-1], level, peers=())


BAD = {
    "step-0": (0, 2, 0, 0),
    "axis-beyond-the-rank": (0, 2, 2, 1),
    "negative-axis-beyond-the-rank": (0, 2, -3, 1),
    "axis-twice": ([0, 0], [1, 1], [0, 0], [1, 1]),
    "axis-twice-by-both-signs": ([0, 0], [1, 1], [1, -1], [1, 1]),
    "more-starts-than-ends": ([0, 0], [1], [0, 1], [1, 1]),
    "more-axes-than-starts": ([0], [1], [0, 1], [1, 1]),
    "fewer-steps-than-starts": ([0, 0], [1, 1], [0, 1], [1]),
}


@levels
@pytest.mark.parametrize("constant", [True, False], ids=["constant", "input"])
@pytest.mark.parametrize("why", BAD)
def test_refused(why, constant, level):
    x = np.zeros((3, 4), f32)
    values = {k: np.atleast_1d(np.array(v, i64)) for k, v in zip(["s", "e", "a", "st"], BAD[why])}
    nodes = [node("Slice", "x,s,e,a,st", "y", name="bad_slice")]
    if constant:
        model = make_model(nodes, {"x": x}, {"y": f32}, values)
        assert_load_or_run_refused(model, {"x": x}, level, node="bad_slice")
    else:
        model = make_model(nodes, {"x": x, **{k: (i64, [f"n_{k}"]) for k in values}}, {"y": f32})
        assert_run_refused(model, {"x": x, **values}, level, node="bad_slice")


@levels
def test_empty_slice_flows_on(level):
    """What is cut to nothing goes through further nodes."""
    x = np.arange(10, dtype=f32)
    text = "s = Slice(x, a, b, z, m); r = Relu(s); c = Concat<axis=0>(r, x, r); n = Shape(s); y = Add(c, c)"
    weights = {"a": np.array([0]), "b": np.array([5]), "z": np.array([0]), "m": np.array([-1])}
    model = make_model(text, {"x": x}, {"s": f32, "n": i64, "y": f32}, weights)
    check(model, {"x": x}, {"s": x[:0], "n": np.array([0]), "y": x + x}, level, peers=())
