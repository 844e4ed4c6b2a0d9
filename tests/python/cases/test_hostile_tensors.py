"""Initializers whose data does not fit their dimensions and type; types and dimensions that cannot be."""

import numpy as np
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper

import engines
from cases.wire import field, graph_bytes, model_bytes, node_bytes, tensor_type, value_info
from oracle import (
    assert_load_or_run_refused,
    assert_load_refused,
    assert_same,
    f32,
    i64,
    levels,
    make_graph,
    make_model,
    node,
    run,
)

T = TensorProto


def model_with(tensor, out=None):
    """y = Identity(bad)."""
    model = make_model("y = Identity(bad)", {}, {"y": out if out is not None else f32})
    model.graph.initializer.append(tensor)
    return model


def tensor(data_type, dims, **fields):
    """A TensorProto by its fields; lists are repeated ones."""
    t = T(name="bad", data_type=data_type, dims=dims)
    for key, value in fields.items():
        getattr(t, key).extend(value) if isinstance(value, list) else setattr(t, key, value)
    return t


LENGTHS = {
    "onnx-mlir#3608": tensor(T.INT64, [1], raw_data=b"\1" * 4096),
    "onnx-mlir#3608-float": tensor(T.FLOAT, [2], raw_data=b"\1" * 9),
    "onnx-mlir#3608-scalar": tensor(T.FLOAT, [], raw_data=b"\1" * 8),
    "onnx-mlir#3608-empty": tensor(T.FLOAT, [0], raw_data=b"\1" * 4),
    "raw-too-short": tensor(T.FLOAT, [3], raw_data=b"\1" * 8),
    "raw-not-a-multiple": tensor(T.FLOAT, [2], raw_data=b"\1" * 7),
    "raw-of-nothing": tensor(T.FLOAT, [2]),
    "raw-empty-for-scalar": tensor(T.INT64, [], raw_data=b""),
    "raw-int4-too-short": tensor(T.INT4, [5], raw_data=b"\1" * 2),
    "raw-int4-too-long": tensor(T.INT4, [5], raw_data=b"\1" * 5),
    "floats-too-many": tensor(T.FLOAT, [2], float_data=[1.0, 2.0, 3.0]),
    "floats-too-few": tensor(T.FLOAT, [2], float_data=[1.0]),
    "int32-too-many": tensor(T.INT32, [1], int32_data=[1, 2]),
    "int64-too-few": tensor(T.INT64, [4], int64_data=[1]),
    "doubles-too-few": tensor(T.DOUBLE, [2], double_data=[1.0]),
    "uint64-too-many": tensor(T.UINT64, [1], uint64_data=[1, 2]),
    "float16-too-few": tensor(T.FLOAT16, [2], int32_data=[1]),
    "strings-too-few": tensor(T.STRING, [2], string_data=[b"a"]),
    "strings-too-many": tensor(T.STRING, [1], string_data=[b"a", b"b"]),
    "complex-half": tensor(T.COMPLEX64, [1], float_data=[1.0]),
    "wrong-field-for-the-type": tensor(T.FLOAT, [1], int64_data=[1]),
    "wrong-field-for-int64": tensor(T.INT64, [1], int32_data=[1]),
    "raw-for-strings": tensor(T.STRING, [1], raw_data=b"abcd"),
    "both-raw-and-floats": tensor(T.FLOAT, [1], raw_data=b"\1" * 4, float_data=[1.0]),
}

DIMENSIONS = {
    "negative": tensor(T.FLOAT, [-1], raw_data=b""),
    "negative-pair": tensor(T.FLOAT, [-2, -2], raw_data=b"\0" * 16),
    "int64-min": tensor(T.FLOAT, [-(2**63)], raw_data=b""),
    "int64-max": tensor(T.FLOAT, [2**63 - 1], raw_data=b"\0" * 4),
    "overflow": tensor(T.FLOAT, [2**40, 2**40], raw_data=b"\0" * 4),
    "overflow-to-zero": tensor(T.FLOAT, [2**32, 2**32], raw_data=b""),
    "overflow-to-zero-by-bytes": tensor(T.FLOAT, [2**62], raw_data=b""),
    "overflow-to-four-bytes": tensor(T.FLOAT, [2**62 + 1], raw_data=b"\0" * 4),
    "overflow-int8": tensor(T.INT8, [2**32, 2**32, 2], raw_data=b""),
    "huge-and-none": tensor(T.FLOAT, [2**40], raw_data=b""),
    "many": tensor(T.FLOAT, [1] * 100000 + [2], raw_data=b"\0" * 4),
}

