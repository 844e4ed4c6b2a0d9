"""Cast and CastLike between all types, bit for bit, with the rounding and saturation that ONNX lays down."""

import ml_dtypes
import numpy as np
import pytest

from ops.table import OPSET, modes, types_of, verify, verify_node
from oracle import (
    bf16,
    boolean,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    is_float,
    make_model,
    node,
    onnx_type,
    random,
    short,
    string,
    u8,
)

TYPES = [t for t in types_of("Cast") if t != string]
FLOAT8 = [t for t in TYPES if t.name.startswith("float8_e4m3") or t.name.startswith("float8_e5m2")]


def plain_values(start, target):
    """Values that both types hold, or that only lose a fraction."""
    both = [d for d in (start, target) if d != boolean]
    unsigned = any(d.name.startswith("uint") or d.name == "float8_e8m0fnu" for d in both)
    small = any(d.name in ("int2", "uint2", "float4_e2m1fn", "int4", "float8_e8m0fnu") for d in both)
    whole = any("int" in d.name for d in both)
    values = [1, 1] if small else [0, 1, 2, 5, 7]
    values += [] if unsigned else [-1]
    if not whole and not small:
        values += [0.5, 1.5] + ([] if unsigned else [-2.5])
    return np.array(values, f32).astype(start)


def cast_node(x, target, **attributes):
    return make_model(
        [node("Cast", "x", "y", to=onnx_type(target), **attributes)], {"x": x}, {"y": target}, opset=OPSET
    )


@modes
@pytest.mark.parametrize("target", TYPES, ids=short)
@pytest.mark.parametrize("start", TYPES, ids=short)
def test_pair(start, target, mode):
    x = plain_values(start, target)
    want = (x.astype(f32) != 0) if target == boolean else x.astype(f32).astype(target)
    for shape in [x.shape, (1, x.size, 1)]:
        verify(cast_node(x.reshape(shape), target), {"x": x.reshape(shape)}, want.reshape(shape), mode, peers=())


@modes
@pytest.mark.parametrize("target", TYPES, ids=short)
def test_empty_and_scalar(target, mode):
    for x in (np.zeros((0, 2), f32), np.array(1, f32)):
        verify(cast_node(x, target), {"x": x}, x.astype(target), mode, peers=())


@modes
@pytest.mark.parametrize("target", [f16, bf16], ids=short)
def test_rounding_to_half_types(target, mode):
    """To nearest, ties to even: all neighbours of representable values, denormals, overflow."""
    base = np.arange(0, 2**16, 37, dtype=np.uint16).view(target).astype(f32)
    base = base[np.isfinite(base)]
    with np.errstate(over="ignore"):
        x = np.concatenate(
            [
                base,
                np.nextafter(base, f32.type(np.inf)),
                base * f32.type(1 + 2.0**-9),
                base * f32.type(1 + 2.0**-12),
                [np.inf, -np.inf, np.nan, 65519.9, 65520, -65520],
            ]
        ).astype(f32)
        want = x.astype(target)
    verify(cast_node(x, target), {"x": x}, want, mode, peers=(), rtol=0, atol=0)


@modes
def test_double_to_half_rounds_once(mode):
    """1 + 2^-11 + 2^-40 lies just above a tie of float16: through float32 it would fall back."""
    x = np.array([1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11, 2.0**-25 + 2.0**-60], f64)
    verify(cast_node(x, f16), {"x": x}, x.astype(f16), mode, peers=(), rtol=0, atol=0)


@modes
@pytest.mark.parametrize("target", FLOAT8, ids=short)
@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("start", [f16, bf16, f32], ids=short)
def test_float8(start, saturate, target, mode):
    """Rounding, overflow to the largest number or to infinity or NaN; the reference evaluator of onnx is the oracle."""
    x = np.array(
        [0, 0.1, -0.3, 1.06, 17, 240, 448, 460, 465, 500, -500, 57344, 60000, np.nan, np.inf, -np.inf, 1e-3, -2e-6]
    ).astype(start)
    model = cast_node(x, target, saturate=saturate)
    verify(model, {"x": x}, None, mode, peers=("reference",), rtol=0, atol=0)


