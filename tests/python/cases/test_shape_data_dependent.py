"""Shapes that only the data knows, and what comes after them: each model runs for several of them, one after the other."""

import numpy as np
import pytest

import engines
from oracle import (
    assert_refused,
    assert_same,
    boolean,
    check,
    f32,
    i64,
    levels,
    make_graph,
    make_model,
    node,
    parse_nodes,
    random,
)

ints = lambda *values: np.array(values, i64)


def found(x):
    """Rows of x at the places of its positive elements, doubled."""
    return 2 * x[np.nonzero(x > 0)[0]]


# text, constants, what NumPy makes of x
CHAINS = {
    "NonZero": (
        "p = Greater(x, zero); i = NonZero(p); t = Transpose(i); c = Slice(t, b0, b1, a1); r = Squeeze(c, a1); g = Gather(x, r); y = Add(g, g)",
        {"zero": np.array(0, f32), "b0": ints(0), "b1": ints(1), "a1": ints(1)},
        found,
    ),
    "Compress": (
        "p = Greater(x, zero); f = Flatten<axis=0>(p); q = Squeeze(f, a0); w = Flatten<axis=0>(x); v = Squeeze(w, a0); c = Compress(v, q); e = Exp(c); "
        "y = ReduceSum<keepdims=0>(e)",
        {"zero": np.array(0, f32), "a0": ints(0)},
        lambda x: np.exp(x[x > 0]).sum(dtype=f32),
    ),
    "Unique": (
        "r = Round(x); u = Unique<sorted=1>(r); n = Neg(u); s = Shape(u); z = ConstantOfShape(s); y = Add(n, z)",
        {},
        lambda x: -np.unique(np.round(x)),
    ),
    "Reshape-by-data": (
        "p = Greater(x, zero); i = Cast<to=7>(p); s = ReduceSum<keepdims=0>(i); o = Unsqueeze(s, a0); t = Expand(one, o); y = Mul(t, two)",
        {"zero": np.array(0, f32), "a0": ints(0), "one": np.ones(1, f32), "two": np.array(2, f32)},
        lambda x: np.full((x > 0).sum(), 2, f32),
    ),
    "Range-by-data": (
        "p = Greater(x, zero); i = Cast<to=7>(p); s = ReduceSum<keepdims=0>(i); r = Range(n0, s, n1); f = Cast<to=1>(r); y = Mul(f, f)",
        {"zero": np.array(0, f32), "n0": np.array(0, i64), "n1": np.array(1, i64)},
        lambda x: np.arange((x > 0).sum(), dtype=f32) ** 2,
    ),
}


def inputs_of_many_kinds():
    """Everything, nothing, some, no elements at all, and back."""
    some = random((3, 4))
    return [some, -abs(some), abs(some) + 1, random((2, 5)), np.zeros((0, 4), f32), some]


@levels
@pytest.mark.parametrize("shape", [("n", "m"), None], ids=str)
@pytest.mark.parametrize("name", CHAINS)
def test_chain(name, shape, level):
    text, constants, compute = CHAINS[name]
    loaded = engines.load(make_model(text, {"x": (f32, shape)}, {"y": f32}, constants), level)
    for x in inputs_of_many_kinds():
        assert_same(loaded.run({"x": x})["y"], np.asarray(compute(x), f32), what=f"{name} of {x.shape}")


@levels
def test_boxes_that_are_kept(level):
    text = "k = NonMaxSuppression(b, s, most, overlap); c = Slice(k, at2, at3, a1); r = Squeeze(c, a1); q = Squeeze(b, a0); y = Gather(q, r)"
    constants = {"most": ints(9), "overlap": np.array([0.5], f32), "at2": ints(2), "at3": ints(3), "a1": ints(1), "a0": ints(0)}
    model = make_model(text, {"b": (f32, (1, "n", 4)), "s": (f32, (1, 1, "n"))}, {"y": f32}, constants)
    loaded = engines.load(model, level)
    for n in [3, 5, 0, 1, 3]:
        apart = np.stack([np.arange(n) * 2.0, np.zeros(n), np.arange(n) * 2.0 + 1, np.ones(n)], -1).astype(f32)
        boxes = np.concatenate([apart, apart])  # each twice: one of the pair stays
        scores = np.concatenate([np.linspace(1, 0.6, n), np.linspace(0.5, 0.1, n)]).astype(f32)
        got = loaded.run({"b": boxes[None], "s": scores[None, None]})["y"]
        assert_same(got, apart)


