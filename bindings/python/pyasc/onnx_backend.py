"""pyasc as a backend of the `onnx` package: the interface `onnx.backend.base.Backend`.

    import pyasc

    rep = pyasc.onnx_backend.prepare(model, device="CPU")
    y = rep.run([x])[0]

The module itself is what `onnx.backend.test.BackendTest` takes. It needs the `onnx` package, which nothing else of
pyasc does.

Models are not checked by `onnx.checker`: the engine has its own checks, and refuses by errors of `pyasc.errors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from pyasc import device as _device
from pyasc._dtypes import number_of
from pyasc.errors import DeviceError, InvalidArgumentError, TypeMismatchError, UnsupportedOperatorError
from pyasc.model import Model, load

if TYPE_CHECKING:
    from pyasc.config import CompileConfig

__all__ = [
    "PyascBackend",
    "PyascBackendRep",
    "is_compatible",
    "prepare",
    "run_model",
    "run_node",
    "supports_device",
]


class PyascBackendRep(BackendRep):
    """A model made ready by `prepare`; many threads may run it at once.

    model: the `pyasc.Model` behind it.
    """

    def __init__(self, model: Model, input_names: Sequence[str]) -> None:
        self.model = model
        self._all_inputs = list(input_names)
        self._outputs = namedtupledict("Outputs", [port.name for port in model.outputs])

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs the model and gives a tuple of its outputs in the model's order, which names index too.

        inputs: a list or tuple of values in the order of the graph's inputs, without those that have an initializer or
        with all of them; a dict by name; or, for models of one input, the array itself. Sequences are lists, absent
        optionals None, strings object arrays, types that NumPy lacks those of ml_dtypes.

        E5003 when there are too many values or too few; otherwise what `Model.run` refuses. No keyword is taken.
        """
        _refuse(kwargs)
        results = self.model.run(self._feeds(inputs))
        return self._outputs(*(results[port.name] for port in self.model.outputs))

    def _feeds(self, inputs):
        if isinstance(inputs, dict):
            return inputs
        needed = [port.name for port in self.model.inputs]
        if not isinstance(inputs, (list, tuple)):
            inputs = [inputs]
        names = needed if len(inputs) <= len(needed) else self._all_inputs
        if len(inputs) > len(names):
            raise InvalidArgumentError(f"the model takes {len(names)} inputs {names}, given {len(inputs)}")
        return dict(zip(names, inputs))


class PyascBackend(Backend):
    """The engine as `onnx.backend.base.Backend` wants it; this module's functions are its methods."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether `prepare` takes the device: "CPU", or "NPU:N" for an emulated one ("NPU" is "NPU:0")."""
        try:
            _device.get_properties(_engine_device(device))
        except (DeviceError, InvalidArgumentError):
            return False
        return True

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether the engine has all operators of the model, which it finds out by loading it. Keywords are those of
        `prepare`; a model that is broken is refused as there."""
        try:
            cls.prepare(model, device, **kwargs)
        except UnsupportedOperatorError:
            return False
        return True

    @classmethod
    def prepare(
        cls,
        model: onnx.ModelProto | bytes | str,
        device: str = "CPU",
        *,
        threads: int | None = None,
        config: CompileConfig | None = None,
        **kwargs: Any,
    ) -> PyascBackendRep:
        """Loads and compiles a model: a ModelProto, the bytes of one or a path.

        device: see `supports_device`. threads, config: as in `pyasc.load`. rtol and atol, which the test runner of
        `onnx` hands to every backend, change nothing; other keywords raise TypeError.
        """
        _refuse(kwargs, allowed=("rtol", "atol"))
        loaded = load(model, device=_engine_device(device), threads=threads, config=config)
        if isinstance(model, onnx.ModelProto):
            names = [each.name for each in model.graph.input]
        else:
            names = [port.name for port in (*loaded.inputs, *loaded.overridable)]
        return PyascBackendRep(loaded, names)

    @classmethod
    def run_model(
        cls, model: onnx.ModelProto | bytes | str, inputs: Any, device: str = "CPU", **kwargs: Any
    ) -> tuple[Any, ...]:
        """`prepare(model, device, **kwargs).run(inputs)`."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
        *,
        opset_version: int | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Runs one node and gives a tuple of its outputs, without those that have no name.

        inputs: arrays, lists of them for sequences and None for empty optionals, in the order of the node's inputs
        that have a name; or a dict by name.
        outputs_info: element type and shape of each output that has a name; shapes that prove wrong are ignored.
        opset_version: of the node's domain; the newest that the `onnx` package knows if left out. Other keywords are
        those of `prepare`.

        E5003 when there are too many values or too few.
        """
        names = list(dict.fromkeys(name for name in node.input if name))
        if not isinstance(inputs, dict):
            inputs = inputs if isinstance(inputs, (list, tuple)) else [inputs]
            if len(inputs) != len(names):
                raise InvalidArgumentError(
                    f"node '{node.name}' of {node.op_type} takes {len(names)} inputs {names}, given {len(inputs)}"
                )
            inputs = dict(zip(names, inputs))
        missing = [name for name in names if name not in inputs]
        if missing:
            raise InvalidArgumentError(f"node '{node.name}' of {node.op_type} has no value for its inputs {missing}")
        outputs = [name for name in node.output if name]
        graph = helper.make_graph(
            [node],
            "node",
            [helper.make_value_info(name, _type_of(name, inputs.get(name))) for name in names],
            [onnx.ValueInfoProto(name=name) for name in outputs],
        )
        for port, (dtype, shape) in zip(graph.output, outputs_info or ()):
            port.type.CopyFrom(helper.make_tensor_type_proto(number_of(dtype), shape))
        model = helper.make_model(graph, opset_imports=_opsets(node.domain, opset_version))
        return cls.run_model(model, inputs, device, **kwargs)


def _engine_device(device):
    """The engine's name of "CPU", "NPU:1", ...: kinds are written in capitals by `onnx`."""
    kind, _, number = device.lower().partition(":")
    return f"npu:{number or 0}" if kind == "npu" else "cpu" if (kind, number or "0") == ("cpu", "0") else device


def _refuse(given, allowed=()):
    unknown = [name for name in given if name not in allowed]
    if unknown:
        raise TypeError(f"unknown keyword '{unknown[0]}'")


def _type_of(name, value):
    if value is None:
        return helper.make_optional_type_proto(helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, None))
    if isinstance(value, (list, tuple)):
        if not value:
            raise TypeMismatchError(f"input '{name}': the type of an empty sequence is not known")
        number = number_of(np.asarray(value[0]).dtype)
        return helper.make_sequence_type_proto(helper.make_tensor_type_proto(number, None))
    array = np.asarray(value)
    return helper.make_tensor_type_proto(number_of(array.dtype), array.shape)


def _opsets(domain, version):
    newest = onnx.defs.onnx_opset_version()
    if domain in ("", "ai.onnx"):
        return [helper.make_opsetid("", version or newest)]
    known = [schema.since_version for schema in onnx.defs.get_all_schemas_with_history() if schema.domain == domain]
    return [helper.make_opsetid("", newest), helper.make_opsetid(domain, version or max(known, default=1))]


is_compatible = PyascBackend.is_compatible
prepare = PyascBackend.prepare
run_model = PyascBackend.run_model
run_node = PyascBackend.run_node
supports_device = PyascBackend.supports_device
