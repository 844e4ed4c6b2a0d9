"""LSTM, GRU and RNN in float64, with ONNX's layouts: x [seq, batch, input], W [directions, gates * hidden, input]."""

import numpy as np

sigmoid = lambda v: 1 / (1 + np.exp(-v))
ACTIVATIONS = {
    "Sigmoid": sigmoid,
    "Tanh": np.tanh,
    "Relu": lambda v: np.maximum(v, 0),
    "HardSigmoid": lambda v: np.clip(0.2 * v + 0.5, 0, 1),
    "Softsign": lambda v: v / (1 + np.abs(v)),
    "Affine": lambda v: v,
    "Elu": lambda v: np.where(v < 0, np.expm1(np.minimum(v, 0)), v),
}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
DEFAULT = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


def step(op, x, h, c, w, r, b, p, functions, clip, input_forget, linear_before_reset):
    """One time step of one direction -> (h, c)."""
    n = h.shape[1]
    f, *gh = functions
    wb, rb = b[: w.shape[0]], b[w.shape[0] :]
    bound = (lambda v: np.clip(v, -clip, clip)) if clip else (lambda v: v)
    if op == "RNN":
        return f(bound(x @ w.T + h @ r.T + wb + rb)), c
    if op == "LSTM":
        i, o, g, k = np.split(x @ w.T + h @ r.T + wb + rb, 4, 1)
        pi, po, pf = np.split(p, 3) if p is not None else (0, 0, 0)
        i = f(bound(i + pi * c))
        g = 1 - i if input_forget else f(bound(g + pf * c))
        c = g * c + i * gh[0](bound(k))
        return f(bound(o + po * c)) * gh[1](c), c
    xz, xr, xh = np.split(x @ w.T + wb, 3, 1)
    z = f(bound(xz + h @ r[:n].T + rb[:n]))
    reset = f(bound(xr + h @ r[n : 2 * n].T + rb[n : 2 * n]))
    if linear_before_reset:
        candidate = gh[0](bound(xh + reset * (h @ r[2 * n :].T + rb[2 * n :])))
    else:
        candidate = gh[0](bound(xh + (reset * h) @ r[2 * n :].T + rb[2 * n :]))
    return (1 - z) * candidate + z * h, c


def recurrent(
    op,
    x,
    w,
    r,
    b=None,
    lengths=None,
    h0=None,
    c0=None,
    p=None,
    direction="forward",
    activations=None,
    clip=None,
    input_forget=0,
    linear_before_reset=0,
    layout=0,
):
    """(Y, Y_h[, Y_c]) in x's type."""
    kind, x = x.dtype, x.astype(np.float64)
    if layout:
        x, h0, c0 = x.swapaxes(0, 1), *(None if s is None else s.swapaxes(0, 1) for s in (h0, c0))
    steps, batch, _ = x.shape
    directions, n = w.shape[0], r.shape[2]
    names = activations or DEFAULT[op] * directions
    per = len(names) // directions
    y, last_h, last_c = (
        np.zeros((steps, directions, batch, n)),
        np.zeros((directions, batch, n)),
        np.zeros((directions, batch, n)),
    )
    lengths = np.full(batch, steps) if lengths is None else lengths
    for d in range(directions):
        functions = [ACTIVATIONS[a] for a in names[d * per : (d + 1) * per]]
        bias = b[d].astype(np.float64) if b is not None else np.zeros(2 * w.shape[1])
        backward = direction == "reverse" or d == 1
        for k in range(batch):  # each sequence has its own length, and goes backwards from its own end
            h = (h0[d, k : k + 1] if h0 is not None else np.zeros((1, n))).astype(np.float64)
            c = (c0[d, k : k + 1] if c0 is not None else np.zeros((1, n))).astype(np.float64)
            order = range(int(lengths[k]))
            for t in reversed(order) if backward else order:
                h, c = step(
                    op,
                    x[t, k : k + 1],
                    h,
                    c,
                    w[d].astype(np.float64),
                    r[d].astype(np.float64),
                    bias,
                    None if p is None else p[d].astype(np.float64),
                    functions,
                    clip,
                    input_forget,
                    linear_before_reset,
                )
                y[t, d, k] = h
            last_h[d, k], last_c[d, k] = h, c
    if layout:
        y, last_h, last_c = y.transpose(2, 0, 1, 3), last_h.swapaxes(0, 1), last_c.swapaxes(0, 1)
    results = [y, last_h] + ([last_c] if op == "LSTM" else [])
    return [v.astype(kind) for v in results]
