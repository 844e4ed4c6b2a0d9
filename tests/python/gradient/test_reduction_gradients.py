"""Gradients of reductions and of matrix products against central differences, of first and second order."""

import numpy as np
import pytest

from gradient.gradient_oracle import Case, gradients_of
from oracle import f64, levels, random

opened = pytest.mark.parametrize("is_open", [False, True], ids=["static", "open"])
REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]


@levels
@opened
@pytest.mark.parametrize("axes", [None, (), (0,), (-1, 0), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reduction(op, keep, axes, is_open, level):
    feeds = {"x": random((2, 3, 2), f64, op, low=0.3, high=2)}
    if axes is not None:
        feeds["axes"] = np.array(axes, np.int64)
    text = f"y = Reduce{op}<keepdims={keep}>({', '.join(feeds)})"
    constants = ["axes"] if axes is not None and not is_open else []
    Case(text, feeds, is_open=is_open, constants=constants).check(level, order=2)


@levels
def test_no_axes_may_mean_none(level):
    feeds = {"x": random((2, 3), f64, low=0.3, high=2), "axes": np.array([], np.int64)}
    for op in ("Sum", "L2", "Max", "Prod", "LogSumExp"):
        Case(f"y = Reduce{op}<noop_with_empty_axes=1>(x, axes)", feeds).check(level)


@levels
def test_products_with_zeros(level):
    x = np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 4.0], [1.0, 2.0, 3.0]])
    Case("y = ReduceProd(x, axes)", {"x": x, "axes": np.array([1])}).check(level)


@levels
def test_norm_of_zeros_has_gradient_zero(level):
    got = gradients_of("y = ReduceL2(x, axes)", {"x": np.zeros((2, 3)), "axes": np.array([1])}, ["x"], level)
    np.testing.assert_array_equal(got[0], 0)


@levels
def test_largest_elements_share_the_gradient(level):
    x = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    got = gradients_of("y = ReduceMax(x, axes)", {"x": x, "axes": np.array([1])}, ["x"], level)
    np.testing.assert_allclose(got[0], [[0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]])


@levels
@opened
@pytest.mark.parametrize("op", ["CumSum", "CumSum<exclusive=1>", "CumSum<reverse=1>"])
def test_cumulative(op, is_open, level):
    Case(f"h = {op}(x, axis); y = Mul(h, h)", {"x": random((2, 3), f64), "axis": np.array(1)}, is_open=is_open).check(level, order=2)


SHAPES = [
    ((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((2, 2, 3), (3, 2)), ((2, 3), (2, 3, 2)), ((2, 1, 2, 3), (3, 3, 2)),
    ((2, 2, 3), (3,)), ((3,), (2, 3, 2)), ((0, 3), (3, 2)), ((1, 2, 3), (2, 3, 2)),
]  # fmt: skip


@levels
@opened
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_matmul(shapes, is_open, level):
    a, b = (random(shape, f64, i) for i, shape in enumerate(shapes))
    Case("h = MatMul(a, b); y = Mul(h, h)", {"a": a, "b": b}, is_open=is_open).check(level, order=2)


@levels
@opened
@pytest.mark.parametrize("turns", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=str)
@pytest.mark.parametrize("bias", [None, (), (4,), (2, 1), (2, 4)], ids=str)
def test_gemm(bias, turns, is_open, level):
    feeds = {"a": random((3, 2) if turns[0] else (2, 3), f64, "a"), "b": random((4, 3) if turns[1] else (3, 4), f64, "b")}
    if bias is not None:
        feeds["c"] = random(bias, f64, "c")
    text = f"h = Gemm<alpha=0.5, beta=1.5, transA={turns[0]}, transB={turns[1]}>({', '.join(feeds)}); y = Mul(h, h)"
    Case(text, feeds, is_open=is_open).check(level, order=2)
