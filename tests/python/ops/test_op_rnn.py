"""LSTM, GRU and RNN: directions, lengths, initial states, peepholes, clips, activations, layouts, missing inputs and outputs."""

import numpy as np
import pytest

from ops.rnn_oracle import GATES, recurrent
from ops.table import OPSET, each_type, modes, verify, verify_node
from oracle import assert_load_or_run_refused, bf16, f16, f32, f64, i32, make_model, node, one_node, random

ORDER = ["x", "w", "r", "b", "lengths", "h0", "c0", "p"]
LOOSE = {f16: 1e-2, bf16: 6e-2, f32: 2e-5, f64: 1e-9}
T, B, INPUT, H = 4, 3, 5, 2


def inputs(op, given, directions=1, dtype=f32, layout=0):
    """x, w and r, and those optional ones that are named in `given`."""
    g = GATES[op]
    shapes = {
        "x": (T, B, INPUT),
        "w": (directions, g * H, INPUT),
        "r": (directions, g * H, H),
        "b": (directions, 2 * g * H),
        "h0": (directions, B, H),
        "c0": (directions, B, H),
        "p": (directions, 3 * H),
    }
    values = {n: random(s, dtype, n, low=-1, high=1) for n, s in shapes.items() if n in ("x", "w", "r") or n in given}
    if layout:
        values = {n: np.ascontiguousarray(v.swapaxes(0, 1)) if n in ("x", "h0", "c0") else v for n, v in values.items()}
    if "lengths" in given:
        values["lengths"] = np.array([4, 2, 3], i32)
    return values


def in_order(op, values):
    """With None for what is left out before the last one that is given."""
    names = ORDER if op == "LSTM" else ORDER[:6]
    last = max(i for i, n in enumerate(names) if n in values)
    return {n: values.get(n) for n in names[: last + 1]}


def check_layer(op, given, mode, dtype=f32, constants=("w", "r", "b", "p"), activations=None, **attributes):
    direction = attributes.get("direction", "forward")
    values = inputs(op, given, 2 if direction == "bidirectional" else 1, dtype, attributes.get("layout", 0))
    want = recurrent(op, **values, activations=activations, **attributes)
    names = ["y", "h", "c"][: len(want)]
    if activations:
        attributes["activations"] = activations
    tolerance = LOOSE[dtype]
    verify_node(
        op,
        in_order(op, values),
        dict(zip(names, want)),
        mode,
        outputs=",".join(names),
        peers=(),
        constants=tuple(c for c in constants if c in values),
        hidden_size=H,
        rtol=tolerance,
        atol=tolerance,
        **attributes,
    )


OPS = pytest.mark.parametrize("op", GATES)
FORMS = {
    "plain": ((), {}),
    "bias": (("b",), {}),
    "lengths": (("b", "lengths"), {}),
    "initial": (("h0",), {}),
    "all": (("b", "lengths", "h0"), {}),
    "reverse": (("b",), dict(direction="reverse")),
    "reverse-lengths": (("b", "lengths", "h0"), dict(direction="reverse")),
    "both-ways": (("b",), dict(direction="bidirectional")),
    "both-ways-all": (("b", "lengths", "h0"), dict(direction="bidirectional")),
    "clip": (("b",), dict(clip=0.3)),
    "layout": (("b", "h0"), dict(layout=1)),
    "layout-both-ways": (("b", "h0"), dict(layout=1, direction="bidirectional")),
}


@modes
@pytest.mark.parametrize("form", FORMS)
@OPS
def test_forms(op, form, mode):
    given, attributes = FORMS[form]
    check_layer(op, given + (("c0",) if op == "LSTM" and "h0" in given else ()), mode, **attributes)


@modes
@each_type([*GATES])
def test_types(op, dtype, mode):
    check_layer(op, ("b", "h0"), mode, dtype)


@modes
@OPS
def test_weights_at_run_time(op, mode):
    check_layer(op, ("b", "lengths"), mode, constants=())


@modes
@pytest.mark.parametrize("form", [("p",), ("b", "p", "lengths"), ("b", "h0", "c0", "p"), ("c0",)], ids="-".join)
@pytest.mark.parametrize("input_forget", [0, 1])
def test_lstm_peepholes_and_coupled_gates(form, input_forget, mode):
    check_layer("LSTM", form, mode, input_forget=input_forget)
    if not input_forget:
        check_layer("LSTM", form, mode, direction="bidirectional")


