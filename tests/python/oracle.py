"""Shared by the Python tests: tiny models, comparison that minds NaN, shape and type, and the oracles.

An expectation comes from NumPy (`want=`), from the reference evaluator of the onnx package, or from ONNX Runtime; `check` compares
the engine with each that can answer and says which of them differ, with both values.
"""

import re
import zlib

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper, parser

import engines

levels = pytest.mark.parametrize("level", [0, 3])

f16, f32, f64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
bf16 = np.dtype(ml_dtypes.bfloat16)
i8, i16, i32, i64 = (np.dtype(f"int{n}") for n in (8, 16, 32, 64))
u8, u16, u32, u64 = (np.dtype(f"uint{n}") for n in (8, 16, 32, 64))
boolean = np.dtype(bool)
string = np.dtype(object)
FLOATS = (f16, bf16, f32, f64)
SIGNED = (i8, i16, i32, i64)
UNSIGNED = (u8, u16, u32, u64)
INTS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTS

# How far a result may be from the oracle: relative, and absolute for values near zero (times the largest value).
TOLERANCE = {f16: (2e-3, 1e-3), bf16: (1.6e-2, 1e-2), f32: (1e-5, 1e-6), f64: (1e-9, 1e-12)}


def short(dtype):
    """A type's name in a test id."""
    return "string" if dtype == string else np.dtype(dtype).name


def is_float(dtype):
    return np.dtype(dtype) in FLOATS


def seeded(*what):
    """A generator whose numbers depend only on `what`."""
    return np.random.default_rng(zlib.crc32(repr(what).encode()))


def random(shape, dtype=f32, *what, low=-3, high=3):
    """Values in [low, high) (unsigned: [0, high)), the same in each run for the same arguments."""
    dtype = np.dtype(dtype)
    generator = seeded(shape, dtype.name, low, high, *what)
    if dtype == boolean:
        return generator.integers(0, 2, shape).astype(bool)
    if dtype == string:
        texts = [f"s{n}" for n in generator.integers(0, 9, np.prod(shape, dtype=int))]
        return np.array(texts, object).reshape(shape)
    if dtype.kind == "c":
        return (generator.uniform(low, high, shape) + 1j * generator.uniform(low, high, shape)).astype(dtype)
    if "int" in dtype.name:
        limits = ml_dtypes.iinfo(dtype)
        return np.asarray(generator.integers(max(low, int(limits.min)), min(high, int(limits.max) + 1), shape)).astype(
            dtype
        )
    values = generator.uniform(low, high, shape)
    return np.asarray(abs(values) if dtype.name == "float8_e8m0fnu" else values).astype(dtype)


# ---- models ----------------------------------------------------------------------------------------------------------------


def onnx_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def node(op, inputs="", outputs="y", name="", domain="", **attributes):
    """A node from comma-separated names: node("Clip", "x,,hi", "y"). Attributes that are None are left out."""
    split = [text.split(",") if text else [] for text in (inputs, outputs)]
    attributes = {key: value for key, value in attributes.items() if value is not None}
    return helper.make_node(op, *split, name=name or f"{op.lower()}_{outputs}", domain=domain, **attributes)


def parse_nodes(text):
    """Nodes in ONNX's textual form, separated by semicolons: parse_nodes("m = Conv<pads=[1, 1]>(x, w); y = Clip(m, , hi)")."""
    parsed = [parser.parse_node(line) for line in text.split(";")]
    for n in parsed:
        n.name = f"{n.op_type.lower()}_{n.output[0]}"
    return parsed


def value_info(name, spec):
    """`spec`: an array, (dtype, shape) with names or None in the shape, a dtype (any shape), a type proto, or None (nothing known)."""
    if spec is None:
        return onnx.ValueInfoProto(name=name)
    if isinstance(spec, onnx.TypeProto):
        return helper.make_value_info(name, spec)
    if isinstance(spec, np.ndarray):
        spec = (spec.dtype, spec.shape)
    dtype, shape = spec if isinstance(spec, tuple) else (spec, None)
    return helper.make_tensor_value_info(name, dtype if isinstance(dtype, int) else onnx_type(dtype), shape)


def make_graph(nodes, inputs, outputs, initializers=None, name="g"):
    """`inputs`, `outputs`: dict name -> spec of value_info, or a list of names; `initializers`: dict name -> array."""
    as_dict = lambda values: values if isinstance(values, dict) else dict.fromkeys(values)
    return helper.make_graph(
        nodes,
        name,
        [value_info(n, s) for n, s in as_dict(inputs).items()],
        [value_info(n, s) for n, s in as_dict(outputs).items()],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in (initializers or {}).items()],
    )


