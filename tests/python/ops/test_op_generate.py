"""Operators that make or describe tensors: Constant, ConstantOfShape, Range, Shape, Size, OneHot, NonZero, EyeLike, Unique, random ones, Dropout."""

import numpy as np
import pytest
from onnx import helper, numpy_helper

from ops.table import OPSET, each_type, modes, verify, verify_node
from oracle import (
    assert_load_or_run_refused,
    assert_same,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    make_model,
    node,
    one_node,
    onnx_type,
    random,
    run,
    short,
    string,
    u8,
)

ints = lambda *v: np.array(v, i64)


@modes
@each_type(["Shape", "Size"], without=("int2", "float4", "e8m0"))
def test_shape_and_size(op, dtype, mode):
    for shape in [(), (0, 2), (2, 3, 4)]:
        x = random(shape, dtype)
        verify_node(op, {"x": x}, np.array(shape, i64) if op == "Shape" else np.array(x.size, i64), mode, peers=())


@modes
@pytest.mark.parametrize(
    "start, end", [(0, None), (1, None), (0, 2), (-2, None), (0, -1), (1, -1), (2, 1), (-9, 9), (5, None), (3, 3)]
)
def test_part_of_a_shape(start, end, mode):
    x = random((2, 3, 4))
    verify_node("Shape", {"x": x}, np.array((2, 3, 4)[start:end], i64), mode, peers=(), start=start, end=end)


@modes
@pytest.mark.parametrize("dtype", [f16, bf16, f32, f64, i8, i32, i64, u8, boolean, string], ids=short)
def test_constant(dtype, mode):
    for shape in [(), (0,), (2, 3)]:
        x = random(shape, dtype)
        model = make_model([node("Constant", "", "y", value=numpy_helper.from_array(x))], {}, {"y": dtype}, opset=OPSET)
        verify(model, {}, x, mode, peers=())


