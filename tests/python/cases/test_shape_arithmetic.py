"""Sums that models do with shapes: what is known when the model is loaded, what only a run knows, and the wrap, sign and rounding of both."""

import numpy as np
import pytest

from oracle import assert_load_or_run_refused, check, f32, i32, levels, make_model, random, u64

INTS = {
    "zero": np.array(0), "one": np.array(1), "two": np.array(2), "five": np.array(5), "less2": np.array(-2), "less1": np.array(-1),
    "v0": np.array([0]), "v1": np.array([1]), "v2": np.array([2]), "vless1": np.array([-1]), "far": np.array([-100]), "v123": np.array([1, 2, 3]),
}  # fmt: skip
N, M, V = "n = Gather(s, zero); ", "m = Gather(s, one); ", "n = Gather(s, v0); "

# Nodes from s = Shape(x) to y, and constants besides those above.
ROWS = {
    "division-cuts-off": (N + "a = Sub(n, five); y = Div(a, two)", {}),
    "division-by-a-negative": (N + "y = Div(n, less2)", {}),
    "remainder-of-a-negative": (N + "a = Sub(n, five); y = Mod(a, two)", {}),
    "remainder-by-a-negative": (N + "y = Mod(n, less2)", {}),
    "remainder-as-in-C": (N + "a = Sub(n, five); y = Mod<fmod=1>(a, two)", {}),
    "wraps": (N + "a = Mul(n, big); y = Add(a, a)", {"big": np.array(2**62)}),
    "cut-to-int32": (N + "a = Mul(n, big); b = Cast<to=6>(a); y = Cast<to=7>(b)", {"big": np.array(2**30)}),
    "cut-to-uint8": (N + "a = Sub(n, five); b = Cast<to=2>(a); y = Cast<to=7>(b)", {}),
    "to-bool": (N + "a = Sub(n, two); y = Cast<to=9>(a)", {}),
    "floor-in-float": (N + "a = Cast<to=1>(n); b = Div(a, h); c = Floor(b); y = Cast<to=7>(c)", {"h": np.float32(2)}),
    "ceil-of-a-negative": (N + "a = Sub(n, five); b = Cast<to=1>(a); c = Div(b, h); d = Ceil(c); y = Cast<to=7>(d)", {"h": np.float32(2)}),
    "cut-off-in-float": (N + "a = Sub(n, five); b = Cast<to=1>(a); c = Mul(b, h); y = Cast<to=7>(c)", {"h": np.float32(0.5)}),
    "signs": (V + "a = Neg(n); b = Abs(a); c = Neg(b); y = Concat<axis=0>(a, b, c)", {}),
    "bounds": (N + M + "a = Min(n, m); b = Max(a, two, m); y = Sub(b, five)", {}),
    "choice": (N + "a = Equal(n, two); y = Where(a, n, less2)", {}),
    "choice-of-each": ("a = Less(s, v123); y = Where(a, s, v123)", {}),
    "backwards": ("y = Slice(s, vless1, far, v0, vless1)", {}),
    "from-the-end": ("y = Gather(s, k)", {"k": np.array([-1, -3, 0])}),
    "product": ("y = ReduceProd<keepdims=0>(s)", {}),
    "integer-mean": ("y = ReduceMean(s)", {}),
    "running-sum": ("y = CumSum(s, zero)", {}),
    "square": ("y = Pow(s, two)", {}),
    "root": ("a = Cast<to=1>(s); b = Sqrt(a); y = Cast<to=7>(b)", {}),
    "shift": (N + 'a = Cast<to=13>(n); b = BitShift<direction="LEFT">(a, k); y = Cast<to=7>(b)', {"k": np.array(3, u64)}),
    "count-of-equals": ("a = Equal(s, v123); b = Not(a); c = Cast<to=7>(b); y = ReduceSum<keepdims=0>(c)", {}),
    "set-one": ("y = ScatterElements(s, v1, v2)", {}),
    "part-of-the-shape": ("a = Shape<start=-2, end=-1>(x); b = Shape<start=1>(x); y = Concat<axis=0>(a, b)", {}),
    "size": ("a = Size(x); b = Div(a, two); y = Mod(b, five)", {}),
    "of-a-transpose": ("t = Transpose<perm=[2, 0, 1]>(x); a = Shape(t); y = Sub(a, s)", {}),
    "of-a-product": ("t = Transpose<perm=[0, 2, 1]>(x); a = MatMul(x, t); b = Shape(a); y = Concat<axis=0>(b, s)", {}),
    "divides-by-it": ("y = Div(v123, s)", {}),
    "reshape-to-the-rest": (V + "a = Concat<axis=0>(n, vless1); y = Reshape(x, a)", {}),
    "range": (M + "y = Range(zero, m, two)", {}),
    "range-down": (M + "y = Range(m, less1, less2)", {}),
    "range-to-nothing": (M + "a = Sub(m, five); y = Range(a, less2, one)", {}),
    "expand": ("a = Concat<axis=0>(v2, s); y = Expand(x, a)", {}),
    "expand-to-the-larger": ("a = Max(s, v123); y = Expand(k, a)", {"k": np.ones((1, 1, 1), f32)}),
    "tile": ("y = Tile(x, s)", {}),
    "filled": ("y = ConstantOfShape(s)", {}),
    "depth": (M + "y = OneHot(v123, m, k)", {"k": np.array([0, 1], f32)}),
    "pad-to": ("a = Sub(v123, s); b = Sub(s, s); c = Max(a, v0); d = Concat<axis=0>(b, c); y = Pad(x, d)", {}),
    "half": (V + "a = Div(n, v2); y = Slice(x, v0, a, v0)", {}),
    "halves": ("m = Gather(s, v1); a = Div(m, v2); b = Sub(m, a); c = Concat<axis=0>(a, b); y, z = Split<axis=1>(x, c)", {}),
    "twice-the-size": ('a = Mul(s, k); y = Resize<mode="nearest">(x, , , a)', {"k": np.array([1, 2, 1])}),
    "diagonal": (N + "y = Trilu(x, n)", {}),
    "scales-by-a-condition": (N + "a = Equal(n, two); b = Cast<to=1>(a); y = Mul(x, b)", {}),
}  # fmt: skip


@levels
@pytest.mark.parametrize("known", ["all", "names", "nothing"])
@pytest.mark.parametrize("row", ROWS)
def test_rows(row, known, level):
    text, constants = ROWS[row]
    for shape in ((2, 5, 3), (7, 1, 4)):
        x = random(shape)
        spec = {"all": x, "names": (f32, ["a", "b", "c"]), "nothing": f32}[known]
        model = make_model(f"s = Shape(x); {text}", {"x": spec}, ["y"], {**INTS, **constants})
        check(model, {"x": x}, level=level)


@levels
@pytest.mark.parametrize("text", ["y = Div(v123, s)", "y = Mod(v123, s)", "a = Cast<to=6>(s); y = Div(k, a)"])
def test_an_extent_of_zero_divides_nothing(text, level):
    for spec in ((f32, (1, 0, 2)), (f32, ["a", "b", "c"])):
        model = make_model(f"s = Shape(x); {text}", {"x": spec}, ["y"], {**INTS, "k": np.array(1, i32)})
        assert_load_or_run_refused(model, {"x": np.zeros((1, 0, 2), f32)}, level, code="E5014")
