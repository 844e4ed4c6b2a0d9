"""Casts that narrow are not no-ops: pairs and chains of casts over all types keep what each step does to a value."""

import ml_dtypes
import numpy as np
import pytest

from oracle import (
    FLOATS,
    INTS,
    NUMBERS,
    as_outputs,
    assert_same,
    bf16,
    boolean,
    check,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    is_float,
    levels,
    make_model,
    node,
    onnx_type,
    run,
    short,
    u8,
    u16,
    u64,
)

ALL = NUMBERS + (boolean,)


def chain(x, *types):
    """x -> Cast -> Cast ...; the output has the last type."""
    names = ["x"] + [f"c{n}" for n in range(len(types) - 1)] + ["y"]
    nodes = [node("Cast", a, b, to=onnx_type(t)) for a, b, t in zip(names, names[1:], types)]
    return make_model(nodes, {"x": x}, {"y": (types[-1], x.shape)}, opset=19)


def numpy_cast(x, *types):
    with np.errstate(all="ignore"):
        for dtype in types:
            x = x.astype(dtype)
    return x


ROWS = [
    ("onnxruntime#4039", f32, [1.7, -1.7], [i32, f32], [1, -1]),
    ("onnxruntime#8787", f32, [1e-12, 123456.7], [f16, f32], [0, np.inf]),
    ("onnx/optimizer#273-f64-f32", f64, [1 + 2.0**-40], [f32, f64], [1.0]),
    ("onnx/optimizer#273-uint8", i32, [-1], [u8, i32], [255]),
    ("onnx/optimizer#273-bool", boolean, [True, False], [f32, boolean], [True, False]),
    ("onnxruntime#8787-bf16", f32, [1 + 2.0**-10, -np.inf], [bf16, f32], [1, -np.inf]),
    ("onnxruntime#8787-f16-nan", f32, [np.nan, -np.inf, 65504], [f16, f32], [np.nan, -np.inf, 65504]),
    ("onnxruntime#4039-f64-i64", f64, [2.5, -2.5, 1e15 + 0.5], [i64, f64], [2, -2, 1e15]),
    ("onnxruntime#4039-f32-i8-i32", f32, [100.9, -3.9], [i8, i32], [100, -3]),
    ("onnxruntime#4039-bool-in-between", f32, [0.3, -2, 0, np.nan], [boolean, f32], [1, 1, 0, 1]),
    ("onnx/optimizer#273-i64-f32-i64", i64, [2**24 + 1, -7], [f32, i64], [2**24, -7]),
    ("onnx/optimizer#273-i64-i32-i64", i64, [2**32 + 5, -(2**31) - 1], [i32, i64], [5, 2**31 - 1]),
    ("onnx/optimizer#273-u64-i64-u64", u64, [2**64 - 1], [i64, u64], [2**64 - 1]),
    ("onnx/optimizer#273-i16-u16-i32", i16, [-1], [u16, i32], [65535]),
    ("onnx/optimizer#273-int-bool-int", i32, [5, -5, 0], [boolean, i32], [1, 1, 0]),
    ("onnxruntime#8787-three", f32, [0.1, 70000], [f64, f16, f32], [np.float16(0.1), np.inf]),
]


