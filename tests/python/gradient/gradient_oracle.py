"""Gradients by central differences in float64, to compare those of the operator Gradient with.

The model is `nodes`; its loss is the sum of all elements of its outputs, each times a weight of its own, so that a gradient that is off by
a transposition, a sign or a share that cancels shows. Kinks are the caller's to avoid.
"""

import numpy as np
from onnx import TensorProto, helper

import engines
from oracle import assert_same, make_graph, parse_nodes, random

TRAINING = "ai.onnx.preview.training"
STEP = 1e-6


def gradient_node(xs, y, outputs, inputs=None, zs=()):
    lists = {"xs": list(xs), **({"zs": list(zs)} if zs else {})}
    return helper.make_node(
        "Gradient", list(inputs or [*xs, *zs]), list(outputs), name=f"gradient_of_{y}", domain=TRAINING, y=y, **lists
    )


def training_model(nodes, inputs, outputs, initializers=None, opset=28, functions=()):
    graph = make_graph(nodes, inputs, dict.fromkeys(outputs, TensorProto.DOUBLE), initializers)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(TRAINING, 1)]
    opsets += [helper.make_opsetid(f.domain, 1) for f in functions]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=functions)


def weighted_sum(values, weights, name):
    """Nodes that make `name` of the sum of each value times a weight."""
    parts = [f"{name}_{value}" for value in values]
    nodes = []
    for value, weight, part in zip(values, weights, parts, strict=True):
        nodes.append(helper.make_node("Mul", [value, weight], [f"{part}_terms"]))
        nodes.append(helper.make_node("ReduceSum", [f"{part}_terms"], [part], keepdims=0))
    return [*nodes, helper.make_node("Sum", parts, [name])]


def gradients_of(nodes, feeds, xs, level):
    """The gradients of the sum of y."""
    outputs = [f"d_{x}" for x in xs]
    model = training_model([*parse_nodes(nodes), gradient_node(xs, "y", outputs)], feeds, outputs)
    got = engines.load(model, level).run(feeds)
    return [got[name] for name in outputs]


class Case:
    """The models of one test: the loss, and its gradients."""

    def __init__(self, nodes, feeds, xs=None, outputs=("y",), constants=(), opset=28, is_open=False):
        """`xs`: what to differentiate by; default: all inputs of float64. `is_open`: those have no known extents."""
        nodes = nodes.replace("<>", "") if isinstance(nodes, str) else nodes
        self.nodes = parse_nodes(nodes) if isinstance(nodes, str) else list(nodes)
        self.feeds = {name: np.asarray(value) for name, value in feeds.items() if name not in constants}
        self.xs = list(xs or [name for name, value in self.feeds.items() if value.dtype == np.float64])
        self.outputs, self.opset = list(outputs), opset
        self.initializers = {name: np.asarray(feeds[name]) for name in constants}
        self.inputs = {
            name: (value.dtype, [None] * value.ndim) if is_open and name in self.xs else value
            for name, value in self.feeds.items()
        }
        made = engines.load(self.model(self.nodes, self.outputs), 0).run(self.feeds)
        for name in self.outputs:
            self.initializers[f"{name}_weight"] = random(made[name].shape, np.float64, name, low=0.5, high=2)
        self.nodes += weighted_sum(self.outputs, [f"{name}_weight" for name in self.outputs], "loss")

    def model(self, nodes, outputs):
        return training_model(nodes, self.inputs, outputs, self.initializers, self.opset)

    def slopes(self, model, output):
        """The gradient of an output of one element, by central differences."""
        loaded = engines.load(model, 0)
        slopes = {}
        for name in self.xs:
            x = self.feeds[name]
            slope = np.zeros(x.shape)
            for at in np.ndindex(x.shape):
                ends = []
                for step in (STEP, -STEP):
                    moved = np.array(x)
                    moved[at] += step
                    ends.append(float(loaded.run({**self.feeds, name: moved})[output]))
                slope[at] = (ends[0] - ends[1]) / (2 * STEP)
            slopes[name] = slope
        return slopes

    def check(self, level, order=1):
        """Gradients of the loss; with order 2 those of a weighted sum of the gradients too."""
        nodes, y = list(self.nodes), "loss"
        for depth in range(order):
            want = self.slopes(self.model(nodes, [y]), y)
            gradients = [f"d{y}_{x}" for x in self.xs]
            nodes.append(gradient_node(self.xs, y, gradients))
            got = engines.load(self.model(nodes, gradients), level).run(self.feeds)
            got = dict(zip(self.xs, [got[name] for name in gradients], strict=True))
            assert_same(got, want, 1e-6, 1e-7, f"derivatives of order {depth + 1}")
            for x, gradient in zip(self.xs, gradients, strict=True):
                self.initializers[f"{gradient}_weight"] = random(self.feeds[x].shape, np.float64, gradient, low=0.5, high=2)
            y = f"sum{depth}"
            nodes += weighted_sum(gradients, [f"{name}_weight" for name in gradients], y)
