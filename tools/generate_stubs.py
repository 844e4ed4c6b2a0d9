#!/usr/bin/env python3
"""Writes what tools read of the operators, from the engine's registry.

    generate_stubs.py LIBASC METHODS_PYI OPS_PYI

METHODS_PYI types the methods of pyasc.Context, OPS_PYI the functions of pyasc.ops. Needs nothing but the shared library.
"""

import ctypes
import json
import keyword
import pathlib
import sys

ATTRIBUTE_TYPES = {
    "int": "int",
    "float": "float",
    "string": "str",
    "ints": "int | Sequence[int]",
    "floats": "float | Sequence[float]",
    "strings": "str | Sequence[str]",
    "tensor": "ArrayLike",
    "type": "object",
}
HEADER = '''"""Generated from the operator registry: do not edit."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike, DTypeLike

from pyasc.context import Context, Value

Operand = Value | ArrayLike
'''


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


def read_registry(library):
    asc = ctypes.CDLL(library)
    asc.asc_registry_create_operators.restype = ctypes.c_void_p
    asc.asc_bytes_get.restype = Text
    asc.asc_bytes_get.argtypes = [ctypes.c_void_p]
    made = ctypes.c_void_p()
    if asc.asc_registry_create_operators(ctypes.byref(made)):
        sys.exit("the registry cannot be listed")
    text = asc.asc_bytes_get(made)
    return json.loads(text.data[: text.size])


def safe(name):
    return name + "_" if keyword.iskeyword(name) else name


def attribute_type(spec):
    if spec["type"] == "int" and (spec["name"] == "to" or spec["name"].endswith("dtype")):
        return "int | str | DTypeLike"
    if spec["name"] == "pads":
        return "int | Sequence[int] | str"
    if spec["type"] == "int" and spec.get("default") in (0, 1):
        return "int | bool"
    return ATTRIBUTE_TYPES[spec["type"]]


def parameters(row):
    """Of a method or function, without self."""
    out = []
    keyword_only = False
    optional = False
    for operand in row["inputs"]:
        name = safe(operand["python_name"])
        if operand["kind"] == "variadic":
            out.append(f"*{name}: Operand | Sequence[Operand]")
            keyword_only = True
            continue
        optional = optional or operand["kind"] == "optional"
        out.append(f"{name}: Operand | None = None" if optional else f"{name}: Operand")
    if not keyword_only:
        out.append("*")
    taken = {operand["python_name"] for operand in row["inputs"]}
    for spec in row["attributes"]:
        name = safe(spec["python_name"])
        if name in taken:
            continue
        taken.add(name)
        default = "" if spec["required"] else f" = {spec['default']!r}" if "default" in spec else " = ..."
        out.append(f"{name}: {attribute_type(spec)}{default}")
    out += [f"{name}: Context" for name in row["regions"]]
    out += [
        f"{name}: {kind}"
        for name, kind in (("name", 'str = ""'), ("outputs", "int | None = None"))
        if name not in taken
    ]
    if "expected_format" not in taken:
        out.append("expected_format: str | None = None")
    return out


def result(row):
    required = [output for output in row["outputs"] if output["kind"] == "single"]
    if len(row["outputs"]) == 1 and required:
        return "Value"
    return "Any" if len(required) != len(row["outputs"]) else f"tuple[{', '.join(['Value'] * len(required))}]"


def doc(row):
    domain = row["domain"] or "ai.onnx"
    text = row["doc"] or row["name"]
    return f"{text} ({row['name']} of {domain}, opset {row['since_version']})."


def quoted(text):
    return '"""' + text.replace("\\", "\\\\").replace('"""', "'''") + ' """' if text.endswith('"') else f'"""{text}"""'


def functions(rows, indent="", first=()):
    lines = []
    for row in rows:
        arguments = ", ".join([*first, *parameters(row)])
        lines += [
            f"{indent}def {safe(row['method'])}({arguments}) -> {result(row)}:",
            f"{indent}    {quoted(doc(row))}",
            "",
        ]
    return "\n".join(lines)


def methods_stub(rows):
    return f"{HEADER}\nclass OperatorMethods:\n{functions(rows, '    ', ['self'])}"


def ops_stub(rows):
    pinned = (
        "def conv2d_custom(x: Operand, weight: Operand | None = None, bias: Operand | None = None, *,"
        " expected_format: str, **named: Any) -> Value: ...\n"
    )
    return f"{HEADER}\n{functions(rows)}\n{pinned}"


def main(library, methods, ops):
    rows = sorted(read_registry(library), key=lambda row: row["method"])
    pathlib.Path(methods).write_text(methods_stub(rows))
    pathlib.Path(ops).write_text(ops_stub(rows))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