@modes
@pytest.mark.parametrize(
    "attribute, value, want",
    [
        ("value_float", 2.5, np.array(2.5, f32)),
        ("value_int", 7, np.array(7, i64)),
        ("value_floats", [1.0, 2.0], np.array([1, 2], f32)),
        ("value_ints", [1, 2], ints(1, 2)),
        ("value_string", "a\u00e9", np.array("a\u00e9", object)),
        ("value_strings", ["a", "b"], np.array(["a", "b"], object)),
        ("value_ints", [], ints()),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_constant_attributes(attribute, value, want, mode):
    attributes = {attribute: value}
    if value == []:
        made = helper.make_node("Constant", [], ["y"], name="constant_y")
        made.attribute.append(helper.make_attribute(attribute, [], attr_type=7))
    else:
        made = node("Constant", "", "y", **attributes)
    verify(make_model([made], {}, {"y": want.dtype}, opset=OPSET), {}, want, mode, peers=())


def test_sparse_constant():
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(np.array([5, 6], f32), "v"), numpy_helper.from_array(ints(1, 3), "i"), [2, 2]
    )
    model = make_model([node("Constant", "", "y", sparse_value=sparse)], {}, {"y": f32}, opset=OPSET)
    assert_same(run(model, {})["y"], np.array([[0, 5], [0, 6]], f32))


@modes
@pytest.mark.parametrize("dtype", [f16, bf16, f32, f64, i8, i32, i64, u8, boolean], ids=short)
def test_constant_of_shape(dtype, mode):
    value = numpy_helper.from_array(np.ones(1, dtype))
    for shape in [(), (0,), (3,), (2, 0, 2), (2, 3)]:
        model = one_node("ConstantOfShape", {"s": np.array(shape, i64)}, opset=OPSET, value=value)
        verify(model, {"s": np.array(shape, i64)}, np.ones(shape, dtype), mode, peers=())
    verify_node("ConstantOfShape", {"s": ints(2)}, np.zeros(2, f32), mode, peers=())


@modes
@each_type(["Range"])
def test_range(op, dtype, mode):
    for start, limit, delta in (
        [(0, 5, 1), (1, 10, 3), (5, 5, 1), (5, 1, 1)]
        + ([(5, -3, -2), (-3, 3, 2)] if dtype.kind != "u" else [])
        + ([(0.5, 2.0, 0.25)] if dtype in (f32, f64) else [])
    ):
        feeds = {"s": np.array(start, dtype), "l": np.array(limit, dtype), "d": np.array(delta, dtype)}
        verify_node(op, feeds, np.arange(start, limit, delta).astype(dtype), mode, peers=())


@modes
@pytest.mark.parametrize("index", [i32, i64, f32, u8], ids=short)
@pytest.mark.parametrize("dtype", [f32, f64, i32, i64, boolean, string], ids=short)
def test_one_hot(dtype, index, mode):
    i = np.array([[0, 2], [1, 2]]).astype(index)
    values = np.array(["off", "on"], object) if dtype == string else np.array([0, 1]).astype(dtype)
    hot = np.arange(3) == np.asarray(i, i64)[..., None]
    want = np.where(hot, values[1], values[0]).astype(dtype)
    for axis in (-1, 0, 1, 2):
        verify_node(
            "OneHot",
            {"i": i, "d": np.array(3, i64), "v": values},
            np.moveaxis(want, -1, axis),
            mode,
            peers=(),
            axis=axis,
        )
    verify_node("OneHot", {"i": i, "d": ints(3), "v": values}, want, mode, peers=(), constants=("d", "v"))


@modes
@each_type(["NonZero"], without=("complex", "string"))
def test_nonzero(op, dtype, mode):
    for shape in [(5,), (2, 3), (2, 2, 2), (0, 3)]:
        x = random(shape, dtype, low=0, high=2)
        x = x.round() if dtype in (f16, f32, f64) else x
        verify_node(op, {"x": x}, np.array(np.nonzero(x.astype(f64)), i64), mode, peers=())
    verify_node(op, {"x": np.array(1, dtype)}, np.zeros((0, 1), i64), mode, peers=())
    verify_node(op, {"x": np.array(0, dtype)}, np.zeros((0, 0), i64), mode, peers=())


@modes
@pytest.mark.parametrize("dtype", [None, f16, f64, i32, i64, boolean], ids=lambda d: "like" if d is None else short(d))
@pytest.mark.parametrize("k", [0, 1, -1, 9])
def test_eye_like(k, dtype, mode):
    x = random((3, 4))
    attributes = {} if dtype is None else {"dtype": onnx_type(dtype)}
    verify_node("EyeLike", {"x": x}, np.eye(3, 4, k).astype(dtype or f32), mode, peers=(), k=k, **attributes)


@modes
@pytest.mark.parametrize("is_sorted", [0, 1])
@each_type(["Unique"], without=("complex", "bfloat16"))
def test_unique(op, dtype, is_sorted, mode):
    """Values, first indices, inverse and counts; unsorted is the order of first appearance."""
    x = random((2, 6), dtype, "unique").round() if dtype in (f16, f32, f64) else random((2, 6), dtype, "unique")
    flat = x.reshape(-1).tolist()
    order = list(dict.fromkeys(flat))
    order = sorted(order) if is_sorted else order
    want = {
        "y": np.array(order, object if dtype == string else None).astype(dtype),
        "i": ints(*[flat.index(v) for v in order]),
        "r": ints(*[order.index(v) for v in flat]),
        "c": ints(*[flat.count(v) for v in order]),
    }
    verify_node(op, {"x": x}, want, mode, outputs="y,i,r,c", peers=(), sorted=is_sorted)


@modes
def test_unique_along_an_axis(mode):
    x = np.array([[1, 0, 0], [1, 0, 0], [2, 3, 4]], f32)
    y, i, r, c = np.unique(x, True, True, True, axis=0)
    verify_node(
        "Unique", {"x": x}, {"y": y, "i": i, "r": r.reshape(-1), "c": c}, mode, outputs="y,i,r,c", peers=(), axis=0
    )


@pytest.mark.parametrize("dtype", [f16, f32, f64], ids=short)
@pytest.mark.parametrize("op", ["RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike"])
def test_random(op, dtype):
    """Shape, type, moments; a seed repeats itself, another seed does not."""
    normal = "Normal" in op
    attributes = {"mean": 2.0, "scale": 3.0} if normal else {"low": -1.0, "high": 5.0}
    attributes |= {"dtype": onnx_type(dtype)} | ({} if "Like" in op else {"shape": [50, 80]})

    def draw(seed):
        feeds = {"x": np.zeros((50, 80), f32)} if "Like" in op else {}
        made = node(op, "x" if "Like" in op else "", "y", seed=seed, **attributes)
        return run(make_model([made], dict(feeds), {"y": dtype}, opset=OPSET), feeds)["y"]

    a, again, b = draw(1.0), draw(1.0), draw(2.0)
    assert a.shape == (50, 80) and a.dtype == dtype
    assert np.array_equal(a, again) and not np.array_equal(a, b)
    values = a.astype(f64)
    assert abs(values.mean() - 2) < 0.3 and abs(values.std() - (3 if normal else 6 / np.sqrt(12))) < 0.3
    if not normal:
        assert values.min() >= -1 and values.max() <= 5


def test_random_without_seed_differs_between_runs():
    import engines

    loaded = engines.load(make_model([node("RandomUniform", "", "y", shape=[100])], {}, {"y": f32}, opset=OPSET))
    assert not np.array_equal(loaded.run({})["y"], loaded.run({})["y"])


@pytest.mark.parametrize("dtype", [f16, f32, f64], ids=short)
def test_bernoulli(dtype):
    p = np.full((40, 50), 0.25, dtype)
    got = run(one_node("Bernoulli", {"p": p}, opset=OPSET, seed=3.0), {"p": p})["y"]
    assert (
        got.dtype == dtype and set(np.unique(got.astype(f64))) == {0, 1} and abs(got.astype(f64).mean() - 0.25) < 0.05
    )


def test_multinomial():
    x = np.log(np.array([[0.1, 0.6, 0.3], [1e-9, 1e-9, 1]], f32))
    got = run(one_node("Multinomial", {"x": x}, opset=OPSET, sample_size=2000, seed=4.0), {"x": x})["y"]
    assert got.shape == (2, 2000) and got.dtype == i32 and (got[1] == 2).all()
    assert np.allclose(np.bincount(got[0], minlength=3) / 2000, [0.1, 0.6, 0.3], atol=0.05)


@modes
@each_type(["Dropout"], without=("float8",))
def test_dropout_at_inference(op, dtype, mode):
    x = random((2, 3), dtype)
    verify_node(op, {"x": x}, {"y": x, "m": np.ones((2, 3), bool)}, mode, outputs="y,m", peers=())


def test_dropout_in_training():
    x = np.ones((100, 100), f32)
    feeds = {"x": x, "r": np.array(0.25, f32), "t": np.array(True)}
    got = run(one_node("Dropout", feeds, "y,m", opset=OPSET, seed=5), feeds)
    assert abs(got["m"].mean() - 0.75) < 0.03
    assert_same(got["y"], got["m"] / f32.type(0.75))


@pytest.mark.parametrize(
    "op, feeds, attributes",
    [
        ("Range", {"s": np.array(0, f32), "l": np.array(5, f32), "d": np.array(0, f32)}, {}),
        ("ConstantOfShape", {"s": ints(-1)}, {}),
        ("ConstantOfShape", {"s": np.array([[1, 2]])}, {}),
        ("OneHot", {"i": ints(0), "d": np.array(-1), "v": np.array([0, 1], f32)}, {}),
        ("OneHot", {"i": ints(0), "d": np.array(2), "v": np.array([0, 1, 2], f32)}, {}),
        ("EyeLike", {"x": np.zeros((2, 2, 2), f32)}, {}),
        ("OneHot", {"i": ints(0), "d": np.array(2), "v": np.array([0, 1], f32)}, {"axis": 3}),
        ("Bernoulli", {"p": np.array([2.0], f32)}, {}),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_refused(op, feeds, attributes):
    assert_load_or_run_refused(one_node(op, feeds, opset=OPSET, **attributes), feeds, node=f"{op.lower()}_y")


def test_strings_of_every_length():
    """From one byte to a page, with zeros and non-ASCII inside."""
    texts = ["", "a", "x" * 15, "y" * 16, "z" * 5000, "\u4e2d\u6587", "a\0b"]
    x = np.array(texts, object)
    model = make_model(
        "a = Identity(x); b = Concat<axis=0>(a, x); y = Gather(b, i)",
        {"x": (string, ["n"])},
        {"y": string},
        {"i": ints(13, 0, 4, 6, 7)},
        opset=OPSET,
    )
    both = np.concatenate([x, x])
    assert_same(run(model, {"x": x})["y"], both[[13, 0, 4, 6, 7]])
