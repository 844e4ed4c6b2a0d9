"""What a load costs in memory: the most that was anonymous from the start of a load to the end of a first run, against the packed
weights. The weights are 400 MB in a file of their own; "aligned" means that they start at multiples of 64 bytes there, "misaligned"
that they start one byte later. Anonymous is what cannot be dropped and read again, so pages of the mapped file do not count.

    python tests/bench/load_memory.py [--megabytes 400] [matmul conv conv-bn]
"""

import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.bench import watched

ALIGNMENT = 64

# Loads, runs once, then says how much is packed and waits: the parent watches from outside.
CHILD = """
import json, sys
import numpy as np
import pyasc
path, dims = sys.argv[1], json.loads(sys.argv[2])
x = np.ones(dims, np.float32)
with pyasc.Context() as ctx:  # what the first use of the engine takes is not the load's
    ctx.relu(ctx.input("a", shape=(4, 4)))
    ctx.compile().run(np.ones((4, 4), np.float32))
print("ready", flush=True)
sys.stdin.readline()
model = pyasc.load(path)
model.run({"x": x})
print(json.dumps({"packed": model.summary()["packed_bytes"]}), flush=True)
sys.stdin.readline()
"""


class Weights:
    """A file of external data, written tensor by tensor."""

    def __init__(self, path, shift):
        self._path, self._file, self._shift = path, open(path, "wb"), shift

    def add(self, name, array):
        self._file.write(b"\0" * (-self._file.tell() % ALIGNMENT + self._shift))
        offset = self._file.tell()
        self._file.write(array.tobytes())
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=array.shape)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", self._path.name), ("offset", offset), ("length", array.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        return tensor

    def close(self):
        self._file.close()


def matmul_layer(weights, rng, i):
    w = weights.add(f"w{i}", rng.standard_normal((1024, 1024), np.float32) / 32)
    return [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"])], [w]


def transposed_layer(weights, rng, i):
    w = weights.add(f"w{i}", rng.standard_normal((1024, 1024), np.float32) / 32)
    nodes = [helper.make_node("Transpose", [f"w{i}"], [f"t{i}"]), helper.make_node("MatMul", [f"x{i}", f"t{i}"], [f"x{i + 1}"])]
    return nodes, [w]


def wide_layer(weights, rng, i):
    up = weights.add(f"u{i}", rng.standard_normal((1024, 12288), np.float32) / 32)
    down = weights.add(f"d{i}", rng.standard_normal((12288, 1024), np.float32) / 111)
    nodes = [
        helper.make_node("MatMul", [f"x{i}", f"u{i}"], [f"h{i}"]),
        helper.make_node("MatMul", [f"h{i}", f"d{i}"], [f"x{i + 1}"]),
    ]
    return nodes, [up, down]


def conv_layer(weights, rng, i):
    # 1,048,576 weights in 3x3 windows.
    w = weights.add(f"w{i}", rng.standard_normal((341, 341, 3, 3), np.float32) / 55)
    return [helper.make_node("Conv", [f"x{i}", f"w{i}"], [f"x{i + 1}"], pads=[1, 1, 1, 1])], [w]


def conv_bn_layer(weights, rng, i):
    [conv], [w] = conv_layer(weights, rng, i)
    conv.output[0] = f"c{i}"
    ones = [helper.make_tensor(f"{name}{i}", TensorProto.FLOAT, [341], np.full(341, 1.1, np.float32)) for name in "sbmv"]
    norm = helper.make_node("BatchNormalization", [f"c{i}"] + [t.name for t in ones], [f"x{i + 1}"])
    return [conv, norm], [w] + ones


def lstm_layer(weights, rng, i):
    w, r = (weights.add(f"{name}{i}", rng.standard_normal((1, 2048, 512), np.float32) / 32) for name in "wr")
    axis = helper.make_tensor(f"a{i}", TensorProto.INT64, [1], [1])
    lstm = helper.make_node("LSTM", [f"x{i}", f"w{i}", f"r{i}"], [f"s{i}"], hidden_size=512)
    return [lstm, helper.make_node("Squeeze", [f"s{i}", f"a{i}"], [f"x{i + 1}"])], [w, r, axis]


# A layer, the extents of its input, and its megabytes.
MODELS = {
    "matmul": (matmul_layer, [8, 1024], 4),
    "matmul-transposed": (transposed_layer, [8, 1024], 4),
    "matmul-wide": (wide_layer, [8, 1024], 96),
    "conv": (conv_layer, [1, 341, 8, 8], 4),
    "conv-bn": (conv_bn_layer, [1, 341, 8, 8], 4),
    "lstm": (lstm_layer, [2, 1, 512], 8),
}


def write_model(name, megabytes, shift, folder):
    """Path of the model, whose layers have different weights."""
    layer, dims, layer_megabytes = MODELS[name]
    count = max(1, megabytes // layer_megabytes)
    weights, rng = Weights(folder / "weights.bin", shift), np.random.default_rng(1)
    nodes, tensors = [], []
    for i in range(count):
        made, held = layer(weights, rng, i)
        nodes += made
        tensors += held
    weights.close()
    next(node for node in nodes if node.input[0] == "x0").input[0] = "x"
    nodes[-1].output[0] = "y"
    x, y = (helper.make_tensor_value_info(port, TensorProto.FLOAT, dims) for port in "xy")
    graph = helper.make_graph(nodes, "load", [x], [y], tensors)
    path = folder / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    return path


def measure(name, megabytes=400, shift=0):
    """(peak of anonymous bytes, packed bytes) of a load and a first run in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_model(name, megabytes, shift, pathlib.Path(folder))
        command = [sys.executable, "-c", CHILD, str(path), json.dumps(MODELS[name][1])]
        answer, _, anonymous = watched.run(command)
        return anonymous, json.loads(answer)["packed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--megabytes", type=int, default=400, help="of weights")
    options = parser.parse_args()
    print(f"{'model':<12}{'weights':<12}{'packed MB':>10}{'peak MB':>10}{'ratio':>8}")
    for name in options.models:
        for shift in (0, 1):
            peak, packed = measure(name, options.megabytes, shift)
            kind = "misaligned" if shift else "aligned"
            print(f"{name:<12}{kind:<12}{packed / 2**20:>10.1f}{peak / 2**20:>10.1f}{peak / packed:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
