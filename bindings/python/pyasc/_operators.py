"""Operators as methods: made from the engine's registry, so that none is missing."""

import functools
import inspect
import json
import keyword
import operator

import numpy as np

from pyasc import _asc, _dtypes
from pyasc._values import tensor_to_value, to_array
from pyasc.errors import InvalidArgumentError, TypeMismatchError, _nearest


# A parameter of every operator: the layout that its first operand must have.
PINNED = "expected_format"


class Operator:
    """A row of the registry, with what calling it as a method needs."""

    def __init__(self, row):
        self.row = row
        self.key = row["method"]
        self.method = self.key + "_" if keyword.iskeyword(self.key) else self.key
        self.inputs = row["inputs"]
        self.variadic = bool(self.inputs) and self.inputs[-1]["kind"] == "variadic"
        # An operand may be named as in methods or as in ONNX.
        self.input_index = {row["name"]: i for i, row in enumerate(self.inputs)}
        self.input_index.update({row["python_name"]: i for i, row in enumerate(self.inputs)})
        self.attributes = {spec["name"]: spec for spec in row["attributes"]}
        self.attributes.update({spec["python_name"]: spec for spec in row["attributes"]})
        self.regions = row["regions"]

    def bind(self, arguments, named):
        """Sorts a call's arguments into operands (None: absent), attributes and bodies of regions."""
        single = len(self.inputs) - self.variadic
        operands = list(arguments[:single])
        rest = arguments[single:]
        if rest and not self.variadic:
            raise InvalidArgumentError(
                f"{self.method} takes {single} operands, given {len(arguments)}",
                hint="give parameters that are no operands by name",
            )
        if self.variadic and len(rest) == 1 and isinstance(rest[0], (list, tuple)):
            rest = rest[0]
        attributes, bodies = {}, {}
        for name, value in named.items():
            if name in self.regions:
                bodies[name] = value
            elif name in self.input_index:
                index = self.input_index[name]
                if self.variadic and index == single:
                    if rest:
                        raise InvalidArgumentError(f"{self.method}: operands '{name}' are given twice")
                    rest = value if isinstance(value, (list, tuple)) else [value]
                    continue
                operands.extend([None] * (index + 1 - len(operands)))
                if operands[index] is not None:
                    raise InvalidArgumentError(f"{self.method}: operand '{name}' is given twice")
                operands[index] = value
            elif value is not None:
                attributes[name] = value
        if len(rest):
            operands.extend([None] * (single - len(operands)))
            operands.extend(rest)
        while operands and operands[-1] is None:
            operands.pop()
        return operands, attributes, bodies

    def parameter(self, index):
        """The registry's word on operand `index`; the variadic one repeats."""
        return self.inputs[min(index, len(self.inputs) - 1)]

    def constant_dtype(self, index, bound):
        """The element type that a number or list becomes as operand `index`, where something decides it.

        bound: element types by type variable, from the operands that are values.
        """
        variable = self.parameter(index)["type"]
        if variable in bound:
            return bound[variable]
        allowed = self.row["types"].get(variable, [])
        return _dtypes.number_of(allowed[0]) if len(allowed) == 1 else None

    def output_count(self, operands, attributes):
        """How many results a call gives when it does not say: the required ones, or all where all are optional."""
        outputs = self.row["outputs"]
        if outputs and outputs[-1]["kind"] == "variadic":
            return self._variadic_output_count(operands, attributes)
        required = sum(output["kind"] == "single" for output in outputs)
        return required or len(outputs)

    def _variadic_output_count(self, operands, attributes):
        if self.key == "split":
            if attributes.get("num_outputs") is not None:
                return int(attributes["num_outputs"])
            sizes = operands[1] if len(operands) > 1 else None
            if isinstance(sizes, (list, tuple, np.ndarray)):
                return len(sizes)
        raise InvalidArgumentError(f"{self.method} gives as many results as you ask for", hint="say outputs=N")

    def attribute_list(self, attributes):
        """A handle with the attributes of a call, of the types that the registry says."""
        if not attributes:
            return None
        handle = _asc.asc_attributes_create()
        for name, value in attributes.items():
            if name == PINNED:
                _set_string(handle, name, value)
                continue
            spec = self.attributes.get(name)
            if spec is None:
                names = [
                    *(row["python_name"] for row in self.inputs),
                    *(row["python_name"] for row in self.row["attributes"]),
                ]
                raise InvalidArgumentError(
                    f"{self.method} has no parameter '{name}'; it has {names}", hint=_nearest(name, names)
                )
            try:
                _SETTERS[spec["type"]](handle, name, value)
            except (TypeError, ValueError, OverflowError) as error:
                raise InvalidArgumentError(
                    f"{self.method}: parameter '{name}' must be of type {spec['type']}, given {value!r}"
                ) from error
        return handle

    @functools.cached_property
    def signature(self):
        """For help() and editors: operands first, then parameters by name."""
        parameters = []
        for row in self.inputs:
            kind = (
                inspect.Parameter.VAR_POSITIONAL
                if row["kind"] == "variadic"
                else inspect.Parameter.POSITIONAL_OR_KEYWORD
            )
            optional = row["kind"] == "optional" or any(p.default is None for p in parameters)
            default = None if optional and row["kind"] != "variadic" else inspect.Parameter.empty
            parameters.append(inspect.Parameter(safe_name(row["python_name"]), kind, default=default))
        for spec in self.row["attributes"]:
            default = inspect.Parameter.empty if spec["required"] else spec.get("default")
            parameters.append(
                inspect.Parameter(safe_name(spec["python_name"]), inspect.Parameter.KEYWORD_ONLY, default=default)
            )
        for name in self.regions:
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY))
        for name, default in (("name", ""), ("outputs", None)):
            if all(parameter.name != name for parameter in parameters):
                parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
        return inspect.Signature(parameters)

    @functools.cached_property
    def doc(self):
        """The docstring of methods and functions."""
        row = self.row
        domain = row["domain"] or "ai.onnx"
        lines = [
            row["doc"] or row["name"],
            "",
            f"Operator {row['name']} of {domain}, opset {row['since_version']}.",
            "",
        ]
        for parameter in self.inputs:
            kind = "" if parameter["kind"] == "single" else f" ({parameter['kind']})"
            types = ", ".join(row["types"].get(parameter["type"], []))
            lines.append(
                f"{parameter['python_name']}{kind}: {parameter['doc'] or 'a value'}{f' of {types}' if types else ''}"
            )
        for spec in row["attributes"]:
            needed = (
                "required" if spec["required"] else f"default {spec['default']!r}" if "default" in spec else "optional"
            )
            lines.append(f"{spec['python_name']}: {spec['type']}, {needed}. {spec['doc']}".rstrip())
        lines.append("name: of the result; outputs: how many results to give.")
        return "\n".join(lines)


