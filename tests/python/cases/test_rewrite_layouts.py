"""What stands between convolutions minds its axes: layouts with blocked channels are the compiler's own affair."""

import numpy as np
import pytest

from oracle import check, f32, levels, make_model, random

ints = lambda *values: np.array(values)
floats = lambda *values: np.array(values, f32)

# Nodes that read the image c of 16 channels and give q (and r); constants.
NEIGHBOURS = {
    "concat-channels": ("q = Concat<axis=1>(c, c)", {}),
    "concat-rows": ("q = Concat<axis=-2>(c, c)", {}),
    "concat-batch": ("q = Concat<axis=0>(c, c)", {}),
    "split-even": ("q, r = Split<axis=1, num_outputs=2>(c)", {}),
    "split-uneven": ("q, r = Split<axis=1>(c, k)", {"k": ints(5, 11)}),
    "slice-channels": ("q = Slice(c, a, b, axis, step)", {"a": ints(1), "b": ints(15), "axis": ints(1), "step": ints(3)}),
    "slice-channels-backwards": ("q = Slice(c, a, b, axis, step)", {"a": ints(-1), "b": ints(-99), "axis": ints(1), "step": ints(-2)}),
    "slice-image": ("q = Slice(c, a, b, axes)", {"a": ints(1, 2), "b": ints(7, 9), "axes": ints(2, 3)}),
    "roll": ("m = Slice(c, z, a, axis); n = Slice(c, a, b, axis); q = Concat<axis=3>(n, m)", {"z": ints(0), "a": ints(3), "b": ints(99), "axis": ints(3)}),
    "pad-channels": ("q = Pad(c, k)", {"k": ints(0, 1, 0, 0, 0, 2, 1, 0)}),
    "pad-reflect": ('q = Pad<mode="reflect">(c, k)', {"k": ints(0, 0, 1, 2, 0, 0, 2, 0)}),
    "resize": ('q = Resize<mode="nearest">(c, , k)', {"k": floats(1, 1, 2, 1.5)}),
    "resize-channels": ('q = Resize<mode="nearest">(c, , k)', {"k": floats(1, 0.5, 1, 1)}),
    "mean-of-image": ("q = ReduceMean(c, k)", {"k": ints(2, 3)}),
    "largest-channel": ("q = ReduceMax(c, k)", {"k": ints(1)}),
    "sum-of-channels": ("q = ReduceSum<keepdims=0>(c, k)", {"k": ints(1)}),
    "softmax-channels": ("q = Softmax<axis=1>(c)", {}),
    "log-softmax-rows": ("q = LogSoftmax<axis=2>(c)", {}),
    "reshape": ("q = Reshape(c, k)", {"k": ints(0, 8, 2, 9, 9)}),
    "flatten": ("q = Flatten(c)", {}),
    "channels-last": ("q = Transpose<perm=[0, 2, 3, 1]>(c)", {}),
    "depth-to-space": ("q = DepthToSpace<blocksize=2>(c)", {}),
    "depth-to-space-CRD": ('q = DepthToSpace<blocksize=2, mode="CRD">(c)', {}),
    "space-to-depth": ("q = SpaceToDepth<blocksize=3>(c)", {}),
    "instance-norm": ("q = InstanceNormalization(c, k, m)", {"k": random((16,)), "m": random((16,), f32, 1)}),
    "group-norm": ("q = GroupNormalization<num_groups=2>(c, k, k)", {"k": floats(1, 2)}),
    "layer-norm-columns": ("q = LayerNormalization(c, k)", {"k": random((9,))}),
    "layer-norm-all": ("q = LayerNormalization<axis=1>(c, k)", {"k": random((16, 9, 9))}),
    "slope-of-channels": ("q = PRelu(c, k)", {"k": random((16, 1, 1))}),
    "slope-of-columns": ("q = PRelu(c, k)", {"k": random((9,))}),
    "add-columns": ("q = Add(c, k)", {"k": random((9,))}),
    "scale-pixels": ("q = Mul(c, k)", {"k": random((9, 9))}),
    "add-batch": ("q = Add(c, k)", {"k": random((2, 1, 1, 1))}),
    "one-axis-more": ("q = Expand(c, k)", {"k": ints(2, 1, 1, 1, 1)}),
    "bounds": ("m = Max(c, k); q = Min(m, n)", {"k": random((9,)), "n": random((16, 1, 1))}),
    "where": ("m = Less(c, k); q = Where(m, k, c)", {"k": np.float32(0.3)}),
    "max-pool-indices": ("q, r = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(c)", {}),
    "average-pool": ("q = AveragePool<kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1, ceil_mode=1, strides=[2, 2]>(c)", {}),
    "largest-place": ("q = ArgMax<axis=1>(c)", {}),
    "best-channels": ("q, r = TopK<axis=1>(c, k)", {"k": ints(3)}),
    "pick-channels": ("q = Gather<axis=1>(c, k)", {"k": ints(3, -1)}),
    "running-sum": ("q = CumSum(c, k)", {"k": np.array(1)}),
    "scatter": ("q = ScatterElements<axis=1>(c, k, m)", {"k": np.tile(np.array([0, 5, 2]).reshape(1, 3, 1, 1), (2, 1, 9, 9)), "m": random((2, 3, 9, 9))}),
    "shape": ("q = Shape(c)", {}),
    "rows-times-matrix": ("q = MatMul(c, k)", {"k": random((9, 4))}),
    "products-of-channels": ('q = Einsum<equation="bchw,bdhw->bcd">(c, c)', {}),
    "sample": ("q = GridSample(c, k)", {"k": random((2, 4, 5, 2), low=-1, high=1)}),
    "transposed-convolution": ("q = ConvTranspose<strides=[2, 2]>(c, k)", {"k": random((16, 4, 3, 3))}),
    "depthwise": ("q = Conv<group=16, pads=[1, 1, 1, 1]>(c, k)", {"k": random((16, 1, 3, 3))}),
    "groups": ("q = Conv<group=4>(c, k)", {"k": random((8, 4, 3, 3))}),
}  # fmt: skip
W1, W2 = random((16, 3, 3, 3), f32, 1) * f32.type(0.3), random((16, 16, 3, 3), f32, 2) * f32.type(0.1)


@levels
@pytest.mark.parametrize("row", NEIGHBOURS)
def test_neighbours_of_convolutions(row, level):
    """Between two convolutions, and after the second one with nothing that wants the plain layout."""
    text, constants = NEIGHBOURS[row]
    x = random((2, 3, 9, 9))
    outputs = ["y", "q"] + (["r"] if "q, r" in text else [])
    first = f"d = Conv<pads=[1, 1, 1, 1]>(x, w1); c = Relu(d); {text}; y = Conv<pads=[1, 1, 1, 1]>(c, w2)"
    for spec in (x, (f32, ["N", 3, "H", "W"])):
        model = make_model(first, {"x": spec}, outputs, {"w1": W1, "w2": W2, **constants})
        check(model, {"x": x}, level=level, peers=("onnxruntime",), rtol=1e-3, atol=1e-4)
    last = f"d = Conv<pads=[1, 1, 1, 1]>(x, w1); c = Conv<pads=[1, 1, 1, 1]>(d, w2); {text}; y = Cast<to=1>(q)"
    model = make_model(last, {"x": x}, outputs, {"w1": W1, "w2": W2, **constants})
    check(model, {"x": x}, level=level, peers=("onnxruntime",), rtol=1e-3, atol=1e-4)
