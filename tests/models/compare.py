"""The agreement that pyasc promises with ONNX Runtime, in one place for tests and benchmarks."""

import numpy as np

RELATIVE = 1e-4
ABSOLUTE_OF_LARGEST = 1e-5
# Where convolutions run by Winograd's algorithm, which rounds more.
ABSOLUTE_OF_LARGEST_WINOGRAD = 5e-5


def _errors(got, want):
    """(|got - want|, |want|) of the finite elements; None where shape, type, integers, NaN or infinities differ."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return None
    if want.dtype.kind not in "fc":
        return (np.zeros(0), np.zeros(0)) if np.array_equal(got, want) else None
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True) or not np.isfinite(got[finite]).all():
        return None
    got, want = got[finite].astype(np.float64), want[finite].astype(np.float64)
    return np.abs(got - want), np.abs(want)


def excess(got, want, relative=RELATIVE, absolute_of_largest=ABSOLUTE_OF_LARGEST):
    """The largest error as a multiple of what is allowed: up to 1 the arrays agree.

    Allowed is `relative * |want| + absolute_of_largest * max |want|`. NaN and infinities must be in the same places; other
    shapes or types, and any difference in integers, count as infinite.
    """
    compared = _errors(got, want)
    if compared is None:
        return np.inf
    error, size = compared
    if not error.size:
        return 0.0
    allowed = relative * size + absolute_of_largest * size.max()
    return float(np.divide(error, allowed, out=np.where(error > 0, np.inf, 0.0), where=allowed > 0).max())


def difference(got, want):
    """The largest error as a part of the largest element of `want`; infinite for what `excess` calls infinite."""
    compared = _errors(got, want)
    if compared is None:
        return np.inf
    error, size = compared
    if not error.size or not error.max():
        return 0.0
    return float(error.max() / size.max()) if size.max() else np.inf
