"""Operators that move data: every element type of ONNX through each, strings and sub-byte types included."""

import ml_dtypes
import numpy as np
import pytest

from ops.table import OPSET, each_type, modes, types_of, verify, verify_node
from oracle import assert_load_or_run_refused, f32, f64, i32, i64, make_model, node, one_node, random

ints = lambda *v: np.array(v, i64)
X234 = (2, 3, 4)

# operator: [(shape of x, other inputs, attributes, function)]
MOVES = {
    "Reshape": [
        (X234, {"s": ints(4, 6)}, {}, lambda x: x.reshape(4, 6)),
        (X234, {"s": ints(-1)}, {}, lambda x: x.reshape(-1)),
        (X234, {"s": ints(0, -1)}, {}, lambda x: x.reshape(2, 12)),
        (X234, {"s": ints(0, 0, 2, -1)}, {}, lambda x: x.reshape(2, 3, 2, 2)),
        ((1,), {"s": ints()}, {}, lambda x: x.reshape(())),
        ((), {"s": ints(1, 1)}, {}, lambda x: x.reshape(1, 1)),
        ((2, 0, 3), {"s": ints(0, 7)}, {"allowzero": 1}, lambda x: x.reshape(0, 7)),
        ((0, 3), {"s": ints(3, -1)}, {}, lambda x: x.reshape(3, 0)),
    ],
    "Transpose": [
        (X234, {}, {}, lambda x: x.transpose()),
        (X234, {}, {"perm": [1, 0, 2]}, lambda x: x.transpose(1, 0, 2)),
        (X234, {}, {"perm": [2, 0, 1]}, lambda x: x.transpose(2, 0, 1)),
        ((5,), {}, {}, lambda x: x),
        ((), {}, {}, lambda x: x),
        ((2, 0, 3), {}, {"perm": [2, 1, 0]}, lambda x: x.transpose()),
        ((9, 17), {}, {}, lambda x: x.T),
        ((2, 3, 1, 2, 2), {}, {"perm": [4, 2, 0, 3, 1]}, lambda x: x.transpose(4, 2, 0, 3, 1)),
        ((2, 3, 4, 5), {}, {"perm": [0, 2, 3, 1]}, lambda x: x.transpose(0, 2, 3, 1)),
    ],
    "Flatten": [
        (X234, {}, {}, lambda x: x.reshape(2, 12)),
        (X234, {}, {"axis": 0}, lambda x: x.reshape(1, 24)),
        (X234, {}, {"axis": 3}, lambda x: x.reshape(24, 1)),
        (X234, {}, {"axis": -1}, lambda x: x.reshape(6, 4)),
        ((), {}, {"axis": 0}, lambda x: x.reshape(1, 1)),
    ],
    "Squeeze": [
        ((1, 3, 1), {}, {}, lambda x: x.reshape(3)),
        ((1, 3, 1), {"a": ints(0)}, {}, lambda x: x.reshape(3, 1)),
        ((1, 3, 1), {"a": ints(-1, 0)}, {}, lambda x: x.reshape(3)),
        ((1, 1), {"a": ints(0, 1)}, {}, lambda x: x.reshape(())),
        ((3,), {}, {}, lambda x: x),
    ],
    "Unsqueeze": [
        ((3,), {"a": ints(0)}, {}, lambda x: x[None]),
        ((3,), {"a": ints(-1)}, {}, lambda x: x[:, None]),
        ((3, 2), {"a": ints(3, 0, 1)}, {}, lambda x: x.reshape(1, 1, 3, 1, 2)),
        ((), {"a": ints(0)}, {}, lambda x: x.reshape(1)),
        ((0,), {"a": ints(1)}, {}, lambda x: x.reshape(0, 1)),
    ],
    "Expand": [
        ((3, 1), {"s": ints(2, 1, 4)}, {}, lambda x: np.broadcast_to(x, (2, 3, 4)).copy()),
        ((), {"s": ints(2, 2)}, {}, lambda x: np.full((2, 2), x, x.dtype)),
        ((3,), {"s": ints(1)}, {}, lambda x: x),
        ((1, 3), {"s": ints(0, 1)}, {}, lambda x: x[:0]),
        ((2, 3), {"s": ints()}, {}, lambda x: x),
    ],
    "Tile": [
        ((2, 3), {"r": ints(2, 1)}, {}, lambda x: np.tile(x, (2, 1))),
        ((2, 3), {"r": ints(1, 3)}, {}, lambda x: np.tile(x, (1, 3))),
        ((2, 3), {"r": ints(3, 2)}, {}, lambda x: np.tile(x, (3, 2))),
        ((2,), {"r": ints(0)}, {}, lambda x: x[:0]),
        ((), {"r": ints()}, {}, lambda x: x),
    ],
    "Slice": [
        ((5, 6), {"s": ints(1), "e": ints(4)}, {}, lambda x: x[1:4]),
        ((5, 6), {"s": ints(0, 1), "e": ints(9, -1), "a": ints(0, 1), "t": ints(2, 3)}, {}, lambda x: x[::2, 1:-1:3]),
        ((5, 6), {"s": ints(-1), "e": ints(-99), "a": ints(1), "t": ints(-2)}, {}, lambda x: x[:, ::-2]),
        ((5, 6), {"s": ints(3), "e": ints(3)}, {}, lambda x: x[:0]),
    ],
    "Gather": [
        ((4, 3), {"i": ints(2, 0, -1)}, {}, lambda x: x[[2, 0, -1]]),
        ((4, 3), {"i": np.array([[0, 2], [1, -3]])}, {"axis": 1}, lambda x: x[:, [[0, 2], [1, 0]]]),
        ((4, 3), {"i": np.array(1)}, {"axis": -1}, lambda x: x[:, 1]),
        ((4,), {"i": np.array(2)}, {}, lambda x: x[2]),
        ((4, 3), {"i": np.array([1], i32)}, {}, lambda x: x[1:2]),
        ((4, 3), {"i": ints()}, {}, lambda x: x[:0]),
    ],
    "GatherElements": [
        (
            (3, 4),
            {"i": np.array([[0, 2, 1, 0], [-1, -2, 2, 1]])},
            {},
            lambda x: np.take_along_axis(x, np.array([[0, 2, 1, 0], [2, 1, 2, 1]]), 0),
        ),
        (
            (3, 4),
            {"i": np.array([[3], [0], [-4]])},
            {"axis": 1},
            lambda x: np.take_along_axis(x, np.array([[3], [0], [0]]), 1),
        ),
    ],
    "GatherND": [
        ((3, 4), {"i": np.array([[0, 1], [-1, 3]])}, {}, lambda x: x[[0, 2], [1, 3]]),
        ((3, 4), {"i": np.array([[[1]], [[-3]]])}, {}, lambda x: x[[[1], [0]]]),
        ((2, 3, 4), {"i": np.array([[1], [2]])}, {"batch_dims": 1}, lambda x: x[[0, 1], [1, 2]]),
    ],
    "DepthToSpace": [
        (
            (1, 8, 2, 3),
            {},
            {"blocksize": 2},
            lambda x: x.reshape(1, 2, 2, 2, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 6),
        ),
        (
            (1, 8, 2, 3),
            {},
            {"blocksize": 2, "mode": "CRD"},
            lambda x: x.reshape(1, 2, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 4, 6),
        ),
    ],
    "SpaceToDepth": [
        (
            (1, 2, 4, 6),
            {},
            {"blocksize": 2},
            lambda x: x.reshape(1, 2, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 8, 2, 3),
        )
    ],
    "Compress": [
        ((3, 2), {"c": np.array([True, False, True])}, {"axis": 0}, lambda x: x[[0, 2]]),
        ((3, 2), {"c": np.array([False, True])}, {"axis": -1}, lambda x: x[:, 1:]),
        ((3, 2), {"c": np.array([False, True, True, False, True])}, {}, lambda x: x.reshape(-1)[[1, 2, 4]]),
    ],
    "ReverseSequence": [
        ((4, 3), {"l": ints(4, 1, 2)}, {}, lambda x: np.stack([x[::-1, 0], x[:, 1], x[[1, 0, 2, 3], 2]], 1)),
        (
            (3, 4),
            {"l": ints(4, 1, 2)},
            {"time_axis": 1, "batch_axis": 0},
            lambda x: np.stack([x[0, ::-1], x[1], x[2, [1, 0, 2, 3]]]),
        ),
    ],
    "Trilu": [
        ((3, 4), {}, {}, np.triu),
        ((3, 4), {"k": np.array(1)}, {"upper": 0}, lambda x: np.tril(x, 1)),
        ((2, 3, 3), {"k": np.array(-1)}, {}, lambda x: np.triu(x, -1)),
        ((3, 3), {"k": np.array(9)}, {}, np.zeros_like),
        ((0, 3), {}, {}, lambda x: x),
    ],
}


