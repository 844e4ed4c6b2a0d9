"""A graph engine for neural networks: build, import, optimise, compile and run graphs.

model = pyasc.load("model.onnx")
result = model.run({"x": array})

with pyasc.Context() as ctx:
    x = ctx.input("x", shape=(1, 3))
    y = ctx.relu(x)
    result = ctx.execute({"x": array})
"""

import atexit as _atexit
import importlib as _importlib

import numpy as _np

from pyasc import _asc, errors

_asc.pyasc_setup(errors._from_status, _np.ndarray)
_atexit.register(_asc.pyasc_close)

__version__: str = _asc.asc_version()

# These need the engine to be set up.
from pyasc import device, logging, onnx, ops, profiler, testing  # noqa: E402
from pyasc.compatibility import check_compatibility  # noqa: E402
from pyasc.config import CompileConfig  # noqa: E402
from pyasc.context import Context, Value  # noqa: E402
from pyasc.fusion import (  # noqa: E402
    FUSION_MODE_AGGRESSIVE,
    FUSION_MODE_CONSERVATIVE,
    FUSION_MODE_DEFAULT,
    FUSION_MODE_OFF,
    FusionScope,
    fusions,
)
from pyasc.graph import Graph  # noqa: E402
from pyasc.model import Future, Model, load  # noqa: E402

__all__ = [
    "__version__",
    "CompileConfig",
    "Context",
    "FUSION_MODE_AGGRESSIVE",
    "FUSION_MODE_CONSERVATIVE",
    "FUSION_MODE_DEFAULT",
    "FUSION_MODE_OFF",
    "FusionScope",
    "Future",
    "Graph",
    "Model",
    "Value",
    "check_compatibility",
    "device",
    "errors",
    "fusions",
    "load",
    "logging",
    "onnx",
    "ops",
    "profiler",
    "testing",
]

# Documented, and refused by name until they are there.
_NOT_BUILT = {
    "CustomOp",
    "Tensor",
    "amp",
    "compare",
    "constant",
    "distributed",
    "from_dlpack",
    "from_numpy",
    "from_tensorflow",
    "from_torch",
    "fuse_ops",
    "kernel",
    "memory",
    "models",
    "nn",
    "operator",
    "optim",
    "tiles",
}


def __getattr__(name):
    if name == "onnx_backend":  # on first use: it needs the onnx package, which nothing else does
        return _importlib.import_module("pyasc.onnx_backend")
    if name in _NOT_BUILT:
        raise errors._MissingAttribute(f"pyasc.{name} is not built yet")
    raise AttributeError(f"module 'pyasc' has no attribute '{name}'")
