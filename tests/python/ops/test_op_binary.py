"""Binary, variadic and choosing element-wise operators: every type of ONNX, broadcasting, empty and rank 0."""

import numpy as np
import pytest

from ops.table import OPSET, each_type, modes, types_of, verify, verify_node, wide
from oracle import (
    FLOATS,
    assert_load_or_run_refused,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    make_model,
    one_node,
    random,
    short,
    string,
    u8,
    u64,
)

PAIRS = [
    ((), ()),
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 1), (1, 3)),
    ((), (2,)),
    ((0, 3), (1, 3)),
    ((2, 3, 4), (3, 1)),
    ((33,), (33,)),
    ((5, 33), (33,)),
    ((5, 33), (5, 1)),
]
LOOSE = {f16: 4e-3, bf16: 2e-2, f32: 2e-5, f64: 1e-9}

ARITHMETIC = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum}
COMPARISONS = {
    "Equal": np.equal,
    "Less": np.less,
    "Greater": np.greater,
    "LessOrEqual": np.less_equal,
    "GreaterOrEqual": np.greater_equal,
}
LOGIC = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}
BITS = {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}


@modes
@each_type([*ARITHMETIC])
def test_arithmetic(op, dtype, mode):
    for a_shape, b_shape in PAIRS:
        a, b = random(a_shape, dtype, "a"), random(b_shape, dtype, "b")
        verify_node(op, {"a": a, "b": b}, wide(ARITHMETIC[op])(a, b), mode, peers=())


@modes
@each_type(["Div"])
def test_division(op, dtype, mode):
    """Integers truncate towards zero."""
    for a_shape, b_shape in PAIRS:
        a, b = random(a_shape, dtype, "a", low=-50, high=50), random(b_shape, dtype, "b", low=1, high=9)
        if dtype.kind != "u" and b.size > 1:
            b.flat[1:2] = -b.flat[1]
        want = wide(lambda p, q: np.trunc(p / q) if dtype.kind in "iu" else p / q)(a, b)
        verify_node(op, {"a": a, "b": b}, want, mode, peers=(), rtol=LOOSE.get(dtype), atol=LOOSE.get(dtype))


@modes
@each_type(["Mod"])
@pytest.mark.parametrize("fmod", [0, 1])
def test_mod(op, dtype, fmod, mode):
    if dtype in FLOATS and not fmod:
        pytest.skip("ONNX: floats need fmod")
    for a_shape, b_shape in PAIRS:
        a, b = random(a_shape, dtype, "a", low=-50, high=50), random(b_shape, dtype, "b", low=2, high=9)
        want = wide(np.fmod if fmod else np.mod)(a, b)
        verify_node(op, {"a": a, "b": b}, want, mode, peers=(), rtol=LOOSE.get(dtype), atol=LOOSE.get(dtype), fmod=fmod)


@modes
@pytest.mark.parametrize("exponent", types_of("Pow", 1), ids=short)
@pytest.mark.parametrize("base", types_of("Pow", 0), ids=short)
def test_power(base, exponent, mode):
    """All pairs of types: the result has the base's."""
    a, b = random((2, 3), base, "a", low=1, high=4), random((3,), exponent, "b", low=0, high=4)
    want = (a.astype(f64) ** b.astype(f64)).astype(base)
    tolerance = LOOSE.get(base)
    verify_node("Pow", {"a": a, "b": b}, want, mode, peers=(), rtol=tolerance, atol=tolerance)


@modes
def test_power_special_values(mode):
    """Zero and negative bases, infinite and fractional exponents, as in C's pow."""
    a = np.array([0, 0, 0, -2, -2, -8, 1, np.nan, np.inf, -np.inf, 2, 2, 0.5], f32)
    b = np.array([0, 2, -1, 3, 2, 1 / 3, np.nan, 0, -1, 3, np.inf, -np.inf, np.inf], f32)
    with np.errstate(all="ignore"):
        want = np.power(a, b)
    verify_node("Pow", {"a": a, "b": b}, want, mode, peers=())
    for e in (0.5, 2.0, 3.0, -1.0, 0.0, 1.0, -0.5, 1.5):  # exponents that optimisers replace
        base = a[a != -np.inf] if e == 0.5 else a  # sqrt and C's pow differ there
        with np.errstate(all="ignore"):
            want = np.power(base, f32.type(e))
        verify_node("Pow", {"a": base, "b": np.array(e, f32)}, want, mode, peers=(), constants=("b",))


@modes
@each_type([*COMPARISONS])
def test_comparison(op, dtype, mode):
    for a_shape, b_shape in PAIRS:
        a, b = random(a_shape, dtype, "a"), random(b_shape, dtype, "b")
        if op == "Equal" and dtype == string:
            want = np.asarray(a == b, bool)
        else:
            want = COMPARISONS[op](a, b)
        verify_node(op, {"a": a, "b": b}, np.asarray(want, bool), mode, peers=())


@modes
@pytest.mark.parametrize("op", LOGIC)
def test_logic(op, mode):
    for a_shape, b_shape in PAIRS:
        a, b = random(a_shape, boolean, "a"), random(b_shape, boolean, "b")
        verify_node(op, {"a": a, "b": b}, np.asarray(LOGIC[op](a, b)), mode)


@modes
@each_type([*BITS])
def test_bits(op, dtype, mode):
    for a_shape, b_shape in PAIRS:
        a, b = random(a_shape, dtype, "a", low=-100, high=100), random(b_shape, dtype, "b", low=-100, high=100)
        verify_node(op, {"a": a, "b": b}, np.asarray(BITS[op](a, b)), mode, peers=())


