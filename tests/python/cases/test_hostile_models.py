"""Models that are well-formed protobuf and make no sense: refused with the name of what is wrong, never a crash."""

import numpy as np
import pytest
from onnx import AttributeProto, helper

import engines
from cases.hostile_parts import BRANCH, COND, X, changed, model_of
from oracle import (
    assert_load_or_run_refused,
    assert_load_refused,
    f32,
    i64,
    levels,
    make_graph,
    node,
    parse_nodes,
)


def named(op, inputs="x", outputs="y", **attributes):
    return node(op, inputs, outputs, name="bad_node", **attributes)


def with_attribute(op, **fields):
    """A node with one hand-made attribute."""
    bad = named(op)
    attribute = bad.attribute.add()
    for key, value in fields.items():
        getattr(attribute, key).extend(value) if isinstance(value, list) else setattr(attribute, key, value)
    return bad


INT = AttributeProto.INT

# id: (model, words that the error must have)
NODES = {
    "onnxruntime#4349-relu-without-inputs": (model_of([named("Relu", "")]), ["bad_node"]),
    "onnxruntime#4349-required-input-is-empty-name": (
        model_of([helper.make_node("Relu", [""], ["y"], name="bad_node")]),
        ["bad_node"],
    ),
    "onnxruntime#4349-add-with-one-input": (model_of([named("Add")]), ["bad_node"]),
    "onnxruntime#4349-conv-without-weight": (model_of([named("Conv", "x,")]), ["bad_node"]),
    "onnxruntime#4349-lstm-two-inputs": (model_of([named("LSTM", "x,x", hidden_size=2)]), ["bad_node"]),
    "onnxruntime#4349-concat-of-nothing": (model_of([named("Concat", "", axis=0)]), ["bad_node"]),
    "onnxruntime#4349-sum-of-nothing": (model_of([named("Sum", "")]), ["bad_node"]),
    "too-many-inputs": (model_of([named("Relu", "x,x")]), ["bad_node"]),
    "too-many-outputs": (model_of([named("Relu", "x", "y,z")]), ["bad_node"]),
    "no-outputs": (model_of([named("Relu", "x", "")] + parse_nodes("y = Neg(x)")), ["bad_node"]),
    "empty-op-type": (model_of([named("")]), ["bad_node"]),
    "unknown-operator": (model_of([named("Frobnicate")]), ["bad_node", "Frobnicate"]),
    "unknown-operator-of-a-known-domain": (
        model_of([named("Frobnicate", domain="ai.onnx.ml")], domains=["ai.onnx.ml"]),
        ["bad_node", "Frobnicate"],
    ),
    "unknown-domain": (
        model_of([named("Relu", domain="com.example")], domains=["com.example"]),
        ["bad_node", "com.example"],
    ),
    "domain-without-opset": (model_of([named("Relu", domain="com.example")]), ["com.example"]),
    "input-nobody-makes": (model_of([named("Relu", "ghost")]), ["ghost"]),
    "output-nobody-makes": (model_of("z = Relu(x)"), ["y"]),
    "branch-reads-what-nobody-makes": (
        model_of(
            [
                named(
                    "If", "c", then_branch=make_graph(parse_nodes("r = Neg(ghost)"), {}, {"r": f32}), else_branch=BRANCH
                )
            ],
            COND,
        ),
        ["ghost"],
    ),
    "outer-graph-reads-from-a-branch": (
        model_of([named("If", "c", "z", then_branch=BRANCH, else_branch=BRANCH)] + parse_nodes("y = Relu(r)"), COND),
        ["r"],
    ),
    "if-without-else": (model_of([named("If", "c", then_branch=BRANCH)], COND), ["bad_node", "else_branch"]),
    "loop-without-body": (model_of([named("Loop", "m,c,x")], COND | {"m": (i64, ())}), ["bad_node", "body"]),
    "scan-without-count": (model_of([named("Scan", "x", body=BRANCH)]), ["bad_node"]),
    "loop-body-with-too-few-inputs": (
        model_of([named("Loop", "m,c,x", body=BRANCH)], COND | {"m": (i64, ())}),
        ["bad_node"],
    ),
    "if-number-of-outputs": (
        model_of([named("If", "c", "y,z", then_branch=BRANCH, else_branch=BRANCH)], COND),
        ["bad_node"],
    ),
    "if-condition-is-a-float": (model_of([named("If", "x", then_branch=BRANCH, else_branch=BRANCH)]), ["bad_node"]),
    "types-mixed": (model_of([named("Add", "x,k")], weights={"k": np.ones(2, i64)}), ["bad_node"]),
    "type-not-allowed": (model_of([named("Sqrt", "n")], {"n": (i64, (2,))}, {"y": i64}), ["bad_node"]),
    "matmul-of-scalar": (model_of([named("MatMul", "x,k")], weights={"k": f32.type(2)}), ["bad_node"]),
    "output-type-contradicted": (model_of([named("Relu")], outputs={"y": i64}), ["y"]),
}

