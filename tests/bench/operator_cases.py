"""One model of middle size for each operator: what tests/bench/operators.py measures.

A case is one node with its inputs; `constants` are the operands that models usually hold as weights (they are initialisers, and
engines may prepare them).
"""

import dataclasses

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 23
# Operators that came later, and those whose last form ONNX Runtime lacks.
_OTHER_OPSETS = {"CumProd": 26, "Swish": 24, "TensorScatter": 24} | dict.fromkeys(
    (
        "Bernoulli GlobalLpPool MaxRoiPool Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike RoiAlign"
    ).split(),
    21,
)


@dataclasses.dataclass(frozen=True)
class Case:
    """`label` tells cases of one operator apart; `outputs` names the outputs that are asked for ("" leaves one out)."""

    operator: str
    inputs: dict
    attributes: dict = dataclasses.field(default_factory=dict)
    constants: dict = dataclasses.field(default_factory=dict)
    outputs: tuple = ("y",)
    label: str = ""

    @property
    def name(self):
        return f"{self.operator} {self.label}".rstrip()

    def model(self):
        """The ONNX model as bytes."""
        operands = self.inputs | self.constants
        node = helper.make_node(self.operator, list(operands), list(self.outputs), **self.attributes)
        graph = helper.make_graph(
            [node],
            "case",
            [
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                for name, array in self.inputs.items()
            ],
            [helper.make_value_info(name, helper.TypeProto()) for name in self.outputs if name],
            [numpy_helper.from_array(np.asarray(array), name) for name, array in self.constants.items()],
        )
        opset = helper.make_opsetid("", _OTHER_OPSETS.get(self.operator, OPSET))
        return helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()


_rng = np.random.Generator(np.random.SFC64(7))


def _normal(*shape, dtype=np.float32):
    return _rng.standard_normal(shape, np.float32).astype(dtype)


def _uniform(*shape, low=0.0, high=1.0):
    return _rng.uniform(low, high, shape).astype(np.float32)


def _integers(*shape, low=0, high=100, dtype=np.int64):
    return _rng.integers(low, high, shape).astype(dtype)


def _int64(*values):
    return np.array(values, np.int64)


def _float32(value):
    return np.array(value, np.float32)


def _image():
    """Feature maps of the middle of a convolutional network."""
    return _normal(1, 64, 56, 56)


def _tokens():
    """A sequence in the middle of a transformer."""
    return _normal(1, 128, 768)


_UNARY = (
    "Abs Asin Asinh Atan Atanh Acos Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish IsInf IsNaN LeakyRelu"
    " Mish Neg Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu Log"
).split()
_BINARY = "Add Sub Mul Div Pow PRelu Equal Greater GreaterOrEqual Less LessOrEqual".split()
_LOGIC = "And Or Xor".split()
_BITWISE = "BitwiseAnd BitwiseOr BitwiseXor".split()
_VARIADIC = "Max Min Mean Sum".split()
_REDUCE = (
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
).split()


def _elementwise():
    for operator in _UNARY:
        yield Case(operator, {"x": _uniform(1, 64, 56, 56, low=0.01, high=0.99)})
    yield Case("Acosh", {"x": _uniform(1, 64, 56, 56, low=1, high=9)})
    yield Case("Clip", {"x": _image()}, constants={"low": np.float32(-1), "high": np.float32(1)})
    yield Case("Not", {"x": _image() > 0})
    yield Case("BitwiseNot", {"x": _integers(200704, dtype=np.int32)})
    yield Case("Cast", {"x": _image()}, {"to": TensorProto.INT32}, label="to int32")
    yield Case("Cast", {"x": _image()}, {"to": TensorProto.FLOAT16}, label="to float16")
    yield Case("Cast", {"x": _normal(200704, dtype=np.float16)}, {"to": TensorProto.FLOAT}, label="from float16")
    yield Case("Cast", {"x": _integers(200704)}, {"to": TensorProto.FLOAT}, label="from int64")
    yield Case("CastLike", {"x": _image(), "like": _int64(1)})
    yield Case("Dropout", {"x": _image()})
    for operator in _BINARY:
        positive = lambda: _uniform(1, 64, 56, 56, low=0.1, high=2)
        yield Case(operator, {"a": positive(), "b": positive()})
    for operator in ("Add", "Mul"):
        yield Case(operator, {"a": _image(), "b": _normal(1, 64, 1, 1)}, label="by channel")
        yield Case(operator, {"a": _integers(200704), "b": _integers(200704)}, label="int64")
    yield Case("Add", {"a": _tokens(), "b": _normal(768)}, label="by row")
    yield Case("Mod", {"a": _integers(200704), "b": _integers(200704, low=1)})
    yield Case("Mod", {"a": _uniform(200704), "b": _uniform(200704, low=0.5)}, {"fmod": 1}, label="fmod")
    yield Case("BitShift", {"a": _integers(200704, dtype=np.uint32), "b": _integers(200704, high=8, dtype=np.uint32)}, {"direction": "LEFT"})
    for operator in _LOGIC:
        yield Case(operator, {"a": _image() > 0, "b": _image() > 0})
    for operator in _BITWISE:
        yield Case(operator, {"a": _integers(200704, dtype=np.int32), "b": _integers(200704, dtype=np.int32)})
    for operator in _VARIADIC:
        yield Case(operator, {"a": _image(), "b": _image(), "c": _image()})
    yield Case("Where", {"c": _image() > 0, "a": _image(), "b": _image()})


