"""Cases of operators that work element by element: unary, binary, variadic, casts, quantisation, strings, generators."""

import ml_dtypes
import numpy as np
import onnx

from tests.conformance.edge_kit import TAME, WILD, f32, i32, i64, string, u8
from tests.conformance.edge_paths import oracle, table

CASES = {}


def case(*names):
    """Registers a strategy for operators by name."""

    def add(function):
        CASES.update(dict.fromkeys(names, function))
        return function

    return add


_NUMBERS = (None, 0.0, 1.0, -1.0, 0.5, 2.0, 1e-30, -3.5)
_FLOAT_ATTRIBUTES = {
    "Celu": ("alpha",), "Elu": ("alpha",), "HardSigmoid": ("alpha", "beta"), "LeakyRelu": ("alpha",), "Selu": ("alpha", "gamma"),
    "Shrink": ("bias", "lambd"), "Swish": ("alpha",), "ThresholdedRelu": ("alpha",), "SwiGLU": ("alpha",),
}  # fmt: skip


@case(
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp",
    "Floor", "HardSigmoid", "HardSwish", "Identity", "IsNaN", "LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu",
    "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh",
    "ThresholdedRelu",
)  # fmt: skip
def unary(kit):
    attributes = {name: kit.one_of(*_NUMBERS) for name in _FLOAT_ATTRIBUTES.get(kit.op, ())}
    if kit.op == "Celu" and attributes["alpha"] == 0:
        attributes["alpha"] = None
    return kit.case(kit.input(0, kit.shape()), **attributes)


@case("Gelu")
def gelu(kit):
    return kit.case(kit.input(0, kit.shape()), approximate=kit.one_of(None, "none", "tanh"))


@case("IsInf")
def is_inf(kit):
    flags = {name: kit.one_of(None, 0, 1) for name in ("detect_negative", "detect_positive")}
    return kit.case(kit.input(0, kit.shape()), **flags)


@case("Size", "Shape", "NonZero", "OptionalHasElement", "OptionalGetElement")
def about(kit):
    attributes = {}
    if kit.op == "Shape":
        attributes = {"start": kit.one_of(None, 0, 1, -1, -9, 9), "end": kit.one_of(None, 1, -1, 9, -9)}
    return kit.case(kit.input(0, kit.shape()), **attributes)


@case(
    "Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
    "Mul", "Or", "Sub", "Xor", "StringConcat",
)  # fmt: skip
def binary(kit):
    a, b = kit.shapes(2)
    return kit.case(kit.input(0, a), kit.input(1, b))


@case("SwiGLU")
def swiglu(kit):
    shape = kit.shape()
    return kit.case(kit.input(0, shape), kit.input(1, shape), alpha=kit.one_of(*_NUMBERS))


@case("Mod")
def mod(kit):
    a, b = kit.shapes(2)
    x, y = kit.input(0, a), kit.input(1, b)
    fmod = 1 if oracle.is_float(x.dtype) and kit.opset < 28 else kit.one_of(None, 0, 1)
    if fmod != 1 and "int" in y.dtype.name and kit.flag():
        y[y == 0] = 3
    return kit.case(x, y, fmod=fmod)


@case("BitShift")
def bit_shift(kit):
    a, b = kit.shapes(2)
    x = kit.input(0, a)
    return kit.case(x, kit.integers(0, 9, b, x.dtype), direction=kit.one_of("LEFT", "RIGHT"))


@case("Pow")
def power(kit):
    a, b = kit.shapes(2)
    x = kit.input(0, a, TAME + ("nan",), low=-5, high=6)
    low = 0 if "int" in x.dtype.name else -4
    return kit.case(x, kit.input(1, b, TAME, low=low, high=5))


@case("PRelu")
def prelu(kit):
    shape = kit.shape()
    slope = tuple(kit.one_of(n, 1) for n in shape)[kit.integer(0, len(shape)) :]
    return kit.case(kit.input(0, shape), kit.input(1, slope))


@case("Max", "Min", "Mean", "Sum")
def variadic(kit):
    shapes = kit.shapes(kit.one_of(2, 1, 3, 5))
    return kit.case(*[kit.input(0, s) for s in shapes])


@case("Where")
def where(kit):
    a, b, c = kit.shapes(3)
    return kit.case(kit.input(0, a), kit.input(1, b), kit.input(2, c))


@case("Clip")
def clip(kit):
    x = kit.input(0, kit.shape())
    low, high = (kit.one_of(None, kit.array((), x.dtype)) for _ in range(2))
    return kit.case(x, low, high)