def safe_name(name):
    return name + "_" if keyword.iskeyword(name) else name


def _set_int(handle, name, value):
    if isinstance(value, (bool, np.bool_)):
        value = int(value)
    if isinstance(value, (str, type, np.dtype)):
        value = _dtypes.number_of(value)
    _asc.asc_attributes_set_int(handle, name, operator.index(value))


def _set_float(handle, name, value):
    _asc.asc_attributes_set_float(handle, name, float(value))


def _set_string(handle, name, value):
    _asc.asc_attributes_set_string(handle, name, value)


def _set_ints(handle, name, value):
    if isinstance(value, str):  # padding="same"
        _asc.asc_attributes_set_string(handle, name, value)
    else:
        _asc.asc_attributes_set_ints(handle, name, _as_list(value))


def _set_floats(handle, name, value):
    _asc.asc_attributes_set_floats(handle, name, [float(item) for item in _as_list(value)])


def _set_strings(handle, name, value):
    _asc.asc_attributes_set_strings(handle, name, [value] if isinstance(value, str) else list(value))


def _set_tensor(handle, name, value):
    _asc.asc_attributes_set_tensor(handle, name, tensor_to_value(np.array(to_array(value), copy=True)))


def _set_type(handle, name, value):
    raise TypeMismatchError(f"parameter '{name}' is a type, which cannot be given from Python")


def _as_list(value):
    return list(value) if hasattr(value, "__iter__") else [value]


_SETTERS = {
    "int": _set_int,
    "float": _set_float,
    "string": _set_string,
    "ints": _set_ints,
    "floats": _set_floats,
    "strings": _set_strings,
    "tensor": _set_tensor,
    "type": _set_type,
}


@functools.cache
def registry():
    """All operators by method name, those of this moment: user operators come later by `find`."""
    rows = json.loads(_asc.asc_registry_create_operators())
    return {each.method: each for each in map(Operator, rows)}


def find(method):
    """The operator with that method name, also one that was registered after the import; None when there is none."""
    found = registry().get(method)
    if found is None:
        known = {row["method"]: row for row in json.loads(_asc.asc_registry_create_operators())}
        found = Operator(known[method]) if method in known else None
        if found is not None:
            registry()[method] = found
    return found
