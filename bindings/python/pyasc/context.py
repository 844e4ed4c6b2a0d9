"""Building graphs operator by operator, and executing them."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pyasc import _asc, _dtypes, config as _config, fusion
from pyasc._methods import OperatorMethods
from pyasc._operators import PINNED, find, registry
from pyasc._types import KINDS, TENSOR, Type, make_tensor_type
from pyasc._values import tensor_to_value, to_array
from pyasc.errors import (
    DestroyedError,
    InvalidArgumentError,
    NotFoundError,
    TypeMismatchError,
    UnavailableError,
    _MissingAttribute,
    _nearest,
    _UnknownMethod,
)
from pyasc.graph import Graph
from pyasc.model import compiled, device_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from pyasc._methods import Operand
    from pyasc.config import CompileConfig
    from pyasc.model import Feeds, Model

__all__ = ["Context", "Results", "Value"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Value:
    """A value of a graph that is being built: what operators take and give.

    name; shape (ints, names, None for unknown extents; None for unknown rank); dtype; kind; format (the layout that the
    user thinks of); context. Arithmetic adds operators to the graph.
    """

    __slots__ = ("context", "_id", "_cached_type", "__weakref__")

    def __init__(self, context: Context, number: int) -> None:
        self.context = context
        self._id = number
        self._cached_type = None

    @property
    def _type(self):
        if self._cached_type is None:
            self._cached_type = Type(_asc.asc_graph_create_value_type(self.context._open(), self._id))
        return self._cached_type

    @property
    def name(self) -> str:
        """The name that results and messages use."""
        return _asc.asc_graph_get_value_name(self.context._open(), self._id)

    @property
    def shape(self) -> tuple[int | str | None, ...] | None:
        """A tuple of ints, names and None (not known); None itself for unknown rank."""
        return self._type.shape

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements: NumPy's or ml_dtypes', object for strings."""
        return self._type.dtype

    @property
    def kind(self) -> str:
        """"tensor", "sequence", "optional" or "map"."""
        return KINDS[self._type.kind]

    @property
    def format(self) -> str:
        """The layout that the user thinks of: "NCHW", "NHWC", "ND", ..."""
        return _asc.asc_graph_get_format(self.context._open(), self._id)

    def __repr__(self):
        if self.context._graph is None:
            return "<pyasc.Value of a destroyed context>"
        return f"<pyasc.Value {self.name}: {self._type.text}>"

    def _binary(self, method, left, right):
        return self.context._call(registry()[method], (left, right), {})

    def __add__(self, other: Operand) -> Value:
        return self._binary("add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return self._binary("add", other, self)

    def __sub__(self, other: Operand) -> Value:
        return self._binary("sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return self._binary("sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return self._binary("mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return self._binary("mul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return self._binary("div", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._binary("div", other, self)

    def __pow__(self, other: Operand) -> Value:
        return self._binary("pow", self, other)

    def __matmul__(self, other: Operand) -> Value:
        return self._binary("matmul", self, other)

    def __rmatmul__(self, other: Operand) -> Value:
        return self._binary("matmul", other, self)

    def __neg__(self) -> Value:
        return self.context._call(registry()["neg"], (self,), {})

    # NumPy would otherwise take `array + value` apart element by element.
    __array_ufunc__ = None


class Results(dict[str, Any]):
    """Arrays by output name. Where there is one output only, "output" is it too; a wrong name is refused naming the
    right ones."""

    def __missing__(self, key):
        if key == "output" and len(self) == 1:
            return next(iter(self.values()))
        raise NotFoundError(f"there is no output '{key}'; the outputs are {list(self)}", hint=_nearest(key, self))

    def __contains__(self, key):
        return super().__contains__(key) or (key == "output" and len(self) == 1)

    def get(self, key, default=None):
        return self[key] if key in self else default


class Context(OperatorMethods):
    """A graph under construction, and its executions.

    Context() is the host CPU; Context("npu:1") and Context(device_id=1) an emulated NPU (E5020 when it does not exist).
    config: a CompileConfig; threads: cores used at most. Every operator of the registry is a method. A context belongs
    to one thread at a time. It is freed by `destroy()`, at the end of its `with` block, or (with a ResourceWarning)
    with its last reference.
    """

    def __init__(
        self,
        device: str | int | None = None,
        *,
        device_id: int | None = None,
        config: CompileConfig | None = None,
        threads: int | None = None,
        name: str = "graph",
    ) -> None:
        self._graph = None
        if device is not None and device_id is not None:
            raise InvalidArgumentError(f"give device or device_id, not both: {device!r} and {device_id!r}")
        if device_id is not None:
            if isinstance(device_id, bool) or not isinstance(device_id, (int, np.integer)):
                raise TypeMismatchError(f"device_id is the number of an NPU, given {device_id!r}")
            device = device_id
        self._device = device_name("cpu" if device is None else device)
        _asc.asc_device_create_properties(self._device)  # refuses devices that do not exist
        self._config = _config.prepared(config, threads)
        self._model = None
        self._scopes = {}
        self._scope = 0
        self._captures = []
        self._graph = _asc.asc_graph_create(name)

    # ---- life ----

    def _open(self):
        if self._graph is None:
            raise DestroyedError("the context was destroyed", hint="make a new pyasc.Context")
        return self._graph

    def destroy(self) -> None:
        """Frees the graph and what was compiled of it. May be called again; anything else afterwards is refused
        (E5011). Arrays that were given out stay valid."""
        self._graph = None
        self._model = None
        self._scopes = {}

    def __enter__(self) -> Context:
        self._open()
        return self

    def __exit__(self, *exception: object) -> None:
        self.destroy()

    def __del__(self):
        if getattr(self, "_graph", None) is not None:
            warnings.warn(f"{self!r} was never destroyed", ResourceWarning, stacklevel=2, source=self)
            self.destroy()

    def __repr__(self):
        state = "destroyed" if self._graph is None else f"{_asc.asc_graph_get_node_count(self._graph)} operators"
        return f"<pyasc.Context on {self._device}: {state}>"

    # ---- building ----

    @property
    def device(self) -> str:
        """The name of the device."""
        return self._device

    @property
    def graph(self) -> Graph:
        """The graph under construction."""
        return Graph(self._open())

    def input(
        self,
        name: str,
        shape: Sequence[int | str | None] | int | str | None = None,
        dtype: DTypeLike = "float32",
        format: str | None = None,
    ) -> Value:
        """Adds an input. shape: ints, names (equal names mean equal extents) and None; no shape: unknown rank. format:
        the layout that you think of, such as "NHWC". E5003 when the graph has an input of that name."""
        graph = self._open()
        if any(port.name == name for port in self.graph.inputs):
            raise InvalidArgumentError(f"the graph has an input '{name}' already")
        value = self._value(_asc.asc_graph_add_input(graph, name, make_tensor_type(_dtypes.number_of(dtype), shape)))
        if format is not None:
            _asc.asc_graph_set_format(graph, value._id, format)
        return value

    def constant(self, value: ArrayLike, name: str = "", dtype: DTypeLike | None = None) -> Value:
        """Adds a constant: an array (copied), a number or a list."""
        graph = self._open()
        number = None if dtype is None else _dtypes.number_of(dtype)
        array = to_array(value, number)
        if number is not None and array.dtype != _dtypes.to_numpy(number):
            array = array.astype(_dtypes.to_numpy(number))
        handle = tensor_to_value(np.array(array, copy=True))
        return self._value(_asc.asc_graph_add_constant(graph, name, handle))

    def variable(self, initial: ArrayLike, name: str = "") -> Value:
        """Adds a value that keeps what `assign` writes to it from one execution to the next."""
        handle = tensor_to_value(np.array(to_array(initial), copy=True))
        return self._value(_asc.asc_graph_add_variable(self._open(), name, handle))

    def capture(self, value: Value) -> Value:
        """In a context that is the body of an operator of another one (If, Loop, Scan): an outer value, seen from
        inside. Captures come after all inputs."""
        self._open()
        outer = value.context
        if outer is self:
            raise InvalidArgumentError(f"value '{value.name}' is of this very context and needs no capture")
        handle = _asc.asc_graph_create_value_type(outer._open(), value._id)
        inner = self._value(_asc.asc_graph_add_input(self._graph, value.name, handle))
        self._captures.append(value)
        return inner

    def output(self, value: Value, name: str = "") -> Value:
        """Marks a value as an output of `execute`, also when something consumes it; gives the value."""
        _asc.asc_graph_add_output(self._open(), self._own(value)._id, name)
        self._model = None
        return value

    def _value(self, number):
        self._model = None
        return Value(self, number)

    def _own(self, value):
        if not isinstance(value, Value):
            raise TypeMismatchError(f"a value of the graph is expected, given a {type(value).__name__}")
        value.context._open()
        if value.context is not self:
            raise InvalidArgumentError(
                f"value '{value.name}' belongs to another context", hint="build all operands in the same context"
            )
        return value

    def _call(self, operator, arguments, named):
        graph = self._open()
        name, outputs = named.pop("name", ""), None
        if "outputs" not in operator.attributes and "outputs" not in operator.input_index:
            outputs = named.pop("outputs", None)
        operands, attributes, bodies = operator.bind(arguments, named)
        count = operator.output_count(operands, attributes) if outputs is None else outputs
        handle = operator.attribute_list(attributes)
        regions = self._regions(bodies) if bodies else None
        constants = []
        try:
            ids = self._operand_ids(operator, operands, constants)
            self._set_scope()
            _asc.asc_graph_set_source(graph, _call_site())
            made = _asc.asc_graph_add_operator(graph, operator.key, ids, handle, regions, name, count)
        except BaseException:
            for constant in constants:
                _asc.asc_graph_remove_constant(graph, constant)
            raise
        values = tuple(self._value(number) for number in made)
        return values[0] if len(values) == 1 else values

    def conv2d_custom(
        self,
        x: Operand,
        weight: Operand | None = None,
        bias: Operand | None = None,
        *,
        expected_format: str | None = None,
        **named: Any,
    ) -> Value:
        """conv2d pinned to a layout ("NHWC", "NC1HWC0", ...) of its operand and result.

        A layout that no inserted TransData can meet is E5008, naming both and the transpose that would mend it. Every
        other operator takes `expected_format=` too.
        """
        self._open()
        if expected_format is None:
            raise InvalidArgumentError("conv2d_custom needs expected_format, the layout that it is pinned to")
        return self._call(registry()["conv2d"], (x, weight, bias), {**named, PINNED: expected_format})

    def _operand_ids(self, operator, operands, constants):
        """The ids of operands; those that had to be made constants for it are added to `constants`."""
        bound = {}
        for index, operand in enumerate(operands):
            if isinstance(operand, Value):
                type_ = self._own(operand)._type
                if type_.kind == TENSOR and type_.number:
                    bound.setdefault(operator.parameter(index)["type"], type_.number)
        ids = []
        for index, operand in enumerate(operands):
            if operand is None:
                ids.append(0)
            elif isinstance(operand, Value):
                ids.append(operand._id)
            else:
                ids.append(self._constant_operand(operator, index, operand, bound)._id)
                constants.append(ids[-1])
        return ids

    def _constant_operand(self, operator, index, operand, bound):
        parameter = operator.parameter(index)["python_name"]
        try:
            number = operator.constant_dtype(index, bound)
            array = to_array(operand, number)
            if number is None and not isinstance(operand, (np.ndarray, np.generic)) and array.dtype == np.float64:
                array = array.astype(np.float32)
        except TypeMismatchError as error:
            raise TypeMismatchError(f"{operator.method}: operand '{parameter}': {error.message}") from None
        return self.constant(array, name=f"{operator.method}_{parameter}")

    def _regions(self, bodies):
        regions = _asc.asc_regions_create()
        for name, body in bodies.items():
            if not isinstance(body, Context):
                raise TypeMismatchError(f"body '{name}' must be a Context, given a {type(body).__name__}")
            copy = _asc.asc_graph_copy(body._open())
            _asc.asc_graph_add_leaf_outputs(copy)
            _asc.asc_regions_add(regions, name, copy, [self._own(value)._id for value in body._captures])
        return regions

    def _set_scope(self):
        scope = fusion.current()
        number = 0 if scope is None else scope._number
        if number:
            self._scopes[number] = scope
        if number != self._scope:
            _asc.asc_graph_set_scope(self._graph, number)
            self._scope = number

    def __getattr__(self, name):
        if name in ("stream", "add_dependency"):
            raise _MissingAttribute(f"Context.{name} is not built yet")
        # Operators that were registered after the import; all others are methods of the class.
        operator = None if name.startswith("_") else find(name)
        if operator is None:
            raise _UnknownMethod(f"there is no operator '{name}'", hint=_nearest(name, registry()))
        return lambda *arguments, **named: self._call(operator, arguments, named)

    # ---- executing ----

    def compile(self, config: CompileConfig | None = None) -> Model:
        """Compiles what is built so far and gives the Model; `execute` does it where needed. config: instead of the
        context's own."""
        graph = self._open()
        options = self._config.copy() if config is None else _config.prepared(config)
        if not options.dump_path and self._config.dump_path:
            options.dump_path = self._config.dump_path
        fusion.apply(options, self._scopes.values())
        self._model = compiled(graph, self._device, options)
        return self._model

    def execute(self, feeds: Feeds = None, out: Mapping[str, np.ndarray] | None = None) -> Results:
        """Runs the graph and gives the values that nothing consumes and those marked with `output`, by name.

        feeds, out: as of `Model.run`. The first call compiles; later ones do when the graph has grown since.
        """
        self._open()
        model = self._model if self._model is not None else self.compile()
        return Results(model.run({} if feeds is None else feeds, out))

    def set_dump_flag(self, dump_path: str | os.PathLike[str]) -> None:
        """Writes the graph before and after each pass, and fusion_result.json, into that folder at the next
        compilation."""
        self._open()
        self._config.dump_path = dump_path
        self._model = None

    def save_optimized_graph(self, path: str | os.PathLike[str]) -> None:
        """Compiles where needed and writes the compiled model as an .om file."""
        self._open()
        (self._model if self._model is not None else self.compile()).save(path)

    def execute_async(self, feeds: Feeds = None) -> Any:
        """Not built yet (E5009): use `ctx.compile().run_async(feeds)`."""
        raise UnavailableError(
            "Context.execute_async is not built yet", hint="ctx.compile().run_async(feeds) gives a future"
        )


def _call_site():
    """ "file.py:12": where the user's code called."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return "" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