@modes
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_gru_linear_before_reset(direction, mode):
    """What PyTorch's GRU is."""
    check_layer("GRU", ("b", "h0"), mode, linear_before_reset=1, direction=direction)
    check_layer("GRU", (), mode, linear_before_reset=1, direction=direction)


@modes
@pytest.mark.parametrize(
    "op, names",
    [
        ("RNN", ["Relu"]),
        ("RNN", ["Sigmoid"]),
        ("RNN", ["Softsign"]),
        ("RNN", ["HardSigmoid"]),
        ("LSTM", ["HardSigmoid", "Relu", "Tanh"]),
        ("LSTM", ["Sigmoid", "Softsign", "Sigmoid"]),
        ("GRU", ["HardSigmoid", "Relu"]),
        ("GRU", ["Sigmoid", "Elu"]),
    ],
    ids=str,
)
def test_activations(op, names, mode):
    check_layer(op, ("b",), mode, activations=names)
    check_layer(
        op, ("b",), mode, activations=names + names[::-1] if op == "RNN" else names * 2, direction="bidirectional"
    )


@modes
@pytest.mark.parametrize("wanted", ["y", ",h", "y,h", ",,c", "y,,c", ",h,c"])
def test_outputs_that_nobody_wants(wanted, mode):
    values = inputs("LSTM", ("b",))
    want = dict(zip("yhc", recurrent("LSTM", **values)))
    names = {n for n in wanted.split(",") if n}
    feeds = in_order("LSTM", values)
    model = make_model(
        [node("LSTM", ",".join(feeds), wanted, hidden_size=H)],
        dict(feeds),
        {n: f32 for n in want if n in names},
        opset=OPSET,
    )
    verify(model, feeds, {n: want[n] for n in want if n in names}, mode, peers=(), rtol=2e-5, atol=2e-5)


@OPS
def test_dynamic_sequence_and_batch(op):
    """One load, several lengths and batches, one of them of a single step."""
    import engines
    from oracle import assert_same

    values = inputs(op, ("b",))
    weights = {n: values[n] for n in ("w", "r", "b")}
    model = make_model(
        [node(op, "x,w,r,b", "y,h", hidden_size=H)],
        {"x": (f32, ["t", "n", INPUT])},
        {"y": f32, "h": f32},
        weights,
        opset=OPSET,
    )
    for level in (0, 3):
        loaded = engines.load(model, level)
        for t, b in ((4, 3), (1, 1), (9, 2), (4, 3)):
            x = random((t, b, INPUT), f32, t, b)
            y, h = recurrent(op, x, **weights)[:2]
            assert_same(loaded.run({"x": x}), {"y": y, "h": h}, rtol=2e-5, atol=2e-5)


@modes
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@OPS
def test_against_the_peers(op, direction, mode):
    values = inputs(op, ("b",), 2 if direction == "bidirectional" else 1)
    verify_node(
        op,
        in_order(op, values),
        None,
        mode,
        outputs="y,h",
        peers=("onnxruntime",),
        hidden_size=H,
        direction=direction,
        rtol=2e-5,
        atol=2e-5,
    )


@pytest.mark.parametrize(
    "change",
    [
        {"w": (1, 8, 4)},
        {"w": (1, 7, 5)},
        {"r": (1, 8, 3)},
        {"b": (1, 15)},
        {"h0": (1, 2, 2)},
        {"h0": (2, 3, 2)},
        {"w": (2, 8, 5)},
        {"x": (4, 5)},
        {"lengths": [5, 1, 1]},
        {"lengths": [-1, 1, 1]},
        {"lengths": [1, 1]},
    ],
    ids=str,
)
def test_refused(change):
    """Shapes that do not belong together and lengths beyond the sequence."""
    values = inputs("LSTM", ("b", "lengths", "h0"))
    for name, shape in change.items():
        values[name] = np.array(shape, i32) if name == "lengths" else np.ones(shape, f32)
    feeds = in_order("LSTM", values)
    assert_load_or_run_refused(one_node("LSTM", feeds, opset=OPSET, hidden_size=H), feeds, node="lstm_y")