def _reductions():
    for operator in _REDUCE:
        yield Case(operator, {"x": _uniform(128, 56, 56, low=0.9, high=1.1)}, constants={"axes": _int64(-1)}, label="rows")
        yield Case(operator, {"x": _uniform(64, 3136, low=0.9, high=1.1)}, constants={"axes": _int64(0)}, label="columns")
    for operator in ("ReduceMax", "ReduceMean", "ReduceSum"):
        yield Case(operator, {"x": _image()}, {"keepdims": 0}, label="all")
    for operator in ("ArgMax", "ArgMin"):
        yield Case(operator, {"x": _tokens()}, {"axis": -1}, label="rows")
        yield Case(operator, {"x": _image()}, {"axis": 1}, label="channels")
    for operator in ("CumSum", "CumProd"):
        yield Case(operator, {"x": _uniform(128, 1024, low=0.99, high=1.01)}, constants={"axis": np.int64(1)}, label="rows")
        yield Case(operator, {"x": _uniform(128, 1024, low=0.99, high=1.01)}, constants={"axis": np.int64(0)}, label="columns")
    for operator in ("Softmax", "LogSoftmax", "Hardmax"):
        yield Case(operator, {"x": _normal(12, 128, 128)}, {"axis": -1}, label="rows")
        yield Case(operator, {"x": _normal(1, 81, 2000)}, {"axis": 1}, label="columns")
    yield Case("TopK", {"x": _normal(1, 100000)}, constants={"k": _int64(100)}, outputs=("values", "indices"), label="100 of 100000")
    yield Case("TopK", {"x": _normal(128, 1000)}, constants={"k": _int64(5)}, outputs=("values", "indices"), label="5 of 1000, rows")
    yield Case("TopK", {"x": _normal(64, 2000)}, constants={"k": _int64(2000)}, outputs=("values", "indices"), label="sort of rows")
    yield Case("Unique", {"x": _integers(20000, high=500)})
    yield Case("NonZero", {"x": (_image() > 0.5).astype(np.float32)})


def _normalisations():
    channels = lambda: {name: _uniform(64, low=0.5, high=2) for name in ("scale", "bias", "mean", "var")}
    scale_bias = lambda n: {"scale": _uniform(n), "bias": _uniform(n)}
    yield Case("BatchNormalization", {"x": _image()}, constants=channels())
    yield Case("InstanceNormalization", {"x": _image()}, constants=scale_bias(64))
    yield Case("GroupNormalization", {"x": _image()}, {"num_groups": 8}, scale_bias(64))
    yield Case("LayerNormalization", {"x": _tokens()}, constants=scale_bias(768))
    yield Case("RMSNormalization", {"x": _tokens()}, constants={"scale": _uniform(768)})
    yield Case("LpNormalization", {"x": _tokens()})
    yield Case("MeanVarianceNormalization", {"x": _image()})
    yield Case("LRN", {"x": _image()}, {"size": 5})


