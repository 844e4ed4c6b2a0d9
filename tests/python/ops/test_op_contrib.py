"""Operators of the domain com.microsoft, which ONNX Runtime's quantisers and graph optimisers write into model files."""

import numpy as np
import pytest
from onnx import helper

import pyasc
from oracle import assert_load_refused, assert_same, levels, one_node, run, seeded
from engines import OrtModel

DOMAIN = "com.microsoft"


def agree(op, feeds, level, outputs="y", rtol=1e-5, atol=2e-6, constants=(), **attributes):
    """What the engine makes of one operator is what ONNX Runtime makes of it."""
    model = one_node(op, feeds, outputs, constants=constants, domain=DOMAIN, **attributes)
    wanted = [output for output in model.graph.output if output.name]
    del model.graph.output[:]
    model.graph.output.extend(wanted)
    fed = {name: value for name, value in feeds.items() if value is not None and name not in constants}
    assert_same(run(model, fed, level), OrtModel(model).run(fed), rtol, atol)


def lstm_inputs(direction, steps, batch, size, hidden, signed=True, by_column=False):
    rng = seeded("lstm", direction, steps, batch, size, hidden)
    directions = 2 if direction == "bidirectional" else 1
    kind = np.int8 if signed else np.uint8
    low, high = (-128, 128) if signed else (0, 256)
    per = (directions, 4 * hidden) if by_column else (directions,)
    normal = lambda *dims: (0.5 * rng.standard_normal(dims)).astype(np.float32)
    weight = lambda depth: rng.integers(low, high, (directions, depth, 4 * hidden)).astype(kind)
    scale = lambda: rng.uniform(0.002, 0.005, per).astype(np.float32)
    zero = lambda: np.full(per, 0 if signed else 128, kind)
    return {
        "x": normal(steps, batch, size),
        "w": weight(size),
        "r": weight(hidden),
        "b": normal(directions, 8 * hidden),
        "lengths": None,
        "h0": normal(directions, batch, hidden),
        "c0": normal(directions, batch, hidden),
        "p": None,
        "ws": scale(),
        "wz": zero(),
        "rs": scale(),
        "rz": zero(),
    }


WEIGHTS = ("w", "r", "ws", "wz", "rs", "rz")


