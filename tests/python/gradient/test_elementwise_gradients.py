"""Gradients of element-wise operators against central differences, of first and second order."""

import numpy as np
import pytest

from gradient.gradient_oracle import Case, gradients_of
from oracle import f64, levels, random

opened = pytest.mark.parametrize("is_open", [False, True], ids=["static", "open"])

# operator with attributes: (lowest input, highest input). Kinks are at 0, 0.5, 1 and 3, which no input is near to.
UNARY = {
    "Abs": (-3, 3), "Acos": (-0.9, 0.9), "Acosh": (1.2, 4), "Asin": (-0.9, 0.9), "Asinh": (-3, 3), "Atan": (-3, 3),
    "Atanh": (-0.9, 0.9), "Ceil": (-3, 3), "Celu<alpha=1.5>": (-3, 3), "Cos": (-3, 3), "Cosh": (-2, 2), "Elu<alpha=0.7>": (-3, 3),
    "Erf": (-2, 2), "Exp": (-2, 2), "Floor": (-3, 3), "Gelu": (-3, 3), 'Gelu<approximate="tanh">': (-3, 3),
    "HardSigmoid<alpha=0.3, beta=0.4>": (-3, 3), "HardSwish": (-5, 5), "Identity": (-3, 3), "LeakyRelu<alpha=0.2>": (-3, 3),
    "Log": (0.2, 3), "Mish": (-3, 3), "Neg": (-3, 3), "Reciprocal": (0.3, 3), "Relu": (-3, 3), "Round": (-3, 3), "Selu": (-3, 3),
    "Shrink<lambd=0.5, bias=0.2>": (-3, 3), "Sigmoid": (-3, 3), "Sign": (-3, 3), "Sin": (-3, 3), "Sinh": (-2, 2), "Softplus": (-3, 3),
    "Softsign": (-3, 3), "Sqrt": (0.2, 3), "Swish<alpha=1.3>": (-3, 3), "Tan": (-1, 1), "Tanh": (-2, 2), "ThresholdedRelu": (-3, 3),
}  # fmt: skip


@levels
@opened
@pytest.mark.parametrize("op", UNARY)
def test_unary(op, is_open, level):
    low, high = UNARY[op]
    name, _, attributes = op.partition("<")
    x = random((3, 4), f64, op, low=low, high=high)
    x = np.where(np.abs(np.mod(2 * x + 0.25, 1) - 0.25) < 0.02, x + 0.03, x)  # away from halves
    text = f"y = {name}<{attributes}(x)" if attributes else f"y = {name}(x)"
    Case(text, {"x": x}, is_open=is_open).check(level, order=2)


PAIRS = [((3, 4), (3, 4)), ((2, 3, 4), (3, 1)), ((3, 1), (2, 1, 4)), ((2, 3), ()), ((), (2,)), ((), ()), ((1,), (2, 1)), ((2, 0), (1, 1))]


@levels
@opened
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Sum", "Mean", "Mod<fmod=1>", "Mod"])
def test_binary(op, shapes, is_open, level):
    a, b = (random(shape, f64, op, i, low=0.3, high=2.5) for i, shape in enumerate(shapes))
    name, _, attributes = op.partition("<")
    text = f"y = {name}<{attributes}(a, b)" if attributes else f"y = {name}(a, b)"
    Case(text, {"a": a, "b": b}, is_open=is_open).check(level, order=2)


@levels
@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0, -1.0, 0.5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_pow_by_a_constant(exponent, dtype, level):
    x = random((5,), f64, low=0.5, high=2)
    Case("y = Pow(x, p)", {"x": x, "p": np.array(exponent, dtype)}, ["x"], constants=["p"]).check(level, order=2)


@levels
def test_pow_at_zero(level):
    x = np.array([0.0, 0.0, 0.0, -2.0])
    Case("y = Pow(x, p)", {"x": x, "p": np.array([2.0, 1.0, 3.0, 2.0])}, ["x"]).check(level)
    got = gradients_of("y = Pow(x, p)", {"x": x, "p": np.zeros(4)}, ["x", "p"], level)
    np.testing.assert_array_equal(got[0], 0)
    np.testing.assert_allclose(got[1][:3], 0)


@levels
def test_equal_inputs_share_the_gradient(level):
    a, b, c = np.array([1.0, 2.0, 3.0]), np.array([1.0, 5.0, 3.0]), np.array([0.0, 5.0, 3.0])
    got = gradients_of("y = Max(a, b, c)", {"a": a, "b": b, "c": c}, ["a", "b", "c"], level)
    np.testing.assert_allclose(got, [[0.5, 0, 1 / 3], [0.5, 0.5, 1 / 3], [0, 0.5, 1 / 3]])


@levels
@opened
def test_variadic(is_open, level):
    feeds = {"a": random((2, 3), f64, "a"), "b": random((3,), f64, "b"), "c": random((2, 1), f64, "c")}
    for op in ("Sum", "Mean", "Min", "Max"):
        Case(f"y = {op}(a, b, c)", feeds, is_open=is_open).check(level, order=2)
        Case(f"y = {op}(a)", {"a": feeds["a"]}, is_open=is_open).check(level)


@levels
@opened
def test_where(is_open, level):
    feeds = {"c": random((2, 1, 3), bool), "a": random((4, 1), f64, "a"), "b": random((3,), f64, "b")}
    Case("y = Where(c, a, b)", feeds, is_open=is_open).check(level, order=2)


@levels
@opened
@pytest.mark.parametrize("text", ["y = Clip(x, low, high)", "y = Clip(x, low)", "y = Clip(x, , high)", "y = Clip(x)", "y = Clip(x, high, low)"])
@pytest.mark.parametrize("shape", [(), (1,)], ids=str)
def test_clip(text, shape, is_open, level):
    feeds = {"x": np.array([-2.0, -0.5, 0.3, 0.8, 2.0]), "low": np.full(shape, -0.7), "high": np.full(shape, 0.6)}
    feeds = {name: value for name, value in feeds.items() if name in text}
    Case(text, feeds, is_open=is_open).check(level, order=2)


@levels
@opened
def test_prelu_and_swiglu(is_open, level):
    x = random((2, 3, 4), f64)
    Case("y = PRelu(x, s)", {"x": x, "s": random((3, 1), f64)}, is_open=is_open).check(level, order=2)
    Case("y = SwiGLU<alpha=1.2>(x, b)", {"x": x, "b": random((2, 3, 4), f64, "b")}, is_open=is_open).check(level, order=2)


@levels
def test_casts(level):
    """Gradients pass casts between floating-point types, and end where a value becomes an integer."""
    x = random((6,), f64, low=0, high=2)
    rounded = x.astype(np.float32).astype(np.float64)
    weights = np.arange(6.0)
    got = gradients_of("h = Cast<to=1>(x); k = Mul(h, h); d = Cast<to=11>(k); y = Mul(d, w)", {"x": x, "w": weights}, ["x"], level)
    np.testing.assert_allclose(got[0], 2 * rounded * weights, rtol=1e-6)
    assert got[0].dtype == np.float64
    got = gradients_of("h = Cast<to=7>(x); d = Cast<to=11>(h); y = Add(d, x)", {"x": x}, ["x"], level)
    np.testing.assert_array_equal(got[0], 1)
    got = gradients_of("h = CastLike(x, f); d = Cast<to=11>(h); y = Add(d, x)", {"x": x, "f": np.float32([0])}, ["x"], level)
    np.testing.assert_array_equal(got[0], 2)
