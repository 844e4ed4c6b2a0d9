"""Writes core/onnx/operator_forms.inc: the older forms of ONNX operators that say the same as the newest one.

An exported model is stamped with the oldest opset in which all of its nodes can be written as they are, so that
engines that lag behind the newest one run it. The table comes from the schemas of the `onnx` package:

    python tools/operator_forms.py            # after a new release of ONNX

A form is left out where its attributes or inputs differ, or where its meaning does (CHANGED).
"""

import pathlib
import re
import sys

from onnx import TensorProto, defs

TARGET = pathlib.Path(__file__).resolve().parent.parent / "core" / "onnx" / "operator_forms.inc"
OLDEST = 13  # opsets before are for old models only

# Forms before these opsets mean something else though their schemas do not show it.
CHANGED = {"BatchNormalization": 14, "GroupNormalization": 21, "RoiAlign": 16}

OPTIONAL, MAP, SEQUENCE = 31, 30, 32
OPTIONS = defs.OpSchema.FormalParameterOption
NAMES = {"float": "FLOAT", "double": "DOUBLE", "complex64": "COMPLEX64", "complex128": "COMPLEX128"}


def bits(text):
    """A type such as "seq(tensor(float))" in the form of OperatorForm's masks."""
    inner = re.fullmatch(r"(\w+)\((.*)\)", text)
    kind, rest = inner.groups() if inner else ("", "")
    if kind == "tensor":
        return 1 << TensorProto.DataType.Value(NAMES.get(rest, rest.upper()))
    if kind == "seq" and rest.startswith("tensor"):
        return bits(rest) << SEQUENCE
    if kind == "optional":
        return 1 << OPTIONAL
    return 1 << MAP


def mask(parameter):
    result = 0
    for text in parameter.types:
        result |= bits(text)
    return result


def says_the_same(old, new):
    for name, attribute in old.attributes.items():
        other = new.attributes.get(name)
        if other is None or (attribute.type, attribute.required) != (other.type, other.required):
            return False
        if str(attribute.default_value) != str(other.default_value):
            return False
    inputs = list(zip(old.inputs, new.inputs))
    if len(old.inputs) > len(new.inputs) or len(old.outputs) > len(new.outputs) or old.deprecated:
        return False
    return all(a.option == b.option or {a.option, b.option} == {OPTIONS.Single, OPTIONS.Optional} for a, b in inputs)


def most(parameters):
    return "kAny" if parameters and parameters[-1].option == OPTIONS.Variadic else str(len(parameters))


def row(old, new):
    missing = " ".join(sorted(set(new.attributes) - set(old.attributes)))
    needed = sum(parameter.option == OPTIONS.Single for parameter in old.inputs)
    masks = [", ".join(f"{mask(p):#x}" for p in side) for side in (old.inputs, old.outputs)]
    return (
        f'{{"{old.name}", {old.since_version}, {needed}, {most(old.inputs)}, {len(old.outputs)}, "{missing}",'
        f" {{{masks[0]}}}, {{{masks[1]}}}}},"
    )


def text():
    history = {}
    for schema in defs.get_all_schemas_with_history():
        if not schema.domain:
            history.setdefault(schema.name, []).append(schema)
    lines = [
        "// Written by tools/operator_forms.py: do not edit.",
        "// Name, opset, inputs needed, most inputs, outputs, attributes that are missing, types of inputs, of outputs.",
    ]
    for name, forms in sorted(history.items()):
        *older, new = sorted(forms, key=lambda schema: schema.since_version)
        if new.deprecated:
            continue
        for old in reversed(older):
            if old.since_version < CHANGED.get(name, 0) or not says_the_same(old, new):
                break
            if new.since_version > OLDEST:
                lines.append(row(old, new))
            if old.since_version <= OLDEST:
                break
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(TARGET.read_text() != text())
    TARGET.write_text(text())
