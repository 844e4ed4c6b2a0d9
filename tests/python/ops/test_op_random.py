"""Random operators by their statistics: moments within five standard errors, seeds that repeat, draws that are independent.

The draws themselves are ours alone: no two engines give the same ones for a seed.
"""

import numpy as np
import pytest

import engines
from oracle import (
    bf16,
    boolean,
    f16,
    f32,
    f64,
    i32,
    i64,
    levels,
    make_graph,
    make_model,
    node,
    onnx_type,
    parse_nodes,
    run,
    short,
    u8,
)
from table import OPSET

COUNT = 20000


def draw(op, feeds=None, level=3, kind=f32, **attributes):
    feeds = feeds or {}
    made = node(op, ",".join(feeds), "y", **attributes)
    return run(make_model([made], dict(feeds), {"y": kind}, opset=OPSET), feeds, level)["y"]


def bernoulli(p, level=3, kind=None, **attributes):
    kind = kind or p.dtype
    return draw("Bernoulli", {"p": p}, level, kind, dtype=onnx_type(kind), **attributes)


@levels
@pytest.mark.parametrize("p", [0.0, 0.001, 0.25, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("dtype", [f16, f32, f64, bf16], ids=short)
def test_bernoulli_mean(p, dtype, level):
    given = np.full(COUNT, p, dtype)
    p = float(given[0])
    got = bernoulli(given, level, seed=7.0)
    assert got.dtype == dtype and got.shape == given.shape
    values = got.astype(f64)
    assert np.isin(values, [0, 1]).all()
    assert abs(values.mean() - p) <= 5 * np.sqrt(p * (1 - p) / COUNT)


@pytest.mark.parametrize("kind", [boolean, u8, i32, i64, f16, f64], ids=short)
def test_bernoulli_types(kind):
    """The same draws in every type."""
    p = np.linspace(0, 1, COUNT, dtype=f32)
    got = bernoulli(p, kind=kind, seed=1.0)
    assert got.dtype == kind and np.array_equal(got.astype(i32), bernoulli(p, seed=1.0).astype(i32))


def test_bernoulli_follows_each_probability():
    p = np.repeat(np.array([[0.1], [0.5], [0.8]], f32), COUNT, axis=1)
    means = bernoulli(p, seed=2.0).mean(axis=1)
    assert np.all(np.abs(means - p[:, 0]) < 5 * np.sqrt(0.25 / COUNT))


def test_bernoulli_as_its_definition():
    """Less(uniform, p), as the specification has it: the same mean."""
    p = np.full(COUNT, 0.3, f32)
    model = make_model("u = RandomUniformLike<dtype=1>(p); b = Less(u, p); y = Cast<to=1>(b)", {"p": p}, {"y": f32}, opset=OPSET)
    assert abs(run(model, {"p": p})["y"].mean() - 0.3) < 5 * np.sqrt(0.21 / COUNT)


def test_bernoulli_draws_are_independent():
    values = bernoulli(np.full(COUNT, 0.5, f32), seed=3.0) - 0.5
    for lag in [1, 2, 4, 8, 1000]:
        assert abs(np.mean(values[lag:] * values[:-lag])) < 5 * 0.25 / np.sqrt(COUNT - lag)


SEEDED = {
    "Bernoulli": lambda seed, level: bernoulli(np.full(500, 0.5, f32), level, seed=seed),
    "RandomUniform": lambda seed, level: draw("RandomUniform", level=level, shape=[500], seed=seed),
    "RandomNormal": lambda seed, level: draw("RandomNormal", level=level, shape=[500], seed=seed),
    "RandomUniformLike": lambda seed, level: draw("RandomUniformLike", {"x": np.ones(500, f32)}, level, seed=seed),
    "RandomNormalLike": lambda seed, level: draw("RandomNormalLike", {"x": np.ones(500, f32)}, level, seed=seed),
    "Multinomial": lambda seed, level: draw(
        "Multinomial", {"x": np.zeros((2, 9), f32)}, level, i32, sample_size=200, seed=seed
    ),
}


@pytest.mark.parametrize("op", SEEDED)
def test_a_seed_repeats_itself(op):
    """At every level and in every load; another seed gives other draws."""
    want = SEEDED[op](1.0, 0)
    assert np.array_equal(SEEDED[op](1.0, 0), want) and np.array_equal(SEEDED[op](1.0, 3), want)
    assert not np.array_equal(SEEDED[op](2.0, 3), want)


@levels
def test_draws_of_a_seeded_node_do_not_depend_on_the_number_of_elements(level):
    few, many = (draw("RandomUniform", level=level, shape=[n], seed=5.0) for n in (10, 5000))
    assert np.array_equal(few, many[:10])


@pytest.mark.parametrize("op, mean, deviation", [("RandomNormal", 2, 3), ("RandomUniform", 2, 6 / np.sqrt(12))])
@pytest.mark.parametrize("dtype", [f32, f64, f16, bf16], ids=short)
def test_moments(op, mean, deviation, dtype):
    attributes = {"mean": 2.0, "scale": 3.0} if op == "RandomNormal" else {"low": -1.0, "high": 5.0}
    y = draw(op, kind=dtype, shape=[COUNT], dtype=onnx_type(dtype), seed=11.0, **attributes).astype(f64)
    assert abs(y.mean() - mean) < 5 * deviation / np.sqrt(COUNT) + 0.01
    assert abs(y.std() - deviation) < 5 * deviation / np.sqrt(COUNT) + 0.01
    if op == "RandomNormal":
        skew = np.mean(((y - mean) / deviation) ** 3)
        tails = np.mean(np.abs(y - mean) > 2 * deviation)
        assert abs(skew) < 5 * np.sqrt(6 / COUNT) and abs(tails - 0.0455) < 5 * np.sqrt(0.0455 / COUNT)
    else:
        assert y.min() >= -1 and y.max() <= 5
        counts = np.histogram(y, bins=12, range=(-1, 5))[0]
        assert np.sum((counts - COUNT / 12) ** 2) / (COUNT / 12) < 45  # chi squared, 11 degrees of freedom


def test_multinomial_mean():
    x = np.log(np.array([[0.1, 0.6, 0.3]] * 3, f32)) + np.array([[0], [5], [-5]], f32)  # weights need not add up to 1
    got = draw("Multinomial", {"x": x}, kind=i64, sample_size=COUNT, dtype=7, seed=4.0)
    assert got.dtype == i64
    for row in got:
        assert np.all(np.abs(np.bincount(row, minlength=3) / COUNT - [0.1, 0.6, 0.3]) < 5 * np.sqrt(0.25 / COUNT))
    assert not np.array_equal(got[0], got[1])


@levels
def test_two_nodes_and_two_runs_differ(level):
    text = "a = RandomNormal<shape=[100]>(); b = RandomNormal<shape=[100]>()"
    loaded = engines.load(make_model(text, {}, {"a": f32, "b": f32}, opset=OPSET), level)
    first, second = loaded.run({}), loaded.run({})
    assert not np.array_equal(first["a"], first["b"]) and not np.array_equal(first["a"], second["a"])


@levels
def test_trips_of_a_loop_differ(level):
    """Without a seed each trip draws anew."""
    body = make_graph(
        parse_nodes("k = Identity(c); u = RandomUniform<shape=[50]>()"), {"i": (i64, ()), "c": (boolean, ())}, {"k": (boolean, ()), "u": f32}
    )
    model = make_model([node("Loop", "n,", "y", body=body)], {}, {"y": f32}, {"n": np.array(4, i64)}, opset=OPSET)
    y = run(model, {}, level)["y"]
    assert y.shape == (4, 50) and len({row.tobytes() for row in y}) == 4


@levels
def test_bodies_differ(level):
    """Scan's steps, nested loops whatever the order of their trips, and the branches of two Ifs."""
    uniform = "u = RandomUniform<shape=[20]>()"
    counted = {"i": (i64, ()), "c": (boolean, ())}
    inner = make_graph(parse_nodes(f"k = Identity(c); {uniform}"), counted, {"k": (boolean, ()), "u": f32}, name="inner")
    outer = make_graph(
        [*parse_nodes("k = Identity(c)"), node("Loop", "n,", "v", body=inner)], counted, {"k": (boolean, ()), "v": f32}, name="outer"
    )
    step = make_graph(parse_nodes(uniform), {"x": (f32, ())}, {"u": f32}, name="step")
    branch = lambda name: make_graph(parse_nodes(uniform), {}, {"u": f32}, name=name)
    nodes = [
        node("Loop", "n,", "nested", body=outer),
        node("Scan", "x", "steps", body=step, num_scan_inputs=1),
        node("If", "t", "one", then_branch=branch("a"), else_branch=branch("b")),
        node("If", "t", "two", then_branch=branch("c"), else_branch=branch("d")),
    ]
    constants = {"n": np.array(3, i64)}
    outputs = dict.fromkeys(["nested", "steps", "one", "two"], f32)
    feeds = {"x": np.zeros(4, f32), "t": np.array(True)}
    got = run(make_model(nodes, feeds, outputs, constants, opset=OPSET), feeds, level)
    rows = [row.tobytes() for value in got.values() for row in value.reshape(-1, 20)]
    assert len(rows) == 9 + 4 + 2 and len(set(rows)) == len(rows)


@levels
def test_dropout_in_training_keeps_the_mean(level):
    x, feeds = np.ones(COUNT, f32), {"r": np.array(0.4, f32), "t": np.array(True)}
    made = node("Dropout", "x,r,t", "y,m", seed=9)
    model = make_model([made], {"x": x}, {"y": f32, "m": boolean}, feeds, opset=OPSET)
    got, again = run(model, {"x": x}, level), run(model, {"x": x}, level)
    assert np.array_equal(got["m"], again["m"])
    assert abs(got["m"].mean() - 0.6) < 5 * np.sqrt(0.24 / COUNT) and abs(got["y"].mean() - 1) < 0.03
