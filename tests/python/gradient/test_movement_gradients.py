"""Gradients of operators that move elements against central differences; each is squared, so that there is a second order."""

import numpy as np
import pytest

from gradient.gradient_oracle import Case
from oracle import f64, levels, random

opened = pytest.mark.parametrize("is_open", [False, True], ids=["static", "open"])


def ints(*values):
    return np.array(values, np.int64)


X = random((2, 3, 4), f64)
BLOCKS = random((1, 8, 2, 2), f64)
SPACE = random((1, 2, 4, 4), f64)

# what makes h of x, and its other inputs
CASES = {
    "reshape": ("Reshape(x, s)", {"s": ints(4, -1)}),
    "reshape_copies": ("Reshape(x, s)", {"s": ints(0, 12)}),
    "flatten": ("Flatten<axis=2>(x)", {}),
    "unsqueeze": ("Unsqueeze(x, a)", {"a": ints(0, -1)}),
    "transpose": ("Transpose<perm=[2, 0, 1]>(x)", {}),
    "transpose_reverses": ("Transpose(x)", {}),
    "expand": ("Expand(x, s)", {"s": ints(2, 1, 3, 1)}),
    "tile": ("Tile(x, r)", {"r": ints(1, 2, 3)}),
    "slice": ("Slice(x, s, e)", {"s": ints(0, 1), "e": ints(1, 3)}),
    "slice_negative": ("Slice(x, s, e, a)", {"s": ints(-3, -2), "e": ints(-1, 100), "a": ints(2, -2)}),
    "slice_int32": ("Slice(x, s, e, a)", {"s": np.array([-9], np.int32), "e": np.array([2], np.int32), "a": np.array([1], np.int32)}),
    "slice_steps": ("Slice(x, s, e, a, t)", {"s": ints(0, -1), "e": ints(3, -9), "a": ints(1, 2), "t": ints(2, -1)}),
    "slice_ones": ("Slice(x, s, e, a, t)", {"s": ints(1), "e": ints(3), "a": ints(1), "t": ints(1)}),
    "slice_nothing": ("Slice(x, s, e)", {"s": ints(2), "e": ints(1)}),
    "gather": ("Gather(x, i)", {"i": np.array([[0, 1, 1], [-1, 0, 1]])}),
    "gather_1": ("Gather<axis=1>(x, i)", {"i": np.array([[2, 0], [-1, 2], [2, 1]], np.int32)}),
    "gather_last": ("Gather<axis=-1>(x, i)", {"i": ints(3, 3, 0)}),
    "gather_one": ("Gather<axis=1>(x, i)", {"i": np.array(1)}),
    "gather_none": ("Gather<axis=1>(x, i)", {"i": np.zeros((0, 2), np.int64)}),
    "gather_elements": ("GatherElements<axis=2>(x, i)", {"i": np.array([[[3, 3], [0, -1]]])}),
    "gather_nd": ("GatherND(x, i)", {"i": np.array([[0, 2], [1, -1], [0, 2]])}),
    "gather_nd_batches": ("GatherND<batch_dims=1>(x, i)", {"i": np.array([[[2, 1], [2, 1]], [[0, 0], [-1, -1]]])}),
    "pad": ("Pad(x, p)", {"p": ints(0, 1, 2, 1, 0, 1)}),
    "pad_axes": ("Pad(x, p, , a)", {"p": ints(1, 2), "a": ints(-1)}),
    "pad_cuts": ("Pad(x, p)", {"p": ints(0, -1, 2, 1, 0, -1)}),
    "pad_reflect": ('Pad<mode="reflect">(x, p)', {"p": ints(0, 2, 1, 1, 0, 3)}),
    "pad_edge": ('Pad<mode="edge">(x, p)', {"p": ints(0, 2, 1, 1, 0, 3)}),
    "pad_wrap": ('Pad<mode="wrap">(x, p)', {"p": ints(0, 2, 1, 1, 0, 3)}),
    "compress": ("Compress<axis=1>(x, c)", {"c": np.array([True, False, True])}),
    "compress_flat": ("Compress(x, c)", {"c": np.array([True, False, True, True])}),
    "reverse_sequence": ("ReverseSequence<batch_axis=0, time_axis=1>(x, n)", {"n": ints(2, 3)}),
    "trilu": ("Trilu(x, k)", {"k": np.array(1)}),
    "tril": ("Trilu<upper=0>(x)", {}),
    "topk": ("TopK(x, k)", {"k": ints(2)}),
    "depth_to_space": ("DepthToSpace<blocksize=2>(x)", {"x": BLOCKS}),
    "depth_to_space_crd": ('DepthToSpace<blocksize=2, mode="CRD">(x)', {"x": BLOCKS}),
    "space_to_depth": ("SpaceToDepth<blocksize=2>(x)", {"x": SPACE}),
    "identity": ("Identity(x)", {}),
}


