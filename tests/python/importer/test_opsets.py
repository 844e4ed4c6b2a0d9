"""Older forms of operators against ONNX Runtime, which runs them as they were (from opset 7 on)."""

import numpy as np
import pytest

from oracle import check, f32, i64, levels, make_model, random

X = random((2, 3, 4), f32, "x")
IMAGE = random((1, 4, 6, 6), f32, "image")


def case(opset, text, inputs, id=None, outputs="y", constants=None):
    name = id or text.split("=")[1].split("(")[0].split("<")[0].strip()
    return pytest.param(opset, text, inputs, outputs, constants or {}, id=f"{name}-{opset}")


CASES = [
    # axes and the like as attributes
    case(12, "y = Squeeze<axes=[0, -1]>(x)", {"x": random((1, 3, 1))}),
    case(7, "y = Squeeze(x)", {"x": random((1, 3, 1))}, "Squeeze all"),
    case(11, "y = Unsqueeze<axes=[0, 3]>(x)", {"x": random((3, 4))}),
    case(9, "y = Slice<starts=[1, 0], ends=[3, 1000], axes=[2, 0]>(x)", {"x": X}),
    case(9, "y = Slice<starts=[0, -2], ends=[1, 3]>(x)", {"x": X}, "Slice without axes"),
    case(12, "a, b = Split<axis=2, split=[1, 3]>(x)", {"x": X}, "Split sizes", "a,b"),
    case(12, "a, b = Split<axis=2>(x)", {"x": X}, "Split equal", "a,b"),
    case(13, "a, b = Split<axis=2>(x)", {"x": X}, "Split equal", "a,b"),
    case(9, "y, i = TopK<k=2, axis=1>(x)", {"x": X}, None, "y,i"),
    case(10, "y, i = TopK<axis=-1>(x, k)", {"x": X}, None, "y,i", {"k": np.array([2], i64)}),
    case(10, "y = Clip<min=-1.0, max=0.5>(x)", {"x": X}),
    case(10, "y = Clip<max=0.5>(x)", {"x": X}, "Clip above"),
    case(10, "y = Pad<pads=[0, 0, 1, 0, 0, 2], value=1.5>(x)", {"x": X}),
    case(7, 'y = Pad<mode="reflect", pads=[0, 0, 1, 0, 0, 2]>(x)', {"x": X}, "Pad reflect"),
    case(12, "y = ReduceSum<axes=[1], keepdims=0>(x)", {"x": X}),
    *[
        case(17, f"y = {op}<axes=[0, 2]>(x)", {"x": np.abs(X) + 0.1}, op)
        for op in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin")
        + ("ReduceProd", "ReduceSumSquare")
    ],
    case(13, "y = ReduceMean(x)", {"x": X}, "ReduceMean all"),
    case(11, "y = Dropout<ratio=0.3>(x)", {"x": X}),
    case(7, "y = Dropout<ratio=0.3>(x)", {"x": X}),
    # softmax over everything from the axis on
    *[
        case(opset, f"y = {op}<axis={axis}>(x)", {"x": X}, f"{op} {axis}")
        for op in ("Softmax", "LogSoftmax", "Hardmax")
        for opset, axis in ((7, 0), (9, 1), (11, 2), (12, -2))
    ],
    case(11, "y = Softmax(x)", {"x": X}, "Softmax default"),
    case(11, "y = Softmax(x)", {"x": random((2, 5, 1, 1))}, "Softmax alone"),
    # normalisation
    *[
        case(
            opset,
            "y = BatchNormalization<epsilon=0.01>(x, s, b, m, v)",
            {"x": X},
            constants={n: np.abs(random((3,), f32, n)) + 0.1 for n in "sbmv"},
        )
        for opset in (7, 9, 14)
    ],
    # resizing
    *[
        case(9, f'y = Upsample<mode="{mode}">(x, s)', {"x": IMAGE}, f"Upsample {mode}", constants={"s": scales})
        for mode, scales in (("nearest", np.array([1, 1, 2, 3], f32)), ("linear", np.array([1, 1, 2, 2], f32)))
    ],
    case(7, 'y = Upsample<mode="nearest", scales=[1.0, 1.0, 2.0, 2.0]>(x)', {"x": IMAGE}),
    *[
        case(10, f'y = Resize<mode="{mode}">(x, s)', {"x": IMAGE}, f"Resize {mode} {scale}", constants={"s": np.array([1, 1, *scale], f32)})
        for mode, scale in (("nearest", (0.6, 0.6)), ("nearest", (1.5, 2.5)), ("linear", (2, 1.5)), ("linear", (0.5, 0.5)))
    ],
    # pooling and matrices
    case(7, "y = AveragePool<kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1>(x)", {"x": IMAGE}),
    case(8, "y = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(x)", {"x": IMAGE}),
    case(7, "y = Gemm<transB=1, alpha=0.5>(a, b, c)", {"a": random((2, 3)), "b": random((4, 3)), "c": random((4,))}),
    case(9, "y = Scatter<axis=1>(x, i, u)", {"x": random((2, 3)), "i": np.array([[2, 0], [1, 2]], i64), "u": random((2, 2), f32, "u")}),
    # forms whose numbers stayed
    case(7, "y = Add(x, b)", {"x": X, "b": random((4,), f32, "b")}),
    case(7, "y = PRelu(x, s)", {"x": X, "s": random((3, 1), f32, "s")}),
    case(9, "y = Cast<to=7>(x)", {"x": X}),
    case(7, "y = Selu(x)", {"x": X}),
    case(8, "y = Reshape(x, s)", {"x": X}, constants={"s": np.array([0, -1], i64)}),
    case(7, "y = Concat<axis=-1>(x, x)", {"x": X}),
    case(13, "y = Shape(x)", {"x": X}),
    case(11, "y = GatherND(x, i)", {"x": X, "i": np.array([[0, 1], [1, 2]], i64)}),
    case(11, "y = DepthToSpace<blocksize=2>(x)", {"x": IMAGE}),
]


@levels
@pytest.mark.parametrize("opset, text, inputs, outputs, constants", CASES)
def test_old_form(opset, text, inputs, outputs, constants, level):
    model = make_model(text, inputs, outputs.split(","), constants, opset=opset, ir_version=4 if opset < 13 else 7)
    check(model, inputs, level=level, peers=("onnxruntime",))


@levels
def test_symbolic_shapes_reach_the_upgraded_form(level):
    """Softmax of opset 11 flattens: with a dynamic batch and length the shape is computed at run time."""
    model = make_model("y = Softmax(x)", {"x": (f32, ("N", "C", "L"))}, ["y"], opset=11, ir_version=4)
    for shape in ((2, 3, 4), (1, 5, 1), (0, 3, 2)):
        check(model, {"x": random(shape)}, level=level, peers=("onnxruntime",))
