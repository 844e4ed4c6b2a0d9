"""Parts of transformers in the decomposed forms that PyTorch's exporter writes.

Scales: normalised activations have unit variance, so weights of deviation `gain / sqrt(inputs)` give outputs of deviation
`gain`. Queries and keys get a gain well above what trained models start from, because attention that is all but uniform would
hide wrong queries, keys and masks. What attention and feed-forward layers add to the residual stream is kept smaller than the
stream, and does not see the common mean of GELU's outputs: tokens would grow alike from layer to layer otherwise, and then
attention could do what it likes.
"""

import numpy as np

from .builder import GraphBuilder

QUERY_KEY_GAIN = 1.5
RESIDUAL_GAIN = 0.5


class TransformerBuilder(GraphBuilder):
    """A GraphBuilder with linear layers, normalisations, GELU and attention; methods take and return value names."""

    def vector(self, name, size, std=0.1, mean=0.0):
        return self.normal(name, (size,), std, mean)

    def dense_weight(self, inputs, outputs, gain=1.0, centred=False):
        """A matrix (inputs, outputs) that multiplies deviations by `gain`; a centred one is blind to the mean of its inputs."""
        values = self.draw("weight", (inputs, outputs))
        if centred:
            values -= values.mean(axis=0)
        values *= np.float32(gain / np.sqrt(inputs))
        return self.weight("weight", values)

    def linear(self, x, name, inputs, outputs, gain=1.0, centred=False):
        """A dense layer on (..., inputs): MatMul with the transposed weight, and Add with the bias first."""
        with self.scope(name):
            weight = self.dense_weight(inputs, outputs, gain, centred)
            bias = self.vector("bias", outputs, 0.1 * gain)
            return self.node("Add", [bias, self.node("MatMul", [x, weight])])

    def layer_norm(self, x, name, size, epsilon):
        """Layer normalisation over the last axis: one node from opset 17, the ReduceMean/Sub/Pow/Sqrt/Div chain before."""
        with self.scope(name):
            scale, shift = self.vector("weight", size, mean=1.0), self.vector("bias", size)
            if self.opset >= 17:
                return self.node("LayerNormalization", [x, scale, shift], axis=-1, epsilon=epsilon)
            centred = self.node("Sub", [x, self.reduce("ReduceMean", x, [-1])])
            variance = self.reduce("ReduceMean", self.node("Pow", [centred, self.const(2.0)]), [-1])
            deviation = self.node("Sqrt", [self.node("Add", [variance, self.const(epsilon)])])
            normal = self.node("Div", [centred, deviation])
            return self.node("Add", [self.node("Mul", [normal, scale]), shift])

    def gelu_erf(self, x):
        y = self.node("Erf", [self.node("Div", [x, self.const(float(np.sqrt(2)))])])
        y = self.node("Mul", [x, self.node("Add", [y, self.const(1.0)])])
        return self.node("Mul", [y, self.const(0.5)])

    def gelu_tanh(self, x):
        """0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as GPT-2 writes it."""
        half = self.node("Mul", [x, self.const(0.5)])
        cubic = self.node("Mul", [self.node("Pow", [x, self.const(3.0)]), self.const(0.044715)])
        inner = self.node("Mul", [self.node("Add", [x, cubic]), self.const(float(np.sqrt(2 / np.pi)))])
        return self.node("Mul", [half, self.node("Add", [self.node("Tanh", [inner]), self.const(1.0)])])

    def split_heads(self, x, heads, size, perm=(0, 2, 1, 3)):
        """(batch, seq, heads * size) to (batch, heads, seq, size), by Shape, Gather, Concat, Reshape and Transpose."""
        split = self.reshape(x, [self.dim(x, 0), self.dim(x, 1), heads, size])
        return self.transpose(split, list(perm))

    def merge_heads(self, x, hidden):
        """(batch, heads, seq, size) to (batch, seq, hidden)."""
        x = self.transpose(x, [0, 2, 1, 3])
        return self.reshape(x, [self.dim(x, 0), self.dim(x, 1), hidden])

    def additive_mask(self, mask, lowest):
        """(batch, seq) of ones and zeros to (batch, 1, 1, seq) of 0 and `lowest`."""
        wide = self.cast(self.unsqueeze(self.unsqueeze(mask, [1]), [2]), np.float32)
        return self.node("Mul", [self.node("Sub", [self.const(1.0), wide]), self.const(lowest)])
