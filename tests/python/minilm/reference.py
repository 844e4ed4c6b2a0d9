"""The sentence encoder in plain NumPy, in float64, one text at a time: what the sample's graph is compared with."""

import math

import numpy as np

_erf = np.vectorize(math.erf)


def embed(tokens, weights, settings):
    """The vector of one text, from its token numbers."""

    def get(name):
        return weights[name].astype(np.float64)

    def linear(x, name):
        return x @ get(f"{name}.weight").T + get(f"{name}.bias")

    def normalised(x, name):
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        return centred / np.sqrt(variance + settings["layer_norm_eps"]) * get(f"{name}.weight") + get(f"{name}.bias")

    x = get("embeddings.word_embeddings.weight")[tokens]
    x = x + get("embeddings.position_embeddings.weight")[: len(tokens)] + get("embeddings.token_type_embeddings.weight")[0]
    x = normalised(x, "embeddings.LayerNorm")
    heads = settings["num_attention_heads"]
    for layer in range(settings["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        parts = (linear(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        query, key, value = (np.split(part, heads, axis=-1) for part in parts)
        seen = []
        for q, k, v in zip(query, key, value, strict=True):
            scores = np.exp(q @ k.T / math.sqrt(q.shape[-1]))
            seen.append(scores / scores.sum(axis=-1, keepdims=True) @ v)
        joined = linear(np.concatenate(seen, axis=-1), f"{name}.attention.output.dense")
        x = normalised(x + joined, f"{name}.attention.output.LayerNorm")
        wide = linear(x, f"{name}.intermediate.dense")
        wide = wide * (1 + _erf(wide / math.sqrt(2))) / 2
        x = normalised(x + linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)