@case("Cast")
def cast(kit):
    to = kit.dtype(0, output=True)
    x = kit.input(0, kit.shape(), only=lambda d: (d == string) <= (to == string or to.kind == "f"))
    if x.dtype == string:
        texts = ["1", "-2.5", "1e3", "nan", "inf", "-INF", "0"]
        x = np.array([texts[i] for i in kit.integers(0, 6, x.size)], object).reshape(x.shape)
    saturate = kit.one_of(None, 0) if to.name.startswith("float8") and "e8m0" not in to.name else None
    return kit.case(x, to=oracle.onnx_type(to), saturate=saturate)


@case("CastLike")
def cast_like(kit):
    x = kit.input(0, kit.shape(), only=lambda d: d != string)
    return kit.case(x, kit.input(1, kit.shape(), only=lambda d: d != string))


@case("BitCast")
def bit_cast(kit):
    x = kit.input(0, kit.shape(), only=lambda d: d != string and "int4" not in d.name and "int2" not in d.name)
    same = [d for d in table.types_of("BitCast", 0, kit.opset) if d != string and d.itemsize == x.dtype.itemsize]
    same = [d for d in same if not any(w in d.name for w in ("int4", "int2", "float4")) or d.itemsize > 1]
    return kit.case(x, to=oracle.onnx_type(kit.one_of(*same)))


@case("Dropout")
def dropout(kit):
    x = kit.input(0, kit.shape())
    ratio = kit.one_of(None, np.array(0.5, kit.dtype(1)), np.array(0, kit.dtype(1)))
    training = kit.one_of(None, np.array(False))
    return kit.case(x, ratio, training, outputs=kit.one_of(1, 2))


@case("DynamicQuantizeLinear")
def dynamic_quantize(kit):
    return kit.case(kit.input(0, kit.shape(low=1), TAME), outputs=3)


def _quantized(kit, position, shape, dtype):
    return kit.array(shape, dtype, ("plain", "special"), low=-120, high=120)


