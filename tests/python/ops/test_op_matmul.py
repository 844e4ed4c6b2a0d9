"""MatMul, Gemm, Einsum and the integer products: ranks, broadcasting of batches, transposes, every type, odd sizes."""

import itertools

import numpy as np
import pytest

from ops.table import OPSET, each_type, modes, verify, verify_node
from oracle import bf16, f16, f32, f64, i8, i32, make_model, random, u8

LOOSE = {f16: 2e-2, bf16: 8e-2, f32: 5e-5, f64: 1e-9}
SHAPES = [
    ((2, 3), (3, 4)),
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (4, 3, 2)),
    ((4, 2, 3), (3,)),
    ((3,), (4, 3, 2)),
    ((1, 1), (1, 1)),
    ((17, 33), (33, 9)),
    ((1, 64), (64, 1)),
    ((7, 1), (1, 5)),
    ((2, 3, 0), (0, 4)),
]


def product(a, b):
    """In float64 or exact integers, then narrowed."""
    if a.dtype.kind in "iu":
        return np.asarray(np.matmul(a, b))
    return np.asarray(np.matmul(a.astype(f64), b.astype(f64))).astype(a.dtype)


@modes
@each_type(["MatMul"])
def test_matmul(op, dtype, mode):
    for a_shape, b_shape in SHAPES:
        a, b = random(a_shape, dtype, "a"), random(b_shape, dtype, "b")
        tolerance = LOOSE.get(dtype)
        verify_node(op, {"a": a, "b": b}, product(a, b), mode, peers=(), rtol=tolerance, atol=tolerance)
        if dtype == f32:
            verify_node(
                op, {"a": a, "b": b}, product(a, b), mode, peers=(), constants=("b",), rtol=tolerance, atol=tolerance
            )


@modes
@pytest.mark.parametrize(
    "m, k, n",
    [(1, 1, 1), (1, 7, 16), (5, 8, 8), (6, 16, 17), (31, 32, 33), (64, 5, 48), (3, 130, 2), (1, 256, 100), (100, 3, 1)],
)
def test_sizes(m, k, n, mode):
    """Around the edges of blocks, with constant and with dynamic weights, with and without bias."""
    a, b, c = random((m, k), f32, "a"), random((k, n), f32, "b"), random((n,), f32, "c")
    want = product(a, b)
    verify_node("MatMul", {"a": a, "b": b}, want, mode, peers=(), rtol=1e-4, atol=1e-4)
    weights = {"b": b, "c": c}
    model = make_model("m = MatMul(a, b); y = Add(m, c)", {"a": (f32, ["m", k])}, {"y": f32}, weights, opset=OPSET)
    verify(model, {"a": a}, want + c, mode, peers=(), rtol=1e-4, atol=1e-4)


@modes
@each_type(["Gemm"])
@pytest.mark.parametrize("trans_a, trans_b", itertools.product([0, 1], [0, 1]))
def test_gemm(op, dtype, trans_a, trans_b, mode):
    """Both transposes; alpha and beta; every shape of C that broadcasts, and none."""
    for c_shape in [None, (), (1,), (5,), (1, 5), (4, 1), (4, 5)]:
        a, b = random((4, 3), dtype, "a"), random((3, 5), dtype, "b")
        c = random(c_shape, dtype, "c") if c_shape is not None else None
        for alpha, beta in [(1.0, 1.0), (2.0, 3.0)] + ([(0.5, 0.25), (1.0, 0.0)] if dtype == f32 else []):
            # C is given even when beta is 0: then it must not count, whatever is in it.
            want = alpha * product(a, b).astype(f64) + (beta * c.astype(f64) if c is not None else 0)
            feeds = {"a": np.ascontiguousarray(a.T) if trans_a else a, "b": np.ascontiguousarray(b.T) if trans_b else b}
            feeds |= {} if c is None else {"c": c}
            tolerance = LOOSE.get(dtype)
            verify_node(
                op,
                feeds,
                np.asarray(want).astype(dtype),
                mode,
                peers=(),
                rtol=tolerance,
                atol=tolerance,
                transA=trans_a,
                transB=trans_b,
                alpha=alpha,
                beta=beta,
            )


