"""Where engines differ from each other, ours is decided; each decision is one test here (the other files test the kind around it)."""

import numpy as np
import pytest

import engines
from oracle import (
    assert_refused,
    assert_same,
    check,
    f16,
    f32,
    f64,
    i32,
    i64,
    levels,
    make_model,
    onnx_type,
    run,
)

nan = np.nan


@levels
def test_integer_minimum_by_minus_one_wraps(level):
    low = np.array([-(2**31)], i32)
    check(
        make_model("y = Div(a, b)", {"a": low, "b": low}, {"y": i32}),
        {"a": low, "b": np.array([-1], i32)},
        low,
        level,
        peers=(),
    )


@levels
def test_relu_then_clip_in_float64_is_right(level):
    x = np.array([-2, 0.5, 6], f64)
    model = make_model(
        "r = Relu(x); y = Clip(r, lo, hi)", {"x": x}, {"y": f64}, {"lo": f64.type(-1), "hi": f64.type(1)}
    )
    check(model, {"x": x}, np.array([0, 0.5, 1], f64), level, peers=())


@levels
def test_reduce_max_with_nan_is_nan(level):
    x = np.array([2, nan], f32)
    check(
        make_model("y = ReduceMax<keepdims=0>(x)", {"x": x}, {"y": f32}), {"x": x}, np.array(nan, f32), level, peers=()
    )


@levels
@pytest.mark.parametrize(
    "text", ["y = Relu(x)", "y = Clip(x, k, k)", "y = Min(x, k)", "y = Min(k, x)", "y = Max(x, k)", "y = Max(k, x)"]
)
def test_nan_passes_through(text, level):
    x = np.array([nan], f32)
    check(make_model(text, {"x": x}, {"y": f32}, {"k": f32.type(1)}), {"x": x}, x, level, peers=())


@levels
def test_narrowing_cast_pair_is_kept(level):
    x = np.array([1e-12, 123456.7, 1 / 3], f32)
    model = make_model(f"h = Cast<to={onnx_type(f16)}>(x); y = Cast<to=1>(h)", {"x": x}, {"y": f32})
    with np.errstate(over="ignore"):
        want = x.astype(f16).astype(f32)
    check(model, {"x": x}, want, level)


@levels
@pytest.mark.parametrize("index", [2, -3])
def test_gather_index_out_of_range_is_refused_at_run(index, level):
    x = np.array([5, 6], f32)
    loaded = engines.load(make_model("y = Gather(x, i)", {"x": x}, {"y": f32}, {"i": np.array([index])}), level)
    assert_refused(lambda: loaded.run({"x": x}), node="gather_y")


@levels
@pytest.mark.parametrize("op", ["Div", "Mod"])
def test_integer_division_by_zero_is_refused_at_run(op, level):
    a = np.array([1, 2], i32)
    loaded = engines.load(make_model(f"y = {op}(a, b)", {"a": a, "b": a}, {"y": i32}), level)
    assert_refused(lambda: loaded.run({"a": a, "b": np.array([1, 0], i32)}), node=f"{op.lower()}_y")
    assert_same(loaded.run({"a": a, "b": a})["y"], np.array([1, 1] if op == "Div" else [0, 0], i32))


@levels
def test_graph_input_that_no_node_uses_is_accepted(level):
    """It is still checked when it is fed."""
    x, unused = np.array([-1], f32), np.zeros((2, 3), i64)
    model = make_model("y = Neg(x)", {"x": x, "unused": unused}, {"y": f32})
    assert_same(run(model, {"x": x, "unused": unused}, level)["y"], -x)
    assert_refused(lambda: run(model, {"x": x, "unused": np.zeros((2, 4), i64)}, level))
