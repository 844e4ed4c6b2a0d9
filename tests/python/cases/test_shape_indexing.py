"""Gather and scatter: every index out of range is refused at run, never read, written or answered with zeros."""

import numpy as np
import pytest

import engines
from oracle import (
    assert_load_or_run_refused,
    assert_refused,
    assert_run_refused,
    assert_same,
    check,
    f32,
    f64,
    i32,
    i64,
    levels,
    make_model,
    node,
    random,
    u8,
)

ints = lambda *values: np.array(values, i64)
X3 = random((3, 4), f32, "x")

# operator and attributes, x, good indices (with what they give), then bad ones
GATHERS = {
    "Gather-axis0": (
        dict(op="Gather", axis=0),
        X3,
        ints(2, -3),
        X3[[2, 0]],
        [ints(3), ints(-4), ints(0, 2**31), ints(2**63 - 1), ints(-(2**63)), np.array(3)],
    ),
    "Gather-axis1": (
        dict(op="Gather", axis=1),
        X3,
        ints(3, -4),
        X3[:, [3, 0]],
        [ints(4), ints(-5), np.array([[0, 0], [0, 4]])],
    ),
    "Gather-scalar": (dict(op="Gather", axis=-1), X3, np.array(-1), X3[:, -1], [np.array(4), np.array(-5)]),
    "GatherElements-axis0": (
        dict(op="GatherElements", axis=0),
        X3,
        ints(2, -3).reshape(1, 2),
        np.array([[X3[2, 0], X3[0, 1]]]),
        [np.array([[3]]), np.array([[-4]]), np.array([[0, 0], [0, 2**40]])],
    ),
    "GatherElements-axis1": (
        dict(op="GatherElements", axis=1),
        X3,
        np.array([[3, -4]]),
        np.array([[X3[0, 3], X3[0, 0]]]),
        [np.array([[4]]), np.array([[-5]])],
    ),
    "GatherND": (
        dict(op="GatherND"),
        X3,
        np.array([[2, -4], [-3, 3]]),
        np.array([X3[2, 0], X3[0, 3]]),
        [
            np.array([[3, 0]]),
            np.array([[0, 4]]),
            np.array([[-4, 0]]),
            np.array([[0, -5]]),
            np.array([[0, 0], [2**62, 2**62]]),
        ],
    ),
    "GatherND-rows": (dict(op="GatherND"), X3, np.array([[2], [-3]]), X3[[2, 0]], [np.array([[3]]), np.array([[-4]])]),
    "GatherND-batch": (
        dict(op="GatherND", batch_dims=1),
        X3,
        np.array([[1], [-1], [0]]),
        np.array([X3[0, 1], X3[1, 3], X3[2, 0]]),
        [np.array([[4], [0], [0]])],
    ),
}


@levels
@pytest.mark.parametrize("row", GATHERS)
def test_good_indices(row, level):
    """Negative ones count from the end."""
    attributes, x, good, want, _ = GATHERS[row]
    model = make_model([node(inputs="x,i", **attributes)], {"x": x, "i": good}, {"y": f32})
    check(model, {"x": x, "i": good}, want, level, peers=())


@levels
@pytest.mark.parametrize("row", GATHERS)
def test_bad_indices_at_run(row, level):
    """Refused, and the model goes on working; the same indices as constants are refused too."""
    attributes, x, good, want, bad = GATHERS[row]
    the_node = node(inputs="x,i", name="the_gather", **attributes)
    loaded = engines.load(
        make_model([the_node], {"x": x, "i": (i64, [f"d{d}" for d in range(good.ndim)])}, {"y": f32}), level
    )
    for indices in bad:
        if indices.ndim == good.ndim:
            assert_refused(lambda: loaded.run({"x": x, "i": indices}), node="the_gather")
    assert_same(loaded.run({"x": x, "i": good})["y"], want)
    for indices in bad:
        assert_load_or_run_refused(
            make_model([the_node], {"x": x}, {"y": f32}, {"i": indices}), {"x": x}, level, node="the_gather"
        )


@levels
@pytest.mark.parametrize("dtype", [i32, i64], ids=str)
@pytest.mark.parametrize("data", [f32, f64, i64, u8, np.dtype(bool), np.dtype(object)], ids=str)
def test_TensorRT_4774(data, dtype, level):
    """x=[5,6] with indices [2] and [-3]: not zeros."""
    x = np.array(["a", "b"], object) if data == object else np.array([5, 6], data)
    model = make_model("y = Gather(x, i)", {"x": x, "i": (dtype, (1,))}, {"y": data})
    check(model, {"x": x, "i": np.array([-2], dtype)}, x[:1], level, peers=())
    for bad in (2, -3):
        assert_run_refused(model, {"x": x, "i": np.array([bad], dtype)}, level, node="gather_y", words=[str(bad)])


