"""Compiled models: loading, running, looking inside."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pyasc import _asc, _dtypes, config as _config, fusion, logging
from pyasc._types import OPTIONAL, TENSOR, Port, make_tensor_type
from pyasc._values import from_value, tensor_to_value, to_value
from pyasc.errors import InvalidArgumentError, NotFoundError, TypeMismatchError, UnavailableError, _nearest
from pyasc.graph import Graph
from pyasc.report import MemoryPlan, Summary

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from onnx import ModelProto

    from pyasc.config import CompileConfig

    Feeds = Mapping[str, Any] | ArrayLike | None

__all__ = ["Future", "Model", "load"]


def load(
    model: str | os.PathLike[str] | bytes | bytearray | memoryview | ModelProto,
    *,
    device: str | int = "cpu",
    threads: int | None = None,
    config: CompileConfig | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Model:
    """Loads and compiles a model.

    model: path of an .onnx or .om file, the bytes of one, or an onnx.ModelProto. External weight files may not leave
    the model's folder.
    device: "cpu", "npu:N", or the number N of an NPU. threads: cores used at most; 0 is the default (all); absurd
    numbers are capped.
    config: a CompileConfig.

    Raises E5005 and E5006 for broken models, E5010 for files that cannot be read, E5033 for operators that are not
    there, E5020 for devices that do not exist, E5009 for cache_dir, which is not built yet.
    """
    if cache_dir is not None:
        raise UnavailableError("load(cache_dir=) is not built yet")
    options = _config.prepared(config, threads)
    fusion.apply(options)
    device = device_name(device)
    if isinstance(model, (str, os.PathLike)):
        with _flushed():
            return Model(_asc.asc_session_load_file(os.fsencode(model), device, options._handle))
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if not isinstance(model, (bytes, bytearray, memoryview)):
        raise TypeMismatchError(f"a model is a path, bytes or a ModelProto, given a {type(model).__name__}")
    content = bytes(model)
    value = _asc.pyasc_borrow(content, _dtypes.number_of("uint8"), (len(content),), False)
    with _flushed():
        return Model(_asc.asc_session_load_bytes(value, device, options._handle))


def compiled(graph, device, options):
    """The Model of a graph's handle; results that nothing consumes become outputs of it."""
    copy = _asc.asc_graph_copy(graph)
    _asc.asc_graph_add_leaf_outputs(copy)
    if _asc.asc_graph_get_output_count(copy) == 0:
        raise InvalidArgumentError(
            "the graph has no outputs", hint="add operators, or mark a value with ctx.output(value)"
        )
    with _flushed():
        return Model(_asc.asc_session_create(copy, device_name(device), options._handle))


@contextlib.contextmanager
def _flushed():
    """Hands over the log messages of what happens inside, also when it fails."""
    try:
        yield
    finally:
        logging.flush()


def device_name(device):
    """The engine's name of a device: 0 and "0" are "npu:0"."""
    if isinstance(device, bool) or not isinstance(device, (str, int, np.integer)):
        raise TypeMismatchError(f"a device is a name or a number, given a {type(device).__name__}")
    return device if isinstance(device, str) else str(int(device))


