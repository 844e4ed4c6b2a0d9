"""Normalisations and the softmax family: axes, epsilons, optional scales, older forms, every float type."""

import numpy as np
import pytest

from ops.table import OPSET, each_type, modes, types_of, verify, verify_node, wide
from oracle import assert_load_or_run_refused, bf16, f16, f32, f64, make_model, one_node, random

LOOSE = {f16: 1e-2, bf16: 6e-2, f32: 5e-5, f64: 1e-8}
STASHED = LOOSE | {f64: 5e-5}  # statistics are kept in float32 unless stash_type says otherwise
SHAPES = [
    ((2, 3, 4), 0),
    ((2, 3, 4), 1),
    ((2, 3, 4), 2),
    ((2, 3, 4), -1),
    ((5,), 0),
    ((3, 37), 1),
    ((37, 3), 0),
    ((1, 1), 1),
    ((2, 3, 4), -3),
]


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


SOFTMAXES = {
    "Softmax": softmax,
    "LogSoftmax": lambda x, axis: (
        x - x.max(axis, keepdims=True) - np.log(np.exp(x - x.max(axis, keepdims=True)).sum(axis, keepdims=True))
    ),
    "Hardmax": lambda x, axis: (
        np.expand_dims(x.argmax(axis), axis)
        == np.arange(x.shape[axis]).reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
    ).astype(f64),
}


@modes
@each_type([*SOFTMAXES])
def test_softmax(op, dtype, mode):
    for shape, axis in SHAPES:
        x = random(shape, dtype, op, low=-5, high=5)
        verify_node(
            op,
            {"x": x},
            wide(lambda v: SOFTMAXES[op](v, axis))(x),
            mode,
            peers=(),
            axis=axis,
            rtol=LOOSE[dtype],
            atol=LOOSE[dtype],
        )


@modes
@pytest.mark.parametrize("op", SOFTMAXES)
def test_softmax_of_large_values(op, mode):
    """No overflow at 1000, none at -1000."""
    x = np.array([[1000, 999, -1000], [-1000, -1001, -1002], [80, -80, 0]], f32)
    verify_node(op, {"x": x}, wide(lambda v: SOFTMAXES[op](v, -1))(x), mode, peers=(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("opset", [1, 11])
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize("op", SOFTMAXES)
def test_softmax_before_opset_13(op, axis, opset):
    """The tensor was flattened to two dimensions at the axis, which was 1 unless said."""
    x = random((2, 3, 4))
    rows = int(np.prod(x.shape[: 1 if axis is None else axis], dtype=int))
    want = wide(lambda v: SOFTMAXES[op](v.reshape(rows, -1), 1).reshape(v.shape))(x)
    verify_node(
        op, {"x": x}, want, opset=opset, peers=(), rtol=1e-5, atol=1e-6, **({} if axis is None else {"axis": axis})
    )


def batch_norm(x, scale, bias, mean, var, epsilon=1e-5):
    shape = [1, -1] + [1] * (x.ndim - 2)
    s, b, m, v = (a.reshape(shape) for a in (scale, bias, mean, var))
    return (x - m) / np.sqrt(v + epsilon) * s + b


@modes
@each_type(["BatchNormalization"])
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 5), (2, 3, 4, 5), (1, 3, 2, 2, 2), (2, 17, 3, 3)], ids=str)
def test_batch_normalization(op, dtype, shape, mode):
    c = shape[1]
    feeds = {
        "x": random(shape, dtype),
        "s": random((c,), dtype, "s"),
        "b": random((c,), dtype, "b"),
        "m": random((c,), dtype, "m"),
        "v": random((c,), dtype, "v", low=0.5),
    }
    want = wide(lambda *a: batch_norm(*a))(*feeds.values())
    for constants in (("s", "b", "m", "v"), ()):
        verify_node(op, feeds, want, mode, peers=(), constants=constants, rtol=LOOSE[dtype], atol=LOOSE[dtype])
    if dtype == f32:
        verify_node(op, feeds, batch_norm(*feeds.values(), 0.1), mode, peers=(), epsilon=0.1, rtol=5e-5, atol=5e-5)


@modes
def test_batch_normalization_training(mode):
    """training_mode: statistics of the batch, and running ones as outputs."""
    x, c = random((4, 3, 5)), 3
    feeds = {
        "x": x,
        "s": random((c,), f32, "s"),
        "b": random((c,), f32, "b"),
        "m": random((c,), f32, "m"),
        "v": random((c,), f32, "v", low=0.5),
    }
    mean, var = x.mean((0, 2)), x.var((0, 2))
    want = {
        "y": batch_norm(x, feeds["s"], feeds["b"], mean, var),
        "rm": feeds["m"] * 0.7 + mean * f32.type(0.3),
        "rv": feeds["v"] * 0.7 + var * f32.type(0.3),
    }
    want = {k: v.astype(f32) for k, v in want.items()}
    verify_node(
        "BatchNormalization",
        feeds,
        want,
        mode,
        outputs="y,rm,rv",
        peers=(),
        training_mode=1,
        momentum=0.7,
        rtol=1e-4,
        atol=1e-4,
    )