@levels
@pytest.mark.parametrize("constants", [(), WEIGHTS], ids=["fed", "constant"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("form", [(True, False), (False, False), (True, True)], ids=["int8", "uint8", "columns"])
def test_dynamic_quantize_lstm(direction, form, constants, level):
    # Few steps: the states are rounded to 8 bits in each, where the least difference can become one of a whole unit.
    feeds = lstm_inputs(direction, 3, 1, 10, 12, *form)
    attributes = {"direction": direction, "hidden_size": 12}
    agree("DynamicQuantizeLSTM", feeds, level, "y,h,c", constants=constants, **attributes)


@levels
def test_dynamic_quantize_lstm_with_peepholes_and_clip(level):
    feeds = lstm_inputs("forward", 2, 1, 4, 5)
    feeds["p"] = np.linspace(-0.5, 0.5, 15, dtype=np.float32).reshape(1, 15)
    attributes = {"hidden_size": 5, "clip": 0.8, "activations": ["Sigmoid", "Tanh", "Tanh"]}
    agree("DynamicQuantizeLSTM", feeds, level, "y,h,c", constants=WEIGHTS, **attributes)


def test_dynamic_quantize_lstm_refuses_scales_that_do_not_fit():
    feeds = lstm_inputs("forward", 2, 1, 4, 5)
    feeds["rs"] = np.ones((1, 7), np.float32)
    model = one_node("DynamicQuantizeLSTM", feeds, "y", domain=DOMAIN, hidden_size=5)
    assert_load_refused(model, code="E5001", words=["r_scale"])


def test_dynamic_quantize_lstm_goes_out_as_it_came():
    feeds = lstm_inputs("forward", 3, 1, 4, 5)
    model = one_node("DynamicQuantizeLSTM", feeds, "y", domain=DOMAIN, constants=WEIGHTS, hidden_size=5)
    out = pyasc.onnx.export(pyasc.load(model))
    fed = {name: feeds[name] for name in ("x", "b", "h0", "c0")}
    assert_same(OrtModel(out).run(fed), run(model, fed), 1e-5, 2e-6)


def floats(*dims, what="", scale=1.0):
    return (scale * seeded("contrib", what, dims).standard_normal(dims)).astype(np.float32)


def integers(low, high, dims, dtype, what=""):
    return seeded("contrib", what, dims).integers(low, high, dims).astype(dtype)


@levels
@pytest.mark.parametrize("op", ["Gelu", "BiasGelu", "FastGelu", "FastGelu without bias", "QuickGelu"])
def test_activations(op, level):
    feeds = {"x": floats(2, 3, 8, scale=2)}
    if op in ("BiasGelu", "FastGelu"):
        feeds["bias"] = floats(8, what="bias")
    attributes = {"alpha": 1.5} if op == "QuickGelu" else {}
    agree(op.split()[0], feeds, level, **attributes)


@levels
@pytest.mark.parametrize(
    "swaps",
    [{}, {"transA": 1}, {"transB": 1, "alpha": 0.25}, {"transBatchA": 1, "transBatchB": 1}, {"transA": 1, "transBatchB": 1}],
    ids=str,
)
def test_fused_matmul(swaps, level):
    shapes = []
    for side, dims in (("A", [2, 3, 4]), ("B", [2, 4, 5])):
        if swaps.get("trans" + side):
            dims[1:] = reversed(dims[1:])
        if swaps.get("transBatch" + side):
            dims[:2] = reversed(dims[:2])
        shapes.append(dims)
    agree("FusedMatMul", {"a": floats(*shapes[0]), "b": floats(*shapes[1], what="b")}, level, **swaps)


ACTIVATIONS = [("Relu", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.7]), ("HardSigmoid", [0.3, 0.4]), ("Tanh", []), ("Sigmoid", [])]


@levels
@pytest.mark.parametrize("activation, parameters", ACTIVATIONS)
def test_fused_conv(activation, parameters, level):
    feeds = {"x": floats(1, 4, 6, 6), "w": floats(8, 4, 3, 3, what="w"), "b": floats(8, what="b"), "z": floats(1, 8, 6, 6, what="z")}
    extra = {"activation_params": parameters} if parameters else {}
    agree("FusedConv", feeds, level, activation=activation, pads=[1, 1, 1, 1], **extra)


@levels
@pytest.mark.parametrize("activation", ["LeakyRelu", "Relu"])
def test_fused_gemm(activation, level):
    feeds = {"a": floats(3, 4), "b": floats(5, 4, what="b"), "c": floats(5, what="c")}
    extra = {"activation_alpha": 0.1} if activation == "LeakyRelu" else {}
    agree("FusedGemm", feeds, level, transB=1, alpha=0.5, beta=2.0, activation=activation, **extra)


@levels
@pytest.mark.parametrize("op", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_skip_normalisation(op, level):
    feeds = {"x": floats(2, 3, 8), "skip": floats(2, 3, 8, what="skip"), "gamma": floats(8, what="gamma")}
    if op == "SkipLayerNormalization":
        feeds["beta"] = floats(8, what="beta")
    feeds["bias"] = floats(8, what="bias")
    agree(op, feeds, level, "y,,,sum", epsilon=1e-5)


@levels
def test_simplified_layer_normalisation(level):
    feeds = {"x": floats(2, 3, 8), "scale": floats(8, what="scale")}
    model = one_node("SimplifiedLayerNormalization", feeds, axis=-1, epsilon=1e-5, stash_type=1)
    assert_same(run(model, feeds, level), OrtModel(model).run(feeds), 1e-5, 2e-6)


@levels
@pytest.mark.parametrize("places", [False, True], ids=["in order", "places given"])
@pytest.mark.parametrize("masked", [False, True], ids=["no mask", "mask"])
def test_embed_layer_normalisation(masked, places, level):
    feeds = {
        "ids": integers(0, 20, (2, 5), np.int32),
        "segments": integers(0, 2, (2, 5), np.int32),
        "words": floats(20, 8, what="words"),
        "at": floats(10, 8, what="at"),
        "of": floats(2, 8, what="of"),
        "gamma": floats(8, what="gamma"),
        "beta": floats(8, what="beta"),
        "mask": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32) if masked else None,
        "places": integers(0, 10, (2, 5), np.int32) if places else None,
    }
    agree("EmbedLayerNormalization", feeds, level, "y,count,sum", epsilon=1e-6)


MASKS = {
    "none": None,
    "lengths": np.array([3, 5], np.int32),
    "keys": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32),
    "queries": (np.arange(50).reshape(2, 5, 5) % 3 > 0).astype(np.int32),
}


