"""Operators of the domain com.microsoft, which ONNX Runtime's quantisers and graph optimisers write into model files."""

import numpy as np
import pytest

import pyasc
from oracle import assert_load_refused, assert_same, levels, one_node, run, seeded
from engines import OrtModel

DOMAIN = "com.microsoft"


def agree(op, feeds, level, outputs="y", rtol=1e-5, atol=2e-6, constants=(), **attributes):
    """What the engine makes of one operator is what ONNX Runtime makes of it."""
    model = one_node(op, feeds, outputs, constants=constants, domain=DOMAIN, **attributes)
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