@case("QuantizeLinear", "DequantizeLinear")
def quantize(kit):
    """Per tensor, per axis or blocked."""
    shape = kit.shape(min_rank=1)
    quantizes = kit.op == "QuantizeLinear"
    simple = lambda d: "float4" not in d.name and "int4" not in d.name and "int2" not in d.name
    x = kit.input(0, shape, ("plain", "ties", "nan")) if quantizes else _quantized(kit, 0, shape, kit.dtype(0, simple))
    axis, how = kit.axis(len(shape)), kit.one_of("tensor", "axis", "block")
    block = kit.integer(1, 3)
    if how == "tensor":
        parameters, axis = kit.one_of((), (1,)), None
    elif how == "axis":
        parameters = (shape[axis],)
    else:
        parameters = tuple(-(-n // block) if a == axis % len(shape) else n for a, n in enumerate(shape))
    scale_type = x.dtype if quantizes and kit.opset < 23 and x.dtype != i32 else kit.dtype(1, lambda d: d.name != "float8_e8m0fnu")
    scale = (np.abs(kit.array(parameters, f32, ("plain",))) + 0.25).astype(scale_type)
    zero = kit.flag()
    zero_type = kit.dtype(2, simple) if quantizes else x.dtype
    if zero_type == i32:
        zero = False
    point = _quantized(kit, 2, parameters, zero_type) if zero else None
    if point is not None and "float8" in zero_type.name:
        point = np.zeros(parameters, zero_type)
    return kit.case(x, scale, point, axis=axis, block_size=block if how == "block" else None)


@case("StringNormalizer")
def string_normalizer(kit):
    x = kit.input(0, kit.one_of((3,), (1,), (5,), (1, 4)))
    attributes = {"case_change_action": kit.one_of(None, "NONE", "LOWER", "UPPER"), "is_case_sensitive": kit.one_of(None, 0, 1)}
    return kit.case(x, stopwords=kit.one_of(None, ["a"], ["A b", ""]), **attributes)


@case("StringSplit")
def string_split(kit):
    delimiter = kit.one_of(None, "", " ", "b", ".")
    return kit.case(kit.input(0, kit.shape()), outputs=2, delimiter=delimiter, maxsplit=kit.one_of(None, 0, 1, 2))


@case("TfIdfVectorizer")
def tfidf(kit):
    x = kit.input(0, kit.one_of((6,), (1,), (2, 5), (0,)), ("plain",), low=0, high=4)
    # One-grams, then two-grams.
    pool = {"pool_strings": ["", "a", "x", "a", "a"]} if x.dtype == string else {"pool_int64s": [0, 2, 1, 1, 2]}
    longest = kit.one_of(1, 2)
    return kit.case(
        x,
        mode=kit.one_of("TF", "IDF", "TFIDF"),
        ngram_counts=[0, 3],
        ngram_indexes=kit.draw_permutation(range(4)),
        weights=kit.one_of(None, [0.5, 2.0, 1.0, 3.0]),
        min_gram_length=kit.integer(1, longest),
        max_gram_length=longest,
        max_skip_count=kit.one_of(0, 1, 5),
        **pool,
    )


@case("ImageDecoder")
def image_decoder(kit):
    height, width = kit.integer(1, 4), kit.integer(1, 4)
    pixels = kit.array((3 * height * width,), u8, ("plain", "special"), low=0, high=255)
    file = np.concatenate([np.frombuffer(b"P6 %d %d 255\n" % (width, height), u8), pixels])
    return kit.case(file, pixel_format=kit.one_of(None, "RGB", "BGR"))


@case("RegexFullMatch")
def regex(kit):
    return kit.case(kit.input(0, kit.shape()), pattern=kit.one_of(".*", "[a-z]+", "", "A ?b|1\\.5", "\\s*x\\s*"))


@case("Range")
def range_of(kit):
    kind = kit.dtype(0, lambda d: d.itemsize >= 4 or kit.one_of(True))
    low = 0 if kind.kind == "u" else -5
    delta = kit.one_of(1, 2, 3) if kind.kind == "u" else kit.one_of(1, -1, 2, -3)
    pair = [np.array(kit.integer(low, 9)).astype(kind) for _ in range(2)]
    return kit.case(*pair, np.array(delta).astype(kind))


@case("ConstantOfShape")
def constant_of_shape(kit):
    shape = np.array(kit.shape(), i64)
    kind = kit.dtype(0, lambda d: d != string, output=True)
    value = kit.one_of(None, onnx.numpy_helper.from_array(kit.array((1,), kind)))
    return kit.case(shape, value=value)


@case("Constant")
def constant(kit):
    kind = kit.dtype(0, output=True)
    return kit.case(value=onnx.numpy_helper.from_array(kit.array(kit.shape(), kind)))


@case("EyeLike")
def eye_like(kit):
    to = kit.one_of(None, oracle.onnx_type(kit.dtype(0, output=True)))
    return kit.case(kit.input(0, kit.shape(2, 2)), k=kit.one_of(None, 0, 1, -1, 5, -5), dtype=to)


@case("BlackmanWindow", "HammingWindow", "HannWindow")
def window(kit):
    size = np.array(kit.integer(0, 9)).astype(kit.dtype(0))
    return kit.case(size, periodic=kit.one_of(None, 0, 1), output_datatype=kit.one_of(None, 1, 11, 10, 16, 7))


@case("OneHot")
def one_hot(kit):
    shape, depth = kit.shape(max_rank=3), kit.integer(1, 4)
    indices = kit.integers(-depth - 1, depth, shape).astype(kit.dtype(0))
    values = kit.array((2,), kit.dtype(2))
    rank = len(shape) + 1
    size = np.array(depth).astype(kit.dtype(1))
    return kit.case(indices, size.reshape(kit.one_of((), (1,))), values, axis=kit.one_of(None, kit.axis(rank)))


@case("RandomNormal", "RandomUniform")
def random_values(kit):
    to = oracle.onnx_type(kit.dtype(0, output=True))
    return kit.case(shape=list(kit.shape(min_rank=1)), dtype=kit.one_of(None, to), seed=kit.one_of(None, 1.5), exact=False)


@case("RandomNormalLike", "RandomUniformLike", "Bernoulli")
def random_like(kit):
    styles = ("plain",)
    x = kit.input(0, kit.shape(), styles, only=lambda d: kit.op == "Bernoulli" or d.kind == "f", low=0, high=1)
    to = oracle.onnx_type(kit.dtype(0, output=True))
    return kit.case(x, dtype=kit.one_of(None, to), seed=kit.one_of(None, 1.5), exact=False)


@case("Multinomial")
def multinomial(kit):
    x = kit.input(0, (kit.integer(1, 3), kit.integer(1, 4)), ("plain",))
    return kit.case(x, sample_size=kit.one_of(None, 1, 5), dtype=kit.one_of(None, 6, 7), exact=False)
