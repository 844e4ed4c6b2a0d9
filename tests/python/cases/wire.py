"""Protobuf by hand, for models that the protobuf library would not write, and the plain models that tests damage."""

import numpy as np
from onnx import helper

from oracle import boolean, f32, i64, make_graph, make_model, node, parse_nodes, random


def varint(value):
    """An unsigned number of up to 64 bits."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    """One field: an int as varint, bytes or text with its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (2**64 - 1))
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor_type(elem_type=1, dims=None):
    """TypeProto of a tensor; without `dims` nothing is said of its shape."""
    shape = b"" if dims is None else field(2, b"".join(field(1, field(1, d)) for d in dims))
    return field(1, field(1, elem_type) + shape)


def value_info(name, type_bytes):
    return field(1, name) + field(2, type_bytes)


def node_bytes(op, inputs, outputs, attributes=b"", name=""):
    parts = [field(1, i) for i in inputs] + [field(2, o) for o in outputs]
    return b"".join(parts) + field(3, name or op) + field(4, op) + attributes


def model_bytes(graph, opset=18, ir_version=10):
    """A ModelProto around the bytes of a GraphProto."""
    return field(1, ir_version) + field(7, graph) + field(8, field(2, opset))


def graph_bytes(nodes, inputs, outputs, initializers=(), name="g"):
    """Each argument: a list of already encoded messages."""
    parts = [field(1, n) for n in nodes] + [field(2, name)] + [field(5, t) for t in initializers]
    return b"".join(parts + [field(11, i) for i in inputs] + [field(12, o) for o in outputs])


def plain_models():
    """name -> (model, feeds): small models that use most parts of the format."""
    weights = {
        "w": random((2, 1, 3, 3)),
        "g": np.ones(2, f32),
        "b": np.zeros(2, f32),
        "m": np.zeros(2, f32),
        "v": np.ones(2, f32),
        "s": np.array([1, -1], i64),
        "k": random((32, 3)),
    }
    text = (
        "c = Conv<pads=[1, 1, 1, 1]>(x, w); n = BatchNormalization<epsilon=0.001>(c, g, b, m, v); r = Relu(n);"
        'f = Reshape(r, s); a = MatMul(f, k); p = Softmax<axis=-1>(a); q = Pad<mode="edge">(p, e); y = Gemm<alpha=0.5>(q, q)'
    )
    weights["e"] = np.array([0, 0, 2, 0], i64)
    conv = make_model(text, {"x": (f32, (1, 1, 4, 4))}, {"y": f32}, weights)
    helper.set_model_props(conv, {"key": "value"})

    body = make_graph(
        parse_nodes("keep = Identity(cond); a_out = Add(a, x); t = Mul(a_out, a_out)"),
        {"i": (i64, ()), "cond": (boolean, ()), "a": (f32, None)},
        {"keep": (boolean, ()), "a_out": (f32, None), "t": (f32, None)},
    )
    then_branch = make_graph(parse_nodes("u = Slice(stack, one, two)"), {}, {"u": f32}, name="then")
    else_branch = make_graph(parse_nodes("d = Neg(stack)"), {}, {"d": f32}, name="else")
    nodes = [
        node("Loop", "trips,go,x", "last,stack", body=body),
        node("If", "go", "y", then_branch=then_branch, else_branch=else_branch),
    ]
    weights = {"trips": np.array(3, i64), "go": np.array(True), "one": np.array([1]), "two": np.array([3])}
    flow = make_model(nodes, {"x": (f32, ["n"])}, {"y": f32, "last": f32}, weights)

    function = helper.make_function(
        "com.example", "F", ["a"], ["b"], parse_nodes("t = Exp(a); b = Log(t)"), [helper.make_opsetid("", 18)]
    )
    text = 'z = com.example.F(x); o = Constant<value_floats=[1.0, 2.0]>(); p = Add(z, o); y = Einsum<equation="i,j->ij">(p, p)'
    other = make_model(text, {"x": (f32, (2,))}, {"y": f32}, domains=["com.example"], functions=[function])
    return {
        "conv": (conv, {"x": random((1, 1, 4, 4))}),
        "flow": (flow, {"x": random((2,))}),
        "function": (other, {"x": random((2,))}),
    }