@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_batch_normalization_opsets(opset):
    feeds = {
        "x": random((2, 3, 4)),
        "s": random((3,), f32, "s"),
        "b": random((3,), f32, "b"),
        "m": random((3,), f32, "m"),
        "v": random((3,), f32, "v", low=0.5),
    }
    verify_node("BatchNormalization", feeds, batch_norm(*feeds.values()), opset=opset, peers=(), rtol=5e-5, atol=5e-5)


def layer_norm(x, axis, epsilon=1e-5):
    axes = tuple(range(axis % x.ndim, x.ndim))
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    inverse = 1 / np.sqrt(var + epsilon)
    return (x - mean) * inverse, mean, inverse


@modes
@each_type(["LayerNormalization"])
def test_layer_normalization(op, dtype, mode):
    for shape, axis in [((2, 3, 4), -1), ((2, 3, 4), 1), ((2, 3, 4), 0), ((5, 37), -1), ((6,), 0), ((2, 197), -1)]:
        x, s, b = random(shape, dtype), random(shape[axis:], dtype, "s"), random(shape[axis:], dtype, "b")
        for scale_bias in ([s], [s, b]):
            want = wide(lambda v, *p: layer_norm(v, axis)[0] * p[0] + (p[1] if len(p) > 1 else 0))(x, *scale_bias)
            feeds = {"x": x} | dict(zip("sb", scale_bias))
            verify_node(op, feeds, want, mode, peers=(), axis=axis, rtol=STASHED[dtype], atol=STASHED[dtype])


@modes
def test_layer_normalization_statistics(mode):
    """The optional outputs; the scale broadcasts."""
    x, s = random((2, 3, 4)), random((4,), f32, "s")
    y, mean, inverse = layer_norm(x.astype(f64), -1, 0.1)
    want = {"y": (y * s).astype(f32), "m": mean.astype(f32), "i": inverse.astype(f32)}
    verify_node(
        "LayerNormalization", {"x": x, "s": s}, want, mode, outputs="y,m,i", peers=(), epsilon=0.1, rtol=5e-5, atol=5e-5
    )
    one = np.array([2], f32)
    want = (layer_norm(x.astype(f64), 1)[0] * 2).astype(f32)
    verify_node("LayerNormalization", {"x": x, "s": one}, want, mode, peers=(), axis=1, rtol=5e-5, atol=5e-5)


@modes
def test_large_mean_is_accurate(mode):
    """Values around 10,000: the variance is not to be the difference of two large squares."""
    x = random((4, 64), f32, low=-1, high=1) + f32.type(10_000)
    s = np.ones(64, f32)
    want = layer_norm(x.astype(f64), -1)[0].astype(f32)
    verify_node("LayerNormalization", {"x": x, "s": s}, want, mode, peers=(), rtol=1e-2, atol=1e-2)
    feeds = {"x": x[:, None], "s": s[:1], "b": s[:1] - 1}
    verify_node("InstanceNormalization", feeds, want[:, None], mode, peers=(), rtol=1e-2, atol=1e-2)


@modes
@each_type(["RMSNormalization"])
def test_rms_normalization(op, dtype, mode):
    for shape, axis in [((2, 3, 4), -1), ((2, 3, 4), 1), ((5, 37), -1)]:
        x, s = random(shape, dtype), random(shape[axis:], dtype, "s")
        axes = tuple(range(axis % len(shape), len(shape)))
        want = wide(lambda v, p: v / np.sqrt((v * v).mean(axes, keepdims=True) + 1e-5) * p)(x, s)
        verify_node(op, {"x": x, "s": s}, want, mode, peers=(), axis=axis, rtol=STASHED[dtype], atol=STASHED[dtype])


@modes
@each_type(["InstanceNormalization"])
def test_instance_normalization(op, dtype, mode):
    for shape in [(2, 3, 5), (2, 3, 4, 5), (1, 2, 3, 2, 2)]:
        x, s, b = random(shape, dtype), random(shape[1:2], dtype, "s"), random(shape[1:2], dtype, "b")
        axes, per_channel = tuple(range(2, len(shape))), [1, -1] + [1] * (len(shape) - 2)
        want = wide(
            lambda v, p, q: (
                (v - v.mean(axes, keepdims=True)) / np.sqrt(v.var(axes, keepdims=True) + 0.01) * p.reshape(per_channel)
                + q.reshape(per_channel)
            )
        )(x, s, b)
        verify_node(
            op, {"x": x, "s": s, "b": b}, want, mode, peers=(), epsilon=0.01, rtol=LOOSE[dtype], atol=LOOSE[dtype]
        )