@levels
def test_folded_gather_in_a_branch_never_taken(level):
    """Constant folding must not turn a bad index in dead code into a failure of the load."""
    then_branch = make_graph_of("t = Gather(k, bad)", "t")
    else_branch = make_graph_of("e = Neg(k)", "e")
    model = make_model(
        [node("If", "c", "y", then_branch=then_branch, else_branch=else_branch)],
        {"c": (np.dtype(bool), ())},
        {"y": f32},
        {"k": np.ones(2, f32), "bad": ints(0, 7)},
    )
    loaded = engines.load(model, level)
    assert_same(loaded.run({"c": np.array(False)})["y"], -np.ones(2, f32))
    assert_refused(lambda: loaded.run({"c": np.array(True)}), node="gather_t")
    assert_same(loaded.run({"c": np.array(False)})["y"], -np.ones(2, f32))


def make_graph_of(text, output):
    from oracle import make_graph, parse_nodes

    return make_graph(parse_nodes(text), {}, {output: None}, name=output)


# ---- GatherND shapes: tract#2635 -------------------------------------------------------------------------------------------


@levels
@pytest.mark.parametrize(
    "data, indices, batch",
    [
        ((8, 128, 256), (32, 1), 0),
        ((8, 12, 6), (3, 2), 0),
        ((8, 12, 6), (3, 3), 0),
        ((8, 12, 6), (2, 5, 2), 0),
        ((2, 3, 4), (2, 1), 1),
        ((2, 3, 4), (2, 5, 2), 1),
        ((2, 3, 4), (2, 3, 1), 2),
        ((5,), (1,), 0),
        ((5,), (0, 1), 0),
    ],
    ids=str,
)
def test_tract_2635(data, indices, batch, level):
    """Shapes come from indices[:-1] and data[batch + last:]."""
    x = random(data)
    last = indices[-1]
    limits = data[batch : batch + last]
    i = np.stack([random(indices[:-1], i64, "index", k, low=0, high=n) for k, n in enumerate(limits)], -1)
    want = np.empty(indices[:-1] + data[batch + last :], f32)
    for at in np.ndindex(*indices[:-1]):
        want[at] = x[at[:batch] + tuple(i[at])]
    for static in (True, False):
        spec = (
            {"x": x, "i": i}
            if static
            else {
                "x": (f32, [f"a{k}" for k in range(len(data))]),
                "i": (i64, [f"b{k}" for k in range(len(indices) - 1)] + [last]),
            }
        )
        model = make_model([node("GatherND", "x,i", "y", batch_dims=batch)], spec, {"y": f32})
        check(model, {"x": x, "i": i}, want, level, peers=())


@levels
@pytest.mark.parametrize(
    "data, indices, batch",
    [
        ((4, 5), (2, 3), 0),
        ((4,), (1, 2), 0),
        ((4, 5), (4, 2), 1),
        ((4, 5), (3, 1), 1),
        ((4, 5), (4, 1), 2),
        ((4, 5), (4, 1), -1),
        ((4, 5), (), 0),
        ((), (1,), 0),
    ],
    ids=str,
)
def test_tract_2635_bad_shapes(data, indices, batch, level):
    """Indices wider than the data's rank, batch dimensions that differ, batch_dims too large."""
    x, i = np.zeros(data, f32), np.zeros(indices, i64)
    model = make_model([node("GatherND", "x,i", "y", name="nd", batch_dims=batch)], {"x": x, "i": i}, {"y": f32})
    assert_load_or_run_refused(model, {"x": x, "i": i}, level, node="nd")


# ---- scatters --------------------------------------------------------------------------------------------------------------

ROW, ONE = np.full((1, 4), 9, f32), np.full((1, 1), 9, f32)
SCATTERS = {
    "ScatterND": (
        dict(op="ScatterND"),
        ints(-1).reshape(1, 1),
        ROW,
        [np.array([[3]]), np.array([[-4]]), np.array([[2**62]])],
    ),
    "ScatterND-element": (
        dict(op="ScatterND"),
        np.array([[2, 3]]),
        np.full(1, 9, f32),
        [np.array([[2, 4]]), np.array([[0, -5]]), np.array([[-4, 0]])],
    ),
    "ScatterND-add": (dict(op="ScatterND", reduction="add"), ints(2).reshape(1, 1), ROW, [np.array([[3]])]),
    "ScatterElements-0": (
        dict(op="ScatterElements", axis=0),
        np.array([[-1]]),
        ONE,
        [np.array([[3]]), np.array([[-4]])],
    ),
    "ScatterElements-1": (
        dict(op="ScatterElements", axis=1),
        np.array([[3]]),
        ONE,
        [np.array([[4]]), np.array([[-5]]), np.array([[-(2**63)]])],
    ),
    "ScatterElements-mul": (
        dict(op="ScatterElements", axis=1, reduction="mul"),
        np.array([[3]]),
        ONE,
        [np.array([[4]])],
    ),
}


