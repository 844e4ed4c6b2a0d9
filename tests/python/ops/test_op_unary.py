"""Unary element-wise operators: every type that ONNX allows, rank 0 to 3, empty, and sizes around vector lengths."""

import math

import numpy as np
import pytest

from ops.table import each_type, modes, types_of, verify_node, wide
from oracle import bf16, boolean, f16, f32, f64, random

SHAPES = [(), (0,), (1,), (7,), (2, 3, 4), (33,)]
erf = np.vectorize(math.erf, otypes=[float])
sigmoid = lambda x: 1 / (1 + np.exp(-x))

# operator: (function in float64, lowest input, highest input)
FUNCTIONS = {
    "Abs": (np.abs, -9, 9),
    "Acos": (np.arccos, -1, 1),
    "Acosh": (np.arccosh, 1, 9),
    "Asin": (np.arcsin, -1, 1),
    "Asinh": (np.arcsinh, -9, 9),
    "Atan": (np.arctan, -9, 9),
    "Atanh": (np.arctanh, -0.9, 0.9),
    "Ceil": (np.ceil, -9, 9),
    "Cos": (np.cos, -9, 9),
    "Cosh": (np.cosh, -4, 4),
    "Erf": (erf, -4, 4),
    "Exp": (np.exp, -5, 5),
    "Floor": (np.floor, -9, 9),
    "HardSwish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), -5, 5),
    "Identity": (lambda x: x, -9, 9),
    "Log": (np.log, 0.1, 9),
    "Mish": (lambda x: x * np.tanh(np.log1p(np.exp(x))), -5, 5),
    "Neg": (np.negative, -9, 9),
    "Reciprocal": (lambda x: 1 / x, 0.2, 5),
    "Relu": (lambda x: np.maximum(x, 0), -9, 9),
    "Round": (np.round, -9, 9),
    "Sigmoid": (sigmoid, -9, 9),
    "Sign": (np.sign, -9, 9),
    "Sin": (np.sin, -9, 9),
    "Sinh": (np.sinh, -4, 4),
    "Softplus": (lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0), -9, 9),
    "Softsign": (lambda x: x / (1 + np.abs(x)), -9, 9),
    "Sqrt": (np.sqrt, 0, 9),
    "Tan": (np.tan, -1.4, 1.4),
    "Tanh": (np.tanh, -5, 5),
    "BitwiseNot": (np.invert, -9, 9),
    "Not": (np.logical_not, 0, 1),
    "Gelu": (lambda x: x / 2 * (1 + erf(x / math.sqrt(2))), -4, 4),
}
EXACT = ("Identity", "Abs", "Neg", "Ceil", "Floor", "Round", "Sign", "Relu", "BitwiseNot", "Not")
LOOSE = {f16: 4e-3, bf16: 2e-2, f32: 2e-5, f64: 1e-6}


def tolerance(op, dtype):
    return 0 if op in EXACT else LOOSE.get(dtype)


@modes
@each_type([op for op in FUNCTIONS if op != "Identity"])
def test_function(op, dtype, mode):
    function, low, high = FUNCTIONS[op]
    for shape in SHAPES:
        x = random(shape, dtype, op, low=low, high=high)
        want = function(x) if dtype == boolean else wide(function)(x)
        rtol = tolerance(op, dtype)
        verify_node(op, {"x": x}, want, mode, peers=(), rtol=rtol, atol=rtol)


@modes
@each_type(["Identity"])
def test_identity(op, dtype, mode):
    """Every type there is, strings and 2-bit integers too."""
    for shape in [(), (0, 2), (5,), (2, 3)]:
        x = random(shape, dtype)
        verify_node(op, {"x": x}, x, mode, peers=())


@modes
@pytest.mark.parametrize("op", [op for op in FUNCTIONS if op not in ("Not", "BitwiseNot", "Identity")])
def test_large_and_special_values(op, mode):
    """Overflow, underflow, infinities, NaN and both zeros in float32, as NumPy has them."""
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 88.0, -88.0, 104.0, -104.0, 1e4, -1e4], f32)
    if op in ("Sin", "Cos", "Tan"):
        x = x[:7]
    with np.errstate(all="ignore"):
        want = FUNCTIONS[op][0](x.astype(f64)).astype(f32)
    if op in (
        "Gelu",
        "HardSwish",
        "Mish",
        "Softsign",
    ):  # infinity times zero: the formula says NaN, the limit is 0 or 1
        x, want = x[np.isfinite(x) | np.isnan(x)], want[np.isfinite(x) | np.isnan(x)]
    verify_node(op, {"x": x}, want, mode, peers=(), rtol=2e-5, atol=1e-6)