@modes
@each_type(["GroupNormalization"])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_group_normalization(op, dtype, groups, mode):
    """Scale and bias are per channel since opset 21."""
    for shape in [(2, 4, 5), (1, 4, 3, 3)]:
        x, s, b = random(shape, dtype), random((4,), dtype, "s"), random((4,), dtype, "b")
        per_channel = [1, -1] + [1] * (len(shape) - 2)

        def norm(v, p, q):
            g = v.reshape(shape[0], groups, -1)
            g = (g - g.mean(2, keepdims=True)) / np.sqrt(g.var(2, keepdims=True) + 1e-5)
            return g.reshape(shape) * p.reshape(per_channel) + q.reshape(per_channel)

        verify_node(
            op,
            {"x": x, "s": s, "b": b},
            wide(norm)(x, s, b),
            mode,
            peers=(),
            num_groups=groups,
            rtol=STASHED[dtype],
            atol=STASHED[dtype],
        )


@modes
@each_type(["LRN"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 9])
def test_lrn(op, dtype, size, mode):
    """An even size reaches one channel further up than down."""
    x = random((2, 5, 3, 2), dtype)
    alpha, beta = float(f32.type(0.2)), float(f32.type(0.6))  # attributes are float32

    def norm(v):
        sums = np.stack([(v[:, max(0, c - (size - 1) // 2) : c + size // 2 + 1] ** 2).sum(1) for c in range(5)], 1)
        return v / (1.5 + alpha / size * sums) ** beta

    verify_node(
        op,
        {"x": x},
        wide(norm)(x),
        mode,
        peers=(),
        size=size,
        alpha=0.2,
        beta=0.6,
        bias=1.5,
        rtol=LOOSE[dtype],
        atol=LOOSE[dtype],
    )


@modes
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_lp_normalization(axis, p, mode):
    x = random((2, 3, 4))
    length = np.abs(x).sum(axis, keepdims=True) if p == 1 else np.sqrt((x * x).sum(axis, keepdims=True))
    verify_node("LpNormalization", {"x": x}, x / length, mode, peers=(), axis=axis, p=p, rtol=2e-5, atol=1e-6)


@modes
@each_type(["MeanVarianceNormalization"])
def test_mean_variance_normalization(op, dtype, mode):
    x = random((2, 3, 4, 2), dtype)
    for axes in ([0, 2, 3], [1], [-1, 0]):
        norm = wide(lambda v: (v - v.mean(tuple(axes), keepdims=True)) / (v.std(tuple(axes), keepdims=True) + 1e-9))
        verify_node(op, {"x": x}, norm(x), mode, peers=(), axes=axes, rtol=LOOSE[dtype], atol=LOOSE[dtype])


@modes
@pytest.mark.parametrize(
    "op, inputs, attributes",
    [
        ("Softmax", 0, {}),
        ("LogSoftmax", 0, {}),
        ("BatchNormalization", 4, {}),
        ("InstanceNormalization", 2, {}),
        ("GroupNormalization", 2, {"num_groups": 2}),
        ("LRN", 0, {"size": 3}),
        ("LayerNormalization", 1, {}),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_against_the_peers(op, inputs, attributes, mode):
    feeds = {"x": random((2, 4, 3, 3))} | {
        n: random((4,) if op != "LayerNormalization" else (3,), f32, n, low=0.5) for n in "sbmv"[:inputs]
    }
    peers = (
        ("onnxruntime",) if op == "LRN" else ("reference", "onnxruntime")
    )  # the reference squares the wrong channels
    verify_node(op, feeds, None, mode, peers=peers, rtol=5e-5, atol=5e-5, **attributes)


@pytest.mark.parametrize(
    "op, feeds, attributes",
    [
        ("BatchNormalization", {"x": (2, 3, 4), "s": (4,), "b": (3,), "m": (3,), "v": (3,)}, {}),
        ("LayerNormalization", {"x": (2, 3), "s": (4,)}, {}),
        ("InstanceNormalization", {"x": (2, 3, 4), "s": (2,), "b": (3,)}, {}),
        ("GroupNormalization", {"x": (2, 4, 3), "s": (4,), "b": (4,)}, {"num_groups": 3}),
        ("Softmax", {"x": (2, 3)}, {"axis": 2}),
        ("LayerNormalization", {"x": (2, 3), "s": (3,)}, {"axis": 3}),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_refused(op, feeds, attributes):
    arrays = {n: np.ones(s, f32) for n, s in feeds.items()}
    assert_load_or_run_refused(one_node(op, arrays, opset=OPSET, **attributes), arrays, node=f"{op.lower()}_y")


def test_fused_layer_normalization_keeps_its_epsilon():
    """The chain that exporters write, at two epsilons that differ visibly."""
    x = random((3, 8), f32, low=-0.01, high=0.01)
    for epsilon in (1e-12, 1e-3):
        text = "mu = ReduceMean(x, ax); d = Sub(x, mu); p = Pow(d, two); v = ReduceMean(p, ax); e = Add(v, eps); s = Sqrt(e); y = Div(d, s)"
        weights = {"ax": np.array([-1]), "two": f32.type(2), "eps": f32.type(epsilon)}
        model = make_model(text, {"x": x}, {"y": f32}, weights, opset=OPSET)
        verify(
            model,
            {"x": x},
            layer_norm(x.astype(f64), -1, epsilon)[0].astype(f32),
            "level3",
            peers=(),
            rtol=1e-3,
            atol=1e-3,
        )
    assert f32 in types_of("LayerNormalization")
