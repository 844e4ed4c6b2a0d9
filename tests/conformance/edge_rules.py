"""Where an oracle is not asked or not followed, and why (docs/numbers.md has the rules), and how close results must be."""

import numpy as np
import onnx

from tests.conformance.edge_paths import oracle

narrow = lambda d: d in (oracle.f16, oracle.bf16)


def _types(case):
    values = case.inputs.values() if isinstance(case.inputs, dict) else case.inputs
    return [v.dtype for v in values if isinstance(v, np.ndarray)]


def _nan(case):
    floats = [v for v in case.inputs if isinstance(v, np.ndarray) and oracle.is_float(v.dtype)]
    return any(np.isnan(v.astype(np.float64)).any() for v in floats)


def _odd(case):
    floats = [v for v in case.inputs if isinstance(v, np.ndarray) and oracle.is_float(v.dtype)]
    return any(not np.isfinite(v.astype(np.float64)).all() for v in floats)


def _finite(array):
    return not oracle.is_float(array.dtype) or np.isfinite(array.astype(np.float64)).all()


def _empty(case):
    return any(v.size == 0 for v in case.inputs if isinstance(v, np.ndarray))




def _to_e8m0(case):
    """Numbers below zero become powers of two."""
    like = case.inputs[1].dtype if case.op == "CastLike" else None
    to = onnx.helper.np_dtype_to_tensor_dtype(like) if like is not None else case.attributes["to"]
    x = case.inputs[0]
    return to == onnx.TensorProto.FLOAT8E8M0 and x.dtype != oracle.string and (np.signbit(x.astype(np.float64))).any()


_far = lambda c: np.abs(np.nan_to_num(c.inputs[0].astype(np.float64))).max(initial=0) > 100
_nearly_out = lambda c: _large_or_tiny(np.abs(c.inputs[0].astype(np.float64)))
_large_or_tiny = lambda x: ((x > 1e18) | ((x > 0) & (x < 1e-18))).any()
_recurrent = lambda c: c.attributes.get("clip") or (len(c.inputs) > 4 and c.inputs[4] is not None)

_ML_MODELS = "LinearClassifier LinearRegressor SVMClassifier SVMRegressor TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor"
_plain_rows = lambda c: _types(c) == [oracle.f32] and c.inputs[0].ndim == 2 and not _empty(c)
_large = lambda c: np.abs(c.inputs[0].astype(np.float64)).max(initial=0) > 2**15
_transform = lambda c: c.attributes.get("post_transform", "NONE")
_labels = lambda c: len(c.attributes.get("classlabels_ints", c.attributes.get("classlabels_strings", "")))
_lone_probit = lambda c: _transform(c) == "PROBIT" and len(c.attributes.get("intercepts", "")) == 1



def _nodes(case):
    """All nodes of a graph, those in bodies too."""
    found = list(getattr(case, "nodes", ()))
    for node in found:
        found += [inner for attribute in node.attribute for inner in attribute.g.node]
    return found


def _passes(case):
    bodies = [a.g for n in _nodes(case) for a in n.attribute if a.HasField("g")]
    return any({o.name for o in b.output} & {i.name for i in b.input} for b in bodies)


_trips = lambda c: {i for n in _nodes(c) if n.op_type == "Loop" for i in n.input[:2]}
_stacks = lambda c: any(n.op_type == "Loop" and len(n.output) > len(n.input) - 2 for n in _nodes(c))
_unconditional = lambda c: any(n.op_type == "Loop" and not n.input[1] for n in _nodes(c))
_optional = lambda c: any(n.op_type == "Optional" for n in _nodes(c))

