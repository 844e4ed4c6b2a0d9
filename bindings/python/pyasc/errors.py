"""What pyasc raises: one class for each kind of failure, each also the built-in exception that it resembles.

Every error has `code` ("E5001", see docs/errors.md), `message` (what was given and what was expected), `node` (the node
of the user's graph that it is about, or "") and `hint` (what would help).
"""

__all__ = [
    "PyascError",
    "ShapeMismatchError",
    "TypeMismatchError",
    "InvalidArgumentError",
    "NotFoundError",
    "InvalidGraphError",
    "InvalidModelError",
    "OutOfRangeError",
    "LayoutError",
    "UnavailableError",
    "FileError",
    "DestroyedError",
    "OutOfMemoryError",
    "CancelledError",
    "ArithmeticError_",
    "DeviceError",
    "UnsupportedOperatorError",
    "InternalError",
]


class PyascError(Exception):
    """Base of all errors of pyasc."""

    code = "E5099"
    usual_hint = ""  # what helps with most failures of the kind, for those that say nothing more exact

    def __init__(self, message: str, *, node: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.node = node
        self.hint = hint or self.usual_hint

    def __str__(self):
        at = f" at node '{self.node}'" if self.node else ""
        hint = f" (hint: {self.hint})" if self.hint else ""
        return f"{self.code}{at}: {self.message}{hint}"

    def __reduce__(self):
        return _rebuild, (type(self), self.message, self.node, self.hint)


def _rebuild(kind, message, node, hint):
    return kind(message, node=node, hint=hint)


class ShapeMismatchError(PyascError, ValueError):
    """E5001: shapes that do not fit: operands, inputs, weights, declared outputs."""

    code = "E5001"
    usual_hint = "compare the shapes of the arrays with those that the model expects"


class TypeMismatchError(PyascError, TypeError):
    """E5002: element types or kinds of value that do not fit."""

    code = "E5002"
    usual_hint = "convert the value to the expected type"


class InvalidArgumentError(PyascError, ValueError):
    """E5003: attributes, options and arguments that make no sense."""

    code = "E5003"
    usual_hint = "compare the arguments with the documentation"


class NotFoundError(PyascError, KeyError):
    """E5004: a name that nothing has: inputs, outputs, variables, fusions."""

    code = "E5004"
    usual_hint = "check the spelling of the name"


class InvalidGraphError(PyascError, ValueError):
    """E5005: a graph that is not legal: cycles, missing regions."""

    code = "E5005"


class InvalidModelError(PyascError, ValueError):
    """E5006: a model file that is damaged, truncated or hostile."""

    code = "E5006"


class OutOfRangeError(PyascError, IndexError):
    """E5007: an index that is out of range."""

    code = "E5007"


class LayoutError(PyascError, ValueError):
    """E5008: a layout that cannot be met."""

    code = "E5008"


class UnavailableError(PyascError, NotImplementedError):
    """E5009: a documented option that this version or build does not have."""

    code = "E5009"
    usual_hint = "leave the option at its default"


class FileError(PyascError, OSError):
    """E5010: files that cannot be opened, read or written."""

    code = "E5010"


class DestroyedError(PyascError, RuntimeError):
    """E5011: use of a context after `destroy()`."""

    code = "E5011"
    usual_hint = "make a new one"


class OutOfMemoryError(PyascError, MemoryError):
    """E5012: memory that the limit or the system refuses."""

    code = "E5012"


class CancelledError(PyascError, RuntimeError):
    """E5013: a run that was cancelled."""

    code = "E5013"


class ArithmeticError_(PyascError, ArithmeticError):
    """E5014: integer division by zero."""

    code = "E5014"


class DeviceError(PyascError, RuntimeError):
    """E5020: a device that does not exist or that failed."""

    code = "E5020"


class UnsupportedOperatorError(PyascError, NotImplementedError):
    """E5033: an operator that the engine or the device lacks."""

    code = "E5033"
    usual_hint = "replace the operator, or register one of that name"


class InternalError(PyascError, RuntimeError):
    """E5099: a fault of the engine itself."""

    code = "E5099"


class _MissingAttribute(UnavailableError, AttributeError):
    """E5009 for a name of the package that is documented and not built yet; also what `hasattr` expects."""


class _UnknownMethod(UnsupportedOperatorError, AttributeError):
    """E5033 for a method that no operator has; also what `hasattr` expects."""


_BY_CODE = {int(kind.code[1:]): kind for kind in PyascError.__subclasses__()}


def _from_status(code, message, node, hint, text):
    """The exception for a failure that the engine reports."""
    return _BY_CODE.get(code, InternalError)(message or text, node=node, hint=hint)


def _nearest(name, names):
    """A hint that names the nearest of some names, or ""."""
    import difflib

    near = difflib.get_close_matches(str(name), [str(n) for n in names], 1, 0.5)
    return f"did you mean '{near[0]}'?" if near else ""
