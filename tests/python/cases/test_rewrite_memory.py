"""Results that share memory with operands: a row, a slice or a part that is read beside the whole is not written over."""

import numpy as np
import pytest

import engines
from oracle import assert_same, check, f16, f32, i64, levels, make_model, random

INTS = {"zero": np.array([0]), "one": np.array([1]), "k": np.array(0), "last": np.array(-1), "parts": np.array([1, 2])}

# Parts `p` of a value `a` of shape [3, ...] as they are read beside it.
PARTS = {
    "first-row": ("p = Gather(a, k)", lambda a: a[0]),
    "last-row": ("p = Gather(a, last)", lambda a: a[-1]),
    "slice": ("p = Slice(a, zero, one)", lambda a: a[:1]),
    "squeezed": ("s = Slice(a, zero, one); p = Squeeze(s, zero)", lambda a: a[0]),
    "split": ("p, r = Split(a, parts)", lambda a: a[:1]),
    "whole": ("p = Identity(a)", lambda a: a),
    "reshaped": ("p = Unsqueeze(a, zero)", lambda a: a[None]),
}


@levels
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("dtype", [f32, f16, i64], ids=str)
@pytest.mark.parametrize("part", PARTS)
def test_a_value_less_its_part(part, dtype, known, level):
    """a - a[0] and a[0] - a: rows fill cache lines, so that they can be looked at where they stand."""
    text, take = PARTS[part]
    for columns in (3, 16, 64):
        x = random((3, columns), dtype, 1)
        spec = x if known else (dtype, ["N", "M"])
        model = make_model(
            f"a = Neg(x); {text}; d = Sub(a, p); e = Sub(p, a); y = Abs(d); z = Abs(e)", {"x": spec}, "yz", INTS
        )
        alone = make_model(f"a = Neg(x); {text}; y = Sub(a, p)", {"x": spec}, "y", INTS)
        want = -x - take(-x)
        for loaded, name, right in ((model, "y", abs(want)), (model, "z", abs(want)), (alone, "y", want)):
            assert_same(engines.load(loaded, level).run({"x": x})[name], right)


@levels
def test_a_sum_over_parts_of_one_value(level):
    """All parts of a value with the whole in one chain of element-wise operators."""
    x = random((4, 32), f32)
    text = "a = Exp(x); p, q, r, s = Split<num_outputs=4>(a); b = Mul(a, p); c = Add(b, q); d = Sub(r, c); y = Mul(d, s)"
    e = np.exp(x)
    want = (e[2] - (e * e[0] + e[1])) * e[3]
    for spec in (x, (f32, ["N", 32]), f32):
        assert_same(engines.load(make_model(text, {"x": spec}, "y"), level).run({"x": x})["y"], want)


@levels
def test_rows_relative_to_the_first_and_the_last(level):
    """Each of two values in a row is read whole and by a row of its own."""
    x = random((5, 16), f32)
    text = "a = Tanh(x); p = Gather(a, k); b = Sub(a, p); c = Tanh(b); q = Gather(c, last); y = Add(c, q)"
    t = np.tanh(np.tanh(x) - np.tanh(x)[0])
    assert_same(engines.load(make_model(text, {"x": x}, "y", INTS), level).run({"x": x})["y"], t + t[-1])


@levels
@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5])
def test_a_joined_value_is_cut_elsewhere(cut, level):
    """Parts that are made where they stand in the whole, and pieces of the whole across their border."""
    x = random((4, 16), f32)
    text = "a = Neg(x); m = ReduceMin(a, zero); b = Tanh(a); w = Concat<axis=0>(m, b); p, q = Split(w, sizes)"
    text += "; y = Exp(p); z = Exp(q)"
    model = make_model(text, {"x": x}, "yz", {"zero": np.array([0]), "sizes": np.array([cut, 5 - cut])})
    whole = np.concatenate([(-x).min(0, keepdims=True), np.tanh(-x)])
    assert_same(engines.load(model, level).run({"x": x}), {"y": np.exp(whole[:cut]), "z": np.exp(whole[cut:])})


CONCATS = {
    "with-itself": ("w = Concat<axis=0>(a, a); y = Neg(w)", lambda a: -np.concatenate([a, a])),
    "then-more": ("b = Abs(a); w = Concat<axis=0>(a, b); c = Neg(w); y = Concat<axis=0>(w, c)", None),
    "part-read-after": ("b = Abs(a); w = Concat<axis=0>(a, b); c = Sub(b, a); d = ReduceSum(w); y = Mul(c, d)", None),
    "in-two": ("b = Abs(a); v = Concat<axis=0>(a, b); w = Concat<axis=0>(b, a); y = Sub(v, w)", None),
    "row-of-it": ("b = Abs(a); w = Concat<axis=0>(b, a); p = Gather(w, last); y = Sub(w, p)", None),
    "scaled-after": ("b = Abs(a); w = Concat<axis=0>(a, b); c = Mul(b, b); d = Concat<axis=0>(c, w); y = Neg(d)", None),
}


@levels
@pytest.mark.parametrize("shape", [(1, 16), (2, 16), (1, 3)], ids=str)
@pytest.mark.parametrize("row", CONCATS)
def test_operations_on_what_is_joined(row, shape, level):
    """Nothing that is computed from a joined value, or from its parts, changes it."""
    text, want = CONCATS[row]
    x = random(shape, f32)
    model = make_model(f"a = Exp(x); {text}; z = Identity(w)", {"x": x}, "yz" if row != "in-two" else "y", INTS)
    if want:
        want = {"y": want(np.exp(x))}
    check(model, {"x": x}, want and {**want, "z": -want["y"]}, level=level)