def expected(function, x):
    """Works on positions where NumPy has no such operation for the type."""
    if function in (np.triu, np.tril, np.zeros_like):
        return function(x)
    where = np.asarray(function(np.arange(x.size).reshape(x.shape)))
    y = np.empty(where.shape, x.dtype)
    y[...] = x.reshape(-1)[where]
    return y


@modes
@each_type([op for op in MOVES if op != "Trilu"])
def test_move(op, dtype, mode):
    for shape, others, attributes, function in MOVES[op]:
        x = random(shape, dtype, op)
        want = expected(function, x)
        for constants in ((), tuple(others)):
            if constants or mode == "level3" or not others:
                verify_node(op, {"x": x, **others}, want, mode, peers=(), constants=constants, **attributes)


@modes
@each_type(["Trilu"], without=("complex", "string", "int4", "float8"))
def test_trilu(op, dtype, mode):
    for shape, others, attributes, function in MOVES[op]:
        x = random(shape, dtype, op, low=1)
        verify_node(op, {"x": x, **others}, function(x.astype(f64)).astype(dtype), mode, peers=(), **attributes)


@modes
@pytest.mark.parametrize("op", MOVES)
def test_dynamic_shape(op, mode):
    """All dimensions are names and all other inputs come at run time."""
    if mode == "folded":
        pytest.skip("nothing is dynamic when all is constant")
    for shape, others, attributes, function in MOVES[op]:
        x = random(shape, f32, op, low=1)
        inputs = {"x": (f32, [f"d{i}" for i in range(len(shape))])} | {
            n: (v.dtype, [f"{n}{i}" for i in range(v.ndim)]) for n, v in others.items()
        }
        model = make_model([node(op, ",".join(inputs), "y", **attributes)], inputs, {"y": f32}, opset=OPSET)
        verify(model, {"x": x, **others}, function(x).astype(f32), mode, peers=())


