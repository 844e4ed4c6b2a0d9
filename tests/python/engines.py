"""The engine under test and its peers behind one small interface.

`load(model, level)` gives an object whose `run(feeds)` returns a dict of arrays; what the engine refuses comes out as one of
`refusals()`. The environment variable PYASC_TEST_ENGINE puts a peer (`onnxruntime`, `reference`) in pyasc's place, so that the
expectations of the tests can themselves be checked; `known_defects.py` lists where those peers are known to be wrong.
"""

import ctypes
import functools
import os

import ml_dtypes
import numpy as np
import onnx
import pytest

ENGINE = os.environ.get("PYASC_TEST_ENGINE", "pyasc")


class PeerRefused(Exception):
    """What a peer refuses, in the shape of a pyasc error (code, node, hint)."""

    def __init__(self, error):
        super().__init__(f"{type(error).__name__}: {error}")
        self.code, self.node, self.hint = "E0000", str(error), "see the peer's message"


class Unavailable(Exception):
    """A peer that cannot be asked: not installed, or without the operator or type."""


def refusals():
    """The exception classes by which the engine under test refuses a model or a run."""
    if ENGINE == "pyasc":
        import pyasc

        return (pyasc.errors.PyascError,)
    return (PeerRefused,)


def load(model, level=3, **options):
    """Loads a ModelProto, bytes or a path into the engine under test at a graph optimisation level."""
    if ENGINE == "pyasc":
        import pyasc

        return pyasc.load(model, config=pyasc.CompileConfig(graph_opt_level=level), **options)
    return PEERS[ENGINE](model, level)


LACKS = ("NOT_IMPLEMENTED", "not currently registered", "data type is not supported")


def refusal(error):
    """The PeerRefused for a peer's exception; what the peer merely lacks skips the test that it stands in for."""
    if ENGINE == "onnxruntime" and any(text in str(error) for text in LACKS):
        pytest.skip(f"{ENGINE} lacks the kernel")
    return PeerRefused(error)


class OrtModel:
    """ONNX Runtime; level 0 switches its optimiser off."""

    def __init__(self, model, level=0):
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        levels = ort.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_ENABLE_ALL if level else levels.ORT_DISABLE_ALL
        if isinstance(model, onnx.ModelProto):
            model = model.SerializeToString()
        elif isinstance(model, os.PathLike):
            model = os.fspath(model)
        try:
            self.session = ort.InferenceSession(model, options, ["CPUExecutionProvider"])
            self.names = [o.name for o in self.session.get_outputs()]
        except Exception as error:
            raise refusal(error) from error
        values = self.session.get_inputs() + self.session.get_outputs()
        if any(small in v.type for v in values for small in ("int4", "int2", "float4", "e8m0")):
            raise refusal(NotImplementedError("NOT_IMPLEMENTED: packed types at the border"))

    def run(self, feeds):
        try:
            extended = (v.dtype.name in EXTENDED.values() for v in feeds.values() if isinstance(v, np.ndarray))
            if not any(extended) and not self.extended:
                return dict(zip(self.names, self.session.run(self.names, feeds)))
            arrays = {n: self._raw(v) for n, v in feeds.items()}  # alive until the run is over
            values = {n: self._ort_value(v, arrays[n]) for n, v in feeds.items()}
            results = self.session._sess.run_with_ort_values(values, self.names, None)
            return {n: self._array(v) for n, v in zip(self.names, results)}
        except Exception as error:
            raise refusal(error) from error

    # bfloat16 and float8 have no NumPy type of their own: they travel as raw bytes.
    @property
    def extended(self):
        return any(o.type[len("tensor(") : -1] in EXTENDED for o in self.session.get_outputs())

    @staticmethod
    def _raw(array):
        array = np.array(array, order="C")
        return array.view(f"uint{8 * array.dtype.itemsize}") if array.dtype.name in EXTENDED.values() else array

    @staticmethod
    def _ort_value(array, raw):
        import onnxruntime as ort

        if array.dtype.name not in EXTENDED.values():
            return ort.OrtValue.ortvalue_from_numpy(raw)._ortvalue
        kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(raw, kind)._ortvalue

    @staticmethod
    def _array(value):
        kind = value.data_type()[len("tensor(") : -1]
        if not hasattr(ml_dtypes, EXTENDED.get(kind, "")):
            return value.numpy()
        dtype, shape = np.dtype(getattr(ml_dtypes, EXTENDED[kind])), tuple(value.shape())
        data = ctypes.string_at(value.data_ptr(), dtype.itemsize * int(np.prod(shape)))
        return np.frombuffer(data, dtype).reshape(shape)


EXTENDED = {
    "bfloat16": "bfloat16",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
}


class ReferenceModel:
    """The reference evaluator of the onnx package; it has no levels."""

    def __init__(self, model, level=0):
        from onnx.reference import ReferenceEvaluator

        if isinstance(model, os.PathLike):
            model = os.fspath(model)
        try:
            self.evaluator = ReferenceEvaluator(model)
        except Exception as error:
            raise PeerRefused(error) from error

    def run(self, feeds):
        try:
            with np.errstate(all="ignore"):
                results = self.evaluator.run(None, feeds)
        except Exception as error:
            raise PeerRefused(error) from error
        return dict(zip(self.evaluator.output_names, results))


PEERS = {"onnxruntime": OrtModel, "reference": ReferenceModel}


@functools.lru_cache(maxsize=256)
def _ask_cached(peer, model_bytes, feeds):
    arrays = {name: value() for name, value in feeds}
    try:
        return PEERS[peer](onnx.load_from_string(model_bytes)).run(arrays)
    except (PeerRefused, ImportError) as error:
        return Unavailable(f"{peer}: {error}")


class _Feed:
    """An array as a cache key: equal when type, shape and bytes are."""

    def __init__(self, array):
        self.array = array
        content = repr(array.tolist()) if array.dtype == object else array.tobytes()
        self.key = (array.dtype.str, str(array.dtype), array.shape, content)

    def __call__(self):
        return self.array

    def __eq__(self, other):
        return self.key == other.key

    def __hash__(self):
        return hash(self.key)


def ask(peer, model, feeds):
    """What `peer` computes, or raises Unavailable. Answers are remembered: each level asks the same question."""
    if all(isinstance(v, np.ndarray) for v in feeds.values()):
        answer = _ask_cached(peer, model.SerializeToString(), tuple((n, _Feed(v)) for n, v in feeds.items()))
    else:
        try:
            answer = PEERS[peer](model).run(feeds)
        except (PeerRefused, ImportError) as error:
            answer = Unavailable(f"{peer}: {error}")
    if isinstance(answer, Unavailable):
        raise answer
    return answer


def inputs_of(loaded):
    """[(name, shape, NumPy type)] of a loaded model; a dimension that is not known is a name or None."""
    if ENGINE == "pyasc":
        return [(i.name, list(i.shape or ()), np.dtype(i.dtype)) for i in loaded.inputs]
    kinds = {"float": "float32", "double": "float64"}
    inner = [(i, i.type[len("tensor(") : -1]) for i in loaded.session.get_inputs()]
    return [(i.name, i.shape, np.dtype(kinds.get(kind, kind))) for i, kind in inner]