@levels
@pytest.mark.parametrize("mask", MASKS)
def test_attention(mask, level):
    feeds = {"x": floats(2, 5, 8), "w": floats(8, 24, what="w"), "b": floats(24, what="b"), "mask": MASKS[mask]}
    agree("Attention", feeds, level, constants=("w", "b"), num_heads=2)


@levels
@pytest.mark.parametrize("causal", [0, 1])
def test_attention_with_past(causal, level):
    feeds = {"x": floats(2, 3, 8), "w": floats(8, 24, what="w"), "b": floats(24, what="b"), "mask": None, "past": floats(2, 2, 2, 4, 4, what="p")}
    agree("Attention", feeds, level, "y,present", constants=("w", "b"), num_heads=2, unidirectional=causal)


@levels
@pytest.mark.parametrize("mask", ["none", "keys", "lengths"])
def test_multi_head_attention(mask, level):
    feeds = {"q": floats(2, 4, 8), "k": floats(2, 5, 8, what="k"), "v": floats(2, 5, 8, what="v"), "b": floats(24, what="b"), "mask": MASKS[mask]}
    agree("MultiHeadAttention", feeds, level, num_heads=2, scale=0.4)


@levels
def test_multi_head_attention_with_bias_and_past(level):
    feeds = {"q": floats(2, 3, 8), "k": floats(2, 3, 8, what="k"), "v": floats(2, 3, 8, what="v"), "b": None, "mask": None}
    feeds |= {"added": floats(1, 2, 3, 7, what="a"), "past_k": floats(2, 2, 4, 4, what="pk"), "past_v": floats(2, 2, 4, 4, what="pv")}
    agree("MultiHeadAttention", feeds, level, "y,keys,values", num_heads=2)


def scale(value):
    return np.array(value, np.float32)


def quantized(dims, dtype, what="x"):
    info = np.iinfo(dtype)
    return integers(info.min, info.max + 1, dims, dtype, what)


def within_one(op, feeds, level, dtype, **attributes):
    """Results are rounded to integers: where a sum is half way, either neighbour is right. `op`: a name, or a model."""
    model = one_node(op, feeds, domain=DOMAIN, **attributes) if isinstance(op, str) else op
    fed = {name: value for name, value in feeds.items() if value is not None}
    got, want = run(model, fed, level)["y"], OrtModel(model).run(fed)["y"]
    assert got.dtype == want.dtype == dtype and got.shape == want.shape
    error = np.abs(got.astype(int) - want.astype(int))
    assert error.max() <= 1 and np.mean(error > 0) <= 0.02, error


@levels
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_quantized_arithmetic(op, dtype, level):
    zero = np.array(3, dtype)
    feeds = {"a": quantized((3, 40), dtype), "as": scale(0.02), "az": zero, "b": quantized((40,), dtype, "b"), "bs": scale(0.03), "bz": zero}
    within_one(op, feeds | {"ys": scale(0.05), "yz": np.array(7, dtype)}, level, dtype)


@levels
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("op", ["QLinearSigmoid", "QLinearLeakyRelu"])
def test_quantized_activations(op, dtype, level):
    feeds = {"x": quantized((2, 60), dtype), "xs": scale(0.03), "xz": np.array(5, dtype), "ys": scale(1 / 128), "yz": np.array(1, dtype)}
    within_one(op, feeds, level, dtype, **({"alpha": 0.2} if op == "QLinearLeakyRelu" else {}))