def make_model(nodes, inputs, outputs, initializers=None, opset=18, ir_version=10, domains=(), functions=()):
    """A model; `nodes`: NodeProtos or their text; `domains`: names, or versions by name. Outputs that are given by name only get the element type that ONNX infers, without a shape."""
    nodes = parse_nodes(nodes) if isinstance(nodes, str) else nodes
    graph = make_graph(nodes, inputs, outputs, initializers)
    versions = domains if isinstance(domains, dict) else dict.fromkeys(domains, 1)
    opsets = [helper.make_opsetid(d, v) for d, v in {"": opset, **versions}.items()]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=ir_version, functions=functions)
    if not isinstance(outputs, dict):
        inferred = {v.name: v.type for v in onnx.shape_inference.infer_shapes(model).graph.output}
        for value in model.graph.output:
            kind = inferred[value.name]
            if kind.HasField("tensor_type"):
                kind.tensor_type.ClearField("shape")
            value.type.CopyFrom(kind)
    return model


def one_node(op, feeds, outputs="y", opset=18, constants=(), domain="", **attributes):
    """A model of one node whose inputs are `feeds` in their order (None: left out); those in `constants` become initializers."""
    names = ",".join(name if value is not None else "" for name, value in feeds.items())
    given = {name: value for name, value in feeds.items() if value is not None}
    return make_model(
        [node(op, names, outputs, domain=domain, **attributes)],
        {n: v for n, v in given.items() if n not in constants},
        outputs.split(","),
        {n: v for n, v in given.items() if n in constants},
        opset=opset,
        domains=(domain,) if domain else (),
    )


