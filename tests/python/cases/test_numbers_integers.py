"""Integers: division by zero is refused at run, INT_MIN / -1 wraps, arithmetic wraps, and signs of quotient and remainder are right."""

import numpy as np
import pytest

import engines
from oracle import (
    FLOATS,
    INTS,
    SIGNED,
    UNSIGNED,
    assert_refused,
    assert_same,
    bf16,
    boolean,
    check,
    check_folded,
    f16,
    f32,
    f64,
    folded,
    i32,
    i64,
    levels,
    make_graph,
    make_model,
    node,
    one_node,
    parse_nodes,
    random,
    run,
    short,
)

signed = pytest.mark.parametrize("dtype", SIGNED, ids=short)
integers = pytest.mark.parametrize("dtype", INTS, ids=short)
SIZES = [1, 3, 8, 17, 40]


def c_division(a, b):
    """Truncates towards zero, as ONNX says and C does."""
    wide = [[int(v) for v in x.ravel()] for x in np.broadcast_arrays(a, b)]
    quotients = [abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1) for p, q in zip(*wide)]
    return np.array([wrap(q, a.dtype) for q in quotients], a.dtype).reshape(np.broadcast_shapes(a.shape, b.shape))


def wrap(value, dtype):
    bits = np.iinfo(dtype).bits
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.kind == "i" and value >> (bits - 1) else value


def remainders(a, b, fmod):
    """Python's sign rule (that of the divisor), or C's (that of the dividend) with fmod."""
    wide = [[int(v) for v in x.ravel()] for x in np.broadcast_arrays(a, b)]
    values = [int(np.sign(p)) * (abs(p) % abs(q)) if fmod else p % q for p, q in zip(*wide)]
    return np.array(values, a.dtype).reshape(np.broadcast_shapes(a.shape, b.shape))


@levels
@signed
@pytest.mark.parametrize("size", SIZES)
def test_pytorch_190042(size, dtype, level):
    """INT_MIN / -1 wraps to INT_MIN and leaves 0, in vector bodies and tails, as input and as constant."""
    low = np.iinfo(dtype).min
    a, b = np.full(size, low, dtype), np.full(size, -1, dtype)
    feeds = {"a": a, "b": b}
    for constants in ((), ("b",), ("a",)):
        given = {k: v for k, v in feeds.items() if k not in constants}
        check(one_node("Div", feeds, constants=constants), given, a, level, peers=())
        check(one_node("Mod", feeds, constants=constants), given, np.zeros_like(a), level, peers=())
        check(one_node("Mod", feeds, constants=constants, fmod=1), given, np.zeros_like(a), level, peers=())
    scalar = np.array(-1, dtype)
    check(one_node("Div", {"a": a, "b": scalar}, constants=("b",)), {"a": a}, a, level, peers=())
    check_folded(one_node("Div", feeds), feeds, a, peers=())
    check_folded(one_node("Mod", feeds), feeds, np.zeros_like(a), peers=())


