"""Conv and ConvTranspose in one to three dimensions: strides, pads, dilations, groups, auto_pad, odd channel counts, every float type."""

import numpy as np
import pytest

from ops.conv_oracle import conv, conv_transpose, same_pads
from ops.table import OPSET, each_type, modes, verify, verify_node
from oracle import bf16, f16, f32, f64, i8, i32, make_model, node, random, u8

LOOSE = {f16: 2e-2, bf16: 0.1, f32: 5e-5, f64: 1e-9}

# name: (shape of x, shape of w, attributes)
CONVS = {
    "1d": ((2, 3, 9), (4, 3, 3), {}),
    "1d-stride-pad": ((1, 2, 10), (3, 2, 4), dict(strides=[3], pads=[2, 1])),
    "1d-dilated": ((1, 2, 12), (3, 2, 3), dict(dilations=[3])),
    "2d": ((2, 3, 6, 7), (4, 3, 3, 3), {}),
    "2d-pad": ((1, 3, 6, 7), (4, 3, 3, 3), dict(pads=[1, 1, 1, 1])),
    "2d-stride": ((1, 3, 9, 9), (8, 3, 3, 3), dict(strides=[2, 2], pads=[1, 1, 1, 1])),
    "2d-asymmetric": ((1, 2, 5, 8), (3, 2, 2, 3), dict(strides=[1, 2], pads=[0, 2, 1, 0])),
    "2d-dilated": ((1, 2, 9, 9), (3, 2, 3, 3), dict(dilations=[2, 3], pads=[2, 3, 2, 3])),
    "2d-1x1": ((2, 5, 4, 4), (7, 5, 1, 1), {}),
    "2d-1x1-stride": ((1, 5, 5, 5), (7, 5, 1, 1), dict(strides=[2, 2])),
    "2d-1x1-pad": ((1, 2, 3, 3), (3, 2, 1, 1), dict(pads=[1, 0, 0, 1])),
    "2d-depthwise": ((1, 6, 7, 7), (6, 1, 3, 3), dict(group=6, pads=[1, 1, 1, 1])),
    "2d-depthwise-stride": ((2, 9, 8, 8), (9, 1, 5, 5), dict(group=9, strides=[2, 2], pads=[2, 2, 2, 2])),
    "2d-depthwise-multiplier": ((1, 3, 5, 5), (6, 1, 3, 3), dict(group=3)),
    "2d-groups": ((1, 8, 5, 5), (6, 4, 3, 3), dict(group=2)),
    "2d-5x5": ((1, 4, 9, 9), (5, 4, 5, 5), dict(pads=[2, 2, 2, 2])),
    "2d-whole-image": ((2, 3, 4, 5), (6, 3, 4, 5), {}),
    "2d-kernel-larger-with-pad": ((1, 1, 2, 2), (1, 1, 5, 5), dict(pads=[2, 2, 2, 2])),
    "2d-16-channels": ((1, 16, 6, 6), (32, 16, 3, 3), dict(pads=[1, 1, 1, 1])),
    "2d-17-channels": ((1, 17, 5, 5), (19, 17, 3, 3), {}),
    "2d-stride-beyond-kernel": ((1, 2, 9, 9), (2, 2, 2, 2), dict(strides=[4, 3])),
    "2d-tall": ((1, 3, 12, 1), (4, 3, 3, 1), {}),
    "3d": ((1, 2, 4, 5, 6), (3, 2, 2, 3, 2), {}),
    "3d-stride-pad": ((1, 2, 5, 5, 5), (4, 2, 3, 3, 3), dict(strides=[2, 1, 2], pads=[1, 0, 1, 1, 1, 0])),
    "3d-depthwise": ((1, 3, 4, 4, 4), (3, 1, 2, 2, 2), dict(group=3)),
}
CONTROL = ("strides", "pads", "dilations", "group")


@modes
@pytest.mark.parametrize("bias", [False, True], ids=["", "bias"])
@pytest.mark.parametrize("name", CONVS)
def test_conv(name, bias, mode):
    """Weights constant, and weights that come at run time."""
    x_shape, w_shape, attributes = CONVS[name]
    feeds = {"x": random(x_shape), "w": random(w_shape, f32, "w")} | (
        {"b": random(w_shape[:1], f32, "b")} if bias else {}
    )
    want = conv(*feeds.values(), **attributes)
    for constants in (("w", "b"), ()):
        verify_node(
            "Conv",
            feeds,
            want,
            mode,
            peers=(),
            constants=tuple(c for c in constants if c in feeds),
            rtol=5e-5,
            atol=5e-5,
            **attributes,
        )


