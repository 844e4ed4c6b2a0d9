"""The engines that run the tests: each makes a model ready, and then takes and gives lists of values.

An engine is a class: `Engine(model, level)` loads a ModelProto, `.run(inputs)` gives the outputs in the model's order.
Modules are imported when an engine is first used, in the worker process.
"""

import ctypes

import numpy as np
import onnx


class PyascBackend:
    """`pyasc.onnx_backend`, as the test runner of `onnx` would use it."""

    def __init__(self, model, level):
        import pyasc

        self.rep = pyasc.onnx_backend.prepare(model, "CPU", config=pyasc.CompileConfig(graph_opt_level=level))

    def run(self, inputs):
        return list(self.rep.run(inputs))


class PyascModel:
    """`pyasc.load(...).run`, from the bytes of the model."""

    def __init__(self, model, level):
        import pyasc

        config = pyasc.CompileConfig(graph_opt_level=level)
        self.model = pyasc.load(model.SerializeToString(), config=config)
        self.names = input_names(model)

    def run(self, inputs):
        results = self.model.run(dict(zip(self.names, inputs)))
        return [results[port.name] for port in self.model.outputs]


class OnnxRuntime:
    """onnxruntime.InferenceSession on the CPU; types that NumPy lacks travel as OrtValues. Level 0 is without its
    optimiser."""

    def __init__(self, model, level):
        import onnxruntime

        self.runtime = onnxruntime
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        levels = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_ENABLE_ALL if level else levels.ORT_DISABLE_ALL
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        self.names = input_names(model)
        self.outputs = [port.name for port in self.session.get_outputs()]
        self.types = [port.type.tensor_type.elem_type for port in model.graph.output]

    def run(self, inputs):
        feeds = dict(zip(self.names, inputs))
        raw = {name: self._raw(value) for name, value in feeds.items()}  # alive until the run is over
        if not any(map(_is_extended, feeds.values())) and not any(map(_is_extended_type, self.types)):
            return self.session.run(self.outputs, raw)
        values = {name: self._value(feeds[name], raw[name]) for name in feeds}
        results = self.session._sess.run_with_ort_values(values, self.outputs, None)
        return [self._array(value, type_) for value, type_ in zip(results, self.types)]

    @staticmethod
    def _raw(value):
        value = np.asarray(value) if isinstance(value, np.generic) else value
        if not _is_extended(value):
            return value
        return np.array(value, order="C").view(f"uint{8 * value.dtype.itemsize}")

    def _value(self, value, raw):
        make = self.runtime.OrtValue
        if not _is_extended(value):
            return make.ortvalue_from_numpy(raw)._ortvalue
        return make.ortvalue_from_numpy_with_onnx_type(raw, onnx.helper.np_dtype_to_tensor_dtype(value.dtype))._ortvalue

    @staticmethod
    def _array(value, type_):
        if not _is_extended_type(type_):
            return value.numpy()
        dtype, shape = onnx.helper.tensor_dtype_to_np_dtype(type_), tuple(value.shape())
        data = ctypes.string_at(value.data_ptr(), dtype.itemsize * int(np.prod(shape)))
        return np.frombuffer(data, dtype).reshape(shape)


class OpenVino:
    """OpenVINO on the CPU, computing in float32; it has no levels."""

    def __init__(self, model, level):
        import openvino

        self.openvino = openvino
        core = openvino.Core()
        read = core.read_model(model.SerializeToString())
        self.compiled = core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        self.names = input_names(model)

    def run(self, inputs):
        feeds = {name: self._tensor(value) for name, value in zip(self.names, inputs)}
        known = set().union(*(port.get_names() for port in self.compiled.inputs)) if self.compiled.inputs else set()
        request = self.compiled.create_infer_request()
        request.infer({name: value for name, value in feeds.items() if name in known})
        return [self._array(request.get_output_tensor(i)) for i in range(len(self.compiled.outputs))]

    def _tensor(self, value):
        value = np.array(value, order="C")
        if value.dtype == object:
            return value.astype(str)
        if not _is_extended(value):
            return self.openvino.Tensor(value)
        name = value.dtype.name
        raw = _pairs(value) if name in _NIBBLES else value
        tensor = self.openvino.Tensor(self._types()[name], value.shape)
        ctypes.memmove(tensor.data.ctypes.data, raw.ctypes.data, raw.nbytes)
        return tensor

    def _array(self, tensor):
        if tensor.get_element_type() == self.openvino.Type.string:
            return np.asarray(tensor.str_data, dtype=object)
        names = {type_: name for name, type_ in self._types().items()}
        name = names.get(tensor.get_element_type())
        if name in _NIBBLES:
            return _unpaired(np.array(tensor.data), np.dtype(name), tuple(tensor.get_shape()))
        return np.array(tensor.data) if name is None else np.array(tensor.data).view(np.dtype(name))

    def _types(self):
        types = self.openvino.Type
        return {
            "bfloat16": types.bf16,
            "float4_e2m1fn": types.f4e2m1,
            "float8_e4m3fn": types.f8e4m3,
            "float8_e5m2": types.f8e5m2,
            "float8_e8m0fnu": types.f8e8m0,
            "int4": types.i4,
            "uint4": types.u4,
        }


_NIBBLES = {"float4_e2m1fn", "int4", "uint4"}


def _pairs(array):
    """Elements of 4 bits, two in a byte, the first in its lower half."""
    flat = np.append(array.reshape(-1).view(np.uint8) & 15, np.zeros(array.size % 2, np.uint8))
    return flat[::2] | flat[1::2] << 4


def _unpaired(packed, dtype, shape):
    flat = np.stack([packed.view(np.uint8) & 15, packed.view(np.uint8) >> 4], -1).reshape(-1)
    if dtype.name == "int4":
        flat = ((flat ^ 8) - 8).astype(np.uint8)
    return flat[: int(np.prod(shape))].view(dtype).reshape(shape)


def input_names(model):
    """Names of the inputs that a run must be given."""
    initialized = {each.name for each in model.graph.initializer}
    return [port.name for port in model.graph.input if port.name not in initialized]


def _is_extended_type(type_):
    return type_ != 0 and onnx.helper.tensor_dtype_to_np_dtype(type_).isbuiltin == 2


def _is_extended(value):
    """Whether NumPy itself lacks the element type."""
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.isbuiltin == 2


ENGINES = {
    "pyasc.onnx_backend": PyascBackend,
    "pyasc.load": PyascModel,
    "onnxruntime": OnnxRuntime,
    "openvino": OpenVino,
}
# Engines whose results do not depend on the level.
WITHOUT_LEVELS = {"openvino"}
