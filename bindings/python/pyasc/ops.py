"""Every operator as a function of values: `pyasc.ops.relu(x)` is `x.context.relu(x)`."""

from pyasc._operators import find as _find
from pyasc._operators import registry as _registry
from pyasc.context import Value as _Value
from pyasc.errors import InvalidArgumentError as _InvalidArgumentError
from pyasc.errors import _MissingAttribute, _nearest, _UnknownMethod

__all__ = []


def __getattr__(name):
    if name == "fallback":
        raise _MissingAttribute("pyasc.ops.fallback is not built yet")
    # Operators that were registered after the import.
    operator = None if name.startswith("_") else _find(name)
    if operator is None:
        raise _UnknownMethod(f"there is no operator '{name}'", hint=_nearest(name, _registry()))
    return _make_function(operator)


def _context_of(method, arguments, named):
    for argument in (*arguments, *named.values()):
        for item in argument if isinstance(argument, (list, tuple)) else (argument,):
            if isinstance(item, _Value):
                return item.context
    raise _InvalidArgumentError(
        f"pyasc.ops.{method}: none of the operands is a value of a graph",
        hint="make one with ctx.input or ctx.constant",
    )


def _make_function(operator):
    def function(*arguments, **named):
        return _context_of(operator.method, arguments, named)._call(operator, arguments, named)

    function.__name__ = function.__qualname__ = operator.method
    function.__doc__ = operator.doc
    function.__signature__ = operator.signature
    return function


def conv2d_custom(x, weight=None, bias=None, *, expected_format=None, **named):
    """`conv2d` pinned to a layout: see `Context.conv2d_custom`."""
    context = _context_of("conv2d_custom", (x, weight, bias), named)
    return context.conv2d_custom(x, weight, bias, expected_format=expected_format, **named)


__all__.append("conv2d_custom")

for _operator in _registry().values():
    globals()[_operator.method] = _make_function(_operator)
    __all__.append(_operator.method)