ATTRIBUTES = {
    "attribute-unknown": (model_of([named("Relu", colour="blue")]), ["bad_node", "colour"]),
    "attribute-of-wrong-type": (model_of([named("Softmax", axis=1.5)]), ["bad_node", "axis"]),
    "attribute-string-for-ints": (model_of([named("Transpose", perm="10")]), ["bad_node", "perm"]),
    "attribute-without-type-and-value": (model_of([with_attribute("Cast", name="to")]), ["bad_node", "to"]),
    "attribute-missing": (model_of([named("Cast")]), ["bad_node", "to"]),
    "attribute-twice": (
        changed(
            model_of([named("Softmax", axis=0)]), lambda m: m.graph.node[0].attribute.add(name="axis", type=INT, i=0)
        ),
        ["bad_node", "axis"],
    ),
    "attribute-without-name": (model_of([with_attribute("Relu", type=INT, i=1)]), ["bad_node"]),
    "attribute-refers-outside-a-function": (
        model_of([with_attribute("Softmax", name="axis", type=INT, ref_attr_name="elsewhere")]),
        ["bad_node"],
    ),
    "cast-to-0": (model_of([named("Cast", to=0)]), ["bad_node"]),
    "cast-to-99": (model_of([named("Cast", to=99)]), ["bad_node"]),
    "cast-to-negative": (model_of([named("Cast", to=-1)]), ["bad_node"]),
    "constant-without-value": (model_of([named("Constant", "")]), ["bad_node"]),
    "constant-with-two-values": (model_of([named("Constant", "", value_int=1, value_float=1.0)]), ["bad_node"]),
    "conv-group-0": (
        model_of([named("Conv", "i,w", group=0)], {"i": (f32, (1, 1, 4))}, weights={"w": np.ones((1, 1, 2), f32)}),
        ["bad_node"],
    ),
    "conv-group-negative": (
        model_of([named("Conv", "i,w", group=-1)], {"i": (f32, (1, 1, 4))}, weights={"w": np.ones((1, 1, 2), f32)}),
        ["bad_node"],
    ),
    "conv-stride-0": (
        model_of([named("Conv", "i,w", strides=[0])], {"i": (f32, (1, 1, 4))}, weights={"w": np.ones((1, 1, 2), f32)}),
        ["bad_node"],
    ),
    "conv-dilation-huge": (
        model_of(
            [named("Conv", "i,w", dilations=[2**62])], {"i": (f32, (1, 1, 4))}, weights={"w": np.ones((1, 1, 3), f32)}
        ),
        ["bad_node"],
    ),
    "conv-pads-huge": (
        model_of(
            [named("Conv", "i,w", pads=[2**62, 2**62])], {"i": (f32, (1, 1, 4))}, weights={"w": np.ones((1, 1, 2), f32)}
        ),
        ["bad_node"],
    ),
    "conv-kernel-shape-differs": (
        model_of(
            [named("Conv", "i,w", kernel_shape=[3])], {"i": (f32, (1, 1, 4))}, weights={"w": np.ones((1, 1, 2), f32)}
        ),
        ["bad_node"],
    ),
    "conv-channels": (
        model_of([named("Conv", "i,w")], {"i": (f32, (1, 3, 4))}, weights={"w": np.ones((1, 2, 2), f32)}),
        ["bad_node"],
    ),
    "depth-to-space-block-0": (
        model_of([named("DepthToSpace", "i", blocksize=0)], {"i": (f32, (1, 4, 2, 2))}),
        ["bad_node"],
    ),
    "lstm-hidden-huge": (
        model_of(
            [named("LSTM", "i,w,w", hidden_size=2**40)], {"i": (f32, (1, 1, 2))}, weights={"w": np.ones((1, 8, 2), f32)}
        ),
        ["bad_node"],
    ),
    "split-into-0": (model_of([named("Split", num_outputs=0)]), ["bad_node"]),
    "concat-axis-beyond": (model_of([named("Concat", "x,x", axis=7)]), ["bad_node"]),
    "dropout-ratio": (
        model_of([named("Dropout", "x,r,t")], weights={"r": f32.type(1.5), "t": np.array(True)}),
        ["bad_node"],
    ),
}