@levels
@pytest.mark.parametrize("row", SCATTERS)
def test_scatter_indices(row, level):
    """A refused scatter writes nothing outside and the next run is right."""
    attributes, good, updates, bad = SCATTERS[row]
    nodes = [node(inputs="x,i,u", name="the_scatter", **attributes)]
    model = make_model(nodes, {"x": X3, "i": good, "u": updates}, {"y": f32})
    feeds = {"x": X3, "i": good, "u": updates}
    check(model, feeds, level=level)
    loaded = engines.load(model, level)
    for indices in bad:
        assert_refused(lambda: loaded.run({**feeds, "i": indices}), node="the_scatter")
    assert_same(loaded.run(feeds)["y"], engines.ask("reference", model, feeds)["y"])


@levels
@pytest.mark.parametrize("opset", [9, 10])
def test_old_scatter(opset, level):
    """Scatter is ScatterElements by its old name."""
    model = make_model("y = Scatter<axis=1>(x, i, u)", {"x": X3, "i": (i64, (1, 1)), "u": ONE}, {"y": f32}, opset=opset)
    want = X3.copy()
    want[0, 3] = 9
    check(model, {"x": X3, "i": np.array([[3]]), "u": ONE}, want, level, peers=())
    assert_run_refused(model, {"x": X3, "i": np.array([[4]]), "u": ONE}, level, node="scatter_y")


BAD_SHAPES = {
    "ScatterND-updates-short": ("ScatterND", (3, 4), (2, 1), (1, 4)),
    "ScatterND-updates-narrow": ("ScatterND", (3, 4), (2, 1), (2, 3)),
    "ScatterND-index-too-wide": ("ScatterND", (3, 4), (1, 3), (1,)),
    "ScatterElements-updates-differ": ("ScatterElements", (3, 4), (1, 2), (1, 3)),
    "ScatterElements-rank": ("ScatterElements", (3, 4), (2,), (2,)),
    "ScatterElements-indices-larger": ("ScatterElements", (3, 4), (1, 5), (1, 5)),
    "GatherElements-rank": ("GatherElements", (3, 4), (2,), None),
    "GatherElements-other-axis-larger": ("GatherElements", (3, 4), (1, 5), None),
}


@levels
@pytest.mark.parametrize("row", BAD_SHAPES)
def test_shapes_that_do_not_fit(row, level):
    op, *shapes = BAD_SHAPES[row]
    feeds = {n: np.zeros(s, i64 if n == "i" else f32) for n, s in zip("xiu", shapes) if s is not None}
    for static in (True, False):
        spec = feeds if static else {n: (v.dtype, [f"{n}{k}" for k in range(v.ndim)]) for n, v in feeds.items()}
        model = make_model([node(op, ",".join(feeds), "y", name="misfit")], dict(spec), {"y": f32})
        assert_load_or_run_refused(model, feeds, level, node="misfit")


OTHERS = {
    "OneHot-out-of-range-is-off": (
        "y = OneHot(x, d, v)",
        {"x": ints(3, -4, 0)},
        {"d": np.array(3), "v": np.array([0, 1], f32)},
        np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0]], f32),
    ),
    "OneHot-negative": (
        "y = OneHot(x, d, v)",
        {"x": ints(-1, 2)},
        {"d": np.array(3), "v": np.array([0, 1], f32)},
        np.array([[0, 0, 1], [0, 0, 1]], f32),
    ),
    "Compress-short-condition": ("y = Compress<axis=0>(x, c)", {"x": X3}, {"c": np.array([False, True])}, X3[1:2]),
    "Compress-flat": ("y = Compress(x, c)", {"x": X3}, {"c": np.array([False, True, True])}, X3.ravel()[1:3]),
    "ReverseSequence": (
        "y = ReverseSequence<time_axis=1, batch_axis=0>(x, l)",
        {"x": X3},
        {"l": ints(1, 2, 4)},
        np.stack([X3[0], X3[1][[1, 0, 2, 3]], X3[2][::-1]]),
    ),
}


@levels
@pytest.mark.parametrize("row", OTHERS)
def test_other_index_operators(row, level):
    text, feeds, weights, want = OTHERS[row]
    check(make_model(text, dict(feeds), {"y": f32}, weights), feeds, want, level, peers=())