@levels
@integers
@pytest.mark.parametrize("op, fmod", [("Div", None), ("Mod", 0), ("Mod", 1)], ids=["Div", "Mod", "fmod"])
def test_division_by_zero_is_refused_at_run(op, fmod, dtype, level):
    """At every place; the load succeeds even if everything is constant; the next run is right."""
    attributes = {} if fmod is None else {"fmod": fmod}
    model = make_model(
        [node(op, "a,b", "y", name="the_division", **attributes)],
        {"a": (dtype, ["n"]), "b": (dtype, ["m"])},
        {"y": dtype},
    )
    loaded = engines.load(model, level)
    for size in SIZES:
        a = np.full(size, 7, dtype)
        for where in {0, size // 2, size - 1}:
            b = np.full(size, 2, dtype)
            b[where] = 0
            assert_refused(lambda: loaded.run({"a": a, "b": b}), node="the_division")
        assert_refused(lambda: loaded.run({"a": a, "b": np.zeros(1, dtype)}), node="the_division")
        assert_same(
            loaded.run({"a": a, "b": np.full(size, 2, dtype)})["y"], np.full(size, 3 if op == "Div" else 1, dtype)
        )
    # nothing is divided, so nothing is refused
    assert_same(loaded.run({"a": np.zeros(0, dtype), "b": np.zeros(1, dtype)})["y"], np.zeros(0, dtype))
    feeds = {"a": np.full(2, 7, dtype), "b": np.array([1, 0], dtype)}
    constant = engines.load(folded(model, feeds), level)
    assert_refused(lambda: constant.run({}), node="the_division")


@levels
@integers
@pytest.mark.parametrize("form", ["input", "constant", "scalar"])
def test_signs_of_quotient_and_remainder(form, dtype, level):
    """All pairs of small and extreme values."""
    info = np.iinfo(dtype)
    values = [1, 2, 3, 7, 100, info.max, info.max - 1]
    if info.min < 0:
        values += [-1, -2, -3, -7, -100, info.min, info.min + 1]
    a = np.array([0, *values], dtype)[:, None]
    for divisor in [np.array(values, dtype)] if form != "scalar" else [np.array(v, dtype) for v in values]:
        feeds = {"a": a, "b": divisor}
        constants = () if form == "input" else ("b",)
        given = {k: v for k, v in feeds.items() if k not in constants}
        check(one_node("Div", feeds, constants=constants), given, c_division(a, divisor), level, peers=())
        check(one_node("Mod", feeds, constants=constants), given, remainders(a, divisor, False), level, peers=())
        check(one_node("Mod", feeds, constants=constants, fmod=1), given, remainders(a, divisor, True), level, peers=())


WRAPPING = {
    "add": ("y = Add(a, b)", lambda a, b: a + b),
    "sub": ("y = Sub(a, b)", lambda a, b: a - b),
    "mul": ("y = Mul(a, b)", lambda a, b: a * b),
    "square": ("y = Mul(a, a)", lambda a, b: a * a),
    "abs": ("y = Abs(a)", lambda a, b: np.abs(a)),
    "neg": ("y = Neg(a)", lambda a, b: -a),
}
SIGNED_ONLY = ("neg",)


@levels
@integers
@pytest.mark.parametrize("name", WRAPPING)
def test_arithmetic_wraps(name, dtype, level):
    """Overflow wraps in every width, without undefined behaviour."""
    if name in SIGNED_ONLY and dtype.kind == "u":
        pytest.skip("ONNX has no unsigned " + name)
    info = np.iinfo(dtype)
    a = np.array([info.max, info.min, info.max // 2 + 1, 1, info.max], dtype)
    b = np.array([1, info.max, info.max, 0, info.max], dtype)
    text, function = WRAPPING[name]
    feeds = {"a": a, "b": b} if "b" in text else {"a": a}
    with np.errstate(over="ignore"):
        want = function(a, b)
    model = make_model(text, dict(feeds), {"y": dtype})
    check(model, feeds, want, level, peers=())
    check_folded(model, feeds, want, peers=())


@levels
@pytest.mark.parametrize("dtype", [i32, i64], ids=short)
@pytest.mark.parametrize("op", ["ReduceSum", "ReduceProd", "CumSum"])
def test_integer_reductions_wrap(op, dtype, level):
    x = np.array([np.iinfo(dtype).max, 1, 2], dtype)
    function = {"ReduceSum": np.sum, "ReduceProd": np.prod, "CumSum": np.cumsum}[op]
    with np.errstate(over="ignore"):
        want = np.asarray(function(x, dtype=dtype))
    text = "y = CumSum(x, a)" if op == "CumSum" else f"y = {op}<keepdims=0>(x, v)"
    model = make_model(text, {"x": x}, {"y": dtype}, {"a": np.array(0), "v": np.array([0])})
    check(model, {"x": x}, want, level, peers=())


@levels
@pytest.mark.parametrize("dtype", [i32, i64], ids=short)
def test_integer_power(dtype, level):
    """Powers of integers by integers and by floats; a large one is exact where it fits."""
    base, exponent = np.array([2, -3, 7, 0, 1, -1], dtype), np.array([10, 3, 0, 5, 62, 63], dtype)
    want = np.array([1024, -27, 1, 0, 1, -1], dtype)
    check(one_node("Pow", {"a": base, "b": exponent}), {"a": base, "b": exponent}, want, level, peers=())
    half = np.array([4, 9, 16, 0, 1, 25], dtype)
    root = np.array(0.5, f32)
    check(one_node("Pow", {"a": half, "b": root}), {"a": half, "b": root}, np.sqrt(half).astype(dtype), level, peers=())


@levels
@pytest.mark.parametrize("dtype", UNSIGNED, ids=short)
def test_shifts(dtype, level):
    """Shifting out everything, in ONNX's four unsigned types; a shift by the width or more gives 0."""
    bits = np.iinfo(dtype).bits
    a, b = np.full(4, np.iinfo(dtype).max, dtype), np.array([0, 1, bits - 1, bits], dtype)
    values = [int(v) for v in a]
    left = np.array([v << int(s) & (2**bits - 1) for v, s in zip(values, b)], dtype)
    right = np.array([v >> int(s) for v, s in zip(values, b)], dtype)
    check(one_node("BitShift", {"a": a, "b": b}, direction="LEFT"), {"a": a, "b": b}, left, level, peers=())
    check(one_node("BitShift", {"a": a, "b": b}, direction="RIGHT"), {"a": a, "b": b}, right, level, peers=())


@levels
@pytest.mark.parametrize("dtype", FLOATS, ids=short)
def test_floats_divide_by_zero_quietly(dtype, level):
    """IEEE: infinity and NaN, never refused; fmod by zero is NaN."""
    a, b = np.array([1, -1, 0, np.inf, 5.5], dtype), np.array([0, 0, 0, 0, -2], dtype)
    with np.errstate(all="ignore"):
        check(one_node("Div", {"a": a, "b": b}), {"a": a, "b": b}, a / b, level, peers=())
        if dtype != bf16:
            check(one_node("Mod", {"a": a, "b": b}, fmod=1), {"a": a, "b": b}, np.fmod(a, b), level, peers=())


@levels
@pytest.mark.parametrize("dtype", [f16, f32, f64], ids=short)
def test_float_mod_needs_fmod(dtype, level):
    """ONNX: fmod has to be 1 for floating-point inputs. Refused, or else what NumPy's mod gives; not C's fmod."""
    feeds = {"a": np.array([-7, 7.5], dtype), "b": np.array([3, -2], dtype)}
    try:
        got = run(one_node("Mod", feeds), feeds, level)["y"]
    except engines.refusals():
        assert_refused(lambda: run(one_node("Mod", feeds), feeds, level), node="mod_y")
    else:
        assert_same(got, np.mod(feeds["a"], feeds["b"]))


@levels
def test_division_in_a_branch_and_before_a_use(level):
    """The failing division is not the last node: nothing comes out, the message names it, and a good run follows."""
    nodes = parse_nodes("d = Div(a, b); r = Mul(d, d)") + [
        node(
            "If",
            "c",
            "y",
            then_branch=make_graph(parse_nodes("t = Div(r, b)"), {}, {"t": i32}, name="t"),
            else_branch=make_graph(parse_nodes("e = Identity(r)"), {}, {"e": i32}, name="e"),
        )
    ]
    model = make_model(nodes, {"a": (i32, ["n"]), "b": (i32, ["n"]), "c": (boolean, ())}, {"y": i32, "r": i32})
    loaded = engines.load(model, level)
    good = {"a": np.array([9, 8], i32), "b": np.array([2, -3], i32), "c": np.array(True)}
    want = {"r": np.array([16, 4], i32), "y": np.array([8, -1], i32)}
    assert_same(loaded.run(good), want)
    assert_refused(lambda: loaded.run({**good, "b": np.array([1, 0], i32)}), node="div_d")
    assert_same(loaded.run(good), want)


@levels
@pytest.mark.parametrize(
    "values, dtype", [([1.5, -1.5, 2.5, 0.5, -0.5], f32), ([1.5, 2.5, -2.5], f64), ([0.5, 1.5, 2.5], f16)], ids=str
)
def test_round_half_to_even(values, dtype, level):
    x = np.array(values, dtype)
    check(one_node("Round", {"x": x}), {"x": x}, np.round(x), level)


@levels
@pytest.mark.parametrize("dtype", INTS, ids=short)
def test_large_integers_are_exact(dtype, level):
    """No detour through floating point: equality, comparison, sum and maximum of neighbours near the limits."""
    top = np.iinfo(dtype).max
    a, b = np.array([top, top - 1], dtype), np.array([top - 1, top - 1], dtype)
    text = "e = Equal(a, b); g = Greater(a, b); m = Max(a, b); d = Sub(a, b); w = Where(e, a, b)"
    got = run(
        make_model(text, {"a": a, "b": b}, {"e": boolean, "g": boolean, "m": dtype, "d": dtype, "w": dtype}),
        {"a": a, "b": b},
        level,
    )
    assert_same(got, {"e": a == b, "g": a > b, "m": a, "d": a - b, "w": b})


@levels
@pytest.mark.parametrize("dtype", [i32, i64], ids=short)
def test_matmul_of_integers_is_exact(dtype, level):
    a = np.array([[2**30, 1], [-(2**30), 3]], dtype)
    b = np.array([[1, 0], [7, -1]], dtype)
    check(one_node("MatMul", {"a": a, "b": b}), {"a": a, "b": b}, a @ b, level, peers=())
    x = random((3, 5), dtype, "mm")
    check(one_node("MatMul", {"a": x, "b": x.T.copy()}), {"a": x, "b": x.T.copy()}, x @ x.T, level, peers=())
