"""Makes the small models that the tests of all hosts share; cases.json has inputs and outputs.

    python tests/data/make_models.py
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent


def save(name, graph):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    (HERE / name).write_bytes(model.SerializeToString())


def linear():
    """y = x W + b: float32[N, 3] -> float32[N, 2]."""
    weight = np.array([[1, -1], [2, 0.5], [0, 4]], np.float32)
    bias = np.array([0.25, -8], np.float32)
    return helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "weight"], ["product"], name="multiply"),
            helper.make_node("Add", ["product", "bias"], ["y"], name="add_bias"),
        ],
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])],
        [numpy_helper.from_array(weight, "weight"), numpy_helper.from_array(bias, "bias")],
    )


def mixed():
    """Texts, integers, and a result whose shape only the data knows."""
    return helper.make_graph(
        [
            helper.make_node("Identity", ["text"], ["same_text"]),
            helper.make_node("NonZero", ["number"], ["where"]),
            helper.make_node("Greater", ["number", "zero"], ["positive"]),
        ],
        "mixed",
        [
            helper.make_tensor_value_info("text", TensorProto.STRING, ["T"]),
            helper.make_tensor_value_info("number", TensorProto.INT64, ["N"]),
        ],
        [
            helper.make_tensor_value_info("same_text", TensorProto.STRING, ["T"]),
            helper.make_tensor_value_info("where", TensorProto.INT64, [1, "K"]),
            helper.make_tensor_value_info("positive", TensorProto.BOOL, ["N"]),
        ],
        [numpy_helper.from_array(np.array(0, np.int64), "zero")],
    )


def scaled():
    """Inputs with a default: y = x * scale, reshaped to target."""
    return helper.make_graph(
        [helper.make_node("Mul", ["x", "scale"], ["m"]), helper.make_node("Reshape", ["m", "target"], ["y"])],
        "scaled",
        [
            helper.make_tensor_value_info("scale", TensorProto.FLOAT, []),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"]),
            helper.make_tensor_value_info("target", TensorProto.INT64, [2]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["A", "B"])],
        [
            numpy_helper.from_array(np.array(2, np.float32), "scale"),
            numpy_helper.from_array(np.array([2, -1], np.int64), "target"),
        ],
    )


def sequence():
    """A result that is no tensor."""
    return helper.make_graph(
        [helper.make_node("SequenceConstruct", ["x", "x"], ["pair"])],
        "sequence",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])],
        [helper.make_tensor_sequence_value_info("pair", TensorProto.FLOAT, ["N"])],
    )


if __name__ == "__main__":
    save("linear.onnx", linear())
    save("mixed.onnx", mixed())
    save("scaled.onnx", scaled())
    save("sequence.onnx", sequence())
