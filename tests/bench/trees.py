#!/usr/bin/env python3
"""Tree ensembles against ONNX Runtime, one row and 1,000 rows, with one thread and two.

    tests/bench/trees.py [--rounds 9]

The forests are random: `forest` is a random forest of 200 deep trees with a weight for each of 5 classes in every leaf, `boosted` 500 trees of depth 6 as XGBoost
writes them, `wide` 1,000 unbalanced trees of 31 leaves as LightGBM does. The engines take turns; a time is the least of all rounds.
"""

import argparse
import pathlib
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)

FEATURES = 40


def _grow(rng, leaves, depth):
    """[(true child, false child) or None]: splits leaves at random until there are `leaves`, none deeper than `depth`."""
    nodes, open_ = [None], [(0, 0)]
    while len(open_) and leaves > 1:
        at, deep = open_.pop(int(rng.integers(len(open_))))
        if deep == depth:
            continue
        nodes[at] = (len(nodes), len(nodes) + 1)
        open_ += [(len(nodes), deep + 1), (len(nodes) + 1, deep + 1)]
        nodes += [None, None]
        leaves -= 1
    return nodes


def forest(trees, leaves, depth, mode, classes):
    rng = np.random.default_rng(1)
    prefix = "class" if classes > 1 else "target"
    names = ("treeids", "nodeids", "featureids", "values", "truenodeids", "falsenodeids", "modes", "missing_value_tracks_true")
    columns = {f"nodes_{name}": [] for name in names}
    weights = {f"{prefix}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        for number, node in enumerate(_grow(rng, leaves, depth)):
            is_true, is_false = node or (0, 0)
            feature, value = int(rng.integers(FEATURES)), float(rng.standard_normal())
            row = (tree, number, feature, value, is_true, is_false, mode if node else "LEAF", 0)
            for column, item in zip(columns.values(), row):
                column.append(item)
            if node is None:
                for target in range(classes):
                    for column, item in zip(weights.values(), (tree, number, target, float(rng.random()))):
                        column.append(item)
    attributes = {**columns, **weights}
    if classes > 1:
        op, outputs = "TreeEnsembleClassifier", ["y", "z"]
        attributes["classlabels_int64s"] = list(range(classes))
    else:
        op, outputs = "TreeEnsembleRegressor", ["z"]
        attributes["n_targets"] = 1
    node = helper.make_node(op, ["x"], outputs, domain="ai.onnx.ml", **attributes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, FEATURES])
    graph = helper.make_graph([node], "trees", [x], [onnx.ValueInfoProto(name=name) for name in outputs])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


FORESTS = {
    "forest": lambda: forest(200, 400, 16, "BRANCH_LEQ", 5),
    "boosted": lambda: forest(500, 64, 6, "BRANCH_LT", 1),
    "wide": lambda: forest(1000, 31, 20, "BRANCH_LEQ", 1),
}


def _engines(model, threads):
    import onnxruntime

    import pyasc

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return {"pyasc": pyasc.load(model, threads=threads).run, "onnxruntime": lambda feeds: session.run(None, feeds)}


def _least(run, batches, seconds=0.02):
    """Seconds of a call. Each takes other rows than the one before: of one that it has just seen, a processor foretells all jumps."""
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        for feeds in batches:
            run(feeds)
        best = min(best, (time.perf_counter() - begin) / len(batches))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print("| trees | rows | threads | pyasc µs | ONNX Runtime µs | ratio |\n|---|---|---|---|---|---|")
    for name, make in FORESTS.items():
        model = make()
        for threads in (1, 2):
            engines = _engines(model, threads)
            for rows in (1, 1000):
                rng, batches = np.random.default_rng(2), 1 if rows > 1 else 100
                batches = [{"x": rng.standard_normal((rows, FEATURES), np.float32)} for _ in range(batches)]
                got, want = (run(batches[0]) for run in engines.values())
                if not np.allclose(got["z"], want[-1], 1e-4, 1e-4):
                    raise RuntimeError(f"{name}: the engines disagree")
                times = {engine: float("inf") for engine in engines}
                for _ in range(options.rounds):
                    for engine, run in engines.items():
                        times[engine] = min(times[engine], _least(run, batches))
                ours, theirs = (1e6 * t for t in times.values())
                print(f"| {name} | {rows} | {threads} | {ours:.0f} | {theirs:.0f} | {ours / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main()
