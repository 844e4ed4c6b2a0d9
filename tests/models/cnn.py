"""Convolutional networks with weights that are calibrated while the graph is built.

A network of random weights that nobody trained loses its signal: per-channel means drown the part of the activations that
depends on the input, and running statistics that do not fit shrink or blow up the rest layer by layer. So every value carries
the activations of a small calibration batch, computed in NumPy: batch normalisation takes its running statistics from them,
and layers without one are scaled to unit variance by them.
"""

import dataclasses

import numpy as np

from .builder import GraphBuilder, rng_for


@dataclasses.dataclass(frozen=True)
class Activation:
    """A value of the graph and what the calibration batch gives there (N, C, H, W or N, C)."""

    name: str
    data: np.ndarray

    @property
    def channels(self):
        return self.data.shape[1]


def smooth_images(rng, shape):
    """Random pictures of (N, C, H, W) with mean 0 and deviation 1: noise at several scales, as photographs have."""
    n, c, h, w = shape
    total = np.zeros(shape, np.float32)
    cell = 1
    while cell <= max(h, w):
        coarse = rng.standard_normal((n, c, -(-h // cell), -(-w // cell)), dtype=np.float32)
        total += coarse.repeat(cell, 2).repeat(cell, 3)[:, :, :h, :w]
        cell *= 4
    return (total - total.mean()) / total.std()


def image_inputs(rng, batch=1, height=224, width=224):
    """Inputs of the classifiers here."""
    return {"input": smooth_images(rng, (batch, 3, height, width))}


class CnnBuilder(GraphBuilder):
    """A GraphBuilder with the layers of image classifiers; its methods take and return `Activation`s."""

    def image(self, name, size, calibration=(4, 96)):
        """The input: (batch, 3, size, size), or symbolic height and width where `size` is None."""
        count, side = calibration
        spatial = [size, size] if size else ["height", "width"]
        self.input(name, ["batch", 3, *spatial])
        return Activation(name, smooth_images(rng_for("calibration"), (count, 3, side, side)))

    def conv(self, x, name, channels, kernel, stride=1, padding=0, group=1, bias=False, unit=False):
        """Conv with He-scaled weights. With `unit`, outputs have deviation 1, and mean 1 where there is a bias."""
        rng = rng_for(self.name, *self._scopes, name)
        fan_in = x.channels // group * kernel * kernel
        weight = rng.standard_normal((channels, x.channels // group, kernel, kernel), dtype=np.float32)
        weight *= np.float32(np.sqrt(2 / fan_in))
        data = _conv(x.data, weight, stride, padding, group)
        if unit:
            # Filters that sum to zero do not see the common mean of post-ReLU channels.
            weight -= weight.mean(axis=(1, 2, 3), keepdims=True)
            data = _conv(x.data, weight, stride, padding, group)
            weight /= data.std()
            data /= data.std()
        operands = [x.name, self.weight(f"{name}.weight", weight)]
        if bias:
            shift = np.float32(unit) + 0.2 * rng.standard_normal(channels, dtype=np.float32)
            operands.append(self.weight(f"{name}.bias", shift))
            data = data + shift[:, None, None]
        with self.scope(name):
            result = self.node(
                "Conv",
                operands,
                dilations=[1, 1],
                group=group,
                kernel_shape=[kernel, kernel],
                pads=[padding] * 4,
                strides=[stride, stride],
            )
        return Activation(result, data)

    def batch_norm(self, x, name, scale=1.0, shift=1.0):
        """BatchNormalization whose running statistics fit, roughly as in training, the calibration batch.

        Outputs have the deviation `scale` and the mean `shift * scale`. Before a Relu the shift is 1: around 0 a chain of
        normalisations and Relus amplifies differences by a fifth a layer, and so rounding errors beyond any tolerance.
        """
        rng = rng_for(self.name, *self._scopes, name)
        c = x.channels
        mean, std = x.data.mean(axis=(0, 2, 3)), x.data.std(axis=(0, 2, 3))
        # A dead channel must not be blown up.
        std = np.maximum(std, 0.2 * np.sqrt((std**2).mean()))
        gamma = (scale * rng.uniform(0.7, 1.3, c)).astype(np.float32)
        beta = (scale * (shift + 0.2 * rng.standard_normal(c))).astype(np.float32)
        mean = (mean + 0.1 * std * rng.standard_normal(c)).astype(np.float32)
        var = (std**2 * rng.uniform(0.8, 1.25, c)).astype(np.float32)
        operands = [
            self.weight(f"{name}.{part}", values)
            for part, values in (("weight", gamma), ("bias", beta), ("running_mean", mean), ("running_var", var))
        ]
        with self.scope(name):
            result = self.node("BatchNormalization", [x.name, *operands], epsilon=1e-5, momentum=0.9)
        factor = gamma / np.sqrt(var + 1e-5)
        return Activation(result, x.data * factor[:, None, None] + (beta - mean * factor)[:, None, None])

    def relu(self, x):
        return Activation(self.node("Relu", [x.name]), np.maximum(x.data, 0))

    def relu6(self, x):
        name = self.node("Clip", [x.name, self.const(0.0), self.const(6.0)])
        return Activation(name, np.clip(x.data, 0, 6))

    def add(self, x, y):
        return Activation(self.node("Add", [x.name, y.name]), x.data + y.data)

    def concat(self, values):
        if len(values) == 1:
            return values[0]
        name = self.node("Concat", [v.name for v in values], axis=1)
        return Activation(name, np.concatenate([v.data for v in values], axis=1))

    def max_pool(self, x, kernel, stride, padding=0):
        name = self.node(
            "MaxPool",
            [x.name],
            kernel_shape=[kernel, kernel],
            pads=[padding] * 4,
            strides=[stride, stride],
            ceil_mode=0,
        )
        pads = ((0, 0), (0, 0), (padding, padding), (padding, padding))
        padded = np.pad(x.data, pads, constant_values=-np.inf)
        return Activation(name, _windows(padded, kernel, stride).max(axis=(4, 5)))

    def average_pool(self, x, kernel, stride):
        name = self.node(
            "AveragePool",
            [x.name],
            kernel_shape=[kernel, kernel],
            pads=[0] * 4,
            strides=[stride, stride],
            count_include_pad=1,
        )
        return Activation(name, _windows(x.data, kernel, stride).mean(axis=(4, 5)))

    def global_average_pool(self, x):
        name = self.node("GlobalAveragePool", [x.name])
        return Activation(name, x.data.mean(axis=(2, 3), keepdims=True))

    def flatten(self, x):
        return Activation(self.node("Flatten", [x.name], axis=1), x.data.reshape(len(x.data), -1))

    def linear(self, x, name, units, shift=0.0):
        """Gemm whose outputs have deviation 1 and mean `shift` over the calibration batch."""
        rng = rng_for(self.name, *self._scopes, name)
        weight = rng.standard_normal((units, x.channels), dtype=np.float32)
        weight -= weight.mean(axis=1, keepdims=True)
        weight /= (x.data @ weight.T).std()
        bias = np.float32(shift) + 0.2 * rng.standard_normal(units, dtype=np.float32)
        operands = [x.name, self.weight(f"{name}.weight", weight), self.weight(f"{name}.bias", bias)]
        with self.scope(name):
            result = self.node("Gemm", operands, alpha=1.0, beta=1.0, transB=1)
        return Activation(result, x.data @ weight.T + bias)


def _windows(x, kernel, stride):
    """(N, C, OH, OW, kernel, kernel): a view of all windows of a padded input."""
    view = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), axis=(2, 3))
    return view[:, :, ::stride, ::stride]


def _conv(x, weight, stride, padding, group):
    pads = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    windows = _windows(np.pad(x, pads), weight.shape[2], stride)
    if group == 1:
        n, _, oh, ow = windows.shape[:4]
        columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * oh * ow, -1)
        result = columns @ weight.reshape(len(weight), -1).T
        return np.ascontiguousarray(result.reshape(n, oh, ow, -1).transpose(0, 3, 1, 2))
    if group == x.shape[1] == len(weight):
        return np.einsum("nchwij,cij->nchw", windows, weight[:, 0], optimize=False)
    parts = zip(np.split(x, group, axis=1), np.split(weight, group), strict=True)
    return np.concatenate([_conv(part, w, stride, padding, 1) for part, w in parts], axis=1)
