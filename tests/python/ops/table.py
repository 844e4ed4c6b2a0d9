"""Shared by the operator tests: the types that ONNX allows, and one check in three modes."""

import ml_dtypes
import numpy as np
import onnx
import pytest

from oracle import PEERS, check, check_folded, one_node

OPSET = 24

# Optimiser off, optimiser on, and everything constant so that the constant folder computes it.
MODES = ["level0", "level3", "folded"]
modes = pytest.mark.parametrize("mode", MODES)

_NAMES = {
    "float": "float32",
    "double": "float64",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
    "float6e2m3": "float6_e2m3fn",
    "float6e3m2": "float6_e3m2fn",
    "float4e2m1": "float4_e2m1fn",
    "string": "object",
}


def dtype_of(type_text):
    """tensor(float) -> float32; None for what is no tensor."""
    if not type_text.startswith("tensor("):
        return None
    name = type_text[len("tensor(") : -1]
    name = _NAMES.get(name, name)
    return np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)


def types_of(op, position=0, opset=OPSET, without=(), domain=""):
    """The element types that ONNX allows for an input of an operator; `without`: kinds as in NumPy's names, such as "complex"."""
    schema = onnx.defs.get_schema(op, opset, domain)
    wanted = schema.inputs[position].type_str
    texts = next((t.allowed_type_strs for t in schema.type_constraints if t.type_param_str == wanted), [wanted])
    found = {dtype_of(text) for text in texts} - {None}
    names = lambda d: "string" if d == np.dtype(object) else d.name
    return sorted((d for d in found if not any(w in names(d) for w in without)), key=lambda d: (names(d), d.itemsize))


def each_type(ops, position=0, opset=OPSET, without=()):
    """Parametrises over (op, dtype) for every operator of `ops`."""
    name = lambda d: "string" if d == np.dtype(object) else d.name
    return pytest.mark.parametrize(
        "op, dtype",
        [pytest.param(op, d, id=f"{op}-{name(d)}") for op in ops for d in types_of(op, position, opset, without)],
    )


def verify(model, feeds, want=None, mode="level3", **options):
    """check() at a level, or check_folded()."""
    if mode == "folded":
        check_folded(model, feeds, want, **options)
    else:
        check(model, feeds, want, int(mode[-1]), **options)


def verify_node(
    op,
    feeds,
    want=None,
    how="level3",
    /,
    *,
    outputs="y",
    opset=OPSET,
    constants=(),
    peers=PEERS,
    rtol=None,
    atol=None,
    **attributes,
):
    """One node with `feeds` in the order of its inputs; those in `constants` are initializers; `how`: one of MODES."""
    model = one_node(op, feeds, outputs, opset, constants, **attributes)
    given = {n: v for n, v in feeds.items() if v is not None and n not in constants}
    verify(model, given, want, how, peers=peers, rtol=rtol, atol=atol)


def wide(function):
    """Computes in float64 and returns the type of the first argument."""

    def narrow(*arrays):
        with np.errstate(all="ignore"):
            first = arrays[0].dtype
            if first.kind in "iub" or first.name.startswith(("int", "uint")):
                return np.asarray(function(*arrays)).astype(first)
            return np.asarray(function(*(a.astype(np.float64) for a in arrays))).astype(first)

    return narrow