@levels
def test_sequence_that_a_loop_makes(level):
    """As many items as the data says, joined at the end."""
    body = make_graph(
        parse_nodes("k = Identity(c); f = Cast<to=1>(i); u = Unsqueeze(f, a0); o = SequenceInsert(s, u)"),
        {"i": (i64, ()), "c": (boolean, ()), "s": None},
        {"k": (boolean, ()), "o": None},
    )
    nodes = [
        *parse_nodes("e = SequenceEmpty<dtype=1>(); h = SequenceInsert(e, head)"),
        node("Loop", "n,,h", "all", body=body),
        *parse_nodes("y = ConcatFromSequence<axis=0>(all)"),
    ]
    constants = {"a0": ints(0), "head": np.array([-1], f32)}
    loaded = engines.load(make_model(nodes, {"n": (i64, ())}, {"y": f32}, constants), level)
    for n in [3, 0, 5]:
        assert_same(loaded.run({"n": np.array(n, i64)})["y"], np.arange(-1, n, dtype=f32))


@levels
@pytest.mark.parametrize("text", ["y = Add(a, b)", "y = Concat<axis=0>(a, b)", "p = Neg(a); q = Abs(b); y = Mul(p, p)"])
def test_one_name_is_one_extent(text, level):
    """Also where the graph would run with two."""
    model = make_model(text, {"a": (f32, ["n"]), "b": (f32, ["n"])}, {"y": f32})
    loaded = engines.load(model, level)
    loaded.run({"a": random((3,)), "b": random((3,))})
    assert_refused(lambda: loaded.run({"a": random((3,)), "b": random((4,))}), code="E5001", words=["n"])
    loaded.run({"a": random((4,)), "b": random((4,))})


@levels
@pytest.mark.parametrize("extents", [(3, 3), (1, 1)])
def test_one_name_within_one_input(extents, level):
    loaded = engines.load(make_model("y = Transpose(a)", {"a": (f32, ["n", "n"])}, {"y": f32}), level)
    a = random(extents)
    assert_same(loaded.run({"a": a})["y"], a.T)
    assert_refused(lambda: loaded.run({"a": random((extents[0], extents[1] + 1))}), code="E5001", words=["n"])


IMAGES = {
    "picked-pictures": "d = Compress<axis=0>(x, m)",
    "picked-rows": "d = Compress<axis=2>(x, m)",
    "picked-by-index": "i = NonZero(m); j = Squeeze(i, v0); d = Gather<axis=0>(x, j)",
    "cut-by-a-number": "i = Cast<to=7>(m); j = ReduceSum(i); d = Slice(x, v0, j, v0)",
    "resized-by-a-number": 'i = Cast<to=7>(m); j = ReduceSum(i); s = Shape(x); k = Slice(s, v0, v3); q = Concat<axis=0>(k, j); d = Resize<mode="nearest">(x, , , q)',
}


@levels
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("after", ["p = GlobalAveragePool(e); y = Flatten(p)", "p = MaxPool<kernel_shape=[2, 2]>(e); y = Softmax<axis=1>(p)", "y = Sigmoid(e)"])
@pytest.mark.parametrize("row", IMAGES)
def test_convolutions_of_images_whose_extents_are_data(row, after, known, level):
    """As detectors have them behind their boxes: no plan knows how many there are."""
    x, mask = random((4, 16, 4, 7)), np.array([True, False, True, True])
    weights = {"w": random((8, 16, 3, 3)), "u": random((8, 8, 3, 3)), "v0": np.array([0]), "v3": np.array([3])}
    text = f"{IMAGES[row]}; c = Conv<pads=[1, 1, 1, 1]>(d, w); r = Relu(c); e = Conv<pads=[1, 1, 1, 1]>(r, u); {after}"
    spec = {"x": x if known else (f32, ["N", 16, "H", "W"]), "m": (np.dtype(bool), [4])}
    check(make_model(text, spec, ["y"], weights), {"x": x, "m": mask}, None, level, ("onnxruntime",), 1e-3, 1e-4)
