"""The methods of contexts that add operators, one for each row of the engine's registry.

Type checkers read _methods.pyi, which is generated from the same registry.
"""

import inspect

from pyasc._operators import registry


class OperatorMethods:
    """One method for each operator; what a context defines itself (`constant`) comes before."""


def _make_method(operator):
    def method(self, *arguments, **named):
        return self._call(operator, arguments, named)

    method.__name__ = operator.method
    method.__qualname__ = f"Context.{operator.method}"
    method.__doc__ = operator.doc
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = operator.signature.replace(parameters=[this, *operator.signature.parameters.values()])
    return method


for _operator in registry().values():
    setattr(OperatorMethods, _operator.method, _make_method(_operator))