@levels
@opened
@pytest.mark.parametrize("name", CASES)
def test_moved(name, is_open, level):
    op, others = CASES[name]
    outputs = "h, places" if op.startswith("TopK") else "h"
    feeds = {"x": X, **others}
    constants = [] if is_open else list(others.keys() - {"x"})
    Case(f"{outputs} = {op}; y = Mul(h, h)", feeds, is_open=is_open, constants=constants).check(level, order=2)


@levels
@opened
def test_squeeze(is_open, level):
    x = random((1, 3, 1), f64)
    Case("h = Squeeze(x, a); y = Mul(h, h)", {"x": x, "a": ints(0, -1)}, constants=["a"], is_open=is_open).check(level, order=2)
    Case("h = Squeeze(x); y = Mul(h, h)", {"x": x}, is_open=is_open).check(level, order=2)


@levels
@opened
@pytest.mark.parametrize("axis", [1, -2])
def test_concat_and_split(axis, is_open, level):
    feeds = {name: random((2, n, 2), f64, name) for name, n in (("a", 1), ("b", 3), ("c", 0))}
    Case(f"h = Concat<axis={axis}>(a, b, c, a); y = Mul(h, h)", feeds, is_open=is_open).check(level, order=2)
    cut = {"x": random((2, 5, 2), f64), "s": ints(1, 3, 1)}
    text = f"a, b, c = Split<axis={axis}>(x, s); y = Mul(a, c); z = Mul(b, b)"
    Case(text, cut, outputs=["y", "z"], constants=["s"], is_open=is_open).check(level, order=2)
    Case(text, cut, outputs=["y"], constants=["s"], is_open=is_open).check(level, order=2)


@levels
@opened
def test_value_of_padding(is_open, level):
    feeds = {"x": X, "p": ints(0, 1, 2, 1, 0, -1), "v": np.array(0.7)}
    Case("h = Pad(x, p, v); y = Mul(h, h)", feeds, is_open=is_open).check(level, order=2)


@levels
@opened
def test_one_hot(is_open, level):
    feeds = {"i": np.array([[2, 0], [1, -1]]), "n": np.array([3]), "v": random((2,), f64)}
    Case("h = OneHot<axis=1>(i, n, v); y = Mul(h, h)", feeds, is_open=is_open, constants=["n"]).check(level, order=2)


@levels
@opened
@pytest.mark.parametrize("reduction", ["none", "add"])
def test_scatter(reduction, is_open, level):
    i = np.array([[[3, 1], [0, -2]]]) if reduction == "none" else np.array([[[3, 3], [0, -4]]])
    feeds = {"x": X, "i": i, "u": random((1, 2, 2), f64, "u")}
    Case(f'h = ScatterElements<axis=2, reduction="{reduction}">(x, i, u); y = Mul(h, h)', feeds, is_open=is_open).check(level, order=2)
    i = np.array([[0, 2], [1, -1]]) if reduction == "none" else np.array([[0, 2], [0, 2]])
    feeds = {"x": X, "i": i, "u": random((2, 4), f64, "u")}
    Case(f'h = ScatterND<reduction="{reduction}">(x, i, u); y = Mul(h, h)', feeds, is_open=is_open).check(level, order=2)
