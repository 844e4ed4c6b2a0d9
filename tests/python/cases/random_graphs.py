"""Graphs of a few dozen nodes that a seed decides, with what each value is by one node at a time.

A step picks an operator and operands among the values so far; the node is run alone, without passes, and gives the values that the
whole graph must give. What the engine refuses alone is not taken. Extents are such that views, joins in place and blocks occur.
"""

import random as standard

import numpy as np
from onnx import helper

import engines
from oracle import boolean, f16, f32, f64, i32, i64, make_model, onnx_type

UNARY = "Relu Sigmoid Tanh Abs Neg Exp Erf Softplus Floor Ceil Round Sqrt Reciprocal HardSwish LeakyRelu Sin Sign".split()
BINARY = ["Add", "Sub", "Mul", "Max", "Min", "Div"]
MOST_ELEMENTS = 4000


class Builder:
    def __init__(self, seed, steps):
        self.pick, self.numbers = standard.Random(seed), np.random.default_rng(seed)
        self.nodes, self.values, self.constants, self.feeds = [], {}, {}, {}
        rows = [self.pick.choice([1, 1, 2, 3, 4]) for _ in range(self.pick.choice([1, 2, 2]))]
        for _ in range(2):
            self.input(rows + [self.pick.choice([3, 8, 16, 32])], self.pick.choice([f32, f32, f16, f64, i64, i32, boolean]))
        self.input([self.pick.choice([1, 2]), self.pick.choice([3, 8, 16]), 6, self.pick.choice([5, 6])], f32)
        operators = [getattr(self, name) for name in dir(type(self)) if name.startswith("op_")]
        for _ in range(20 * steps):
            if len(self.nodes) < steps:
                self.pick.choice(operators)(self.value())

    def input(self, shape, dtype):
        x = self.numbers.uniform(-3, 3, shape)
        name = f"x{len(self.feeds)}"
        self.feeds[name] = self.values[name] = x > 0 if dtype == boolean else np.asarray(np.round(2 * x) / 2).astype(dtype)

    def value(self, fits=lambda a: True):
        names = [name for name, a in self.values.items() if fits(a)]
        return self.pick.choice(names[-4:] + names) if names else None

    def constant(self, array, dtype=None):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array, dtype)
        return name

    def random(self, shape, dtype):
        return self.constant(self.numbers.uniform(-1, 1, shape), dtype)

    def node(self, op, inputs, outputs=1, **attributes):
        """The names of the node's results; nothing where it cannot run."""
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        made = helper.make_node(op, inputs, names, name=f"{op.lower()}_{names[0]}", **attributes)
        feeds = {n: self.values.get(n, self.constants.get(n)) for n in inputs if n}
        try:
            got = engines.load(make_model([made], dict(feeds), dict.fromkeys(names)), 0).run(feeds)
        except engines.refusals():
            return []
        if any(a.size > MOST_ELEMENTS for a in got.values()):
            return []
        self.nodes.append(made)
        self.values.update({n: np.asarray(a) for n, a in got.items()})
        return names

    def of(self, name):
        return self.values[name]

    def numeric(self, name):
        return self.of(name).dtype != boolean

    def floating(self, name):
        return self.of(name).dtype.kind == "f"

    # ---- steps -------------------------------------------------------------------------------------------------------------

    def op_unary(self, a):
        if self.floating(a):
            self.node(self.pick.choice(UNARY), [a])

    def op_binary(self, a):
        b = self.value(lambda x: x.dtype == self.of(a).dtype)
        self.node(self.pick.choice(BINARY if self.numeric(a) else ["And", "Or", "Xor"]), self.pick.sample([a, b], 2))

    op_binary_again = op_binary

    def op_with_constant(self, a):
        if self.numeric(a):
            shape = [n if self.pick.random() < 0.6 else 1 for n in self.of(a).shape]
            k = self.constant(self.numbers.choice([0.5, 1, 2, -1, 3], shape[self.pick.randrange(len(shape) + 1) :]), self.of(a).dtype)
            self.node(self.pick.choice(BINARY), self.pick.sample([a, k], 2))

    op_with_constant_again = op_with_constant

    def op_compare(self, a):
        if self.numeric(a):
            b = self.value(lambda x: x.dtype == self.of(a).dtype)
            self.node(self.pick.choice(["Less", "Equal", "GreaterOrEqual"]), [a, b])

    def op_where(self, a):
        c, b = self.value(lambda x: x.dtype == boolean), self.value(lambda x: x.dtype == self.of(a).dtype)
        if c:
            self.node("Where", [c, a, b])

    def op_cast(self, a):
        self.node("Cast", [a], to=onnx_type(self.pick.choice([f32, f16, f64, i64, i32, boolean])))

    def op_clip(self, a):
        if self.numeric(a):
            bounds = [self.constant(v, self.of(a).dtype) for v in sorted(self.pick.sample([-2, -1, 0, 1, 6], 2))]
            self.node("Clip", [a] + bounds)

    def op_transpose(self, a):
        rank = self.of(a).ndim
        if rank:
            self.node("Transpose", [a], perm=self.pick.sample(range(rank), rank))

    def op_reshape(self, a):
        shape = self.of(a).shape
        cut = self.pick.randrange(len(shape) + 1)
        self.node("Reshape", [a, self.constant([int(np.prod(shape[:cut])), *shape[cut:]], i64)])

    def op_unsqueeze(self, a):
        self.node("Unsqueeze", [a, self.constant([self.pick.randrange(self.of(a).ndim + 1)], i64)])

    def op_squeeze(self, a):
        ones = [i for i, n in enumerate(self.of(a).shape) if n == 1]
        if ones:
            self.node("Squeeze", [a, self.constant(self.pick.sample(ones, 1), i64)])

    def op_slice(self, a):
        if self.of(a).ndim:
            numbers = (self.pick.choice([0, 1, -1]), self.pick.choice([1, 2, 9, -1, -9]), self.pick.choice([0, -1]), self.pick.choice([1, 1, 2, -1]))
            self.node("Slice", [a] + [self.constant([n], i64) for n in numbers])

    op_slice_again = op_slice

    def op_gather(self, a):
        if self.of(a).ndim:
            indices = self.constant(self.pick.choice([0, -1, [0, -1]]), i64)
            self.node("Gather", [a, indices], axis=self.pick.choice([0, 0, self.of(a).ndim - 1]))

    op_gather_again = op_gather

    def op_split(self, a):
        if self.of(a).ndim:
            self.node("Split", [a], 2, axis=self.pick.choice([0, self.of(a).ndim - 1]), num_outputs=2)

    def op_concat(self, a):
        b = self.value(lambda x: x.dtype == self.of(a).dtype and x.ndim == self.of(a).ndim)
        if self.of(a).ndim:
            self.node("Concat", [a, b], axis=self.pick.choice([0, 0, -1]))

    op_concat_again = op_concat

    def op_expand(self, a):
        self.node("Expand", [a, self.constant([self.pick.choice([1, 2]), *self.of(a).shape], i64)])

    def op_pad(self, a):
        if self.numeric(a):
            pads = self.numbers.choice([0, 0, 1, -1, 2], 2 * self.of(a).ndim)
            self.node("Pad", [a, self.constant(pads, i64)], mode=self.pick.choice(["constant", "edge", "reflect"]))

    def op_reduce(self, a):
        if self.numeric(a) and self.of(a).ndim:
            axes = self.constant([self.pick.choice([0, -1])], i64)
            op = self.pick.choice(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"])
            self.node(op, [a, axes], keepdims=self.pick.choice([0, 1]))

    def op_rows(self, a):
        if self.floating(a) and self.of(a).ndim:
            self.node(self.pick.choice(["Softmax", "LogSoftmax", "Hardmax"]), [a], axis=self.pick.choice([0, -1]))

    def op_shape(self, a):
        shape = self.node("Shape", [a])
        if shape and self.of(a).ndim:
            self.node("Gather", [shape[0], self.constant(self.pick.choice([0, -1]), i64)])

    def op_matmul(self, a):
        if self.floating(a) and self.of(a).ndim > 1:
            made = self.node("MatMul", [a, self.random((self.of(a).shape[-1], 4), self.of(a).dtype)])
            if made and self.pick.random() < 0.6:
                self.node("Add", [made[0], self.random((4,), self.of(a).dtype)])

    def op_image(self, _):
        a = self.value(lambda x: x.dtype == f32 and x.ndim == 4 and min(x.shape) > 0)
        channels = self.of(a).shape[1]
        kind = self.pick.randrange(6)
        if kind < 2:
            filters = self.pick.choice([1, 8, 16])
            conv = self.node("Conv", [a, self.random((filters, channels, 3, 3), f32)], pads=[1] * 4, strides=[self.pick.choice([1, 2])] * 2)
            if conv and self.pick.random() < 0.5:
                vectors = [self.constant(self.numbers.uniform(0.5, 1.5, filters), f32) for _ in range(4)]
                self.node("BatchNormalization", conv + vectors)
        elif kind == 2:
            self.node(self.pick.choice(["MaxPool", "AveragePool"]), [a], kernel_shape=[2, 2], pads=[0, 0, 1, 1], ceil_mode=self.pick.choice([0, 1]))
        elif kind == 3:
            self.node(self.pick.choice(["GlobalAveragePool", "GlobalMaxPool"]), [a])
        elif kind == 4:
            self.node("Resize", [a, "", self.constant([1, 1, 2, self.pick.choice([1, 0.5])], f32)], mode=self.pick.choice(["nearest", "linear"]))
        else:
            self.node("ConvTranspose", [a, self.random((channels, 8, 2, 2), f32)], strides=[2, 2])

    op_image_again = op_image

    def outputs(self):
        """What nothing reads, and some of the others."""
        read = {name for n in self.nodes for name in n.input}
        return [o for n in self.nodes for o in n.output if o not in read or self.pick.random() < 0.15]