def _convolutions():
    weights = lambda *shape: {"w": 0.05 * _normal(*shape)}
    yield Case("Conv", {"x": _image()}, {"pads": [1] * 4}, weights(64, 64, 3, 3), label="3x3")
    yield Case("Conv", {"x": _image()}, {}, weights(128, 64, 1, 1), label="1x1")
    yield Case("Conv", {"x": _image()}, {"pads": [1] * 4, "strides": [2, 2]}, weights(128, 64, 3, 3), label="3x3 by 2")
    yield Case("Conv", {"x": _image()}, {"pads": [1] * 4, "group": 64}, weights(64, 1, 3, 3), label="depthwise")
    yield Case("Conv", {"x": _image()}, {"pads": [2] * 4, "dilations": [2, 2]}, weights(64, 64, 3, 3), label="dilated")
    yield Case("Conv", {"x": _normal(1, 64, 4000)}, {"pads": [1, 1]}, weights(64, 64, 3), label="1-D")
    yield Case("Conv", {"x": _normal(1, 16, 16, 28, 28)}, {"pads": [1] * 6}, weights(16, 16, 3, 3, 3), label="3-D")
    yield Case("ConvTranspose", {"x": _normal(1, 64, 28, 28)}, {"strides": [2, 2]}, weights(64, 32, 2, 2), label="2x2 by 2")
    yield Case("ConvTranspose", {"x": _normal(1, 64, 28, 28)}, {"pads": [1] * 4}, weights(64, 64, 3, 3), label="3x3")
    integers = {"x": _integers(1, 32, 28, 28, dtype=np.uint8)}
    yield Case("ConvInteger", integers, {"pads": [1] * 4}, {"w": _integers(32, 32, 3, 3, high=50, dtype=np.uint8)})
    quantised = {
        "xs": np.float32(0.02), "xz": np.uint8(128), "w": _integers(32, 32, 3, 3, low=-50, high=50, dtype=np.int8),
        "ws": np.float32(0.01), "wz": np.int8(0), "ys": np.float32(0.05), "yz": np.uint8(128),
    }  # fmt: skip
    yield Case("QLinearConv", integers, {"pads": [1] * 4}, quantised)
    offset = {"x": _normal(1, 16, 28, 28), "w": _normal(16, 16, 3, 3), "offset": _normal(1, 18, 28, 28)}
    yield Case("DeformConv", offset, {"pads": [1] * 4})
    for operator in ("MaxPool", "AveragePool", "LpPool"):
        yield Case(operator, {"x": _image()}, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4})
    for operator in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield Case(operator, {"x": _image()})
    pooled = _int64(*range(0, 3136, 4)).reshape(1, 1, 28, 28)
    yield Case("MaxUnpool", {"x": _normal(1, 64, 28, 28), "i": np.repeat(pooled, 64, 1)}, {"kernel_shape": [2, 2], "strides": [2, 2]})
    yield Case("Col2Im", {"x": _normal(1, 32 * 9, 54 * 54)}, constants={"s": _int64(56, 56), "k": _int64(3, 3)})
    boxes = np.sort(_uniform(100, 2, 2, high=55), 1).reshape(100, 4)
    indices = np.zeros(100, np.int64)
    yield Case("RoiAlign", {"x": _image(), "r": boxes, "i": indices}, {"output_height": 7, "output_width": 7})
    rois = np.concatenate([np.zeros((100, 1), np.float32), boxes], 1)
    yield Case("MaxRoiPool", {"x": _image(), "r": rois}, {"pooled_shape": [7, 7]})
    yield Case("GridSample", {"x": _image(), "g": _uniform(1, 56, 56, 2, low=-1)})
    yield Case("AffineGrid", {"t": _normal(4, 2, 3)}, constants={"s": _int64(4, 3, 128, 128)})
    for mode in ("nearest", "linear", "cubic"):
        absent = {"roi": np.zeros(0, np.float32)}
        yield Case("Resize", {"x": _image()}, {"mode": mode}, absent | {"s": np.array([1, 1, 2, 2], np.float32)}, label=f"{mode} x2")
        yield Case("Resize", {"x": _image()}, {"mode": mode}, absent | {"s": np.array([1, 1, 0.6, 0.6], np.float32)}, label=f"{mode} x0.6")


