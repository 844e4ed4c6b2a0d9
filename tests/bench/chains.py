#!/usr/bin/env python3
"""Chains of operators as models have them, through the whole engine: fused, with the fusions of the vector engine off, and in
ONNX Runtime.

    tests/bench/chains.py [--threads 1] [--rounds 20] [part of a chain's name]

The three take turns; the least time of a call counts, results are compared.
"""

import argparse
import os
import platform
import sys
import time

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import onnxruntime

import pyasc

FUSIONS = ("Elementwise", "RowReduction")

# Name, inputs, body: `x` and its like are inputs, `y` the result; T is the type, L the length of rows.
CHAINS = (
    ("gelu(x + bias) by erf", "T[{R},L] x, T[L] b",
     "a = Add(x, b) c = Mul(a, root) e = Erf(c) f = Add(e, one) g = Mul(a, f) y = Mul(g, half)"),
    ("x sigmoid(x) z", "T[{R},L] x, T[{R},L] z", "s = Sigmoid(x) a = Mul(x, s) y = Mul(a, z)"),
    ("residual + LayerNorm", "T[{R},L] x, T[{R},L] z, T[L] s, T[L] b",
     "a = Add(x, z) y = LayerNormalization <axis = -1, epsilon = 0.00001> (a, s, b)"),
    ("RMS norm", "T[{R},L] x, T[L] s",
     "q = Mul(x, x) m = ReduceMean <axes = [-1]> (q) e = Add(m, tiny) r = Sqrt(e) d = Div(x, r) y = Mul(d, s)"),
    ("softmax(scale x + mask)", "T[{R},L] x, T[L] b", "a = Mul(x, half) c = Add(a, b) y = Softmax <axis = -1> (c)"),
    ("x / norm(x)", "T[{R},L] x", "n = ReduceL2 <axes = [-1]> (x) e = Max(n, tiny) y = Div(x, e)"),
    ("where(x < z, x, 0) z", "T[{R},L] x, T[{R},L] z", "c = Less(x, z) w = Where(c, x, zero) y = Mul(w, z)"),
    ("hard swish and scale", "T[{R},L] x, T[{R},1] r", "h = HardSwish(x) y = Mul(h, r)"),
)
CONSTANTS = {"root": 2**-0.5, "one": 1, "half": 0.5, "zero": 0, "tiny": 1e-5}
SHAPES = ((16, 64), (128, 768), (512, 49), (512, 80), (197, 197), (2000, 128))


def make(inputs, body, rows, length, dtype):
    """The chain as an ONNX model, and inputs for it."""
    name = {"float32": "float", "float16": "float16"}[dtype]
    used = [c for c in CONSTANTS if f"{c})" in body]
    heads = inputs.format(R=rows).replace("L]", f"{length}]").replace("T[", f"{name}[")
    text = f'<ir_version: 9, opset_import: ["" : 17]> chain ({heads}) => ({name}[{rows},{length}] y) {{ {body} }}'
    model = onnx.parser.parse_model(text)
    for c in used:
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(CONSTANTS[c], dtype), c))
    rng = np.random.default_rng(1)
    feeds = {
        i.name: rng.standard_normal([d.dim_value for d in i.type.tensor_type.shape.dim]).astype(dtype)
        for i in model.graph.input
    }
    return model.SerializeToString(), feeds


def engines(model, feeds, threads):
    """{name: what runs it once}."""
    config = pyasc.CompileConfig(threads=threads)
    fused = pyasc.load(model, config=config)
    with pyasc.FusionScope() as scope:
        for fusion in FUSIONS:
            scope.disable_fusion(fusion)
        plain = pyasc.load(model, config=config)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return {
        "fused": lambda: fused.run(feeds)["y"],
        "plain": lambda: plain.run(feeds)["y"],
        "onnxruntime": lambda: session.run(None, feeds)[0],
    }


def measure(runs, rounds):
    """{name: least microseconds of a call}, in turns."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            for _ in range(20):
                start = time.perf_counter_ns()
                run()
                best[name] = min(best[name], (time.perf_counter_ns() - start) / 1000)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--dtype", choices=("float32", "float16"), default="float32")
    parser.add_argument("chain", nargs="?", default="")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, threads={options.threads}, {options.dtype}")
    print("| chain | extents | fused us | not fused | ONNX Runtime | not fused / fused | ONNX Runtime / fused |")
    print("|---|---|---|---|---|---|---|")
    for name, inputs, body in CHAINS:
        if options.chain not in name:
            continue
        for rows, length in SHAPES:
            runs = engines(*make(inputs, body, rows, length, options.dtype), options.threads)
            tolerance = 1e-4 if options.dtype == "float32" else 2e-2
            np.testing.assert_allclose(runs["fused"](), runs["onnxruntime"](), rtol=tolerance, atol=tolerance)
            best = measure(runs, options.rounds)
            ours, plain, theirs = best.values()
            print(f"| {name} | {rows} x {length} | {ours:.1f} | {plain:.1f} | {theirs:.1f} | {plain / ours:.2f} | {theirs / ours:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