@modes
@each_type(["BitShift"])
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_bit_shift(op, dtype, direction, mode):
    for a_shape, b_shape in PAIRS:
        a, b = random(a_shape, dtype, "a", high=100), random(b_shape, dtype, "b", high=8)
        want = np.asarray((np.left_shift if direction == "LEFT" else np.right_shift)(a, b), dtype)
        verify_node(op, {"a": a, "b": b}, want, mode, peers=(), direction=direction)


@modes
@each_type(["PRelu"])
def test_prelu(op, dtype, mode):
    """The slope broadcasts to x, not the other way."""
    for x_shape, s_shape in [((2, 3), (3,)), ((2, 3, 4), (3, 1)), ((2, 3), ()), ((2, 3), (2, 3)), ((0, 3), (3,))]:
        x, s = random(x_shape, dtype, "x"), random(s_shape, dtype, "s", low=1)
        want = wide(lambda p, q: np.where(p < 0, p * q, p))(x, s)
        verify_node(op, {"x": x, "s": s}, want, mode, peers=(), rtol=LOOSE.get(dtype), atol=LOOSE.get(dtype))
    x, s = np.ones((1, 3), dtype), np.ones((2, 3), dtype)
    assert_load_or_run_refused(one_node(op, {"x": x, "s": s}, opset=OPSET), {"x": x, "s": s}, node="prelu_y")


@modes
@each_type(["Sum", "Mean", "Max", "Min"])
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_variadic(op, dtype, count, mode):
    shapes = [(2, 3), (3,), (), (2, 1), (1, 1, 3), (1,)][:count]
    arrays = [random(s, dtype, i) for i, s in enumerate(shapes)]

    def together(*values):
        total = values[0]
        for v in values[1:]:
            total = {"Max": np.maximum, "Min": np.minimum}.get(op, np.add)(total, v)
        return total / len(values) if op == "Mean" else total

    feeds = {f"a{i}": a for i, a in enumerate(arrays)}
    # Steps may each round to the type.
    tolerance = {f16: 1e-2, bf16: 0.1}.get(dtype)
    verify_node(op, feeds, wide(together)(*arrays), mode, peers=(), rtol=tolerance, atol=tolerance)


@modes
@each_type(["Where"], position=1)
def test_where(op, dtype, mode):
    for c_shape, a_shape, b_shape in [
        ((2, 3),) * 3,
        ((2, 1), (3,), ()),
        ((), (2, 3), (1,)),
        ((3,), (0, 3), (1, 3)),
        ((4, 1, 1), (2, 1), (3,)),
        ((33,), (33,), ()),
    ]:
        c, a, b = random(c_shape, boolean, "c"), random(a_shape, dtype, "a"), random(b_shape, dtype, "b")
        want = np.asarray(np.where(c, a, b), dtype)
        verify_node(op, {"c": c, "a": a, "b": b}, want, mode, peers=())


@modes
@each_type(["Clip"])
@pytest.mark.parametrize("bounds", ["both", "low", "high", "none"])
def test_clip(op, dtype, bounds, mode):
    low, high = np.array(1, dtype), np.array(2, dtype)
    for shape in [(), (0,), (2, 3), (33,)]:
        x = random(shape, dtype, high=6)
        want = x
        if bounds in ("both", "low"):
            want = np.maximum(want, low)
        if bounds in ("both", "high"):
            want = np.minimum(want, high)
        feeds = {
            "x": x,
            "lo": low if bounds in ("both", "low") else None,
            "hi": high if bounds in ("both", "high") else None,
        }
        feeds = {"x": x} if bounds == "none" else feeds
        verify_node(op, feeds, np.asarray(want, dtype), mode, peers=())
        if feeds.get("lo") is not None:
            verify_node(
                op,
                feeds,
                np.asarray(want, dtype),
                mode,
                peers=(),
                constants=("lo", "hi") if bounds == "both" else ("lo",),
            )


@modes
@pytest.mark.parametrize(
    "op, inputs",
    [(op, 2) for op in ("Add", "Sub", "Mul", "Div", "Pow", "Less", "Equal", "PRelu")]
    + [("Sum", 3), ("Mean", 3), ("Max", 3), ("Min", 3)],
)
def test_against_the_peers(op, inputs, mode):
    feeds = {f"a{i}": random((2, 3) if i != 1 else (3,), f32, i, low=0.5) for i in range(inputs)}
    verify_node(op, feeds, None, mode)


@modes
def test_one_operand_twice(mode):
    """x op x, and a chain in which a result meets its own operand."""
    x = random((3, 5))
    text = "a = Add(x, x); b = Mul(a, a); c = Sub(b, x); d = Div(c, b); y = Max(d, d)"
    a = x + x
    b = a * a
    verify(make_model(text, {"x": x}, {"y": f32}), {"x": x}, (b - x) / b, mode, peers=())


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize("opset", [1, 6, 7, 13])
def test_older_opsets(op, opset):
    """Before opset 7 broadcasting was an attribute, with an axis."""
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}[op]
    x = random((2, 3, 4), f32, low=1)
    if opset >= 7:
        b = random((3, 1), f32, low=1)
        verify_node(op, {"x": x, "b": b}, function(x, b), opset=opset, peers=())
        return
    b = random((3,), f32, low=1)
    verify_node(op, {"x": x, "b": b}, function(x, b[:, None]), opset=opset, peers=(), broadcast=1, axis=1)
    verify_node(op, {"x": x, "b": x[0]}, function(x, x[0]), opset=opset, peers=(), broadcast=1)
    verify_node(op, {"x": x, "b": x}, function(x, x), opset=opset, peers=())


def test_types_are_as_many_as_onnx_has():
    """The table that the tests above run over is not empty by mistake."""
    assert {f16, bf16, f32, f64, i8, i32, i64, u8, u64} <= set(types_of("Add")) and string in types_of("Equal")