def folded(model, feeds):
    """The same model with its inputs turned into initializers, so that a constant folder can compute all of it."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.input[:]
    copy.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in feeds.items())
    return copy


# ---- comparison ------------------------------------------------------------------------------------------------------------


def difference(got, want, rtol=None, atol=None):
    """None when equal to rounding, else a sentence. NaN equals NaN; type and shape count."""
    if isinstance(want, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(want):
            return f"expected a sequence of {len(want)}, got {got!r}"
        parts = (difference(g, w, rtol, atol) for g, w in zip(got, want))
        return next((f"element {i}: {text}" for i, text in enumerate(parts) if text), None)
    if want is None or got is None:
        return None if got is want else f"expected {want!r}, got {got!r}"
    if isinstance(want, dict):
        if not isinstance(got, dict) or got.keys() != want.keys():
            return f"expected a map of {list(want)}, got {got!r}"
        # Engines give numbers of Python, which have no width.
        plain = lambda v: isinstance(v, (float, int, np.generic))
        pairs = ((k, got[k], np.asarray(v, np.asarray(got[k]).dtype) if plain(v) else v) for k, v in want.items())
        parts = ((k, difference(g, w, rtol, atol)) for k, g, w in pairs)
        return next((f"key {k!r}: {text}" for k, text in parts if text), None)
    got, want = np.asarray(got), np.asarray(want)
    if want.dtype.kind in "US":
        want = want.astype(object)
    if got.dtype.kind in "US":
        got = got.astype(object)
    if got.dtype != want.dtype:
        return f"expected type {want.dtype}, got {got.dtype} (value {brief(got)})"
    if got.shape != want.shape:
        return f"expected shape {want.shape}, got {got.shape}"
    if want.dtype.kind in "biuO":
        same = got == want
    else:
        relative, absolute = TOLERANCE.get(want.dtype, (1e-5, 1e-6))
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        g, w = got.astype(wide), want.astype(wide)
        # Sums that cancel are off by a share of their terms, so by a share of the largest result.
        absolute *= max(1.0, float(np.max(np.abs(w), initial=0, where=np.isfinite(w))))
        same = np.isclose(g, w, relative if rtol is None else rtol, absolute if atol is None else atol, equal_nan=True)
    if np.all(same):
        return None
    at = tuple(int(i) for i in np.argwhere(~np.asarray(same))[0]) if want.ndim else ()
    return (
        f"{np.count_nonzero(~np.asarray(same))} of {want.size} elements differ, first at {at}: "
        f"expected {want[at]!r}, got {got[at]!r}; expected {brief(want)}, got {brief(got)}"
    )


def brief(array):
    return np.array2string(np.asarray(array), threshold=24, precision=6, separator=",").replace("\n", "")


def differences(got, want, rtol=None, atol=None):
    """One line for each output of `want` (dict) that `got` lacks or has otherwise."""
    lines = []
    for name, value in want.items():
        text = difference(got[name], value, rtol, atol) if name in got else f"missing; there are {sorted(got)}"
        if text:
            lines.append(f"{name}: {text}")
    return lines


def assert_same(got, want, rtol=None, atol=None, what=""):
    """Arrays, sequences, or dicts of them: equal to rounding, in type and in shape."""
    if not isinstance(want, dict):
        got, want = {"value": got}, {"value": want}
    lines = differences(got, want, rtol, atol)
    assert not lines, "\n".join([what, *lines]).strip()


# ---- checking --------------------------------------------------------------------------------------------------------------

PEERS = ("reference", "onnxruntime")


def run(model, feeds, level=3):
    """Loads and runs once in the engine under test."""
    return engines.load(model, level).run(feeds)


def run_both_levels(model, feeds, rtol=None, atol=None):
    """The outputs at level 3, after checking that level 0 gives the same."""
    plain, optimised = run(model, feeds, 0), run(model, feeds, 3)
    assert_same(optimised, plain, rtol, atol, "level 3 (got) and level 0 (expected) disagree")
    return optimised


def as_outputs(model, want):
    """One array for a single output, a tuple or list in order, or a dict -> a dict by output name."""
    names = [output.name for output in model.graph.output]
    if isinstance(want, dict):
        return want
    if len(names) == 1:
        want = [want]
    return dict(zip(names, want, strict=True))


def check(model, feeds, want=None, level=3, peers=PEERS, rtol=None, atol=None):
    """Runs the engine and compares with `want` (NumPy) and with every peer of `peers` that can run the model.

    Peers that are known to be wrong or that cannot be asked for a case are left out of `peers` by the test. At least one oracle must answer.
    """
    compare_with_oracles(model, run(model, feeds, level), feeds, want, f"level {level}", peers, rtol, atol)


def check_folded(model, feeds, want=None, peers=PEERS, rtol=None, atol=None):
    """As `check`, with all inputs made constants, at level 3; the oracles see the original model."""
    got = run(folded(model, feeds), {}, 3)
    compare_with_oracles(model, got, feeds, want, "folded", peers, rtol, atol)


def compare_with_oracles(model, got, feeds, want, how, peers, rtol, atol):
    oracles, silent = {}, []
    if want is not None:
        oracles["NumPy"] = as_outputs(model, want)
    for peer in peers:
        if peer == engines.ENGINE:
            continue
        try:
            oracles[peer] = engines.ask(peer, model, feeds)
        except engines.Unavailable as reason:
            silent.append(str(reason))
    if not oracles and engines.ENGINE in peers:
        return
    assert oracles, "no oracle could answer: " + "; ".join(silent)
    wrong = {name: differences(got, answer, rtol, atol) for name, answer in oracles.items()}
    if any(wrong.values()):
        text = [f"{engines.ENGINE} at {how}:"]
        for name, lines in wrong.items():
            text += [f"  differs from {name}: {line}" for line in lines] or [f"  agrees with {name}"]
        pytest.fail("\n".join(text + [f"  no answer from {line}" for line in silent]))


def assert_refused(action, node=None, code=None, words=()):
    """`action()` must end in the engine's error with a code and a hint; returns the error.

    `node`: the name that the error must give. `words`: pieces of text, each of which must be in the message, the node or the hint.
    """
    with pytest.raises(engines.refusals()) as caught:
        action()
    error = caught.value
    if engines.ENGINE != "pyasc":
        return error
    text = f"{error} {error.node} {error.hint}"
    assert re.fullmatch(r"E\d{4}", error.code), f"no error code: {error.code!r} in {text!r}"
    assert str(error).strip() and error.hint, f"an error needs a message and a hint: {text!r}"
    if code:
        assert error.code == code, text
    for word in ([node] if node else []) + list(words):
        assert word in text, f"{word!r} is not in {text!r}"
    return error


def assert_load_refused(model, level=3, **expected):
    return assert_refused(lambda: engines.load(model, level), **expected)


def assert_run_refused(model, feeds, level=3, **expected):
    """The model must load; the run must be refused, twice with the same code: the first failure leaves the model as it was."""
    loaded = engines.load(model, level)
    first = assert_refused(lambda: loaded.run(feeds), **expected)
    second = assert_refused(lambda: loaded.run(feeds), **expected)
    assert first.code == second.code
    return first


def assert_load_or_run_refused(model, feeds, level=3, **expected):
    """Refused either way: what is constant may be found at load."""
    return assert_refused(lambda: run(model, feeds, level), **expected)