TYPES = {
    "undefined": tensor(0, [1], raw_data=b"\0" * 4),
    "unknown": tensor(99, [1], raw_data=b"\0" * 4),
    "negative": tensor(-1, [1], raw_data=b"\0" * 4),
    "location-external-without-file": tensor(T.FLOAT, [1], data_location=T.EXTERNAL),
}


@levels
@pytest.mark.parametrize("why", LENGTHS)
def test_data_that_does_not_fit(why, level):
    assert_load_refused(model_with(LENGTHS[why], LENGTHS[why].data_type), level, words=["bad"])


@levels
@pytest.mark.parametrize("why", DIMENSIONS)
def test_impossible_dimensions(why, level):
    assert_load_refused(model_with(DIMENSIONS[why]), level, words=["bad"])


@levels
@pytest.mark.parametrize("why", TYPES)
def test_impossible_types(why, level):
    assert_load_refused(model_with(TYPES[why]), level, words=["bad"])


@levels
@pytest.mark.parametrize("why", ["onnx-mlir#3608", "raw-too-short", "floats-too-few", "raw-of-nothing"])
@pytest.mark.parametrize("place", ["constant-node", "branch", "branch-constant", "unused", "constant-of-shape"])
def test_the_same_elsewhere(place, why, level):
    """Not only initializers: values of Constant, of ConstantOfShape, in branches, and those that nobody reads."""
    bad = LENGTHS[why]
    constant = node("Constant", "", "y", name="bad", value=bad)
    condition = {"c": (np.dtype(bool), ())}
    good = make_graph(
        [node("Constant", "", "g", value=numpy_helper.from_array(np.ones(1, f32)))], {}, {"g": None}, name="good"
    )
    if place == "constant-node":
        model = make_model([constant], {}, {"y": bad.data_type})
    elif place == "unused":
        model = model_with(bad, f32)
        model.graph.node[0].CopyFrom(node("Identity", "x", "y"))
        model.graph.input.add().CopyFrom(helper.make_tensor_value_info("x", 1, [1]))
    elif place == "constant-of-shape":
        model = make_model(
            [node("ConstantOfShape", "n", "y", name="bad", value=bad)], {}, {"y": bad.data_type}, {"n": np.array([2])}
        )
    else:
        inner = [constant] if place == "branch-constant" else [node("Identity", "bad", "y")]
        branch = make_graph(inner, {}, {"y": None}, name="branch")
        if place == "branch":
            branch.initializer.append(bad)
        model = make_model(
            [node("If", "c", "z", name="the_if", then_branch=branch, else_branch=good)], condition, {"z": f32}
        )
    assert_load_refused(model, level)


GOOD = {
    "raw-empty": (tensor(T.FLOAT, [0], raw_data=b""), np.zeros(0, f32)),
    "no-data-and-no-elements": (tensor(T.FLOAT, [3, 0]), np.zeros((3, 0), f32)),
    "floats": (tensor(T.FLOAT, [2], float_data=[1.0, 2.0]), np.array([1, 2], f32)),
    "float16-as-int32": (tensor(T.FLOAT16, [2], int32_data=[0x3C00, 0xC000]), np.array([1, -2], np.float16)),
    "int8-as-int32": (tensor(T.INT8, [2], int32_data=[-1, 127]), np.array([-1, 127], np.int8)),
    "bool-as-int32": (tensor(T.BOOL, [2], int32_data=[0, 1]), np.array([False, True])),
    "uint32-as-uint64": (tensor(T.UINT32, [1], uint64_data=[2**32 - 1]), np.array([2**32 - 1], np.uint32)),
    "scalar-raw": (tensor(T.DOUBLE, [], raw_data=np.float64(2.5).tobytes()), np.array(2.5)),
    "strings": (tensor(T.STRING, [2], string_data=[b"a", "\u00e9".encode()]), np.array(["a", "\u00e9"], object)),
}


@levels
@pytest.mark.parametrize("name", GOOD)
def test_all_ways_to_store_a_value(name, level):
    given, want = GOOD[name]
    assert_same(run(model_with(given, given.data_type), {}, level)["y"], want)


# ---- written by hand: what the protobuf library would not write ------------------------------------------------------------

OUT = [value_info("y", tensor_type())]
IDENTITY = [node_bytes("Identity", ["bad"], ["y"])]


def hand_made(tensor_bytes):
    return model_bytes(graph_bytes(IDENTITY, [], OUT, [tensor_bytes]))


RAW = np.array([1, 2], f32).tobytes()