GRAPHS = {
    "onnxruntime#4585-input-element-type-0": (
        model_of("y = Relu(x)", {"x": helper.make_tensor_type_proto(0, (2,))}),
        ["x"],
    ),
    "onnxruntime#4585-input-element-type-99": (
        model_of("y = Relu(x)", {"x": helper.make_tensor_type_proto(99, (2,))}),
        ["x"],
    ),
    "input-without-type": (model_of("y = Relu(x)", {"x": None}), ["x"]),
    "input-without-name": (model_of("y = Relu(x)", {"x": X, "": X}), None),
    "input-twice": (changed(model_of("y = Relu(x)"), lambda m: m.graph.input.add().CopyFrom(m.graph.input[0])), ["x"]),
    "initializer-twice": (
        changed(
            model_of("y = Add(x, k)", weights={"k": np.ones(2, f32)}),
            lambda m: m.graph.initializer.add().CopyFrom(m.graph.initializer[0]),
        ),
        ["k"],
    ),
    "two-nodes-make-one-value": (model_of("y = Relu(x); y = Neg(x)"), ["y"]),
    "one-node-makes-one-value-twice": (model_of([named("Split", "x", "y,y", num_outputs=2)]), ["y"]),
    "node-makes-a-graph-input": (model_of("x = Relu(z); y = Neg(x)", {"x": X, "z": X}), ["x"]),
    "node-makes-an-initializer": (model_of("k = Relu(x); y = Neg(k)", weights={"k": np.ones(2, f32)}), ["k"]),
    "onnxruntime#19870": (model_of("a = Add(x, b); b = Relu(a); y = Neg(b)"), ["cycl"]),
    "onnxruntime#19870-self": (model_of("a = Add(x, a); y = Neg(a)"), ["cycl"]),
    "onnxruntime#19870-unused-cycle": (model_of("y = Neg(x); a = Relu(b); b = Relu(a)"), ["cycl"]),
    "onnxruntime#19870-long": (
        model_of("; ".join(f"v{i} = Add(x, v{(i + 1) % 300})" for i in range(300)) + "; y = Neg(v0)"),
        ["cycl"],
    ),
    "onnxruntime#19870-through-a-branch": (
        model_of(
            [
                named(
                    "If",
                    "c",
                    "z",
                    then_branch=make_graph(parse_nodes("r = Neg(w)"), {}, {"r": f32}),
                    else_branch=BRANCH,
                )
            ]
            + parse_nodes("w = Relu(z); y = Neg(w)"),
            COND,
        ),
        ["cycl"],
    ),
    "no-graph": (changed(model_of("y = Relu(x)"), lambda m: m.ClearField("graph")), None),
    "no-opset": (changed(model_of("y = Relu(x)"), lambda m: m.ClearField("opset_import")), ["opset"]),
    "opset-0": (model_of("y = Relu(x)", opset=0), ["opset"]),
    "opset-negative": (model_of("y = Relu(x)", opset=-5), ["opset"]),
    "opset-of-the-far-future": (model_of("y = Relu(x)", opset=999), ["opset", "999"]),
    "opset-twice-and-different": (changed(model_of("y = Relu(x)"), lambda m: m.opset_import.add(version=9)), ["opset"]),
    "ir-version-of-the-far-future": (model_of("y = Relu(x)", ir_version=999), ["IR", "999"]),
}


