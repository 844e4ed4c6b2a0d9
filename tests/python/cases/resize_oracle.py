"""ONNX Resize in NumPy, one axis after the other, in float64.

The length of the result that align_corners speaks of is not whole where it comes from a scale (ONNX: scale = length_resized /
length_original); everywhere else it is.
"""

import numpy as np


def coordinate(i, n, m, scale, mode, roi=(0, 1), length=None):
    """Where output index `i` of `m` lies among `n` inputs."""
    length = m if length is None else length
    if mode == "half_pixel":
        return (i + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        return n / 2 * (1 - m / (scale * n)) + (i + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return (i + 0.5) / scale - 0.5 if m > 1 else 0.0
    if mode == "align_corners":
        return i * (n - 1) / (length - 1) if m > 1 else 0.0
    if mode == "asymmetric":
        return i / scale
    start, end = roi
    return start * (n - 1) + i * (end - start) * (n - 1) / (m - 1) if m > 1 else 0.5 * (start + end) * (n - 1)


NEAREST = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def on_the_edge(x, rounding):
    """True where rounding the coordinate depends on the last bits of its computation."""
    shifted = x - 0.5 if "round" in rounding else x
    return abs(shifted - round(shifted)) < 1e-5


def cubic_weight(d, a):
    d = abs(d)
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a if d < 2 else 0.0


def taps(x, n, mode, rounding, a, exclude):
    """[(input index, weight)] of one output element."""
    if mode == "nearest":
        return [(int(np.clip(NEAREST[rounding](x), 0, n - 1)), 1.0)]
    low = int(np.floor(x))
    if mode == "linear":
        pairs = [(low, low + 1 - x), (low + 1, x - low)]
        exclude = 0
    else:
        pairs = [(k, cubic_weight(x - k, a)) for k in range(low - 1, low + 3)]
    if exclude:
        pairs = [(k, w) for k, w in pairs if 0 <= k < n]
        total = sum(w for _, w in pairs)
        pairs = [(k, w / total) for k, w in pairs]
    return [(min(max(k, 0), n - 1), w) for k, w in pairs]


def resize(
    x,
    scales=None,
    sizes=None,
    mode="nearest",
    coordinate_transformation_mode="half_pixel",
    nearest_mode="round_prefer_floor",
    cubic_coeff_a=-0.75,
    exclude_outside=0,
    roi=None,
    extrapolation_value=0.0,
):
    """The resized tensor, of x's type. `scales` or `sizes` for every axis; `roi`: starts, then ends."""
    y = np.asarray(x, np.float64)
    outside = []
    for axis in range(x.ndim):
        n = x.shape[axis]
        m = int(sizes[axis]) if sizes is not None else int(np.floor(n * float(np.float32(scales[axis]))))
        scale = m / n if sizes is not None else float(np.float32(scales[axis]))
        region = (roi[axis], roi[axis + x.ndim]) if roi is not None else (0, 1)
        length = m if sizes is not None else float(np.float32(n) * np.float32(scales[axis]))
        places = [coordinate(i, n, m, scale, coordinate_transformation_mode, region, length) for i in range(m)]
        outside.append(np.array([not 0 <= p <= n - 1 for p in places], bool))
        weights = np.zeros((m, n))
        if scale != 1 or coordinate_transformation_mode == "tf_crop_and_resize":
            for i, place in enumerate(places):
                for k, w in taps(place, n, mode, nearest_mode, cubic_coeff_a, exclude_outside):
                    weights[i, k] += w
        else:
            weights = np.eye(n)
        y = np.moveaxis(np.tensordot(weights, y, (1, axis)), 0, axis)
    if coordinate_transformation_mode == "tf_crop_and_resize":
        for axis, mask in enumerate(outside):
            np.moveaxis(y, axis, 0)[mask] = extrapolation_value
    return y.astype(x.dtype)