def test_hand_made_model_is_good():
    model = hand_made(field(1, 2) + field(2, 1) + field(8, "bad") + field(9, RAW))
    assert_same(run(model, {})["y"], np.array([1, 2], f32))


HAND_MADE = {
    "length-beyond-the-file": b"\x4a\xff\xff\xff\xff\x07",
    "length-of-64-bits": b"\x4a" + b"\xff" * 9 + b"\x01",
    "length-wraps-32-bits": b"\x4a" + b"\x88\x80\x80\x80\x10" + RAW,
    "varint-without-end": b"\x08" + b"\xff" * 20,
    "group-wire-type": b"\x4b",
    "wire-type-7": b"\x4f",
    "field-number-0": b"\x02\x00",
    "packed-dims-cut": b"\x0a\x02\x80\x80",
    "packed-floats-odd": b"\x22\x03\x00\x00\x00",
    "name-is-not-utf8": field(8, b"\xff\xfe"),
    "nul-in-the-name": field(8, b"b\0ad"),
}


@pytest.mark.parametrize("why", HAND_MADE)
def test_broken_wire_format(why):
    model = hand_made(field(1, 2) + field(2, 1) + field(8, "bad") + field(9, RAW) + HAND_MADE[why])
    assert_load_refused(model)


@pytest.mark.parametrize("extra", [b"\x48\x01", b"\x0d\x01\x00\x00\x00"], ids=["raw-data-as-varint", "dims-as-32-bits"])
def test_field_of_another_wire_type(extra):
    """Ignored, as protobuf does, or refused."""
    model = hand_made(field(1, 2) + field(2, 1) + field(8, "bad") + field(9, RAW) + extra)
    try:
        got = run(model, {})["y"]
    except engines.refusals():
        assert_load_refused(model)
    else:
        assert_same(got, np.array([1, 2], f32))


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "one-by-one"])
def test_dims_in_both_encodings(packed):
    """proto3 allows repeated numbers packed or not; both are read."""
    dims = field(1, b"\x01\x02") if packed else field(1, 1) + field(1, 2)
    model = hand_made(dims + field(2, 1) + field(8, "bad") + field(9, RAW))
    assert_same(run(model, {})["y"], np.array([[1, 2]], f32))


def test_unknown_fields_are_ignored():
    """A newer writer's fields: varint, bytes, 32 and 64 bits."""
    extra = field(200, 7) + field(201, b"abc") + varint_key(202, 5) + b"\0" * 4 + varint_key(203, 1) + b"\0" * 8
    model = hand_made(field(1, 2) + field(2, 1) + field(8, "bad") + field(9, RAW) + extra) + extra
    assert_same(run(model, {})["y"], np.array([1, 2], f32))


def varint_key(number, wire_type):
    from cases.wire import varint

    return varint(number << 3 | wire_type)


def test_unaligned_raw_data():
    """Raw data at every alignment in the file."""
    for shift in range(8):
        model = field(2, "p" * (shift + 1)) + hand_made(field(1, 2) + field(2, 1) + field(8, "bad") + field(9, RAW))
        assert_same(run(model, {})["y"], np.array([1, 2], f32), what=f"shift {shift}")


@levels
@pytest.mark.parametrize(
    "indices, dims, good",
    [
        ([1, 3], [5], True),
        ([1, 5], [5], False),
        ([-1, 2], [5], False),
        ([1, 1], [5], False),
        ([1, 3], [2**40, 2**40], False),
        ([1, 3], [-5], False),
    ],
    ids=str,
)
def test_sparse_initializers(indices, dims, good, level):
    """Indices must be sorted, unique and inside; the dense form must be possible."""
    values = numpy_helper.from_array(np.array([7, 8], f32), "s")
    sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array(indices, i64)), dims)
    model = make_model("y = Identity(s)", {}, {"y": f32})
    model.graph.sparse_initializer.append(sparse)
    if not good:
        assert_load_refused(model, level)
        return
    want = np.zeros(5, f32)
    want[indices] = [7, 8]
    assert_same(run(model, {}, level)["y"], want)


def test_string_attribute_that_is_not_utf8():
    """Refused or carried as bytes, no crash."""
    bad = node("Pad", "x,p", "y", name="bad_node")
    bad.attribute.add(name="mode", type=AttributeProto.STRING, s=b"\xff\xfe\0")
    model = make_model([bad], {"x": (f32, (2,))}, {"y": f32}, {"p": np.array([1, 1])})
    assert_load_or_run_refused(model, {"x": np.ones(2, f32)}, node="bad_node")