@modes
@pytest.mark.parametrize("name", ["1d", "2d-stride", "2d-depthwise", "3d"])
def test_conv_with_unknown_sizes(name, mode):
    if mode == "folded":
        pytest.skip("nothing is unknown when all is constant")
    x_shape, w_shape, attributes = CONVS[name]
    w = random(w_shape, f32, "w")
    for spec in (
        [f"d{i}" for i in range(len(x_shape))],
        ["n", *x_shape[1:]],
        [x_shape[0], x_shape[1], *[f"s{i}" for i in range(len(x_shape) - 2)]],
    ):
        model = make_model(
            [node("Conv", "x,w", "y", **attributes)], {"x": (f32, spec)}, {"y": f32}, {"w": w}, opset=OPSET
        )
        x = random(x_shape)
        verify(model, {"x": x}, conv(x, w, **attributes), mode, peers=(), rtol=5e-5, atol=5e-5)


@modes
@each_type(["Conv", "ConvTranspose"])
def test_types(op, dtype, mode):
    x = random((1, 3, 5, 5), dtype)
    w = random((4, 3, 3, 3) if op == "Conv" else (3, 4, 3, 3), dtype, "w")
    b = random((4,), dtype, "b")
    want = (conv if op == "Conv" else conv_transpose)(x, w, b, pads=[1, 0, 0, 1], strides=[2, 1])
    verify_node(
        op,
        {"x": x, "w": w, "b": b},
        want,
        mode,
        peers=(),
        rtol=LOOSE[dtype],
        atol=LOOSE[dtype],
        pads=[1, 0, 0, 1],
        strides=[2, 1],
    )


@modes
@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
def test_auto_pad(auto_pad, stride, dilation, mode):
    x, w = random((1, 2, 7, 8)), random((3, 2, 3, 2), f32, "w")
    strides, dilations = [stride] * 2, [dilation] * 2
    pads = (
        same_pads(x.shape[2:], w.shape[2:], strides, dilations, auto_pad == "SAME_UPPER")
        if "SAME" in auto_pad
        else None
    )
    want = conv(x, w, strides=strides, pads=pads, dilations=dilations)
    verify_node(
        "Conv",
        {"x": x, "w": w},
        want,
        mode,
        peers=(),
        auto_pad=auto_pad,
        strides=strides,
        dilations=dilations,
        rtol=5e-5,
        atol=5e-5,
    )


TRANSPOSED = {
    "1d": ((2, 3, 5), (3, 4, 3), {}),
    "1d-stride": ((1, 2, 4), (2, 3, 3), dict(strides=[2], pads=[1, 0])),
    "2d": ((1, 3, 4, 5), (3, 2, 3, 3), {}),
    "2d-stride-2": ((1, 4, 3, 3), (4, 5, 2, 2), dict(strides=[2, 2])),
    "2d-pad": ((1, 2, 4, 4), (2, 3, 4, 4), dict(strides=[2, 2], pads=[1, 1, 1, 1])),
    "2d-output-padding": ((1, 2, 3, 3), (2, 3, 3, 3), dict(strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])),
    "2d-dilated": ((1, 2, 3, 4), (2, 2, 2, 2), dict(dilations=[2, 3])),
    "2d-groups": ((1, 4, 3, 3), (4, 3, 3, 3), dict(group=2)),
    "2d-depthwise": ((1, 3, 4, 4), (3, 1, 3, 3), dict(group=3, strides=[2, 2])),
    "2d-kernel-below-stride": ((1, 2, 3, 3), (2, 2, 1, 1), dict(strides=[3, 2])),
    "3d": ((1, 2, 2, 3, 2), (2, 3, 2, 2, 2), dict(strides=[2, 1, 2])),
}


