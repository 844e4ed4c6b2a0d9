"""Comparing results in tests."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["assert_allclose"]


def assert_allclose(got: Any, want: Any, rtol: float = 1e-3, atol: float = 1e-5, name: str = "result") -> None:
    """Asserts |got - want| <= atol + rtol * |want| in every element; NaN equals NaN, infinities equal themselves.

    got, want: arrays or what can become one, or dicts and lists of them. Types may differ, shapes may not. The
    AssertionError says where the largest excess is and how far off it is, how many elements differ, and the largest
    absolute and relative error.
    """
    if isinstance(want, dict):
        assert isinstance(got, dict) and got.keys() == want.keys(), f"{name}: keys {list(got)} instead of {list(want)}"
        for key in want:
            assert_allclose(got[key], want[key], rtol, atol, f"{name}[{key!r}]")
        return
    if isinstance(want, (list, tuple)) and any(isinstance(item, np.ndarray) for item in want):
        assert len(got) == len(want), f"{name}: {len(got)} items instead of {len(want)}"
        for index, (left, right) in enumerate(zip(got, want)):
            assert_allclose(left, right, rtol, atol, f"{name}[{index}]")
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{name}: shape {got.shape} instead of {want.shape}"
    if got.dtype.kind in "OSU" or want.dtype.kind in "OSU":
        wrong = np.argwhere(got != want)
        assert not len(wrong), (
            f"{name}: {_place(wrong[0])} is {got[tuple(wrong[0])]!r} instead of {want[tuple(wrong[0])]!r}"
        )
        return
    _assert_numbers_close(got, want, rtol, atol, name)


def _place(index):
    return f"element [{', '.join(str(int(i)) for i in index)}]"


def _wide(array):
    """Wide enough that the comparison itself rounds nothing that matters."""
    return array.astype(np.complex128) if array.dtype.kind == "c" else array.astype(np.float64)


def _assert_numbers_close(got, want, rtol, atol, name):
    left, right = _wide(got), _wide(want)
    with np.errstate(all="ignore"):
        error = np.abs(left - right)
        excess = error - (atol + rtol * np.abs(right))
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    excess = np.where(same, -np.inf, np.where(np.isnan(excess), np.inf, excess))
    wrong = excess > 0
    if not wrong.any():
        return
    worst = np.unravel_index(np.argmax(excess), excess.shape)
    with np.errstate(all="ignore"):
        relative = error / np.abs(right)
    finite = wrong & np.isfinite(error)
    largest = (
        f"largest absolute error {error[finite].max():.3g}, relative {relative[finite].max():.3g}"
        if finite.any()
        else "not finite"
    )
    raise AssertionError(
        f"{name}: {int(wrong.sum())} of {wrong.size} elements differ by more than rtol={rtol:g}, atol={atol:g}:"
        f" {_place(worst)} is {got[worst]} instead of {want[worst]}; {largest}"
    )