@pytest.mark.parametrize("opset", [1, 6, 7, 9, 11, 13])
def test_gemm_opsets(opset):
    """C was required until opset 11; broadcast was an attribute before 7."""
    a, b, c = random((2, 3), f32, "a"), random((3, 4), f32, "b"), random((4,), f32, "c")
    attributes = {"broadcast": 1} if opset < 7 else {}
    verify_node(
        "Gemm", {"a": a, "b": b, "c": c}, product(a, b) + c, opset=opset, peers=(), rtol=1e-4, atol=1e-5, **attributes
    )


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("bij,bkj->bik", (5, 2, 3), (5, 4, 3)),
    ("i,j->ij", (2,), (3,)),
    ("i,i->", (3,), (3,)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ij->i", (2, 3)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("ii->", (3, 3)),
    ("...ij,...jk->...ik", (2, 5, 2, 3), (1, 5, 3, 4)),
    ("i...->...", (2, 3, 4)),
    ("bhwc,hkc->bhwk", (2, 3, 4, 5), (3, 6, 5)),
    ("bnqd,bnkd->bnqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
    (" i j , j k -> i k ", (2, 3), (3, 4)),
    ("Ij,jK->IK", (2, 3), (3, 4)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,j->ij", (2, 3), (3,)),
    ("abc,cde->abde", (2, 2, 3), (3, 2, 2)),
    ("ijk->kij", (2, 3, 4)),
    ("...->...", (2, 3)),
    ("b...,b...->b...", (2, 3, 4), (2, 3, 4)),
    ("ij,kl->ijkl", (2, 2), (2, 3)),
    ("i->", (0,)),
    ("iji->j", (3, 2, 3)),
    (",ij->ij", (), (2, 3)),
    ("ij,jk->ik", (1, 3), (3, 4)),
]


@modes
@pytest.mark.parametrize("case", EQUATIONS, ids=lambda c: c[0].replace(" ", "_"))
def test_einsum(case, mode):
    equation, *shapes = case
    arrays = [random(s, f32, i) for i, s in enumerate(shapes)]
    want = np.asarray(np.einsum(equation.replace(" ", ""), *(a.astype(f64) for a in arrays))).astype(f32)
    verify_node(
        "Einsum",
        {f"a{i}": a for i, a in enumerate(arrays)},
        want,
        mode,
        peers=(),
        equation=equation,
        rtol=1e-4,
        atol=1e-5,
    )


@modes
@each_type(["Einsum"])
def test_einsum_types(op, dtype, mode):
    a, b = random((2, 3), dtype, "a"), random((3, 4), dtype, "b")
    tolerance = LOOSE.get(dtype)
    verify_node(
        op, {"a": a, "b": b}, product(a, b), mode, peers=(), equation="ij,jk->ik", rtol=tolerance, atol=tolerance
    )


@modes
@pytest.mark.parametrize("b_type", [i8, u8], ids=str)
@pytest.mark.parametrize("a_type", [i8, u8], ids=str)
@pytest.mark.parametrize("zeros", ["none", "scalar", "per-row"])
def test_matmul_integer(zeros, a_type, b_type, mode):
    a, b = random((2, 5, 7), a_type, "a", low=-128, high=256), random((7, 4), b_type, "b", low=-128, high=256)
    feeds = {"a": a, "b": b}
    az = bz = 0
    if zeros != "none":
        feeds["az"] = np.array(3, a_type)
        feeds["bz"] = np.array(5, b_type) if zeros == "scalar" else random((4,), b_type, "z", low=0, high=20)
        az, bz = 3, feeds["bz"].astype(i32)
    want = np.matmul(a.astype(i32) - az, b.astype(i32) - bz)
    verify_node("MatMulInteger", feeds, want, mode, peers=(), constants=("b", *[n for n in feeds if n in ("az", "bz")]))


@modes
@pytest.mark.parametrize("op", ["MatMul", "Gemm"])
def test_against_the_peers(op, mode):
    verify_node(op, {"a": random((4, 5), f32, "a"), "b": random((5, 6), f32, "b")}, None, mode, rtol=1e-4, atol=1e-5)


@modes
def test_beta_zero_hides_nan(mode):
    """C of NaN with beta 0: the specification multiplies, BLAS does not look; both are allowed, a crash or garbage is not."""
    from oracle import run

    a, b = np.ones((2, 2), f32), np.ones((2, 2), f32)
    model = make_model(
        "y = Gemm<beta=0.0>(a, b, c)", {"a": a, "b": b}, {"y": f32}, {"c": np.full(2, np.nan, f32)}, opset=OPSET
    )
    got = run(model, {"a": a, "b": b}, 0 if mode == "level0" else 3)["y"]
    assert got.shape == (2, 2) and (np.isnan(got).all() or (got == 2).all())