# operators, oracle (None: all), predicate of the case, what the oracle does
UNFIT = [
    ("RNN GRU LSTM", "reference", _recurrent, "knows neither clip nor sequence_lens"),
    ("LSTM", "reference", lambda c: c.attributes.get("input_forget"), "has no input_forget"),
    ("GlobalMaxPool", "reference", lambda c: True, "reduces the wrong axes"),
    ("QLinearConv", "reference", lambda c: c.inputs[0].ndim != 4, "adds an axis"),
    ("Erf Gelu", "reference", lambda c: oracle.f64 in _types(c), "has an erf of seven digits"),
    ("BatchNormalization", "reference", lambda c: c.attributes.get("training_mode"), "mixes up types of statistics"),
    ("LayerNormalization", "reference", lambda c: len(c.outputs) > 1, "gives statistics in the type of x"),
    ("LayerNormalization", "onnxruntime", lambda c: c.inputs[0].dtype == oracle.f64, "gives statistics in float64"),
    ("Det", "reference", lambda c: narrow(c.inputs[0].dtype), "gives float64"),
    ("LpNormalization", "reference", lambda c: c.attributes.get("p") == 1, "sums without absolute values"),
    ("MaxPool GlobalMaxPool", "onnxruntime", _nan, "drops NaN"),
    ("MaxPool AveragePool LpPool", "reference", _odd, "takes NaN for padding"),
    ("ReduceMax ReduceMin ReduceLogSumExp ArgMax ArgMin", "onnxruntime", _nan, "drops NaN unless it comes first"),
    ("Unique", "reference", lambda c: c.attributes.get("sorted") == 0 or _empty(c), "sorts along an axis; keeps shapes of nothing"),
    ("ThresholdedRelu Shrink", None, _nan, "gives 0 for NaN"),
    ("MaxPool AveragePool LpPool", "onnxruntime", lambda c: c.attributes.get("auto_pad") == "VALID" and c.attributes.get("ceil_mode"),
     "rounds VALID as explicit padding"),
    ("AffineGrid", "onnxruntime", lambda c: 1 in c.inputs[1][2:], "puts the only aligned pixel at 1"),
    ("ConvTranspose", "reference", lambda c: c.attributes.get("group") and len(c.inputs) > 2, "adds the first group's bias to all"),
    ("ConvTranspose", "onnxruntime", lambda c: str(c.attributes.get("auto_pad")).startswith("SAME"), "does not pad SAME with gaps"),
    ("BlackmanWindow HammingWindow HannWindow", None, lambda c: c.inputs[0] <= 1, "divides 0 by 0 for one element"),
    ("AffineGrid", "reference", lambda c: c.inputs[0].dtype != oracle.f32, "gives float32"),
    ("LRN", "reference", lambda c: c.attributes["size"] % 2 == 0, "cuts the window of an even size short"),
    ("ReduceL2 ReduceSumSquare", "reference", lambda c: "int" in _types(c)[0].name, "overflows, or widens the type"),
    ("Normalizer FeatureVectorizer", "reference", lambda c: oracle.f32 not in _types(c), "gives the type of x"),
    ("DictVectorizer", "reference", lambda c: True, "gives the type of Python's numbers, and no row"),
    (_ML_MODELS, "reference", lambda c: not _plain_rows(c), "gives the type and rank of x"),
    ("LinearClassifier", None, _lone_probit, "has rules of its own for the probit of one score"),
    ("graph", "reference", lambda c: c.opset == 8, "has no batch in Scan"),
    ("graph", "reference", _stacks, "joins what a Loop stacks"),
    ("graph", "reference", _unconditional, "makes no trip without a condition"),
    ("graph", "reference", _optional, "takes optionals for lists"),
    ("graph", "reference", lambda c: c.attributes.get("loop_of_sequence"), "takes a sequence for what a Loop stacks"),
    ("graph", "onnxruntime", lambda c: c.attributes.get("loop_without_trips"), "gives unknown ranks one axis"),
    ("graph", "onnxruntime", lambda c: c.attributes.get("vector_of_one"), "gives a body the condition as it is, [1] too"),
    ("graph", "onnxruntime", _passes, "shares memory of a body's inputs that are its outputs"),
    ("RNN GRU LSTM", "onnxruntime", lambda c: len(c.inputs) > 4 and c.inputs[4] is not None and (c.inputs[4] == 0).any(),
     "gives 0 for the state of a sequence of length 0"),
    ("GlobalMaxPool", "onnxruntime", _odd, "takes -infinity for the least finite number"),
    ("Cast CastLike", "reference", lambda c: "float8" in c.inputs[0].dtype.name and np.isnan(c.inputs[0].astype(np.float64)).any(),
     "casts NaN of 8 bits as 0"),
    ("CenterCropPad", "reference", lambda c: oracle.string in _types(c), "fills strings with numbers"),
    ("Hardmax LogSoftmax Softmax", "reference", lambda c: c.opset < 13, "does not know the rows of two dimensions of old versions"),
    ("Cast CastLike", "reference", _to_e8m0, "takes magnitudes, where nothing is specified"),
    ("LogSoftmax", "reference", lambda c: narrow(c.inputs[0].dtype) and _far(c), "takes the logarithm of what Softmax rounded to 0"),
    ("PRelu", "reference", lambda c: not np.isfinite(c.inputs[1].astype(np.float64)).all(), "multiplies 0 by the slope"),
    ("QuantizeLinear", "reference", lambda c: _odd(c) or (c.inputs[1].astype(np.float64) == 0).any(), "casts infinity before it saturates"),
    ("ReduceLogSumExp", "reference", _odd, "subtracts infinity from infinity"),
    ("ReduceLogSumExp", "onnxruntime", lambda c: narrow(c.inputs[0].dtype) and _far(c), "has no maximum taken out where nothing is reduced"),
    ("StringNormalizer", "reference", lambda c: any(v == "" or "ß" in v for v in c.inputs[0].reshape(-1)), "drops empty strings, has SS for ß"),
    ("SwiGLU", "reference", lambda c: narrow(c.inputs[0].dtype) and _odd(c), "rounds Swish before the product"),
    ("Adam", "reference", lambda c: True, "gives types of its own"),
    ("Adagrad Momentum", "reference", lambda c: c.inputs[0].dtype != c.inputs[2].dtype, "gives the type of the rate"),
    ("ReduceL2", None, lambda c: c.inputs[0].dtype == oracle.f32 and _nearly_out(c), "squares in float32"),
    ("ReduceMean", "reference", lambda c: "int" in _types(c)[0].name and _large(c), "wraps in the width of x"),
    ("ReduceMean", "reference", lambda c: narrow(c.inputs[0].dtype) and _far(c), "sums in the type of x"),
    ("LayerNormalization", "onnxruntime", lambda c: len(c.outputs) > 1 and _odd(c), "gives NaN for an infinite mean"),
    ("OneHot", "reference", lambda c: not _finite(c.inputs[2]), "multiplies values by 0"),
    ("ReduceL2", "onnxruntime", lambda c: "int" in _types(c)[0].name and _large(c), "saturates where a cast wraps"),
    ("Resize", "reference", lambda c: _types(c)[0].kind == "c", "drops imaginary parts"),
    ("SVMClassifier", "reference", lambda c: "prob_a" in c.attributes and _labels(c) > 2, "couples pairs by another method"),
    ("SVMClassifier", "onnxruntime", _odd, "drops NaN of a decision"),
    (_ML_MODELS, "onnxruntime", lambda c: _transform(c) in ("PROBIT", 4), "loses the probit's digits"),
    ("SVMClassifier", "onnxruntime", lambda c: _labels(c) == 2 and _transform(c) not in ("NONE", "LOGISTIC"), "does not transform two scores of one"),
    ("RMSNormalization", "reference", lambda c: len(set(_types(c))) > 1, "gives the type of x"),
]  # fmt: skip