def _products():
    yield Case("MatMul", {"a": _tokens()}, constants={"b": _normal(768, 768)}, label="by a weight")
    yield Case("MatMul", {"a": _normal(12, 128, 64), "b": _normal(12, 64, 128)}, label="of two values")
    yield Case("MatMul", {"a": _normal(1, 768)}, constants={"b": _normal(768, 768)}, label="of one row")
    yield Case("MatMul", {"a": _normal(128, 256, dtype=np.float64), "b": _normal(256, 256, dtype=np.float64)}, label="float64")
    yield Case("Gemm", {"a": _normal(128, 768)}, {"transB": 1}, {"b": _normal(768, 768), "c": _normal(768)})
    yield Case("MatMulInteger", {"a": _integers(128, 768, dtype=np.uint8)}, constants={"b": _integers(768, 768, dtype=np.int8)})
    scales = lambda p: {f"{p}s": np.float32(0.02), f"{p}z": np.uint8(128)}
    a, b = ({n: _integers(128, 128, high=255, dtype=np.uint8)} for n in "ab")
    yield Case("QLinearMatMul", a, {}, scales("a") | b | scales("b") | scales("y"))
    yield Case("Einsum", {"a": _normal(12, 128, 64), "b": _normal(12, 128, 64)}, {"equation": "bid,bjd->bij"})
    yield Case("Einsum", {"a": _normal(64, 128), "b": _normal(64, 128)}, {"equation": "ij,ij->i"}, label="row products")
    yield Case("Det", {"x": _normal(64, 16, 16)})
    heads = lambda: _normal(1, 12, 128, 64)
    yield Case("Attention", {"q": heads(), "k": heads(), "v": heads()})
    cache = {"cos": _normal(128, 32), "sin": _normal(128, 32)}
    positions = np.arange(128, dtype=np.int64)[None]
    yield Case("RotaryEmbedding", {"x": heads()}, {}, cache | {"p": positions})
    for operator, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        weights = {"w": 0.1 * _normal(1, gates * 128, 64), "r": 0.1 * _normal(1, gates * 128, 128)}
        yield Case(operator, {"x": _normal(32, 1, 64)}, {"hidden_size": 128}, weights)
    yield Case("DFT", {"x": _normal(16, 1024, 1)}, constants={"n": np.int64(1024), "axis": np.int64(1)})
    window = {"step": np.int64(256), "w": np.hanning(512).astype(np.float32), "n": np.int64(512)}
    yield Case("STFT", {"x": _normal(1, 16000, 1)}, constants=window)


def _movement():
    yield Case("Transpose", {"x": _normal(128, 12, 64)}, {"perm": [1, 0, 2]}, label="outer")
    yield Case("Transpose", {"x": _normal(512, 512)}, {"perm": [1, 0]}, label="matrix")
    yield Case("Transpose", {"x": _image()}, {"perm": [0, 2, 3, 1]}, label="to NHWC")
    yield Case("Concat", {"a": _image(), "b": _image()}, {"axis": 1}, label="channels")
    yield Case("Concat", {"a": _tokens(), "b": _tokens()}, {"axis": -1}, label="rows")
    yield Case("Split", {"x": _tokens()}, {"axis": -1, "num_outputs": 3}, outputs=("a", "b", "c"))
    slices = {"s": _int64(0, 1), "e": _int64(1 << 40, 1 << 40), "a": _int64(2, 3)}
    yield Case("Slice", {"x": _image()}, {}, slices)
    yield Case("Slice", {"x": _image()}, {}, slices | {"t": _int64(2, 2)}, label="by 2")
    yield Case("Slice", {"x": _image()}, {}, {"s": _int64(-1), "e": _int64(-1000), "a": _int64(3), "t": _int64(-1)}, label="backwards")
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield Case("Pad", {"x": _image()}, {"mode": mode}, {"p": _int64(0, 0, 3, 3, 0, 0, 3, 3)}, label=mode)
    yield Case("Expand", {"x": _normal(64, 1, 56)}, constants={"s": _int64(64, 56, 56)})
    yield Case("Tile", {"x": _normal(64, 56)}, constants={"r": _int64(8, 8)})
    yield Case("Gather", {"x": _normal(30000, 64), "i": _integers(128, high=30000)}, label="rows")
    yield Case("Gather", {"x": _normal(512, 512), "i": _integers(512, high=512)}, {"axis": 1}, label="columns")
    yield Case("GatherElements", {"x": _normal(512, 512), "i": _integers(512, 512, high=512)}, {"axis": 1})
    yield Case("GatherND", {"x": _normal(512, 512), "i": _integers(20000, 2, high=512)})
    scattered = {"x": _normal(512, 512), "i": _integers(512, 512, high=512), "u": _normal(512, 512)}
    # Each index once in a row: which of several updates of one element stays is not defined.
    permutations = {"i": _rng.permuted(np.tile(np.arange(512), (512, 1)), axis=1)}
    yield Case("ScatterElements", scattered | permutations, {"axis": 1})
    yield Case("ScatterElements", scattered, {"axis": 1, "reduction": "add"}, label="add")
    yield Case("ScatterND", {"x": _normal(4096, 64), "i": _rng.permutation(4096)[:1000, None], "u": _normal(1000, 64)})
    yield Case("TensorScatter", {"x": _normal(1, 12, 512, 64), "u": _normal(1, 12, 16, 64), "i": _int64(100)})
    yield Case("OneHot", {"i": _integers(2000), "d": np.array([100]), "v": np.array([0, 1], np.float32)})
    yield Case("Compress", {"x": _normal(512, 512), "c": _normal(512) > 0}, {"axis": 0})
    yield Case("DepthToSpace", {"x": _image()}, {"blocksize": 2})
    yield Case("SpaceToDepth", {"x": _image()}, {"blocksize": 2})
    yield Case("ReverseSequence", {"x": _normal(128, 16, 128), "l": _integers(16, low=1, high=128)})
    yield Case("Trilu", {"x": _normal(12, 128, 128)})
    yield Case("CenterCropPad", {"x": _image()}, {"axes": [2, 3]}, {"s": _int64(48, 64)})
    yield Case("EyeLike", {"x": _normal(512, 512)})
    yield Case("ConstantOfShape", {"s": _int64(64, 56, 56)})
    yield Case("Range", {"a": _float32(0), "b": _float32(100000), "c": _float32(1)})
    yield Case("Identity", {"x": _image()})


