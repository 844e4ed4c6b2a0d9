"""A tagger of two bidirectional ONNX LSTM layers over padded sequences (as packed sequences are exported), opset 16."""

import numpy as np

from .builder import GraphBuilder
from .registry import GeneratedModel

VOCABULARY, _EMBEDDING, _HIDDEN, _TAGS, _CLASSES = 4000, 128, 192, 24, 8


def _bilstm(g, x, lengths, name, inputs):
    """(seq, batch, inputs) to ((seq, batch, 2 * hidden), final states (2, batch, hidden))."""
    with g.scope(name):
        weights = [
            g.normal("weight_ih", (2, 4 * _HIDDEN, inputs), 1.5 / np.sqrt(inputs)),
            g.normal("weight_hh", (2, 4 * _HIDDEN, _HIDDEN), 1.5 / np.sqrt(_HIDDEN)),
            g.normal("bias", (2, 8 * _HIDDEN), 0.3),
        ]
        batch = g.unsqueeze(g.dim(x, 1), [0])
        size = g.node("Concat", [g.const([2]), batch, g.const([_HIDDEN])], axis=0)
        states = [g.node("Expand", [g.const(0.0), size]) for _ in range(2)]
        y, final, _ = g.node(
            "LSTM",
            [x, *weights, lengths, *states],
            outputs=3,
            direction="bidirectional",
            hidden_size=_HIDDEN,
        )
        y = g.transpose(y, [0, 2, 1, 3])
        return g.reshape(y, [0, 0, -1]), final


def build():
    """Inputs `tokens` (batch, seq) and `lengths` (batch); outputs `tags` (batch, seq, 24) and `label` (batch, 8)."""
    g = GraphBuilder("lstm", opset=16)
    g.input("tokens", ["batch", "seq"], np.int64)
    g.input("lengths", ["batch"], np.int64)
    x = g.node("Gather", [g.normal("embedding.weight", (VOCABULARY, _EMBEDDING), 1.0), "tokens"])
    x = g.transpose(x, [1, 0, 2])
    lengths = g.cast("lengths", np.int32)
    x, _ = _bilstm(g, x, lengths, "lstm.0", _EMBEDDING)
    x, final = _bilstm(g, x, lengths, "lstm.1", 2 * _HIDDEN)
    x = g.transpose(x, [1, 0, 2])
    # Outputs of an LSTM are around 0.3.
    with g.scope("tagger"):
        weight = g.normal("weight", (2 * _HIDDEN, _TAGS), 3.0 / np.sqrt(2 * _HIDDEN))
        tags = g.node("Add", [g.normal("bias", (_TAGS,), 0.3), g.node("MatMul", [x, weight])])
    with g.scope("classifier"):
        forward, backward = (g.node("Gather", [final, g.const(i)], axis=0) for i in range(2))
        both = g.node("Concat", [forward, backward], axis=1)
        weight = g.normal("weight", (_CLASSES, 2 * _HIDDEN), 3.0 / np.sqrt(2 * _HIDDEN))
        label = g.node("Gemm", [both, weight, g.normal("bias", (_CLASSES,), 0.3)], transB=1)
    g.output(tags, "tags", ["batch", "seq", _TAGS])
    g.output(label, "label", ["batch", _CLASSES])
    return g.model()


def inputs(rng, batch=1, seq=64):
    """Random tokens; row i of the batch is i steps shorter than the longest."""
    lengths = np.maximum(seq - np.arange(batch), 1)
    tokens = rng.integers(1, VOCABULARY, (batch, seq))
    return {"tokens": np.where(np.arange(seq) < lengths[:, None], tokens, 0), "lengths": lengths}


MODELS = [GeneratedModel("lstm", inputs, build, ("lstm.py", "builder.py"))]