# operators, predicate of the case, rule of docs/numbers.md
REFUSALS = [
    ("Div Mod", lambda c: "int" in c.inputs[1].dtype.name and (c.inputs[1] == 0).any(), "integer division by zero"),
    ("ReduceMean", lambda c: "int" in c.inputs[0].dtype.name and c.inputs[0].size == 0, "mean of no integers"),
    ("graph", lambda c: any(v.size != 1 and n in _trips(c) for n, v in c.inputs.items()), "more than one trip count"),
    ("Flatten", lambda c: c.inputs[0].ndim == 0, "axis out of range"),
    ("Pad", lambda c: c.attributes.get("mode") == "reflect", "reflection of more than there is"),
]  # fmt: skip


def unfit(case, peer):
    """Why an oracle is not asked about a case; None where it is."""
    return next((why for ops, who, test, why in UNFIT if case.op in ops.split() and who in (peer, None) and test(case)), None)


def refusal(case):
    """The rule by which pyasc refuses what an oracle computes; None when there is none."""
    return next((rule for ops, test, rule in REFUSALS if case.op in ops.split() and test(case)), None)


# Operators that add up many terms or go through several roundings: differences are a share of the largest value.
def tolerance(case):
    """Relative, and absolute as a share of the largest value; None: by type."""
    types = _types(case)
    if oracle.bf16 in types:
        return 3e-2, 1e-2
    if oracle.f16 in types:
        return 5e-3, 2e-3
    if oracle.f32 in types:
        return 1e-4, 1e-5
    # Functions of the specification go through float32 here and there.
    return (1e-6, 1e-7) if oracle.f64 in types else (None, None)