@modes
@each_type(["Concat"])
def test_concat(op, dtype, mode):
    for shapes, axis in [
        ([(2, 3)], 0),
        ([(2, 3), (1, 3)], 0),
        ([(2, 3), (2, 1), (2, 2)], -1),
        ([(0, 3), (2, 3)], 0),
        ([(2,), (0,), (3,)], 0),
        ([(1, 2, 3)] * 3, 1),
    ]:
        arrays = [random(s, dtype, i) for i, s in enumerate(shapes)]
        verify_node(
            op, {f"a{i}": a for i, a in enumerate(arrays)}, np.concatenate(arrays, axis), mode, peers=(), axis=axis
        )


@modes
@each_type(["Split"])
def test_split(op, dtype, mode):
    x = random((5, 6), dtype)
    for axis, sizes in [(0, [2, 3]), (1, [1, 2, 3]), (-1, [6]), (0, [0, 5])]:
        want = np.split(x, np.cumsum(sizes)[:-1], axis)
        names = [f"y{i}" for i in range(len(sizes))]
        verify_node(
            op,
            {"x": x, "s": np.array(sizes)},
            dict(zip(names, want)),
            mode,
            outputs=",".join(names),
            peers=(),
            constants=("s",),
            axis=axis,
        )
    for axis, count in [(1, 2), (0, 3), (1, 4), (0, 5)]:  # the last part may be smaller
        step = -(-x.shape[axis] // count)
        want = [np.take(x, range(i * step, min((i + 1) * step, x.shape[axis])), axis) for i in range(count)]
        names = [f"y{i}" for i in range(count)]
        verify_node(
            op, {"x": x}, dict(zip(names, want)), mode, outputs=",".join(names), peers=(), axis=axis, num_outputs=count
        )


@modes
@each_type(["Pad"], without=("complex", "string", "int4", "int2", "float8", "float4"))
@pytest.mark.parametrize("pad_mode", ["constant", "reflect", "edge", "wrap"])
def test_pad(op, dtype, pad_mode, mode):
    x = random((3, 4), dtype)
    options = {"constant_values": np.array(1, dtype)} if pad_mode == "constant" else {}
    want = np.pad(x, [(1, 2), (0, 3)], pad_mode, **options)
    feeds = {"x": x, "p": ints(1, 0, 2, 3)} | ({"v": np.array(1, dtype)} if pad_mode == "constant" else {})
    model = one_node(op, feeds, opset=OPSET, constants=tuple(n for n in feeds if n != "x"), mode=pad_mode)
    verify(model, {"x": x}, want, mode, peers=())


@modes
@each_type(["ScatterElements", "ScatterND"])
def test_scatter(op, dtype, mode):
    x, axis = random((3, 4), dtype, "x"), 1
    want = x.copy()
    if op == "ScatterElements":
        i, u = np.array([[1, 3], [0, -1]]), random((2, 2), dtype, "u")
        for r in range(2):
            for c in range(2):
                want[r, i[r, c]] = u[r, c]
        verify_node(op, {"x": x, "i": i, "u": u}, want, mode, peers=(), axis=axis)
        return
    i, u = np.array([[2], [0]]), random((2, 4), dtype, "u")
    want[[2, 0]] = u
    verify_node(op, {"x": x, "i": i, "u": u}, want, mode, peers=())
    want = x.copy()
    want[[0, 2], [1, 3]] = u[0, :2]
    verify_node(op, {"x": x, "i": np.array([[0, 1], [-1, 3]]), "u": u[0, :2].copy()}, want, mode, peers=())


@modes
@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@each_type(["ScatterElements", "ScatterND"], without=("string", "bool", "complex"))
def test_scatter_reduction(op, dtype, reduction, mode):
    """Indices may repeat then."""
    x, u = random((4,), dtype, "x", low=1), random((3,), dtype, "u", low=1)
    function = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[reduction]
    want = x.copy()
    for k, v in zip([1, 3, 1], u):
        want[k] = function(want[k], v)
    i = ints(1, 3, 1) if op == "ScatterElements" else ints(1, 3, 1)[:, None]
    verify_node(
        op,
        {"x": x, "i": i, "u": u},
        want,
        mode,
        peers=(),
        reduction=reduction,
        rtol=2e-2 if dtype.itemsize == 2 else None,
    )


@pytest.mark.parametrize("op", ["Squeeze", "Unsqueeze"])
@pytest.mark.parametrize("opset", [1, 11, 13])
def test_axes_as_attribute(op, opset):
    x = random((1, 3, 1) if op == "Squeeze" else (3,))
    want = x.reshape(3, 1) if op == "Squeeze" else x.reshape(1, 3)
    if opset < 13:
        verify_node(op, {"x": x}, want, opset=opset, axes=[0], peers=())
    else:
        verify_node(op, {"x": x, "a": ints(0)}, want, opset=opset, constants=("a",), peers=())


@pytest.mark.parametrize(
    "op, attributes, x, want",
    [
        ("Reshape", {"shape": [3, 2]}, (2, 3), (3, 2)),
        ("Split", {"split": [1, 2], "axis": 0}, (3, 2), (1, 2)),
        ("Tile", None, (2,), (4,)),
        ("Flatten", {"axis": 1}, (2, 3, 4), (2, 12)),
        ("Concat", {"axis": 0}, (2,), (2,)),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_opset_1_forms(op, attributes, x, want):
    """Reshape and Split had their numbers as attributes, Tile took tiles and an axis."""
    x = random(x)
    if op == "Tile":
        verify_node(
            op,
            {"x": x, "t": np.array(2, f32), "a": np.array(0, f32)},
            np.tile(x, 2),
            opset=1,
            peers=(),
            constants=("t", "a"),
        )
    elif op == "Split":
        verify_node(op, {"x": x}, {"y": x[:1], "z": x[1:]}, opset=2, outputs="y,z", peers=(), **attributes)
    else:
        verify_node(op, {"x": x}, x.reshape(want), opset=1, peers=(), **attributes)


@modes
@pytest.mark.parametrize("op", ["Reshape", "Transpose", "Pad"])
def test_sub_byte_boundaries(op, mode):
    """int4 with odd lengths: two elements share a byte, so nothing may be moved bytewise."""
    int4 = np.dtype(ml_dtypes.int4)
    assert int4 in types_of(op)
    x = random((3, 5), int4, low=-8, high=8)
    feeds, want = {
        "Reshape": ({"s": ints(5, 3)}, x.reshape(5, 3)),
        "Transpose": ({}, x.T.copy()),
        "Pad": ({"p": ints(0, 1, 0, 0)}, np.pad(x.astype(i32), [(0, 0), (1, 0)]).astype(int4)),
    }[op]
    verify_node(op, {"x": x, **feeds}, want, mode, peers=(), constants=tuple(feeds))


@pytest.mark.parametrize(
    "op, feeds, attributes",
    [
        ("Concat", {"a": np.zeros((2, 3), f32), "b": np.zeros((3, 2), f32)}, {"axis": 0}),
        ("Concat", {"a": np.zeros((2, 3), f32), "b": np.zeros((2,), f32)}, {"axis": 0}),
        ("Reshape", {"x": np.zeros((2, 3), f32), "s": ints(4, 2)}, {}),
        ("Expand", {"x": np.zeros((2, 3), f32), "s": ints(2, 2)}, {}),
        ("Split", {"x": np.zeros((2, 3), f32), "s": ints(1, 1)}, {"axis": 1}),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_refused(op, feeds, attributes):
    model = one_node(op, feeds, outputs="y,z" if op == "Split" else "y", opset=OPSET, **attributes)
    assert_load_or_run_refused(model, feeds, node=f"{op.lower()}_y", code="E5001")