@modes
@pytest.mark.parametrize("target", [t for t in TYPES if t.name.startswith(("int", "uint"))], ids=short)
def test_integers_keep_their_low_bits(target, mode):
    """Narrowing wraps."""
    bits = ml_dtypes.iinfo(target).bits
    x = np.array([2**40 + 3, -1, -(2**33), 200, -129, 65537, 2**63 - 1, -(2**63)], i64)
    low = [int(v) & (2**bits - 1) for v in x]
    if target.name.startswith("int"):
        low = [v - 2**bits if v >> (bits - 1) else v for v in low]
    verify(
        cast_node(x, target),
        {"x": x},
        np.array(low, np.int64 if target.name != "uint64" else np.uint64).astype(target),
        mode,
        peers=(),
    )


@modes
@pytest.mark.parametrize("start", [t for t in TYPES if t != boolean], ids=short)
def test_to_bool(start, mode):
    """Everything but zero is true, NaN and fractions too."""
    values = (
        [0, 1, 1, 0]
        if "2" in start.name[-2:] or start.name == "float8_e8m0fnu"
        else [0, 1, 2, 0.5 if is_float(start) else 3]
    )
    x = np.array(values, f32).astype(start)
    want = np.nan_to_num(x.astype(f32), nan=1) != 0
    verify(cast_node(x, boolean), {"x": x}, want, mode, peers=())


@modes
@pytest.mark.parametrize("to", [f32, f64, i32, i64, boolean, u8], ids=short)
def test_from_strings(to, mode):
    texts = (
        ["1", "0"]
        if to == boolean
        else ["7", "12"]
        if to in (i32, i64, u8)
        else ["1.5", "-2", "1e3", "NaN", "INF", "-inf", ".5"]
    )
    x = np.array(texts, object)
    want = (
        np.array([int(t) for t in texts]).astype(to)
        if to in (i32, i64, u8, boolean)
        else np.array([float(t) for t in texts], to)
    )
    verify(cast_node(x, to), {"x": x}, want, mode, peers=())


@modes
def test_to_strings(mode):
    """Integers and booleans; floats come back to the same number."""
    x = np.array([1, -20, 300], i64)
    verify(cast_node(x, string), {"x": x}, np.array(["1", "-20", "300"], object), mode, peers=())
    f = np.array([1.5, -2.25, 1e-7, 314159.25], f32)
    both = make_model(
        [node("Cast", "x", "s", to=onnx_type(string)), node("Cast", "s", "y", to=onnx_type(f32))],
        {"x": f},
        {"y": f32},
        opset=OPSET,
    )
    verify(both, {"x": f}, f, mode, peers=())


@modes
@pytest.mark.parametrize(
    "target", [t for t in types_of("CastLike", 1) if t != string and "complex" not in t.name], ids=short
)
def test_cast_like(target, mode):
    x = np.array([[1 if target.name == "float8_e8m0fnu" else 0, 1, 1]], f32)
    like = np.ones((2,), target)
    verify_node("CastLike", {"x": x, "like": like}, x != 0 if target == boolean else x.astype(target), mode, peers=())


@pytest.mark.parametrize("opset", [6, 9, 13, 19, 21, 23, 24])
def test_opsets(opset):
    """The attribute was a string in opset 1, a number from 6 on."""
    x = random((2, 3))
    model = make_model([node("Cast", "x", "y", to=onnx_type(i32))], {"x": x}, {"y": i32}, opset=opset)
    verify(model, {"x": x}, x.astype(i32), "level3")


def test_the_oldest_form():
    x = np.array([1.5, -2], f32)
    model = make_model([node("Cast", "x", "y", to="INT32")], {"x": x}, {"y": i32}, opset=1)
    verify(model, {"x": x}, x.astype(i32), "level3", peers=())


@modes
def test_bit_cast_is_not_needed(mode):
    """int8 and uint8 of the same bits differ in value after widening."""
    x = np.array([200, 255], u8)
    nodes = [node("Cast", "x", "s", to=onnx_type(i8)), node("Cast", "s", "y", to=onnx_type(i32))]
    verify(make_model(nodes, {"x": x}, {"y": i32}), {"x": x}, np.array([-56, -1], i32), mode)
