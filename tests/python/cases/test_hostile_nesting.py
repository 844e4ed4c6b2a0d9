"""Depth: thousands of nested branches, types and functions, and chains of very many nodes. Refused or run, in a process of its own."""

import numpy as np
import pytest
from onnx import helper

from cases.test_hostile_bytes import batch
from cases.wire import field, graph_bytes, model_bytes, node_bytes, tensor_type, value_info
from oracle import f32, levels, make_model, parse_nodes

Y = [value_info("y", tensor_type())]
C = value_info("c", tensor_type(9, ()))
X = value_info("x", tensor_type(1, (2,)))


def outcome(data, level, seconds=120):
    (text,) = batch([data], level, seconds).values()
    assert not text.startswith(("DIED", "WRONG")), text
    return text


def graph_attribute(name, graph):
    """A NodeProto's attribute field with a graph inside."""
    return field(5, field(1, name) + field(6, graph) + field(20, 5))


def nested_ifs(depth):
    graph = graph_bytes([node_bytes("Neg", ["x"], ["y"])], [], Y)
    leaf = graph
    for _ in range(depth):
        branches = graph_attribute("then_branch", graph) + graph_attribute("else_branch", leaf)
        graph = graph_bytes([node_bytes("If", ["c"], ["y"], branches)], [], Y)
    return model_bytes(
        graph_bytes(
            [
                node_bytes(
                    "If", ["c"], ["y"], graph_attribute("then_branch", graph) + graph_attribute("else_branch", leaf)
                )
            ],
            [C, X],
            Y,
        )
    )


@levels
@pytest.mark.parametrize("depth", [1, 4, 9])
def test_reasonable_nesting_runs(depth, level):
    assert outcome(nested_ifs(depth), level) == "ran"


@levels
@pytest.mark.parametrize("depth", [100, 1000, 5000])
def test_nested_ifs(depth, level):
    outcome(nested_ifs(depth), level)


@levels
@pytest.mark.parametrize("depth", [100, 5000])
def test_nested_loops(depth, level):
    def body(inner_nodes):
        inputs = [
            value_info("i", tensor_type(7, ())),
            value_info("k", tensor_type(9, ())),
            value_info("a", tensor_type()),
        ]
        return graph_bytes(inner_nodes, inputs, [value_info("k2", tensor_type(9, ())), value_info("b", tensor_type())])

    graph = body([node_bytes("Identity", ["k"], ["k2"]), node_bytes("Neg", ["a"], ["b"])])
    for _ in range(depth):
        graph = body(
            [
                node_bytes("Identity", ["k"], ["k2"]),
                node_bytes("Loop", ["", "k", "a"], ["b"], graph_attribute("body", graph)),
            ]
        )
    outcome(
        model_bytes(
            graph_bytes(
                [node_bytes("Loop", ["m", "c", "x"], ["y"], graph_attribute("body", graph))],
                [C, X, value_info("m", tensor_type(7, ()))],
                Y,
            )
        ),
        level,
    )


@pytest.mark.parametrize("wrapper", [4, 9], ids=["sequence", "optional"])
@pytest.mark.parametrize("depth", [50, 5000, 50000])
def test_nested_types(depth, wrapper):
    """An input of type sequence(sequence(...)): kinds may nest, not without end."""
    kind = tensor_type()
    for _ in range(depth):
        kind = field(wrapper, field(1, kind))
    outcome(model_bytes(graph_bytes([node_bytes("Neg", ["x"], ["y"])], [X, value_info("s", kind)], Y)), 3)


@pytest.mark.parametrize("field_number", [5, 7, 200], ids=["attribute", "graph", "unknown"])
def test_nested_messages_of_one_kind(field_number):
    """Length-delimited fields inside each other, whatever they mean."""
    data = b""
    for _ in range(30000):
        data = field(field_number, data)
    outcome(data, 0)


@levels
@pytest.mark.parametrize("length", [1000, 30000])
def test_long_chains(length, level):
    """Recursion over the graph would overflow the stack."""
    nodes = [
        node_bytes(
            "Neg" if i % 2 else "Exp", [f"v{i}" if i else "x"], [f"v{i + 1}" if i < length - 1 else "y"], name=f"n{i}"
        )
        for i in range(length)
    ]
    assert outcome(model_bytes(graph_bytes(nodes, [X], Y)), level) == "ran"


@levels
def test_long_chain_given_backwards(level):
    """Nodes in reverse order: sorted or refused, in time that is not quadratic."""
    length = 20000
    nodes = [
        node_bytes("Neg", [f"v{i}" if i else "x"], [f"v{i + 1}" if i < length - 1 else "y"], name=f"n{i}")
        for i in range(length)
    ]
    outcome(model_bytes(graph_bytes(nodes[::-1], [X], Y)), level)


@levels
def test_many_removable_nodes(level):
    """20,000 Identity nodes: the optimiser's rounds stay few."""
    length = 20000
    nodes = [
        node_bytes("Identity", [f"v{i}" if i else "x"], [f"v{i + 1}" if i < length - 1 else "y"], name=f"n{i}")
        for i in range(length)
    ]
    assert outcome(model_bytes(graph_bytes(nodes, [X], Y)), level) == "ran"


@levels
def test_one_value_with_very_many_consumers(level):
    count = 5000
    nodes = [node_bytes("Neg", ["x"], [f"v{i}"], name=f"n{i}") for i in range(count)] + [
        node_bytes("Sum", [f"v{i}" for i in range(count)], ["y"])
    ]
    assert outcome(model_bytes(graph_bytes(nodes, [X], Y)), level) == "ran"


@levels
def test_doubling_that_folds(level):
    """x is constant and doubles in length 60 times: folding stops before memory does."""
    text = "; ".join(f"v{i + 1} = Concat<axis=0>(v{i}, v{i})" for i in range(60)) + "; y = ReduceSum(v60)"
    model = make_model(text, {}, {"y": f32}, {"v0": np.ones(4, f32)})
    assert "refused" in outcome(model.SerializeToString(), level)


def test_functions_in_a_long_row():
    """5,000 functions, each calls the next."""
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.example", 1)]
    count = 5000
    functions = [
        helper.make_function(
            "com.example",
            f"F{i}",
            ["a"],
            ["b"],
            parse_nodes(f"b = com.example.F{i + 1}(a)" if i < count - 1 else "b = Neg(a)"),
            opsets,
        )
        for i in range(count)
    ]
    model = make_model(
        parse_nodes("y = com.example.F0(x)"),
        {"x": (f32, (2,))},
        {"y": f32},
        domains=["com.example"],
        functions=functions,
    )
    outcome(model.SerializeToString(), 3)


def test_very_long_names_and_many_attributes():
    name = "n" * 1_000_000
    nodes = [node_bytes("Neg", ["x"], [name], name=name), node_bytes("Neg", [name], ["y"], name=name)]
    outcome(model_bytes(graph_bytes(nodes, [X], Y)), 3)
    attributes = b"".join(field(5, field(1, f"a{i}") + field(3, i) + field(20, 2)) for i in range(100000))
    assert outcome(model_bytes(graph_bytes([node_bytes("Neg", ["x"], ["y"], attributes)], [X], Y)), 3).startswith(
        "refused"
    )
