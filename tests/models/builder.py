"""A small graph builder over `onnx.helper`, shared by all model generators.

Node and value names follow the habit of PyTorch's exporter (`/encoder/layer.0/MatMul`, `..._output_0`), because error
messages, dumps and name-based overrides are exercised with them.
"""

import contextlib
import zlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def rng_for(*key):
    """A generator that depends on nothing but `key`.

    Each weight has its own, so that adding a layer, or writing another variant of a model, leaves other weights alone.
    """
    return np.random.Generator(np.random.SFC64(zlib.crc32(repr(key).encode())))


class GraphBuilder:
    """Builds one ONNX model; methods take and return value names.

    `opset` decides which form of an operator is written where ONNX changed it (axes as attribute or as input).
    """

    def __init__(self, name, opset):
        self.name = name
        self.opset = opset
        self._scopes = []
        self._counts = {}
        self._nodes = []
        self._inputs = []
        self._outputs = []
        self._initializers = {}

    @contextlib.contextmanager
    def scope(self, name):
        """Prefixes the names of the nodes and weights made inside."""
        self._scopes.append(name)
        try:
            yield self
        finally:
            self._scopes.pop()

    def input(self, name, shape, dtype=np.float32):
        self._inputs.append(helper.make_tensor_value_info(name, _onnx_type(dtype), shape))
        return name

    def output(self, value, name, shape, dtype=np.float32):
        """Makes `value` a graph output called `name`, by renaming it where it is made."""
        for node in self._nodes:
            for names in (node.input, node.output):
                for i, used in enumerate(names):
                    if used == value:
                        names[i] = name
        self._outputs.append(helper.make_tensor_value_info(name, _onnx_type(dtype), shape))

    def weight(self, name, array):
        """An initializer called `name`, with the current scope in front."""
        full = ".".join([*self._scopes, name])
        if full in self._initializers:
            raise ValueError(f"weight {full} exists already")
        self._initializers[full] = numpy_helper.from_array(np.ascontiguousarray(array), full)
        return full

    def draw(self, name, shape):
        """Standard normal values for a weight called `name` in the current scope."""
        return rng_for(self.name, *self._scopes, name).standard_normal(shape, dtype=np.float32)

    def normal(self, name, shape, std, mean=0.0):
        """A weight drawn from a normal distribution."""
        values = self.draw(name, shape)
        values *= np.float32(std)
        if mean:
            values += np.float32(mean)
        return self.weight(name, values)

    def const(self, value, dtype=None):
        """A Constant node; Python ints give int64 and floats give float32, as exporters write them."""
        array = np.asarray(value, dtype)
        if dtype is None:
            array = array.astype(np.int64 if array.dtype.kind == "i" else np.float32)
        return self.node("Constant", [], value=numpy_helper.from_array(array))

    def node(self, op, inputs, outputs=1, **attributes):
        """Adds a node; gives the name of its output, or a list of names where `outputs` is more than one."""
        path = "/" + "/".join([*self._scopes, op])
        count = self._counts.get(path, 0)
        self._counts[path] = count + 1
        name = f"{path}_{count}" if count else path
        results = [f"{name}_output_{i}" for i in range(outputs)]
        self._nodes.append(helper.make_node(op, inputs, results, name=name, **attributes))
        return results[0] if outputs == 1 else results

    def reduce(self, op, x, axes, keepdims=1):
        """A reduction. ReduceSum took its axes as an input from opset 13, the others from 18."""
        if self.opset >= (13 if op == "ReduceSum" else 18):
            return self.node(op, [x, self.const(axes)], keepdims=keepdims)
        return self.node(op, [x], axes=axes, keepdims=keepdims)

    def unsqueeze(self, x, axes):
        if self.opset >= 13:
            return self.node("Unsqueeze", [x, self.const(axes)])
        return self.node("Unsqueeze", [x], axes=axes)

    def squeeze(self, x, axes):
        if self.opset >= 13:
            return self.node("Squeeze", [x, self.const(axes)])
        return self.node("Squeeze", [x], axes=axes)

    def cast(self, x, dtype):
        return self.node("Cast", [x], to=_onnx_type(dtype))

    def slice(self, x, starts, ends, axes, steps=None):
        """A Slice; `starts` and `ends` may be value names."""
        operands = [v if isinstance(v, str) else self.const(v) for v in (starts, ends)]
        operands.append(self.const(axes))
        if steps is not None:
            operands.append(self.const(steps))
        return self.node("Slice", [x, *operands])

    def dim(self, x, axis):
        """The length of `x` along `axis` as a scalar: Shape and Gather."""
        return self.node("Gather", [self.node("Shape", [x]), self.const(axis)], axis=0)

    def reshape(self, x, dims):
        """Reshape; entries of `dims` that are value names (scalars) are put together by Unsqueeze and Concat."""
        if not any(isinstance(d, str) for d in dims):
            return self.node("Reshape", [x, self.const(dims)])
        parts = [self.unsqueeze(d, [0]) if isinstance(d, str) else self.const([d]) for d in dims]
        return self.node("Reshape", [x, self.node("Concat", parts, axis=0)])

    def filled(self, shape, value):
        """ConstantOfShape: `shape` is a value name, `value` a NumPy scalar that gives value and type."""
        return self.node("ConstantOfShape", [shape], value=numpy_helper.from_array(np.asarray([value])))

    def transpose(self, x, perm):
        return self.node("Transpose", [x], perm=perm)

    def model(self):
        """The finished `ModelProto`, with the oldest IR version that its opset allows (at least 4: no weights as inputs)."""
        graph = helper.make_graph(self._nodes, self.name, self._inputs, self._outputs)
        graph.initializer.extend(self._initializers.values())
        opsets = [helper.make_opsetid("", self.opset)]
        ir_version = max(4, helper.find_min_ir_version_for(opsets))
        return helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=ir_version,
            producer_name="pyasc test models",
        )


def _onnx_type(dtype):
    if dtype is bool:
        return TensorProto.BOOL
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
