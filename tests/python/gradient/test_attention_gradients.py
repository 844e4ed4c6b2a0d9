"""Gradients of attention, of rotary embeddings, of Einsum and of Resize against central differences."""

import numpy as np
import pytest

from gradient.gradient_oracle import Case, gradient_node, gradients_of, training_model
from oracle import assert_load_refused, f64, levels, parse_nodes, random

opened = pytest.mark.parametrize("is_open", [False, True], ids=["static", "open"])

HEADS = {"q": (2, 4, 2, 3), "k": (2, 2, 3, 3), "v": (2, 2, 3, 2)}
ROWS = {"q": (2, 2, 12), "k": (2, 3, 6), "v": (2, 3, 4)}
COUNTS = "q_num_heads=4, kv_num_heads=2"
# attributes, shapes of q, k and v, other inputs
ATTENTIONS = {
    "heads": ("", HEADS, {}),
    "rows": (COUNTS, ROWS, {}),
    "scale": (f"{COUNTS}, scale=0.7, softcap=1.5", ROWS, {}),
    "causal": ("is_causal=1", HEADS, {}),
    "windows": ("left_window_size=0, right_window_size=1", HEADS, {}),
    "mask": ("", HEADS, {"m": random((4, 2, 3), f64, "m")}),
    "short_mask": ("", HEADS, {"m": random((2, 1, 2, 2), f64, "m")}),
    "truth": ("", HEADS, {"m": np.array([[True, False, True], [False, False, False]])}),
    "short_truth": ("", HEADS, {"m": np.array([[True, True], [False, True]])}),
    "past": ("is_causal=1", HEADS, {"m": None, "pk": random((2, 2, 2, 3), f64, "pk"), "pv": random((2, 2, 2, 2), f64, "pv")}),
    "valid": ("is_causal=1", HEADS, {"m": None, "pk": None, "pv": None, "n": np.array([2, 3])}),
}


@levels
@opened
@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention(name, is_open, level):
    attributes, shapes, others = ATTENTIONS[name]
    feeds = {n: random(shape, f64, n, low=-1, high=1) for n, shape in shapes.items()}
    inputs = ", ".join([*feeds, *(n if value is not None else "" for n, value in others.items())])
    feeds |= {n: value for n, value in others.items() if value is not None}
    text = f"h = Attention<{attributes}>({inputs}); y = Mul(h, h)"
    Case(text, feeds, is_open=is_open).check(level, order=2 if name in ("heads", "rows") else 1)


@levels
def test_attention_of_one_tensor_to_itself(level):
    Case("h = Attention(x, x, x); y = Mul(h, h)", {"x": random((1, 2, 3, 2), f64, low=-1, high=1)}).check(level)


@levels
@pytest.mark.parametrize("attributes", ["", "interleaved=1", "rotary_embedding_dim=2"])
def test_rotary_embedding(attributes, level):
    """The operator rotates in float32: the gradient is the rotation back."""
    pairs = 1 if "dim" in attributes else 2
    x, w, angles = random((2, 3, 2, 4), f64), random((2, 3, 2, 4), f64, "w"), random((2, 2, pairs), f64, "angles")
    casts = "xf = Cast<to=1>(x); cf = Cast<to=1>(c); sf = Cast<to=1>(s)"
    text = f"{casts}; h = RotaryEmbedding<{attributes}>(xf, cf, sf); d = Cast<to=11>(h); y = Mul(d, w)".replace("<>", "")
    got = gradients_of(text, {"x": x, "c": np.cos(angles), "s": np.sin(angles), "w": w}, ["x"], level)[0]
    first, second = (np.s_[..., ::2], np.s_[..., 1::2]) if "inter" in attributes else (np.s_[..., :pairs], np.s_[..., pairs : 2 * pairs])
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    want = np.array(w)
    want[first], want[second] = c * w[first] + s * w[second], c * w[second] - s * w[first]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


# equation: shapes
EINSUMS = {
    "ij,jk->ik": [(2, 3), (3, 2)],
    "bij, bjk": [(2, 2, 3), (2, 3, 2)],
    "ij->": [(2, 3)],
    "ij->j": [(2, 3)],
    "i,i": [(3,), (3,)],
    "ij,ik,il->jkl": [(2, 2), (2, 3), (2, 2)],
    "ijk,l->il": [(2, 3, 2), (2,)],
    "...ij,...jk->...ik": [(2, 1, 2, 3), (2, 1, 3, 2)],
    "a...,...->a": [(2, 3), (3,)],
    "ij,ij->ji": [(2, 3), (2, 3)],
}


@levels
@opened
@pytest.mark.parametrize("equation", EINSUMS)
def test_einsum(equation, is_open, level):
    if is_open and "." in equation:
        pytest.skip("ellipses broadcast, which is refused where extents are not known")
    feeds = {name: random(shape, f64, name) for name, shape in zip("abc", EINSUMS[equation])}
    text = f'h = Einsum<equation="{equation}">({", ".join(feeds)}); y = Mul(h, h)'
    Case(text, feeds, is_open=is_open).check(level, order=2)


def test_einsum_refuses_what_broadcasts_and_diagonals():
    for equation, shapes in {"...i,...i->...i": [(2, 3), (1, 3)], "ii->i": [(3, 3)]}.items():
        feeds = {name: random(shape, f64, name) for name, shape in zip("ab", shapes)}
        nodes = [*parse_nodes(f'y = Einsum<equation="{equation}">({", ".join(feeds)})'), gradient_node("a", "y", ["da"])]
        assert_load_refused(training_model(nodes, feeds, ["da"]), code="E5033", words=["Einsum"])


RESIZES = {
    "nearest": 'mode="nearest"',
    "nearest_floor": 'mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"',
    "linear": 'mode="linear"',
    "corners": 'mode="linear", coordinate_transformation_mode="align_corners"',
    "antialias": 'mode="linear", antialias=1',
    "cubic": 'mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1',
}


@levels
@opened
@pytest.mark.parametrize("by", ["scales", "sizes", "axes"])
@pytest.mark.parametrize("name", RESIZES)
def test_resize(name, by, is_open, level):
    others = {
        "scales": {"f": np.array([1, 1, 2, 0.6], np.float32)},
        "sizes": {"n": np.array([1, 2, 3, 7])},
        "axes": {"f": np.array([0.6, 1.7], np.float32)},
    }[by]
    inputs = "x, , f" if "f" in others else "x, , , n"
    axes = ", axes=[-1, 2]" if by == "axes" else ""
    feeds = {"x": random((1, 2, 4, 5), f64), **others}
    constants = [] if is_open else list(others)
    text = f"h = Resize<{RESIZES[name]}{axes}>({inputs}); y = Mul(h, h)"
    Case(text, feeds, is_open=is_open, constants=constants).check(level, order=2)
