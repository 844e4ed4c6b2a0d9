"""The agreement that pyasc promises with ONNX Runtime, in one place for tests and benchmarks."""

import numpy as np

RELATIVE = 1e-4
ABSOLUTE_OF_LARGEST = 1e-5


def excess(got, want, relative=RELATIVE, absolute_of_largest=ABSOLUTE_OF_LARGEST):
    """The largest error as a multiple of what is allowed: up to 1 the arrays agree.

    Allowed is `relative * |want| + absolute_of_largest * max |want|`. NaN and infinities must be in the same places; other
    shapes or types, and any difference in integers, count as infinite.
    """
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return np.inf
    if want.dtype.kind not in "fc":
        return 0.0 if np.array_equal(got, want) else np.inf
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True) or not np.isfinite(got[finite]).all():
        return np.inf
    got, want = got[finite].astype(np.float64), want[finite].astype(np.float64)
    if not want.size:
        return 0.0
    allowed = relative * np.abs(want) + absolute_of_largest * np.abs(want).max()
    error = np.abs(got - want)
    return float(np.divide(error, allowed, out=np.where(error > 0, np.inf, 0.0), where=allowed > 0).max())