def einsum(equation, *shapes):
    inputs = {f"i{n}": (f32, s) for n, s in enumerate(shapes)}
    return model_of([named("Einsum", ",".join(inputs), equation=equation)], inputs), ["bad_node"]


EINSUMS = {
    "onnxruntime#24806": einsum("ij,jk->ik", (2, 3)),
    "onnxruntime#24806-fewer-terms": einsum("ij->ij", (2, 3), (3, 4)),
    "einsum-empty-equation-two-inputs": einsum("", (2,), (2,)),
    "einsum-two-arrows": einsum("ij->->ij", (2, 3)),
    "einsum-unknown-output-label": einsum("ij->ik", (2, 3)),
    "einsum-output-label-twice": einsum("ij->ii", (2, 3)),
    "einsum-digit": einsum("i1->i", (2, 3)),
    "einsum-too-many-labels": einsum("ijk->i", (2, 3)),
    "einsum-too-few-labels": einsum("i->i", (2, 3)),
    "einsum-label-of-two-sizes": einsum("ij,jk->ik", (2, 3), (4, 5)),
    "einsum-diagonal-of-two-sizes": einsum("ii->i", (2, 3)),
    "einsum-two-ellipses": einsum("......i->i", (2, 3)),
    "einsum-two-dots": einsum("..i->i", (2, 3)),
    "einsum-ellipsis-sizes": einsum("...i,...i->...", (2, 3), (4, 3)),
    "einsum-missing-equation": (model_of([named("Einsum")]), ["bad_node", "equation"]),
}
AT_LOAD, LATEST_AT_RUN = NODES | GRAPHS, ATTRIBUTES | EINSUMS


@levels
@pytest.mark.parametrize("why", AT_LOAD)
def test_refused_at_load(why, level):
    model, words = AT_LOAD[why]
    assert_load_refused(model, level, words=words or ())


@levels
@pytest.mark.parametrize("why", LATEST_AT_RUN)
def test_refused_at_run_at_the_latest(why, level):
    """Values of attributes that only a shape shows to be wrong."""
    model, words = LATEST_AT_RUN[why]
    feeds = {i.name: np.ones([d.dim_value for d in i.type.tensor_type.shape.dim], f32) for i in model.graph.input}
    assert_load_or_run_refused(model, feeds, level, words=words or ())


@pytest.mark.parametrize(
    "data",
    [b"", b"\0", b"\xff" * 100, b"ONNX", b"not a model\n" * 50, b"PK\x03\x04" + b"\0" * 64, b"\x0a", bytes(4096)],
    ids=["empty", "nul", "ff", "magic", "text", "zip", "tag", "zeros"],
)
def test_not_a_model_at_all(data):
    assert_load_refused(data)


def test_paths_that_lead_nowhere(tmp_path):
    """A missing file, a folder, an empty file, a file without the right to be a model."""
    assert_load_refused(str(tmp_path / "missing.onnx"), words=["missing.onnx"])
    assert_load_refused(str(tmp_path), words=[])
    (tmp_path / "empty.onnx").touch()
    assert_load_refused(str(tmp_path / "empty.onnx"), words=["empty.onnx"])
    (tmp_path / "text.onnx").write_text("hello")
    assert_load_refused(str(tmp_path / "text.onnx"), words=["text.onnx"])
    (tmp_path / "void.om").write_bytes(b"\0" * 100)
    assert_load_refused(str(tmp_path / "void.om"), words=["void.om"])


@levels
def test_input_of_impossible_size(level):
    """[2^40, 2^40] elements cannot be counted in 64 bits."""
    assert_load_or_run_refused(
        model_of("y = Relu(x)", {"x": (f32, (2**40, 2**40))}), {"x": np.ones((2, 2), f32)}, level
    )


@levels
def test_unknown_operators_have_their_code(level):
    if engines.ENGINE == "pyasc":
        assert_load_refused(NODES["unknown-operator"][0], level, code="E5033")
