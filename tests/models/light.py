"""The classifiers that the package onnx ships without weights (every weight is a ConstantOfShape of 0.02), opset 9.

Filled with constants all classes get the same score, so nothing much is tested; here the weights are replaced by random ones,
calibrated node by node like those of the generated networks. They bring what newer exporters no longer write: LRN, Dropout,
Sum, channel shuffles, scale and shift as Unsqueeze, Mul and Add behind BatchNormalization.
"""

import dataclasses

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .builder import rng_for
from .cnn import smooth_images
from .registry import Model, cached_file, packaged_file

_FOLDER = "backend/test/data/light"


@dataclasses.dataclass(frozen=True)
class LightModel(Model):
    def path(self, weights="random"):
        """`weights="constant"` gives the file as it is shipped."""
        shipped = packaged_file("onnx", f"{_FOLDER}/{self.name}.onnx")
        if weights == "constant":
            return shipped
        stem = f"{self.name}-onnx_{onnx.__version__}"
        return cached_file(stem, ("light.py", "cnn.py", "builder.py"), lambda: _with_weights(onnx.load(shipped)))


def _run_node(node, feeds, opset):
    """Outputs of a single node, by ONNX Runtime."""
    import onnxruntime

    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in feeds.items()
    ]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "one", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip(node.output, session.run(None, feeds), strict=True))


class _Filler:
    """Walks the graph in order with the activations of one picture and decides on each weight when it is first used."""

    def __init__(self, model):
        self.model = model
        graph = model.graph
        self.opset = model.opset_import[0].version
        self.values = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
        # Short vectors are shipped as initializers, but with constants in them too.
        self.shapes = {name: v.shape for name, v in self.values.items() if v.dtype == np.float32}
        for node in graph.node:
            if node.op_type == "ConstantOfShape":
                self.shapes[node.output[0]] = tuple(self.values[node.input[0]])
        self.weights = {}
        self.normalised = {n.input[0] for n in graph.node if n.op_type == "BatchNormalization"}
        self.consumer = {name: n for n in graph.node for name in n.input}

    def draw(self, name, std, mean=0.0):
        values = rng_for(self.model.graph.name, name).standard_normal(self.shapes[name], dtype=np.float32)
        return values * np.float32(std) + np.float32(mean)

    def set(self, name, values):
        self.weights[name] = self.values[name] = values.astype(np.float32)

    def run(self, node):
        return _run_node(node, {name: self.values[name] for name in node.input}, self.opset)

    def fill(self, node):
        if node.op_type in ("Conv", "Gemm"):
            self.fill_linear(node)
        elif node.op_type == "BatchNormalization":
            self.fill_batch_norm(node)
        elif node.op_type == "Unsqueeze" and node.input[0] in self.shapes:
            # The scale (Mul) or the shift (Add, before a Relu) of a batch normalisation: around 1, as in cnn.py.
            self.set(node.input[0], self.draw(node.input[0], 0.15, 1.0))
        elif node.op_type == "Reshape" and node.input[0] in self.shapes:
            weight = self.draw(node.input[0], 1.0)
            self.set(node.input[0], weight / np.sqrt(weight.shape[-1]))

    def fill_linear(self, node):
        for name in node.input[2:]:
            self.set(name, self.draw(name, 0.1))
        if node.input[1] not in self.shapes:
            return
        weight = self.draw(node.input[1], 1.0)
        axes = tuple(range(1, weight.ndim))
        fan_in = weight[0].size
        # A filter that sums to zero does not see the common mean of its inputs; a tiny one needs its few weights.
        if fan_in > 32:
            weight -= weight.mean(axis=axes, keepdims=True)
        self.set(node.input[1], weight / np.sqrt(fan_in))
        if node.output[0] not in self.normalised:
            self.set(node.input[1], self.values[node.input[1]] / self.run(node)[node.output[0]].std())

    def fill_batch_norm(self, node):
        x, scale, shift, mean, var = node.input
        data = self.values[x]
        std = data.std(axis=(0, 2, 3))
        std = np.maximum(std, 0.2 * np.sqrt((std**2).mean()))
        self.set(scale, self.draw(scale, 0.15, 1.0))
        self.set(shift, self.draw(shift, 0.2, float(self.consumer[node.output[0]].op_type == "Relu")))
        self.set(mean, data.mean(axis=(0, 2, 3)) + std * self.draw(mean, 0.1))
        self.set(var, std**2 * np.exp(self.draw(var, 0.1)))


def _with_weights(model):
    graph = model.graph
    filler = _Filler(model)
    picture = next(i for i in graph.input if i.name not in filler.values)
    shape = [d.dim_value for d in picture.type.tensor_type.shape.dim]
    filler.values[picture.name] = smooth_images(rng_for("calibration"), shape)
    for node in graph.node:
        if node.op_type != "ConstantOfShape":
            filler.fill(node)
            filler.values.update(filler.run(node))
    kept = [n for n in graph.node if n.op_type != "ConstantOfShape"]
    used = {name for node in kept for name in node.input}
    constants = [i for i in graph.initializer if i.name in used - filler.weights.keys()]
    inputs = [i for i in graph.input if i.name == picture.name]
    del graph.node[:], graph.initializer[:], graph.input[:]
    graph.node.extend(kept)
    graph.initializer.extend(constants)
    graph.initializer.extend(numpy_helper.from_array(a, name) for name, a in filler.weights.items())
    graph.input.extend(inputs)
    model.ir_version = 4
    return model


def _inputs(input_name):
    return lambda rng: {input_name: smooth_images(rng, (1, 3, 224, 224))}


MODELS = [
    LightModel(f"light_{name}", _inputs(input_name))
    for name, input_name in [
        ("bvlc_alexnet", "data_0"),
        ("densenet121", "data_0"),
        ("inception_v1", "data_0"),
        ("inception_v2", "data_0"),
        ("resnet50", "gpu_0/data_0"),
        ("shufflenet", "gpu_0/data_0"),
        ("squeezenet", "data_0"),
        ("vgg19", "data_0"),
        ("zfnet512", "gpu_0/data_0"),
    ]
]
