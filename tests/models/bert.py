"""BERT-base (opset 11) and MiniLM, the sentence encoder of six layers (opset 14), as PyTorch's exporter decomposes them."""

import numpy as np

from .registry import GeneratedModel
from .transformer import QUERY_KEY_GAIN, RESIDUAL_GAIN, TransformerBuilder

_VOCABULARY = 30522
_POSITIONS = 512


def _embeddings(g, hidden):
    with g.scope("embeddings"):
        ids = g.weight("position_ids", np.arange(_POSITIONS)[None])
        words = g.node("Gather", [g.normal("word_embeddings.weight", (_VOCABULARY, hidden), 0.05), "input_ids"])
        types = g.node("Gather", [g.normal("token_type_embeddings.weight", (2, hidden), 0.02), "token_type_ids"])
        length = g.unsqueeze(g.dim("input_ids", 1), [0])
        places = g.slice(ids, [0], length, [1])
        places = g.node("Gather", [g.normal("position_embeddings.weight", (_POSITIONS, hidden), 0.02), places])
        total = g.node("Add", [g.node("Add", [words, types]), places])
        return g.layer_norm(total, "LayerNorm", hidden, 1e-12)


def _attention(g, x, mask, hidden, heads):
    size = hidden // heads
    with g.scope("self"):
        query = g.linear(x, "query", hidden, hidden, QUERY_KEY_GAIN)
        key = g.linear(x, "key", hidden, hidden, QUERY_KEY_GAIN)
        key = g.split_heads(key, heads, size, perm=(0, 2, 3, 1))
        value = g.split_heads(g.linear(x, "value", hidden, hidden), heads, size)
        query = g.split_heads(query, heads, size)
        scores = g.node("Div", [g.node("MatMul", [query, key]), g.const(float(np.sqrt(size)))])
        weights = g.node("Softmax", [g.node("Add", [scores, mask])], axis=3 if g.opset < 13 else -1)
        context = g.merge_heads(g.node("MatMul", [weights, value]), hidden)
    with g.scope("output"):
        y = g.linear(context, "dense", hidden, hidden, RESIDUAL_GAIN)
        return g.layer_norm(g.node("Add", [y, x]), "LayerNorm", hidden, 1e-12)


def _layer(g, x, mask, hidden, heads):
    with g.scope("attention"):
        x = _attention(g, x, mask, hidden, heads)
    with g.scope("intermediate"):
        y = g.gelu_erf(g.linear(x, "dense", hidden, 4 * hidden))
    with g.scope("output"):
        # Half of the variance is left behind GELU.
        y = g.linear(y, "dense", 4 * hidden, hidden, 2 * RESIDUAL_GAIN, centred=True)
        return g.layer_norm(g.node("Add", [y, x]), "LayerNorm", hidden, 1e-12)


def _encoder(g, layers, hidden, heads, lowest):
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        g.input(name, ["batch", "seq"], np.int64)
    mask = g.additive_mask("attention_mask", lowest)
    x = _embeddings(g, hidden)
    for layer in range(layers):
        with g.scope(f"encoder.layer.{layer}"):
            x = _layer(g, x, mask, hidden, heads)
    return x


def build_bert_base():
    """12 layers, hidden 768. Outputs `last_hidden_state` (batch, seq, 768) and `pooler_output` (batch, 768)."""
    g = TransformerBuilder("bert_base", opset=11)
    x = _encoder(g, layers=12, hidden=768, heads=12, lowest=-10000.0)
    with g.scope("pooler"):
        first = g.node("Gather", [x, g.const(0)], axis=1)
        with g.scope("dense"):
            weight = g.normal("weight", (768, 768), 0.6 / np.sqrt(768))
            pooled = g.node("Gemm", [first, weight, g.vector("bias", 768)], transB=1)
        pooled = g.node("Tanh", [pooled])
    g.output(x, "last_hidden_state", ["batch", "seq", 768])
    g.output(pooled, "pooler_output", ["batch", 768])
    return g.model()


def build_minilm():
    """6 layers, hidden 384. Outputs `token_embeddings` (batch, seq, 384), `sentence_embedding` (batch, 384): the masked mean."""
    g = TransformerBuilder("minilm", opset=14)
    x = _encoder(g, layers=6, hidden=384, heads=12, lowest=float(np.finfo(np.float32).min))
    with g.scope("pooling"):
        wide = g.node("Expand", [g.unsqueeze("attention_mask", [-1]), g.node("Shape", [x])])
        wide = g.cast(wide, np.float32)
        total = g.reduce("ReduceSum", g.node("Mul", [x, wide]), [1], keepdims=0)
        count = g.node("Clip", [g.reduce("ReduceSum", wide, [1], keepdims=0), g.const(1e-9)])
        sentence = g.node("Div", [total, count])
    g.output(x, "token_embeddings", ["batch", "seq", 384])
    g.output(sentence, "sentence_embedding", ["batch", 384])
    return g.model()


def inputs(rng, batch=1, seq=128, padding=0):
    """Random tokens of two segments; row i of the batch has `padding * (i + 1)` masked tokens at its end."""
    ids = rng.integers(1000, _VOCABULARY, (batch, seq))
    mask = np.ones((batch, seq), np.int64)
    for i in range(batch):
        mask[i, max(1, seq - padding * (i + 1)) :] = 0
    types = np.zeros((batch, seq), np.int64)
    types[:, seq // 2 :] = 1
    return {"input_ids": ids * mask, "attention_mask": mask, "token_type_ids": types * mask}


_SOURCES = ("bert.py", "transformer.py", "builder.py")
MODELS = [
    GeneratedModel("bert_base", inputs, build_bert_base, _SOURCES),
    GeneratedModel("minilm", inputs, build_minilm, _SOURCES),
]
