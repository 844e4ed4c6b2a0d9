"""FlexAttention: graphs that change scores and shares."""

import ml_dtypes
import numpy as np
import onnx.helper as oh
import pytest

import pyasc
from oracle import make_graph, make_model, node, parse_nodes, random

f32 = np.float32


def model_of(feeds, dtype=f32, shape=None, initializers=None, **attributes):
    call = node("FlexAttention", "q,k,v", "y", domain="ai.onnx.preview", **attributes)
    inputs = {name: (array.dtype, shape or array.shape) for name, array in feeds.items()}
    return make_model([call], inputs, {"y": dtype}, initializers, opset=26, domains=["ai.onnx.preview"])


def changed(text, dtype=f32, initializers=None):
    """A graph of one input `s` and one output `t`."""
    return make_graph(text, {"s": (dtype, [None] * 4)}, {"t": (dtype, [None] * 4)}, initializers)


def attention(q, k, v, scale=None, score=lambda s: s, share=lambda p: p):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    s = score(q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale))
    p = np.exp(s - s.max(-1, keepdims=True))
    return share(p / p.sum(-1, keepdims=True)) @ v


def qkv(heads=4, dtype=f32):
    return {
        "q": random((2, 4, 5, 8), dtype, "q"),
        "k": random((2, heads, 6, 8), dtype, "k"),
        "v": random((2, heads, 6, 3), dtype, "v"),
    }


def both(model, feeds, want, atol=1e-5):
    for level in (0, 3):
        got = pyasc.load(model, config=pyasc.CompileConfig(graph_opt_level=level)).run(feeds)["y"]
        assert got.dtype == feeds["q"].dtype
        np.testing.assert_allclose(got.astype(float), want, atol=atol)


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("shape", [None, [None] * 4])
def test_scores_and_shares(heads, shape):
    feeds = qkv(heads)
    scores = changed(parse_nodes("t = Tanh(s)"))
    shares = changed(parse_nodes("t = Mul(s, two)"), initializers={"two": f32(2)})
    want = attention(**feeds, score=np.tanh, share=lambda p: 2 * p)
    both(model_of(feeds, shape=shape, score_mod=scores, prob_mod=shares), feeds, want)
    both(model_of(feeds, shape=shape, scale=0.25), feeds, attention(**feeds, scale=0.25))
    want = attention(**feeds, scale=0.25, score=np.tanh)
    both(model_of(feeds, shape=shape, scale=0.25, score_mod=scores), feeds, want)


def test_graphs_see_what_is_around_them():
    feeds = qkv()
    bias = {"bias": np.arange(6, dtype=f32)}
    model = model_of(feeds, score_mod=changed(parse_nodes("t = Add(s, bias)")), initializers=bias)
    both(model, feeds, attention(**feeds, score=lambda s: s + np.arange(6)))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_types(dtype):
    feeds = qkv(2, dtype)
    inner = np.float64 if dtype == np.float64 else f32
    model = model_of(feeds, dtype, score_mod=changed(parse_nodes("t = Tanh(s)"), inner))
    both(model, feeds, attention(**feeds, score=np.tanh), 1e-5 if dtype == np.float64 else 3e-2)


def test_what_does_not_fit_is_refused():
    feeds = qkv()
    two = oh.make_graph(parse_nodes("t = Add(s, r)"), "g", [], [])
    for attributes in (dict(score_mod=two), dict(speed=1), dict(other_mod=changed(parse_nodes("t = Tanh(s)")))):
        with pytest.raises(pyasc.errors.PyascError):
            pyasc.load(model_of(feeds, **attributes))
    flat = {name: array.reshape(-1, array.shape[-1]) for name, array in feeds.items()}
    with pytest.raises(pyasc.errors.ShapeMismatchError):
        pyasc.load(model_of(flat, score_mod=changed(parse_nodes("t = Tanh(s)"))))