@levels
def test_quantized_softmax(level):
    feeds = {"x": quantized((3, 10), np.uint8), "xs": scale(0.02), "xz": np.array(5, np.uint8), "ys": scale(1 / 256), "yz": np.array(0, np.uint8)}
    model = one_node("QLinearSoftmax", feeds, domain=DOMAIN, axis=-1)
    model.graph.node[0].attribute.append(helper.make_attribute("opset", 13))
    within_one(model, feeds, level, np.uint8)


@levels
@pytest.mark.parametrize("last", [0, 1])
def test_quantized_global_average_pool(last, level):
    feeds = {"x": quantized((2, 5, 5, 8) if last else (2, 8, 5, 5), np.uint8), "xs": scale(0.02), "xz": np.array(5, np.uint8), "ys": scale(0.01), "yz": np.array(9, np.uint8)}
    within_one("QLinearGlobalAveragePool", feeds, level, np.uint8, channels_last=last)


@levels
def test_quantized_average_pool(level):
    feeds = {"x": quantized((1, 3, 6, 6), np.uint8), "xs": scale(0.02), "xz": np.array(5, np.uint8), "ys": scale(0.023), "yz": np.array(9, np.uint8)}
    within_one("QLinearAveragePool", feeds, level, np.uint8, kernel_shape=[2, 2], strides=[2, 2])


@levels
def test_quantized_concat(level):
    feeds = {"ys": scale(0.04), "yz": np.array(9, np.uint8)}
    for i, name in enumerate("abc"):
        feeds |= {name: quantized((2, 3 + i), np.uint8, name), f"{name}s": scale(0.02 + 0.01 * i), f"{name}z": np.array(i, np.uint8)}
    within_one("QLinearConcat", feeds, level, np.uint8, axis=1)


@levels
@pytest.mark.parametrize("rounded", [False, True], ids=["float", "integer"])
def test_quantized_gemm(rounded, level):
    feeds = {"a": quantized((4, 6), np.uint8), "as": scale(0.02), "az": np.array(5, np.uint8), "b": quantized((5, 6), np.int8, "b"), "bs": scale(0.01), "bz": np.array(0, np.int8)}
    feeds["c"] = integers(-500, 500, (5,), np.int32, "c")
    if not rounded:
        return agree("QGemm", feeds, level, transB=1, alpha=1.0)
    within_one("QGemm", feeds | {"ys": scale(0.1), "yz": np.array(100, np.uint8)}, level, np.uint8, transB=1, alpha=1.0)


@levels
@pytest.mark.parametrize("by_column", [False, True])
def test_products_of_integers_to_floats(by_column, level):
    b = quantized((6, 5), np.int8, "b")
    b_scale = floats(5, what="bs") ** 2 if by_column else scale(0.01)
    feeds = {"a": quantized((4, 6), np.uint8), "b": b, "as": scale(0.02), "bs": b_scale, "az": np.array(5, np.uint8), "bz": None, "c": floats(5, what="c")}
    agree("MatMulIntegerToFloat", feeds, level, constants=("b", "bs", "c"))
    feeds = {"a": floats(4, 6), "b": b, "bs": b_scale, "bz": None, "c": floats(5, what="c")}
    agree("DynamicQuantizeMatMul", feeds, level, constants=("b", "bs", "c"))


@levels
def test_quantize_and_back(level):
    feeds = {"x": floats(3, 20), "s": scale(0.02), "z": np.array(100, np.uint8)}
    within_one("QuantizeLinear", feeds, level, np.uint8)
    agree("DequantizeLinear", {"x": quantized((3, 20), np.uint8), "s": scale(0.02), "z": np.array(100, np.uint8)}, level)


def test_what_has_no_form_in_onnx_is_refused():
    feeds = {"x": floats(2, 3, 8), "w": floats(8, 24, what="w"), "b": floats(24, what="b")}
    model = one_node("Attention", feeds, domain=DOMAIN, num_heads=2, do_rotary=1)
    assert_load_refused(model, code="E5006", words=["rotates"])
