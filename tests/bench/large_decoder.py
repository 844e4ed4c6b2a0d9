#!/usr/bin/env python3
"""A decoder of 1.3e9 parameters: what loading and running it takes in memory, against its weights.

    tests/bench/large_decoder.py [--folder FOLDER] [--layers 24] [--limit 1.1] [--compare]

Writes 5.2 GB of external data into FOLDER (default: the cache of generated models) and deletes them again. A fresh process loads the model, reads a prompt of 16 tokens
and makes 4 more; watched are its resident memory (pages of the mapped file included) and its anonymous memory, at their highest. The shape is that of GPT-3 XL:
24 layers, 2,048 wide, 16 heads, a vocabulary of 50,257, and a cache of keys and values; the output matrix is the embedding. Weights are random. `--compare` has ONNX Runtime make tokens too and compares the logits of the
last ones. The exit code is 1 where the peak is above the limit or the results differ.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time

import numpy as np
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)

from tests.bench import watched
from tests.bench.load_memory import Weights
from tests.models.registry import cache_folder

HIDDEN, HEADS, VOCABULARY, PROMPT, STEPS = 2048, 16, 50257, 16, 4
HEAD = HIDDEN // HEADS


class Decoder:
    def __init__(self, folder, layers):
        self.layers, self._weights = layers, Weights(folder / "decoder.bin", 0)
        self._noise = np.random.default_rng(1).standard_normal(1 << 24, np.float32)
        self._nodes, self._tensors, self._names, self.elements = [], [], 0, 0
        self.path = folder / "decoder.onnx"

    def weight(self, *shape, scale=None):
        """Normal numbers; each weight starts elsewhere in one sequence of them."""
        count = int(np.prod(shape))
        start = 7919 * len(self._tensors) % len(self._noise)
        values = np.resize(np.roll(self._noise, start), count).reshape(shape)
        values *= np.float32(scale or shape[0] ** -0.5)
        name = f"w{len(self._tensors)}"
        self._tensors.append(self._weights.add(name, values))
        self.elements += count
        return name

    def constant(self, value, dtype=np.int64):
        name = f"c{len(self._tensors)}"
        self._tensors.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def node(self, op, *inputs, outputs=1, **attributes):
        names = [f"v{self._names + i}" for i in range(outputs)]
        self._names += outputs
        self._nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names if outputs > 1 else names[0]

    def norm(self, x):
        return self.node("LayerNormalization", x, self.constant(np.ones(HIDDEN), np.float32), self.constant(np.zeros(HIDDEN), np.float32))

    def heads(self, x):
        return self.node("Transpose", self.node("Reshape", x, self.constant([0, 0, HEADS, HEAD])), perm=[0, 2, 1, 3])

    def layer(self, x, mask, past):
        parts = self.node("Split", self.node("MatMul", self.norm(x), self.weight(HIDDEN, 3 * HIDDEN)), outputs=3, axis=2)
        query, key, value = map(self.heads, parts)
        key, value = (self.node("Concat", old, new, axis=2) for old, new in zip(past, (key, value)))
        scores = self.node("MatMul", query, self.node("Transpose", key, perm=[0, 1, 3, 2]))
        scores = self.node("Add", self.node("Div", scores, self.constant(HEAD**0.5, np.float32)), mask)
        seen = self.node("MatMul", self.node("Softmax", scores, axis=-1), value)
        seen = self.node("Reshape", self.node("Transpose", seen, perm=[0, 2, 1, 3]), self.constant([0, 0, HIDDEN]))
        x = self.node("Add", x, self.node("MatMul", seen, self.weight(HIDDEN, HIDDEN, scale=0.01)))
        wide = self.node("Relu", self.node("MatMul", self.norm(x), self.weight(HIDDEN, 4 * HIDDEN)))
        return self.node("Add", x, self.node("MatMul", wide, self.weight(4 * HIDDEN, HIDDEN, scale=0.005))), key, value

    def build(self):
        words = self.weight(VOCABULARY, HIDDEN, scale=0.02)
        x = self.node("Add", self.node("Gather", words, "ids"), self.node("Gather", self.weight(2048, HIDDEN, scale=0.01), "places"))
        info = lambda name, dtype, dims: helper.make_tensor_value_info(name, dtype, dims)
        inputs = [info(name, TensorProto.INT64, ["batch", "seq"]) for name in ("ids", "places")]
        inputs.append(info("mask", TensorProto.FLOAT, ["batch", 1, "seq", "all"]))
        outputs = [info("logits", TensorProto.FLOAT, None)]
        for i in range(self.layers):
            past = [f"past{i}.{part}" for part in "kv"]
            inputs += [info(name, TensorProto.FLOAT, ["batch", HEADS, "past", HEAD]) for name in past]
            x, *caches = self.layer(x, "mask", past)
            for part, name in zip("kv", caches):
                self._nodes.append(helper.make_node("Identity", [name], [f"present{i}.{part}"]))
                outputs.append(info(f"present{i}.{part}", TensorProto.FLOAT, None))
        logits = self.node("MatMul", self.norm(x), self.node("Transpose", words, perm=[1, 0]))
        self._nodes.append(helper.make_node("Identity", [logits], ["logits"]))
        self._weights.close()
        graph = helper.make_graph(self._nodes, "decoder", inputs, outputs, self._tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        self.path.write_bytes(model.SerializeToString())


def feeds_of(layers, tokens, caches):
    """Inputs for `tokens` behind the cache (None: an empty one)."""
    past = caches[0].shape[2] if caches else 0
    count = len(tokens)
    later = np.arange(past + count)[None] > np.arange(past, past + count)[:, None]
    feeds = {
        "ids": np.array([tokens], np.int64),
        "places": np.arange(past, past + count)[None],
        "mask": np.where(later, np.float32(-1e9), np.float32(0))[None, None],
    }
    names = [f"past{i}.{part}" for i in range(layers) for part in "kv"]
    caches = caches or [np.zeros((1, HEADS, 0, HEAD), np.float32)] * len(names)
    return feeds | dict(zip(names, caches))


def _pyasc(path):
    import pyasc

    with pyasc.Context() as ctx:  # what the first use of the engine takes is not the load's
        ctx.relu(ctx.input("a", shape=(4, 4)))
        ctx.compile().run(np.ones((4, 4), np.float32))

    def load():
        model = pyasc.load(path)
        return model.run, lambda: model.summary()["packed_bytes"]

    return load


def _onnxruntime(path):
    import onnxruntime

    def load():
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        return lambda feeds: dict(zip(names, session.run(None, feeds))), lambda: None

    return load


LOADERS = {"pyasc": _pyasc, "onnxruntime": _onnxruntime}


def child(engine, path, layers):
    """In a process of its own: loads at a line from the parent, runs, prints times and tokens; writes the last logits beside the model."""
    load = LOADERS[engine](path)
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.perf_counter()
    run, packed_bytes = load()
    times = [time.perf_counter() - begin]
    tokens, caches, made = list(range(100, 100 + PROMPT)), [], []
    for _ in range(STEPS + 1):
        begin = time.perf_counter()
        results = run(feeds_of(layers, tokens, caches))
        times.append(time.perf_counter() - begin)
        caches = [results[f"present{i}.{part}"] for i in range(layers) for part in "kv"]
        tokens = [int(results["logits"][0, -1].argmax())]
        made += tokens
    if not np.isfinite(results["logits"]).all():
        raise RuntimeError("the logits are not finite")
    np.save(logits_file(path, engine), results["logits"])
    print(json.dumps({"seconds": times, "tokens": made, "packed": packed_bytes()}), flush=True)
    sys.stdin.readline()


def logits_file(path, engine):
    return f"{path}.{engine}.npy"


def agrees(decoder, layers, answer):
    """Whether ONNX Runtime makes the same tokens, from logits that are the same to rounding."""
    line, _, _ = watched.run([sys.executable, __file__, "--child", "onnxruntime", str(decoder.path), str(layers)])
    tokens = json.loads(line)["tokens"]
    got, want = (np.load(logits_file(decoder.path, engine)) for engine in LOADERS)
    difference = np.abs(got - want).max() / np.abs(want).max()
    print(f"tokens {answer['tokens']}, ONNX Runtime's {tokens}; logits differ by {difference:.1e} of the largest")
    return tokens == answer["tokens"] and difference < 1e-4


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=cache_folder())
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--limit", type=float, default=1.1, help="times the weights")
    parser.add_argument("--compare", action="store_true", help="with ONNX Runtime's results")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        decoder = Decoder(pathlib.Path(folder), options.layers)
        decoder.build()
        command = [sys.executable, __file__, "--child", "pyasc", str(decoder.path), str(options.layers)]
        line, resident, anonymous = watched.run(command)
        answer = json.loads(line)
        right = not options.compare or agrees(decoder, options.layers, answer)
    weights = 4 * decoder.elements
    load, prompt, *steps = answer["seconds"]
    print(f"{decoder.elements / 1e9:.2f}e9 parameters, {weights / 1e9:.2f} GB, packed {answer['packed'] / 1e9:.2f} GB")
    print(f"load {load:.2f} s, prompt of {PROMPT} tokens {prompt:.2f} s, a further token {min(steps):.3f} s")
    print(f"peak: {resident / weights:.3f} of the weights resident, {anonymous / weights:.3f} anonymous")
    return int(max(resident, anonymous) > options.limit * weights or not right)


if __name__ == "__main__":
    sys.exit(main())
