"""Corners that comparing every operator with its oracles found (tests/conformance/edges.py searches for more)."""

import numpy as np
import pytest

from oracle import assert_load_or_run_refused, f32, i32, i64, levels, one_node, random
from table import modes, verify_node


@modes
@pytest.mark.parametrize("size", [(1, 1, 1, 3), (1, 1, 3, 1), (1, 1, 1, 1)], ids=str)
def test_affine_grid_of_one_aligned_pixel(size, mode):
    """The first pixel is at -1, and it is the only one (ONNX Runtime: 1)."""
    theta = np.array([[[2, 3, 5], [7, 11, 13]]], f32)
    place = lambda n: np.linspace(-1, 1, n) if n > 1 else np.array([-1.0])
    y, x = np.meshgrid(place(size[2]), place(size[3]), indexing="ij")
    want = np.stack([2 * x + 3 * y + 5, 7 * x + 11 * y + 13], -1)[None].astype(f32)
    feeds = {"theta": theta, "size": np.array(size, i64)}
    verify_node("AffineGrid", feeds, want, mode, opset=20, peers=["reference"], align_corners=1)


@modes
@pytest.mark.parametrize("kind", [6, 7, 2], ids=["int32", "int64", "uint8"])
@pytest.mark.parametrize("window", ["BlackmanWindow", "HannWindow"])
def test_middle_of_an_integer_window_is_one(window, kind, mode):
    verify_node(window, {"n": np.array(8, i64)}, None, mode, opset=17, output_datatype=kind)


@levels
@pytest.mark.parametrize("pad, want", [("SAME_UPPER", [0, 1, 0, 0, 2, 0, 0, 3, 0]), ("SAME_LOWER", [0, 1, 0, 0, 2, 0, 0, 3, 0])])
def test_conv_transpose_pads_its_output_alike_on_both_sides(pad, want, level):
    """Where the stride is longer than the kernel, total padding is negative."""
    x, w = np.array([[[1, 2, 3]]], f32), np.ones((1, 1, 1), f32)
    want = np.array([[want]], f32)
    mode = f"level{level}"
    verify_node("ConvTranspose", {"x": x, "w": w}, want, mode, opset=22, peers=["reference"], strides=[3], auto_pad=pad)


@modes
@pytest.mark.parametrize("alpha, beta", [(2.0, 0.5), (0.5, 0.5), (1.0, 0.5), (0.5, 1.0), (1.0, 1.0)])
def test_integer_gemm_is_cut_off_once(alpha, beta, mode):
    a, b, c = random((2, 3), i32), random((3, 2), i32, "b"), np.array([1, -3], i32)
    want = np.trunc(alpha * (a @ b) + beta * c).astype(i32)
    verify_node("Gemm", {"a": a, "b": b, "c": c}, want, mode, peers=["reference"], alpha=alpha, beta=beta)


@modes
@pytest.mark.parametrize("pads", [[0, -1], [-1, 0], [0, 0]], ids=str)
def test_reflect_of_nothing_by_nothing(pads, mode):
    x = np.zeros((2, 0) if pads == [0, 0] else (2, 1), f32)
    feeds = {"x": x, "pads": np.array(pads, i64), "v": None, "axes": np.array([1], i64)}
    verify_node("Pad", feeds, np.zeros((2, 0), f32), mode, peers=[], mode="reflect")


@levels
def test_reflect_of_nothing_by_something_is_refused(level):
    model = one_node("Pad", {"x": np.zeros((2, 1), f32), "p": np.array([0, -1, 0, 1], i64)}, mode="reflect")
    assert_load_or_run_refused(model, {"x": np.zeros((2, 1), f32), "p": np.array([0, -1, 0, 1], i64)}, level)


@modes
@pytest.mark.parametrize(
    "x, lambd, bias, want",
    [
        (np.array([-128, -2, 3], np.int8), 1.0, -1.0, [127, -3, 4]),
        (np.array([0, 1], np.uint64), -3.5, -1.0, [2**64 - 1, 0]),
        (np.array([-5, 0, 5], np.int16), 1.5, 0.5, [-4, 0, 4]),
    ],
    ids=["wraps", "negative-lambd", "cut-off"],
)
def test_integer_shrink(x, lambd, bias, want, mode):
    """The first of the two conditions that holds decides; what does not fit wraps as in Cast."""
    verify_node("Shrink", {"x": x}, np.array(want, x.dtype), mode, lambd=lambd, bias=bias)