@levels
@pytest.mark.parametrize("start, values, types, want", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_row(start, values, types, want, level):
    x = np.array(values, start)
    want = np.array(want, np.float64 if is_float(types[-1]) else None).astype(types[-1])
    assert_same(numpy_cast(x, *types), want, what="NumPy itself")
    check(chain(x, *types), {"x": x}, want, level, peers=())


def edge_values(dtype, targets):
    """Values that show narrowing. What C++ leaves undefined (a float outside the range of an integer target) is avoided."""
    if dtype == boolean:
        return np.array([True, False])
    if not is_float(dtype):
        info = np.iinfo(dtype)
        return np.array([0, 1, 2, 77, 100, info.max, info.max - 1, info.min, info.min + 1, info.max // 2], dtype)
    values = [0.0, -0.0, 0.3, 1.7, 2.5, 99.99, 1 + 2.0**-7, 1 + 2.0**-20, 1 + 2.0**-40]
    if all(is_float(t) or t == boolean for t in targets):
        values += [-0.3, -1.7, np.nan, np.inf, -np.inf, 1e-12, 65504, 65520, 123456.7, 3e38, 1e-45, 1e300]
    elif not any(t.kind == "u" for t in targets):
        values += [-0.3, -1.7, -99.99]
    with np.errstate(all="ignore"):
        return np.array(values, np.float64).astype(dtype)


def fan(start, middles, lasts):
    """x -> every type of `middles` -> every type of `lasts`: many chains in one graph."""
    nodes, outputs = [], {}
    for m in middles:
        nodes.append(node("Cast", "x", f"via_{short(m)}", to=onnx_type(m)))
        for last in lasts:
            name = f"{short(start)}_{short(m)}_{short(last)}"
            nodes.append(node("Cast", f"via_{short(m)}", name, to=onnx_type(last)))
            outputs[name] = last
    return make_model(nodes, {"x": start}, outputs, opset=19)


GROUPS = {
    "floats": [t for t in FLOATS] + [boolean],
    "signed": [i8, i16, i32, i64, boolean],
    "any": list(INTS),
}


@levels
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("start", ALL, ids=short)
def test_all_chains_of_two_casts(start, group, level):
    """Every x -> A -> B over the types of a group, against NumPy and ml_dtypes."""
    middles = GROUPS[group]
    lasts = list(ALL) if group != "floats" else GROUPS["floats"]
    # The values that reach the second cast are those of the first one's target, so ranges must fit both.
    x = edge_values(start, middles + lasts)
    model = fan(start, middles, lasts)
    want = {f"{short(start)}_{short(m)}_{short(last)}": numpy_cast(x, m, last) for m in middles for last in lasts}
    assert_same(run(model, {"x": x}, level), want)


@levels
@pytest.mark.parametrize("middle", ALL, ids=short)
@pytest.mark.parametrize("start", ALL, ids=short)
def test_pair_back_to_the_start(start, middle, level):
    """T -> V -> T: removable only when V holds every T."""
    x = edge_values(start, [middle, start])
    check(chain(x, middle, start), {"x": x}, numpy_cast(x, middle, start), level, peers=())


@levels
@pytest.mark.parametrize(
    "types",
    [(f16, bf16), (bf16, f16, f32), (f64, f16, f64), (f16, f32, bf16, f64), (f16, f32, f64, f16)],
    ids=lambda t: "-".join(map(short, t)),
)
def test_float_chains_with_double_rounding(types, level):
    x = np.array([1 + 2.0**-11 + 2.0**-24, 1 + 2.0**-8 + 2.0**-12, 2049.5, 6e-8, -0.0], f32)
    check(chain(x, *types), {"x": x}, numpy_cast(x, *types), level, peers=())


@levels
@pytest.mark.parametrize(
    "name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "int4", "uint4"]
)
def test_small_types_in_the_middle(name, level):
    """f32 -> an 8 or 4 bit type -> f32, with values inside its range."""
    small = np.dtype(getattr(ml_dtypes, name))
    x = np.array([0.0, 1.0, 1.06, 3.0, 5.2, 6.9] + ([] if name == "uint4" else [-1.0, -5.3]), f32)
    model = make_model(
        [node("Cast", "x", "m", to=onnx_type(small)), node("Cast", "m", "y", to=onnx_type(f32))],
        {"x": x},
        {"y": f32},
        opset=21,
    )
    check(model, {"x": x}, x.astype(small).astype(f32), level, peers=())


@levels
def test_cast_to_the_same_type_is_kept_out_of_the_way(level):
    x = np.array([np.nan, 1.5, -0.0], f32)
    check(chain(x, f32, f32, f32), {"x": x}, x, level)


@levels
def test_middle_of_a_pair_is_an_output(level):
    """f32 -> f16 -> f32 with the f16 value asked for as well."""
    x = np.array([1e-12, 123456.7, 1.1], f32)
    model = make_model(
        [node("Cast", "x", "h", to=onnx_type(f16)), node("Cast", "h", "y", to=onnx_type(f32))],
        {"x": x},
        {"h": f16, "y": f32},
    )
    with np.errstate(all="ignore"):
        h = x.astype(f16)
    check(model, {"x": x}, {"h": h, "y": h.astype(f32)}, level)


@levels
@pytest.mark.parametrize("form", [f16, i32, boolean], ids=short)
def test_cast_like_pair(form, level):
    """CastLike is a cast whose type comes from a second input."""
    x = np.array([0.0, 1.7, 100.3], f32)
    model = make_model(
        [node("CastLike", "x,like", "m"), node("CastLike", "m,x", "y")],
        {"x": x, "like": (form, (1,))},
        {"y": f32},
    )
    feeds = {"x": x, "like": np.ones(1, form)}
    check(model, feeds, numpy_cast(x, form, f32), level)


@levels
def test_onnxruntime_32416(level):
    """Two rewrites on one node: a no-op Cast feeds a multiplication by one."""
    x = np.array([1.5, np.nan], f32)
    model = make_model(
        [node("Cast", "x", "c", to=onnx_type(f32)), node("Mul", "c,one", "y")],
        {"x": x},
        ["y"],
        {"one": np.ones(1, f32)},
    )
    check(model, {"x": x}, x, level)


NO_OPS = {
    "cast": lambda a, b: [node("Cast", a, b, to=onnx_type(f32))],
    "mul1": lambda a, b: [node("Mul", f"{a},one", b)],
    "add0": lambda a, b: [node("Add", f"zero,{a}", b)],
    "div1": lambda a, b: [node("Div", f"{a},one", b)],
    "identity": lambda a, b: [node("Identity", a, b)],
    "transpose": lambda a, b: [node("Transpose", a, b, perm=[0, 1])],
    "reshape": lambda a, b: [node("Reshape", f"{a},shape", b)],
    "dropout": lambda a, b: [node("Dropout", a, b)],
}


@levels
@pytest.mark.parametrize("second", NO_OPS)
@pytest.mark.parametrize("first", NO_OPS)
def test_onnxruntime_32416_kind(first, second, level):
    """Each pair of removable nodes, one after the other."""
    x = np.array([[1.5, np.nan], [-0.0, 7]], f32)
    model = make_model(
        NO_OPS[first]("x", "m") + NO_OPS[second]("m", "y"),
        {"x": x},
        ["y"],
        {"one": np.ones(1, f32), "zero": np.zeros(1, f32), "shape": np.array([2, 2])},
    )
    assert_same(as_outputs(model, x), run(model, {"x": x}, level))