# operator, attributes, function
PARAMETERS = [
    ("LeakyRelu", {}, lambda x: np.where(x < 0, x * 0.01, x)),
    ("LeakyRelu", {"alpha": 0.3}, lambda x: np.where(x < 0, x * 0.3, x)),
    ("Elu", {}, lambda x: np.where(x < 0, np.expm1(x), x)),
    ("Elu", {"alpha": 2.0}, lambda x: np.where(x < 0, 2 * np.expm1(x), x)),
    ("Celu", {}, lambda x: np.maximum(x, 0) + np.minimum(0, np.expm1(x))),
    ("Celu", {"alpha": 2.0}, lambda x: np.maximum(x, 0) + np.minimum(0, 2 * np.expm1(x / 2))),
    ("Selu", {}, lambda x: 1.0507009873554805 * np.where(x <= 0, 1.6732632423543772 * np.expm1(x), x)),
    ("Selu", {"alpha": 2.0, "gamma": 3.0}, lambda x: 3 * np.where(x <= 0, 2 * np.expm1(x), x)),
    ("HardSigmoid", {}, lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    ("HardSigmoid", {"alpha": 0.5, "beta": 0.3}, lambda x: np.clip(0.5 * x + 0.3, 0, 1)),
    ("ThresholdedRelu", {}, lambda x: np.where(x > 1, x, 0)),
    ("ThresholdedRelu", {"alpha": -1.0}, lambda x: np.where(x > -1, x, 0)),
    ("Shrink", {}, lambda x: np.where(x < -0.5, x, np.where(x > 0.5, x, 0))),
    ("Shrink", {"lambd": 1.5, "bias": 1.5}, lambda x: np.where(x < -1.5, x + 1.5, np.where(x > 1.5, x - 1.5, 0))),
    ("Gelu", {"approximate": "tanh"}, lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    ("Swish", {}, lambda x: x * sigmoid(x)),
    ("Swish", {"alpha": 0.5}, lambda x: x * sigmoid(0.5 * x)),
]


@modes
@pytest.mark.parametrize("dtype", [f16, bf16, f32, f64], ids=str)
@pytest.mark.parametrize(
    "op, attributes, function", PARAMETERS, ids=[f"{p[0]}-{'-'.join(p[1]) or 'default'}" for p in PARAMETERS]
)
def test_with_parameters(op, attributes, function, dtype, mode):
    if dtype not in types_of(op):
        pytest.skip(f"ONNX has no {op} in {dtype}")
    for shape in SHAPES:
        x = random(shape, dtype, op)
        verify_node(op, {"x": x}, wide(function)(x), mode, peers=(), rtol=LOOSE[dtype], atol=LOOSE[dtype], **attributes)


@modes
@pytest.mark.parametrize("op", ["IsNaN", "IsInf"])
@pytest.mark.parametrize("dtype", [f16, bf16, f32, f64], ids=str)
def test_tests(op, dtype, mode):
    x = np.array([[1, np.nan, np.inf], [-np.inf, 0, -1]]).astype(dtype)
    want = (np.isnan if op == "IsNaN" else np.isinf)(x.astype(f64))
    verify_node(op, {"x": x}, want, mode, peers=())
    if op == "IsInf":
        verify_node(op, {"x": x}, np.isposinf(x.astype(f64)), mode, peers=(), detect_negative=0)
        verify_node(op, {"x": x}, np.isneginf(x.astype(f64)), mode, peers=(), detect_positive=0)


@modes
@pytest.mark.parametrize("op", [op for op in FUNCTIONS if op not in ("Not", "BitwiseNot")])
def test_against_the_peers(op, mode):
    """float32 once more against the evaluator of onnx and ONNX Runtime."""
    x = random((3, 5), f32, op, low=FUNCTIONS[op][1], high=FUNCTIONS[op][2])
    verify_node(op, {"x": x}, None, mode, rtol=2e-5, atol=2e-6)
