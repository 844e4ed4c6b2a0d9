"""Convolution and its transpose by plain loops in float64, any number of spatial dimensions."""

import numpy as np


def same_pads(sizes, kernel, strides, dilations, upper):
    """Starts, then ends, so that there are ceil(n / stride) results."""
    totals = [
        max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0) for n, k, s, d in zip(sizes, kernel, strides, dilations)
    ]
    less, more = [t // 2 for t in totals], [t - t // 2 for t in totals]
    return less + more if upper else more + less


def conv(x, w, b=None, strides=None, pads=None, dilations=None, group=1):
    """x [N, C, ...], w [M, C / group, ...], b [M] -> [N, M, ...]."""
    n = x.ndim - 2
    strides, dilations, pads = strides or [1] * n, dilations or [1] * n, pads or [0] * 2 * n
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0)] + [(pads[i], pads[n + i]) for i in range(n)])
    sizes = [(padded.shape[2 + i] - dilations[i] * (w.shape[2 + i] - 1) - 1) // strides[i] + 1 for i in range(n)]
    y = np.zeros((x.shape[0], w.shape[0], *sizes))
    per_in, per_out = w.shape[1], w.shape[0] // group
    for offset in np.ndindex(*w.shape[2:]):
        window = tuple(
            slice(o * d, o * d + (m - 1) * s + 1, s) for o, d, s, m in zip(offset, dilations, strides, sizes)
        )
        part = padded[(slice(None), slice(None), *window)]
        for g in range(group):
            kernel = w[g * per_out : (g + 1) * per_out][(slice(None), slice(None), *offset)].astype(np.float64)
            y[:, g * per_out : (g + 1) * per_out] += np.einsum(
                "mc,nc...->nm...", kernel, part[:, g * per_in : (g + 1) * per_in]
            )
    if b is not None:
        y += b.astype(np.float64).reshape(-1, *[1] * n)
    return y.astype(x.dtype)


def conv_transpose(x, w, b=None, strides=None, pads=None, dilations=None, group=1, output_padding=None):
    """x [N, C, ...], w [C, M / group, ...] -> [N, M, ...]."""
    n = x.ndim - 2
    strides, dilations, pads = strides or [1] * n, dilations or [1] * n, pads or [0] * 2 * n
    extra = output_padding or [0] * n
    full = [strides[i] * (x.shape[2 + i] - 1) + dilations[i] * (w.shape[2 + i] - 1) + 1 + extra[i] for i in range(n)]
    per_in, per_out = w.shape[0] // group, w.shape[1]
    y = np.zeros((x.shape[0], per_out * group, *full))
    for offset in np.ndindex(*w.shape[2:]):
        window = tuple(
            slice(o * d, o * d + (x.shape[2 + i] - 1) * s + 1, s)
            for i, (o, d, s) in enumerate(zip(offset, dilations, strides))
        )
        for g in range(group):
            kernel = w[g * per_in : (g + 1) * per_in][(slice(None), slice(None), *offset)].astype(np.float64)
            part = np.einsum("cm,nc...->nm...", kernel, x[:, g * per_in : (g + 1) * per_in].astype(np.float64))
            y[(slice(None), slice(g * per_out, (g + 1) * per_out), *window)] += part
    y = y[(slice(None), slice(None), *(slice(pads[i], full[i] - pads[n + i]) for i in range(n)))]
    if b is not None:
        y = y + b.astype(np.float64).reshape(-1, *[1] * n)
    return y.astype(x.dtype)
