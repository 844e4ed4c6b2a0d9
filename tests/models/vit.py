"""ViT-small/16 for 224x224, opset 17: patch convolution, class token, LayerNormalization nodes, one matrix for Q, K and V.

Attention has the form into which `scaled_dot_product_attention` is exported: both sides times the root of the scale, and the
scale computed from the query's shape.
"""

import numpy as np

from .cnn import smooth_images
from .registry import GeneratedModel
from .transformer import QUERY_KEY_GAIN, RESIDUAL_GAIN, TransformerBuilder

_HIDDEN, _HEADS, _LAYERS, _PATCH = 384, 6, 12, 16


def _tokens(g, size):
    """(batch, tokens, 384): patches by a convolution, behind a learned class token, with positions added."""
    with g.scope("patch_embed.proj"):
        fan_in = 3 * _PATCH * _PATCH
        weight = g.normal("weight", (_HIDDEN, 3, _PATCH, _PATCH), 1 / np.sqrt(fan_in))
        x = g.node("Conv", ["pixel_values", weight, g.vector("bias", _HIDDEN)], kernel_shape=[16, 16], strides=[16, 16])
    head = g.slice(g.node("Shape", [x]), [0], [2], [0])
    x = g.node("Reshape", [x, g.node("Concat", [head, g.const([-1])], axis=0)])
    x = g.transpose(x, [0, 2, 1])
    batch = g.unsqueeze(g.dim(x, 0), [0])
    shape = g.node("Concat", [batch, g.const([-1]), g.const([-1])], axis=0)
    # An exporter's expand: a length of -1 keeps the length that is there.
    ones = g.filled(g.const([3]), np.int64(1))
    kept = g.node("Equal", [shape, g.node("Mul", [ones, g.const(-1)])])
    token = g.node("Expand", [g.normal("cls_token", (1, 1, _HIDDEN), 1.0), g.node("Where", [kept, ones, shape])])
    x = g.node("Concat", [token, x], axis=1)
    tokens = (size // _PATCH) ** 2 + 1
    return g.node("Add", [x, g.normal("pos_embed", (1, tokens, _HIDDEN), 0.5)])


def _attention(g, x):
    size = _HIDDEN // _HEADS
    with g.scope("qkv"):
        third = g.normal("weight", (_HIDDEN, 3 * _HIDDEN), QUERY_KEY_GAIN / np.sqrt(_HIDDEN))
        qkv = g.node("Add", [g.vector("bias", 3 * _HIDDEN), g.node("MatMul", [x, third])])
    qkv = g.reshape(qkv, [g.dim(x, 0), g.dim(x, 1), 3, _HEADS, size])
    qkv = g.transpose(qkv, [2, 0, 3, 1, 4])
    query, key, value = (g.node("Gather", [qkv, g.const(i)], axis=0) for i in range(3))
    width = g.slice(g.node("Shape", [query]), [-1], [int(np.iinfo(np.int64).max)], [0])
    scale = g.node("Div", [g.const([1.0]), g.node("Sqrt", [g.cast(width, np.float32)])])
    root = g.node("Sqrt", [scale])
    query = g.node("Mul", [query, root])
    key = g.node("Mul", [g.transpose(key, [0, 1, 3, 2]), root])
    weights = g.node("Softmax", [g.node("MatMul", [query, key])], axis=-1)
    context = g.merge_heads(g.node("MatMul", [weights, value]), _HIDDEN)
    return g.linear(context, "proj", _HIDDEN, _HIDDEN, RESIDUAL_GAIN)


def build(size=224):
    """Input `pixel_values` (batch, 3, size, size), output `logits` (batch, 1000); 197 tokens at the default size."""
    g = TransformerBuilder("vit_small", opset=17)
    g.input("pixel_values", ["batch", 3, size, size])
    x = _tokens(g, size)
    for block in range(_LAYERS):
        with g.scope(f"blocks.{block}"):
            with g.scope("attn"):
                y = _attention(g, g.layer_norm(x, "norm1", _HIDDEN, 1e-6))
            x = g.node("Add", [x, y])
            with g.scope("mlp"):
                y = g.gelu_erf(g.linear(g.layer_norm(x, "norm2", _HIDDEN, 1e-6), "fc1", _HIDDEN, 4 * _HIDDEN))
                y = g.linear(y, "fc2", 4 * _HIDDEN, _HIDDEN, 2 * RESIDUAL_GAIN, centred=True)
            x = g.node("Add", [x, y])
    x = g.layer_norm(x, "norm", _HIDDEN, 1e-6)
    x = g.node("Gather", [x, g.const(0)], axis=1)
    with g.scope("head"):
        weight = g.normal("weight", (1000, _HIDDEN), 1 / np.sqrt(_HIDDEN))
        x = g.node("Gemm", [x, weight, g.vector("bias", 1000)], transB=1)
    g.output(x, "logits", ["batch", 1000])
    return g.model()


def inputs(rng, batch=1, size=224):
    return {"pixel_values": smooth_images(rng, (batch, 3, size, size))}


MODELS = [GeneratedModel("vit_small", inputs, build, ("vit.py", "cnn.py", "transformer.py", "builder.py"))]