REFUSED = {
    "ReverseSequence-too-long": (
        "y = ReverseSequence<time_axis=1, batch_axis=0>(x, l)",
        {"x": X3},
        {"l": ints(1, 2, 5)},
    ),
    "ReverseSequence-too-few": ("y = ReverseSequence<time_axis=1, batch_axis=0>(x, l)", {"x": X3}, {"l": ints(1, 2)}),
    "Compress-too-long": ("y = Compress<axis=0>(x, c)", {"x": X3}, {"c": np.ones(4, bool)}),
    "TopK-more-than-there-is": ("y, i = TopK(x, k)", {"x": X3}, {"k": ints(5)}),
    "TopK-negative": ("y, i = TopK(x, k)", {"x": X3}, {"k": ints(-1)}),
    "Split-sum-wrong": ("y, z = Split<axis=1>(x, s)", {"x": X3}, {"s": ints(2, 3)}),
    "Split-negative": ("y, z = Split<axis=1>(x, s)", {"x": X3}, {"s": ints(-1, 5)}),
    "Tile-negative": ("y = Tile(x, r)", {"x": X3}, {"r": ints(-1, 1)}),
    "Tile-short": ("y = Tile(x, r)", {"x": X3}, {"r": ints(2)}),
    "Range-step-0": ("y = Range(l, x0, d)", {"x0": np.array(3, f32)}, {"l": np.array(0, f32), "d": np.array(0, f32)}),
    "Expand-misfit": ("y = Expand(x, s)", {"x": X3}, {"s": ints(2, 3, 2)}),
    "Reshape-two-unknown": ("y = Reshape(x, s)", {"x": X3}, {"s": ints(-1, -1)}),
    "Reshape-size": ("y = Reshape(x, s)", {"x": X3}, {"s": ints(5, -1)}),
    "Reshape-minus-2": ("y = Reshape(x, s)", {"x": X3}, {"s": ints(-2, 6)}),
    "Reshape-copy-beyond-rank": ("y = Reshape(x, s)", {"x": X3}, {"s": ints(3, 4, 0)}),
    "Squeeze-not-one": ("y = Squeeze(x, a)", {"x": X3}, {"a": ints(0)}),
    "Unsqueeze-twice": ("y = Unsqueeze(x, a)", {"x": X3}, {"a": ints(0, 0)}),
    "Unsqueeze-beyond": ("y = Unsqueeze(x, a)", {"x": X3}, {"a": ints(3)}),
    "Concat-misfit": ("y = Concat<axis=0>(x, k)", {"x": X3}, {"k": random((2, 3))}),
    "Transpose-perm-twice": ("y = Transpose<perm=[0, 0]>(x)", {"x": X3}, {}),
    "Transpose-perm-short": ("y = Transpose<perm=[0]>(x)", {"x": X3}, {}),
    "Transpose-perm-beyond": ("y = Transpose<perm=[0, 2]>(x)", {"x": X3}, {}),
    "Flatten-axis": ("y = Flatten<axis=3>(x)", {"x": X3}, {}),
    "Softmax-axis": ("y = Softmax<axis=2>(x)", {"x": X3}, {}),
    "ReduceSum-axis": ("y = ReduceSum(x, a)", {"x": X3}, {"a": ints(2)}),
    "ArgMax-axis": ("y0 = ArgMax<axis=-3>(x); y = Cast<to=1>(y0)", {"x": X3}, {}),
    "ConstantOfShape-negative": ("y = ConstantOfShape(x0)", {"x0": ints(-1, 2)}, {}),
    "DepthToSpace-channels": ("y = DepthToSpace<blocksize=2>(x0)", {"x0": random((1, 3, 2, 2))}, {}),
    "SpaceToDepth-size": ("y = SpaceToDepth<blocksize=2>(x0)", {"x0": random((1, 1, 3, 2))}, {}),
    "Trilu-rank-1": ("y = Trilu(x0)", {"x0": random((3,))}, {}),
    "MatMul-misfit": ("y = MatMul(x, k)", {"x": X3}, {"k": random((3, 2))}),
    "Gemm-bias-misfit": ("y = Gemm(x, k, c)", {"x": X3}, {"k": random((4, 2)), "c": random((3, 1, 1))}),
    "Where-misfit": ("y = Where(c, x, k)", {"x": X3}, {"c": np.ones((2, 1), bool), "k": np.float32(0)}),
}


@levels
@pytest.mark.parametrize("row", REFUSED)
@pytest.mark.parametrize("known", [True, False], ids=["static", "dynamic"])
def test_what_cannot_be_is_refused_naming_the_node(row, known, level):
    text, feeds, weights = REFUSED[row]
    spec = (
        feeds if known else {n: (v.dtype, [f"{n}{k}" for k in range(v.ndim)]) for n, v in {**feeds, **weights}.items()}
    )
    model = make_model(text, dict(spec), {"y": f32}, weights if known else None)
    given = feeds if known else {**feeds, **weights}
    op, out = (
        text.split(";")[0].split("=")[1].strip().split("(")[0].split("<")[0],
        text.split("=")[0].split(",")[0].strip(),
    )
    assert_load_or_run_refused(model, given, level, node=f"{op.lower()}_{out}")