class Model:
    """A compiled model; many threads may run it at once.

    inputs, outputs: lists of ports with name, shape (ints, dimension names, None for unknown), dtype and kind.
    overridable: ports of inputs with a default, which `run` takes too: initializers that an ONNX model of IR version 4
    or later lists as inputs. The first run that is given any compiles the model for it. Empty for an .om file.
    metadata: dict of what the model file says of itself.
    """

    def __init__(self, session: object) -> None:
        self._session = session
        self.inputs: list[Port] = [
            Port(*_asc.asc_session_get_input(session, i)) for i in range(_asc.asc_session_get_input_count(session))
        ]
        self.outputs: list[Port] = [
            Port(*_asc.asc_session_get_output(session, i)) for i in range(_asc.asc_session_get_output_count(session))
        ]
        self.overridable: list[Port] = [
            Port(*_asc.asc_session_get_overridable(session, i))
            for i in range(_asc.asc_session_get_overridable_count(session))
        ]
        self._input_names = tuple(port.name for port in self.inputs)
        self._output_names = tuple(port.name for port in self.outputs)
        # For the lean way to run: element types that NumPy's buffers carry as they are.
        self._input_dtypes = bytes(port.type.number if port.kind == "tensor" else 0 for port in self.inputs)
        self._output_dtypes = _plain_dtypes(self.outputs)

    @property
    def metadata(self) -> dict[str, str]:
        """What the model file says of itself: a dict of texts."""
        return json.loads(_asc.asc_session_create_metadata(self._session))

    @property
    def graph(self) -> Graph:
        """The optimised graph."""
        return Graph(_asc.asc_session_create_graph(self._session))

    def run(self, feeds: Feeds = None, out: Mapping[str, np.ndarray] | None = None) -> dict[str, Any]:
        """Runs the model and gives a dict of its outputs by name.

        feeds: dict by input name (overridable ones may be left out); the array itself where there is one input only.
        Arrays must have the input's dtype (E5002) and shape (E5001); numbers and lists become arrays of its dtype.
        Sequences are lists, absent optionals None, maps dicts, strings object arrays, types that NumPy lacks ml_dtypes.
        Arrays are not copied where their layout allows.
        out: dict of arrays (C-contiguous, of the output's dtype and shape, apart from the inputs) that the outputs are
        written into.
        """
        if (
            out is None
            and type(feeds) is dict
            and self._output_dtypes is not None
            and len(feeds) == len(self._input_names)
        ):
            try:
                arrays = [feeds[name] for name in self._input_names]
            except KeyError:
                arrays = None
            if arrays is not None:
                results = _asc.pyasc_run(self._session, arrays, self._input_dtypes, self._output_dtypes)
                if results is not None:
                    return dict(zip(self._output_names, results))
        return self._run_checked(feeds, out)

    __call__ = run

    def _run_checked(self, feeds, out):
        values = self._values(feeds)
        options, targets = self._run_options(feeds, out) if out else (None, {})
        results = _asc.asc_session_run(self._session, values, options, len(self.outputs))
        return self._results(results, targets)

    def run_async(self, feeds: Feeds = None) -> Future:
        """Enqueues a run and gives a `Future`. The arrays must not be written until it is done. Refusals arrive with
        the future."""
        cancel = _asc.asc_cancel_token_create()
        options = _asc.asc_run_options_create()
        _asc.asc_run_options_set_cancel_token(options, cancel)
        values = self._values(feeds)
        return Future(self, _asc.asc_session_run_async(self._session, values, options), cancel)

    def _results(self, values, targets=None):
        targets = targets or {}
        return {
            name: targets[name] if name in targets else from_value(value)
            for name, value in zip(self._output_names, values)
        }

    def _feeds_by_name(self, feeds):
        if feeds is None:
            return {}
        if isinstance(feeds, dict):
            names = [*self._input_names, *(port.name for port in self.overridable)]
            unknown = [name for name in feeds if name not in names]
            if unknown:
                raise NotFoundError(
                    f"the model has no input '{unknown[0]}'; its inputs are {names}",
                    hint=_nearest(unknown[0], names),
                )
            return feeds
        if len(self.inputs) != 1:
            raise InvalidArgumentError(
                f"a bare array is taken by models with one input; this one has {len(self.inputs)}:"
                f" {list(self._input_names)}",
                hint="give a dict of arrays by input name",
            )
        return {self._input_names[0]: feeds}

    def _values(self, feeds):
        feeds = self._feeds_by_name(feeds)
        missing = [port.name for port in self.inputs if port.name not in feeds and port.type.kind != OPTIONAL]
        if missing:
            raise InvalidArgumentError(f"no value for input '{missing[0]}'; missing are {missing}")
        values = [self._value(port, feeds.get(port.name)) for port in self.inputs]
        if any(port.name in feeds for port in self.overridable):
            for port in self.overridable:
                values.append(self._value(port, feeds[port.name]) if port.name in feeds else None)
        return values

    @staticmethod
    def _value(port, given):
        try:
            return to_value(given, port.type)
        except (TypeMismatchError, InvalidArgumentError) as error:
            raise type(error)(f"input '{port.name}': {error.message}", hint=error.hint) from None

    def _run_options(self, feeds, out):
        arrays = {name: out[name] for name in out}
        options = _asc.asc_run_options_create()
        taken = [array for array in self._feeds_by_name(feeds).values() if isinstance(array, np.ndarray)]
        for name, array in arrays.items():
            if name not in self._output_names:
                raise NotFoundError(
                    f"the model has no output '{name}'; its outputs are {list(self._output_names)}",
                    hint=_nearest(name, self._output_names),
                )
            if not isinstance(array, np.ndarray):
                raise TypeMismatchError(f"out['{name}'] must be a NumPy array, given a {type(array).__name__}")
            if any(np.may_share_memory(array, other) for other in taken):
                raise InvalidArgumentError(f"out['{name}'] shares memory with an input or another output")
            taken.append(array)
            _asc.asc_run_options_set_output(
                options, self._output_names.index(name), tensor_to_value(array, writable=True)
            )
        return options, arrays

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the compiled model as an .om file, which loads without being compiled again; E5010 when it cannot be
        written. Defaults of overridable inputs are fixed in it."""
        _asc.asc_session_save_file(self._session, os.fsencode(path))

    def summary(self) -> Summary:
        """A table of the layers: `print(model.summary())`."""
        return Summary(json.loads(_asc.asc_session_create_summary(self._session)))

    def memory_plan(self, shapes: Mapping[str, Sequence[int]] | None = None) -> MemoryPlan:
        """Peak, lower bound and the place and lifetime of every buffer.

        shapes: dict of tuples of ints by input name, for models whose input shapes are not fixed (E5003 without).
        """
        types = None
        if shapes is not None:
            types = []
            for port in self.inputs:
                if port.name not in shapes:
                    raise InvalidArgumentError(f"no shape for input '{port.name}'")
                types.append(make_tensor_type(port.type.number, shapes[port.name]))
        return MemoryPlan(json.loads(_asc.asc_session_create_memory_plan(self._session, types or [])))

    def pass_report(self) -> dict[str, Any]:
        """What the compiler's passes did: a dict with passes, fusions (how often matched and applied, and why not),
        rewrites and notes."""
        return json.loads(_asc.asc_session_create_pass_report(self._session) or "{}")

    def counter(self, name: str) -> int:
        """plans_made, forms_made (packed forms of constants), packed_bytes or threads; E5003 for others."""
        return _asc.asc_session_get_counter(self._session, name)

    def get_variable(self, name: str) -> np.ndarray:
        """A copy of what a variable of the graph holds now; E5004 for unknown names."""
        return from_value(_asc.asc_session_create_variable(self._session, name))

    def set_variable(self, name: str, value: ArrayLike) -> None:
        """Sets what a variable holds; E5001, E5002 when type or shape differ, E5004 for unknown names."""
        _asc.asc_session_set_variable(self._session, name, tensor_to_value(np.asarray(value)))

    def __repr__(self):
        inputs = ", ".join(map(repr, self.inputs))
        outputs = ", ".join(map(repr, self.outputs))
        return f"<pyasc.Model ({inputs}) -> ({outputs})>"


def _plain_dtypes(outputs):
    """The NumPy types of outputs that are plain arrays; None when some are not."""
    dtypes = []
    for port in outputs:
        if port.type.kind != TENSOR or port.type.number in (0, _dtypes.STRING) or port.type.number in _dtypes.PACKED:
            return None
        dtypes.append(port.dtype)
    return tuple(dtypes)


class Future:
    """The result of `run_async`, which comes later. Thread-safe."""

    # Python looks for signals (Ctrl-C) between slices of waiting.
    _SLICE_SECONDS = 0.1

    def __init__(self, model: Model, handle: object, cancel: object) -> None:
        self._model = model
        self._handle = handle
        self._cancel = cancel

    def done(self) -> bool:
        """Whether the result is there."""
        return bool(_asc.asc_future_wait_for(self._handle, 0))

    def cancel(self) -> None:
        """Asks the run to stop before its next step; then `result` raises E5013."""
        _asc.asc_cancel_token_cancel(self._cancel)

    def result(self, timeout: float | None = None) -> dict[str, Any]:
        """Waits for the dict of outputs, or raises what went wrong. TimeoutError after `timeout` seconds."""
        left = float("inf") if timeout is None else float(timeout)
        while not _asc.asc_future_wait_for(self._handle, int(min(left, self._SLICE_SECONDS) * 1e9)):
            left -= self._SLICE_SECONDS
            if left <= 0:
                raise TimeoutError(f"the run is not done after {timeout} seconds")
        return self._model._results(_asc.asc_future_wait(self._handle, len(self._model.outputs)))
