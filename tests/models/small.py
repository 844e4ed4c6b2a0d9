"""A graph of twenty small operators: what is left of an engine's time here is its overhead a call and a step; opset 18."""

import numpy as np

from .builder import GraphBuilder
from .registry import GeneratedModel

WIDTH = 64


def build():
    """Inputs `x` (batch, 64) and `y` (batch, 64), outputs `out` (batch, 64) and `score` (batch, 1): exactly 20 nodes."""
    g = GraphBuilder("small20", opset=18)
    for name in ("x", "y"):
        g.input(name, ["batch", WIDTH])
    # Constants are initializers here, so that every node is an operator that runs.
    half = g.weight("half", np.asarray(0.5, np.float32))
    shift = g.normal("shift", (WIDTH,), 0.5)
    scale = g.normal("scale", (WIDTH,), 0.3, mean=1.0)
    wide = g.weight("wide", np.asarray([0, 8, 8], np.int64))
    flat = g.weight("flat", np.asarray([0, WIDTH], np.int64))
    axis = g.weight("axis", np.asarray([-1], np.int64))
    start, end = (g.weight(n, np.asarray([v], np.int64)) for n, v in (("start", WIDTH // 2), ("end", WIDTH + WIDTH // 2)))
    mix = g.normal("mix", (WIDTH, WIDTH), 1.2 / np.sqrt(WIDTH))
    head = g.normal("head", (WIDTH, 1), 1 / np.sqrt(WIDTH))

    a = g.node("Add", ["x", shift])
    b = g.node("Mul", ["y", scale])
    c = g.node("Tanh", [a])
    d = g.node("Sigmoid", [b])
    e = g.node("Mul", [c, d])
    f = g.node("MatMul", [e, mix])
    h = g.node("Relu", [f])
    i = g.node("Sub", [h, "y"])
    j = g.node("Reshape", [i, wide])
    k = g.node("Transpose", [j], perm=[0, 2, 1])
    m = g.node("Softmax", [k], axis=-1)
    n = g.node("Reshape", [m, flat])
    o = g.node("Concat", [n, e], axis=1)
    p = g.node("Slice", [o, start, end, axis])
    q = g.node("Abs", [i])
    r = g.node("Add", [p, q])
    s = g.node("ReduceMean", [r, axis], keepdims=1)
    t = g.node("Sub", [r, s])
    out = g.node("Mul", [t, half])
    score = g.node("MatMul", [out, head])
    g.output(out, "out", ["batch", WIDTH])
    g.output(score, "score", ["batch", 1])
    return g.model()


def inputs(rng, batch=16):
    """About 1,000 elements for an operator."""
    return {name: rng.standard_normal((batch, WIDTH), dtype=np.float32) for name in ("x", "y")}


MODELS = [GeneratedModel("small20", inputs, build, ("small.py", "builder.py"))]