def _others():
    scale, zero = {"s": np.float32(0.02)}, {"z": np.uint8(128)}
    yield Case("QuantizeLinear", {"x": _image()}, {}, scale | zero)
    yield Case("DequantizeLinear", {"x": _integers(1, 64, 56, 56, dtype=np.uint8)}, {}, scale | zero)
    yield Case("DynamicQuantizeLinear", {"x": _image()}, outputs=("y", "scale", "zero"))
    boxes = np.concatenate([_uniform(1, 1000, 2), 1 + _uniform(1, 1000, 2)], 2)
    limits = {"m": _int64(50), "iou": np.float32(0.5), "score": np.float32(0.1)}
    yield Case("NonMaxSuppression", {"b": boxes, "s": _uniform(1, 4, 1000)}, {}, limits)
    labels = {"t": _integers(512, high=1000)}
    yield Case("NegativeLogLikelihoodLoss", {"x": _normal(512, 1000)} | labels, {"reduction": "mean"})
    yield Case("SoftmaxCrossEntropyLoss", {"x": _normal(512, 1000)} | labels, {"reduction": "mean"})
    for operator in ("RandomNormal", "RandomUniform"):
        yield Case(operator, {}, {"shape": [200000], "seed": 1.0})
        yield Case(f"{operator}Like", {"x": _image()}, {"seed": 1.0})
    yield Case("Bernoulli", {"x": _uniform(200000)}, {"seed": 1.0})
    yield Case("Multinomial", {"x": _normal(64, 1000)}, {"sample_size": 100, "seed": 1.0})
    for operator in ("BlackmanWindow", "HammingWindow", "HannWindow"):
        yield Case(operator, {"n": np.array(16000)})
    mel = {"bins": np.array(80), "n": np.array(512), "rate": np.array(16000)}
    yield Case("MelWeightMatrix", mel | {"low": _float32(0), "high": _float32(8000)})
    words = np.array([f"word {i % 97}" for i in range(5000)], object)
    grams = {"ngram_counts": [0, 100], "ngram_indexes": list(range(150)), "pool_int64s": list(range(200))}
    lengths = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 1, "mode": "TF"}
    yield Case("TfIdfVectorizer", {"x": _integers(64, 500)}, grams | lengths)
    yield Case("StringNormalizer", {"x": words}, {"case_change_action": "UPPER"})
    yield Case("StringConcat", {"x": words, "b": words})
    yield Case("StringSplit", {"x": words}, outputs=("y", "n"))
    yield Case("RegexFullMatch", {"x": words}, {"pattern": r"word [0-9]*7"})


def cases():
    """All cases, in the order of the families."""
    for family in (_elementwise, _reductions, _normalisations, _convolutions, _products, _movement, _others):
        yield from family()