@modes
@pytest.mark.parametrize("bias", [False, True], ids=["", "bias"])
@pytest.mark.parametrize("name", TRANSPOSED)
def test_conv_transpose(name, bias, mode):
    x_shape, w_shape, attributes = TRANSPOSED[name]
    group = attributes.get("group", 1)
    feeds = {"x": random(x_shape), "w": random(w_shape, f32, "w")} | (
        {"b": random((w_shape[1] * group,), f32, "b")} if bias else {}
    )
    want = conv_transpose(*feeds.values(), **attributes)
    for constants in (("w", "b"), ()):
        verify_node(
            "ConvTranspose",
            feeds,
            want,
            mode,
            peers=(),
            constants=tuple(c for c in constants if c in feeds),
            rtol=5e-5,
            atol=5e-5,
            **attributes,
        )


@modes
@pytest.mark.parametrize(
    "attributes",
    [
        dict(strides=[2, 2], output_shape=[7, 8]),
        dict(strides=[2, 2], auto_pad="SAME_UPPER"),
        dict(strides=[2, 2], auto_pad="SAME_LOWER"),
        dict(strides=[3, 2], output_shape=[9, 6], auto_pad="SAME_LOWER"),
        dict(auto_pad="VALID", strides=[2, 2]),
    ],
    ids=lambda a: "-".join(f"{k}={v}" for k, v in a.items()).replace(" ", ""),
)
def test_conv_transpose_shapes(attributes, mode):
    """output_shape and auto_pad, against the peers."""
    verify_node(
        "ConvTranspose",
        {"x": random((1, 2, 3, 3)), "w": random((2, 3, 3, 3), f32, "w")},
        None,
        mode,
        peers=("onnxruntime",),
        rtol=5e-5,
        atol=5e-5,
        **attributes,
    )


@modes
@pytest.mark.parametrize("name", CONVS)
def test_against_the_peers(name, mode):
    x_shape, w_shape, attributes = CONVS[name]
    verify_node(
        "Conv",
        {"x": random(x_shape), "w": random(w_shape, f32, "w")},
        None,
        mode,
        peers=("onnxruntime",),
        rtol=5e-5,
        atol=5e-5,
        **attributes,
    )


@modes
@pytest.mark.parametrize("zeros", ["none", "scalars"])
@pytest.mark.parametrize("x_type", [i8, u8], ids=str)
def test_conv_integer(x_type, zeros, mode):
    x, w = random((1, 2, 5, 5), x_type, "x", low=-128, high=256), random((3, 2, 3, 3), x_type, "w", low=-128, high=256)
    feeds = {"x": x, "w": w} | ({"xz": np.array(3, x_type), "wz": np.array(2, x_type)} if zeros == "scalars" else {})
    shift = (3, 2) if zeros == "scalars" else (0, 0)
    # What is padded is the zero point, that is 0 after the subtraction.
    want = conv(x.astype(i32) - shift[0], w.astype(i32) - shift[1], pads=[1, 1, 0, 0])
    verify_node(
        "ConvInteger",
        feeds,
        want.astype(i32),
        mode,
        peers=(),
        pads=[1, 1, 0, 0],
        constants=tuple(n for n in feeds if n != "x"),
    )


@modes
@pytest.mark.parametrize("activation", ["Relu", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Elu"])
@pytest.mark.parametrize("name", ["2d-pad", "2d-depthwise", "2d-1x1", "1d", "3d"])
def test_conv_with_activation(name, activation, mode):
    """The chain that every optimiser fuses, against the unfused formula."""
    x_shape, w_shape, attributes = CONVS[name]
    x, w, b = random(x_shape), random(w_shape, f32, "w"), random(w_shape[:1], f32, "b")
    model = make_model(
        [node("Conv", "x,w,b", "c", **attributes), node(activation, "c", "y")],
        {"x": x},
        {"y": f32},
        {"w": w, "b": b},
        opset=OPSET,
    )
    c = conv(x, w, b, **attributes).astype(f64)
    want = {
        "Relu": np.maximum(c, 0),
        "Sigmoid": 1 / (1 + np.exp(-c)),
        "Tanh": np.tanh(c),
        "HardSwish": c * np.clip(c / 6 + 0.5, 0, 1),
        "LeakyRelu": np.where(c < 0, 0.01 * c, c),
        "Elu": np.where(c < 0, np.expm1(np.minimum(c, 0)), c),
    }[activation].astype(f32)
    verify(model, {"x": x}, want, mode, peers=(), rtol=1e-4, atol=1e-4)
