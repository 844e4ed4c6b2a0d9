"""A small GPT-2 style decoder with key/value cache, opset 13: 6 layers, hidden 512, 8 heads, vocabulary 8192.

Forms of GPT-2's export: Gemm on flattened tokens, Split of Q, K and V, the causal mask sliced out of a constant triangle and
applied by Where, tanh GELU, output matrix shared with the embedding.
"""

import numpy as np

from .registry import GeneratedModel
from .transformer import QUERY_KEY_GAIN, RESIDUAL_GAIN, TransformerBuilder

LAYERS, HEADS, HEAD_SIZE, VOCABULARY, POSITIONS = 6, 8, 64, 8192, 512
_HIDDEN = HEADS * HEAD_SIZE


def _conv1d(g, x, name, inputs, outputs, gain=1.0, centred=False):
    """GPT-2's dense layer: tokens flattened, Gemm, and back to (batch, seq, outputs)."""
    with g.scope(name):
        weight = g.dense_weight(inputs, outputs, gain, centred)
        flat = g.reshape(x, [-1, inputs])
        y = g.node("Gemm", [flat, weight, g.vector("bias", outputs, 0.1 * gain)], alpha=1.0, beta=1.0)
        return g.reshape(y, [g.dim(x, 0), g.dim(x, 1), outputs])


def _attention(g, x, triangle, mask, layer):
    qkv = _conv1d(g, x, "c_attn", _HIDDEN, 3 * _HIDDEN, QUERY_KEY_GAIN)
    parts = g.node("Split", [qkv, g.const([_HIDDEN] * 3)], outputs=3, axis=2)
    query, key, value = (g.split_heads(p, HEADS, HEAD_SIZE) for p in parts)
    key = g.node("Concat", [f"past_key_values.{layer}.key", key], axis=2)
    value = g.node("Concat", [f"past_key_values.{layer}.value", value], axis=2)
    scores = g.node("MatMul", [query, g.transpose(key, [0, 1, 3, 2])])
    scores = g.node("Div", [scores, g.const(float(np.sqrt(HEAD_SIZE)))])
    total = g.dim(key, 2)
    first = g.node("Sub", [total, g.dim(query, 2)])
    end = g.unsqueeze(total, [0])
    seen = g.slice(triangle, g.unsqueeze(first, [0]), end, [2])
    seen = g.slice(seen, [0], end, [3])
    scores = g.node("Where", [seen, scores, g.const(float(np.finfo(np.float32).min))])
    weights = g.node("Softmax", [g.node("Add", [scores, mask])], axis=-1)
    context = g.merge_heads(g.node("MatMul", [weights, value]), _HIDDEN)
    return _conv1d(g, context, "c_proj", _HIDDEN, _HIDDEN, RESIDUAL_GAIN), key, value


def build():
    """Decoder step.

    Inputs `input_ids`, `position_ids` (batch, seq), `attention_mask` (batch, past + seq) and per layer
    `past_key_values.N.key/value` (batch, heads, past, 64), where past may be 0. Outputs `logits` (batch, seq, 8192) and per
    layer `present.N.key/value`.
    """
    g = TransformerBuilder("gpt", opset=13)
    g.input("input_ids", ["batch", "seq"], np.int64)
    g.input("attention_mask", ["batch", "past_seq"], np.int64)
    g.input("position_ids", ["batch", "seq"], np.int64)
    for layer in range(LAYERS):
        for part in ("key", "value"):
            g.input(f"past_key_values.{layer}.{part}", ["batch", HEADS, "past", HEAD_SIZE])
    words = g.normal("wte.weight", (VOCABULARY, _HIDDEN), 1.0 / np.sqrt(_HIDDEN))
    places = g.normal("wpe.weight", (POSITIONS, _HIDDEN), 0.5 / np.sqrt(_HIDDEN))
    triangle = g.weight("causal", np.tril(np.ones((POSITIONS, POSITIONS), bool))[None, None])
    x = g.node("Add", [g.node("Gather", [words, "input_ids"]), g.node("Gather", [places, "position_ids"])])
    mask = g.additive_mask("attention_mask", -10000.0)
    caches = []
    for layer in range(LAYERS):
        with g.scope(f"h.{layer}"):
            with g.scope("attn"):
                y, key, value = _attention(g, g.layer_norm(x, "ln_1", _HIDDEN, 1e-5), triangle, mask, layer)
            caches += [(f"present.{layer}.key", key), (f"present.{layer}.value", value)]
            x = g.node("Add", [y, x])
            with g.scope("mlp"):
                y = _conv1d(g, g.layer_norm(x, "ln_2", _HIDDEN, 1e-5), "c_fc", _HIDDEN, 4 * _HIDDEN)
                y = _conv1d(g, g.gelu_tanh(y), "c_proj", 4 * _HIDDEN, _HIDDEN, 2 * RESIDUAL_GAIN, centred=True)
            x = g.node("Add", [x, y])
    x = g.layer_norm(x, "ln_f", _HIDDEN, 1e-5)
    logits = g.node("MatMul", [x, g.transpose(words, [1, 0])])
    g.output(logits, "logits", ["batch", "seq", VOCABULARY])
    for name, value in caches:
        g.output(value, name, ["batch", HEADS, "past_seq", HEAD_SIZE])
    return g.model()


def inputs(rng, batch=1, seq=1, past=128, padding=0, step=0):
    """`seq` new tokens behind `past + step * seq` cached ones; row i has `padding * i` masked tokens at the left."""
    past += step * seq
    ids = rng.integers(0, VOCABULARY, (batch, seq))
    mask = np.ones((batch, past + seq), np.int64)
    for i in range(batch):
        mask[i, : padding * i] = 0
    places = np.maximum(mask.cumsum(axis=1) - 1, 0)[:, past:]
    feeds = {"input_ids": ids, "attention_mask": mask, "position_ids": places}
    for name in _STATES.values():
        feeds[name] = rng.standard_normal((batch, HEADS, past, HEAD_SIZE), dtype=np.float32)
    return feeds


_STATES = {
    f"present.{layer}.{part}": f"past_key_values.{layer}.{part}" for layer in range(LAYERS) for part in ("key", "value")
}
MODELS = [GeneratedModel("gpt", inputs, build, ("gpt.py", "transformer.py", "builder.py"), feedback=_STATES)]
