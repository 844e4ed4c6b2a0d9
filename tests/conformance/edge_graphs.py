"""Random small graphs: chains that passes like to rewrite, with further consumers and outputs of inner values, compared at levels 0 and 3."""

import dataclasses

import numpy as np
from hypothesis import strategies as st

from tests.conformance.edge_kit import describe, fill
from tests.conformance.edge_paths import oracle

f32, f16, f64, i32, i64, boolean = oracle.f32, oracle.f16, oracle.f64, oracle.i32, oracle.i64, oracle.boolean

FLOATS = (f32, f64, f16)
NUMBERS = (f32, f64, f16, i32, i64)
KINDS = (f32, f32, f32, f64, f16, i32, i64, oracle.u8, boolean)


@dataclasses.dataclass
class GraphCase:
    """What judge() needs of a case: a graph of several nodes."""

    nodes: list
    inputs: dict
    initializers: dict
    outputs: list
    shapes: str
    op: str = "graph"
    exact: bool = True
    attributes: dict = dataclasses.field(default_factory=dict)
    opset: int = 22

    @property
    def elements(self):
        return 100 * len(self.nodes) + sum(np.asarray(a).size for a in self.inputs.values())

    def feeds(self):
        return self.inputs

    def model(self):
        specs = {n: self._spec(n, a) for n, a in self.inputs.items()}
        return oracle.make_model(self.nodes, specs, self.outputs, self.initializers, opset=self.opset)

    def _spec(self, name, array):
        if self.shapes == "symbolic":
            return (array.dtype, [f"{name}_{axis}" for axis in range(array.ndim)])
        return (array.dtype, None) if self.shapes == "unknown" else array

    def __str__(self):
        import onnx

        lines = [onnx.printer.to_text(node).replace("\n", " ") for node in self.nodes]
        given = [f"{n}={describe(v)}" for n, v in (*self.inputs.items(), *self.initializers.items())]
        return f"[{self.shapes}] {'; '.join(lines)} -> {', '.join(self.outputs)} | {', '.join(given)}"


class Builder:
    """A graph in the making. `values`: (name, shape, type) of what further nodes may read; `prefix`: of the names it gives."""

    prefix = ""

    def __init__(self, draw):
        self.draw = draw
        self.nodes, self.inputs, self.initializers, self.values = [], {}, {}, []

    def one_of(self, *choices):
        return self.draw(st.sampled_from(choices))

    def array(self, shape, dtype):
        style = self.one_of("plain", "ties", "nan", "special") if oracle.is_float(dtype) else self.one_of("plain", "special")
        return fill(dtype, shape, style, self.draw(st.integers(0, 2**16)))

    def constant(self, array):
        name = f"{self.prefix}c{len(self.initializers)}"
        self.initializers[name] = np.asarray(array)
        return name

    def start(self):
        """Another input of the graph."""
        rank = self.one_of(2, 3, 4, 1, 0)
        shape = tuple(self.one_of(2, 3, 1, 4, 0) for _ in range(rank))
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.array(shape, self.one_of(*KINDS))
        self.values.append((name, shape, self.inputs[name].dtype))

    def add(self, op, inputs, shape, dtype, **attributes):
        name = f"{self.prefix}v{len(self.nodes)}"
        self.nodes.append(oracle.node(op, ",".join(inputs), name, **attributes))
        self.values.append((name, tuple(shape), np.dtype(dtype)))

    def step(self):
        """Mostly goes on from the newest value, so that chains form."""
        value = self.values[-1] if self.one_of(True, True, False) else self.one_of(*self.values)
        self.one_of(*self.steps())(self, *value)

    def steps(self):
        return STEPS


def _unary(b, name, shape, dtype):
    if dtype in FLOATS:
        op = b.one_of("Relu", "Neg", "Abs", "Sigmoid", "Tanh", "Exp", "Sqrt", "Identity", "LeakyRelu", "Erf", "Reciprocal", "Clip",
                      "HardSigmoid", "HardSwish", "Softplus", "Floor", "Sign")  # fmt: skip
    elif dtype == boolean:
        op = b.one_of("Not", "Identity")
    else:
        op = b.one_of("Identity", "Clip") if dtype == oracle.u8 else b.one_of("Neg", "Abs", "Identity", "Clip", "Relu")
    inputs = [name]
    if op == "Clip":
        bounds = b.one_of((-1, 1), (0, 2), (1, 0), (None, 2), (0, None), (0, 6))
        if dtype == oracle.u8:
            bounds = tuple(v if v is None else abs(v) for v in bounds)
        inputs += ["" if v is None else b.constant(np.array(v, dtype)) for v in bounds]
    b.add(op, inputs, shape, dtype)


def _binary(b, name, shape, dtype):
    if dtype == boolean:
        ops = ("And", "Or", "Xor")
    else:
        ops = ("Add", "Mul", "Sub", "Max", "Min") + (("Div", "Pow") if dtype in (f32, f64) else ())
    op = b.one_of(*ops)
    same = [v for v in b.values if v[2] == dtype and _broadcasts(v[1], shape)]
    if b.one_of(True, False) or not same:
        other_shape = b.one_of((), (1,), shape, shape[-1:], tuple(1 for _ in shape), (1, *shape))
        neutral = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1, "Pow": 1}.get(op, 0)
        array = b.one_of(np.full(other_shape, neutral, dtype), b.array(other_shape, dtype))
        other = (b.constant(array), other_shape, dtype)
    else:
        other = b.one_of(*same)
    pair = [(name, shape), other[:2]]
    if b.one_of(True, False) and op != "Pow":
        pair.reverse()
    b.add(op, [p[0] for p in pair], np.broadcast_shapes(shape, other[1]), dtype)


def _broadcasts(a, c):
    try:
        np.broadcast_shapes(a, c)
        return True
    except ValueError:
        return False


def _cast(b, name, shape, dtype):
    to = b.one_of(f32, f64, f16, i32, i64, boolean, oracle.u8, oracle.i8)
    b.add("Cast", [name], shape, to, to=oracle.onnx_type(to))


def _transpose(b, name, shape, dtype):
    if not shape:
        return
    perm = list(b.draw(st.permutations(range(len(shape)))))
    b.add("Transpose", [name], [shape[p] for p in perm], dtype, perm=perm)


def _reshape(b, name, shape, dtype):
    size = int(np.prod(shape, dtype=int))
    target = b.one_of([size], [1, size], [size, 1], list(shape), list(shape[::-1]), [*shape, 1], [1, *shape])
    b.add("Reshape", [name, b.constant(np.array(target, np.int64))], target, dtype, allowzero=1)


def _squeeze(b, name, shape, dtype):
    if 1 in shape and b.one_of(True, False):
        axis = shape.index(1)
        b.add("Squeeze", [name, b.constant(np.array([axis], np.int64))], shape[:axis] + shape[axis + 1 :], dtype)
    else:
        axis = b.draw(st.integers(0, len(shape)))
        b.add("Unsqueeze", [name, b.constant(np.array([axis], np.int64))], (*shape[:axis], 1, *shape[axis:]), dtype)


def _slice(b, name, shape, dtype):
    if not shape:
        return
    axis = b.draw(st.integers(0, len(shape) - 1))
    start, end, step = b.one_of((0, 1, 1), (1, 9, 1), (-1, -99, -1), (0, 2**62, 1), (0, 9, 2), (2, 1, 1), (-2, 99, 1))
    n = len(range(*slice(start, end if step > 0 else None, step).indices(shape[axis])))
    bounds = [b.constant(np.array([v], np.int64)) for v in (start, end, axis, step)]
    b.add("Slice", [name, *bounds], (*shape[:axis], n, *shape[axis + 1 :]), dtype)


def _concat(b, name, shape, dtype):
    if not shape:
        return
    axis = b.draw(st.integers(0, len(shape) - 1))
    fits = lambda s: len(s) == len(shape) and all(i == axis or m == n for i, (m, n) in enumerate(zip(s, shape)))
    other = b.one_of(*[v for v in b.values if v[2] == dtype and fits(v[1])])
    total = shape[axis] + other[1][axis]
    b.add("Concat", [name, other[0]], (*shape[:axis], total, *shape[axis + 1 :]), dtype, axis=axis)


def _reduce(b, name, shape, dtype):
    if dtype not in NUMBERS or not shape or 0 in shape:
        return
    op = b.one_of("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean")
    axis = b.draw(st.integers(0, len(shape) - 1))
    keep = b.one_of(1, 0)
    out = (*shape[:axis], *((1,) if keep else ()), *shape[axis + 1 :])
    b.add(op, [name, b.constant(np.array([axis], np.int64))], out, dtype, keepdims=keep)


def _softmax(b, name, shape, dtype):
    if dtype in FLOATS and shape:
        b.add(b.one_of("Softmax", "LogSoftmax"), [name], shape, dtype, axis=b.one_of(-1, 0))


def _matmul(b, name, shape, dtype):
    if dtype not in (f32, f64, i32) or len(shape) < 2:
        return
    n = b.one_of(3, 1, 4)
    weight = b.constant(fill(dtype, (shape[-1], n), "plain", b.draw(st.integers(0, 99))))
    if b.one_of(True, False) and len(shape) == 2 and dtype != i32:
        inputs = [name, weight] + ([b.constant(fill(dtype, (n,), "plain", 1))] if b.one_of(True, False) else [])
        b.add("Gemm", inputs, (shape[0], n), dtype, alpha=b.one_of(1.0, 0.5))
    else:
        b.add("MatMul", [name, weight], (*shape[:-1], n), dtype)


def _conv(b, name, shape, dtype):
    if dtype != f32 or len(shape) not in (3, 4) or 0 in shape:
        return
    n, rank = b.one_of(2, 4), len(shape) - 2
    weight = b.constant(fill(f32, (n, shape[1], *[1] * rank), "plain", b.draw(st.integers(0, 99))))
    bias = [b.constant(fill(f32, (n,), "plain", 2))] if b.one_of(True, False) else []
    b.add("Conv", [name, weight, *bias], (shape[0], n, *shape[2:]), dtype)


def _batch_norm(b, name, shape, dtype):
    if dtype != f32 or len(shape) < 2:
        return
    four = [b.constant(np.abs(fill(f32, (shape[1],), "plain", i)) + f32.type(0.5)) for i in range(4)]
    b.add("BatchNormalization", [name, *four], shape, dtype)


def _where(b, name, shape, dtype):
    masks = [v for v in b.values if v[2] == boolean and _broadcasts(v[1], shape)]
    same = [v for v in b.values if v[2] == dtype and _broadcasts(v[1], shape)]
    if masks:
        mask, other = b.one_of(*masks), b.one_of(*same)
        try:
            out = np.broadcast_shapes(mask[1], shape, other[1])
        except ValueError:
            return
        b.add("Where", [mask[0], name, other[0]], out, dtype)


def _compare(b, name, shape, dtype):
    if dtype in (f32, i32, i64, f64):
        other = b.constant(b.array(b.one_of((), (1,)), dtype))
        b.add(b.one_of("Greater", "Less", "Equal"), [name, other], np.broadcast_shapes(shape, b.initializers[other].shape), boolean)


def _pad(b, name, shape, dtype):
    if dtype in (f32, i64) and shape:
        pads = [b.one_of(0, 1, 0) for _ in range(2 * len(shape))]
        out = [n + pads[i] + pads[i + len(shape)] for i, n in enumerate(shape)]
        b.add("Pad", [name, b.constant(np.array(pads, np.int64))], out, dtype)


def _expand(b, name, shape, dtype):
    target = b.one_of(tuple(3 if n == 1 else n for n in shape), (1, *shape), (2, *shape), shape, (1,))
    b.add("Expand", [name, b.constant(np.array(target, np.int64))], np.broadcast_shapes(shape, target), dtype)


def _gather(b, name, shape, dtype):
    if not shape:
        return
    axis = b.draw(st.integers(0, len(shape) - 1))
    if shape[axis] == 0:
        return
    indices = b.one_of(np.array(0), np.array([0]), np.array(-1), np.array([[0, -1]]), np.arange(shape[axis]))
    out = (*shape[:axis], *indices.shape, *shape[axis + 1 :])
    b.add("Gather", [name, b.constant(indices.astype(np.int64))], out, dtype, axis=axis)


def _flatten(b, name, shape, dtype):
    axis = b.draw(st.integers(0, len(shape)))
    out = [int(np.prod(part, dtype=int)) for part in (shape[:axis], shape[axis:])]
    b.add("Flatten", [name], out, dtype, axis=axis)


def _shape_of(b, name, shape, dtype):
    """Back to a shape that is computed: of another value with as many elements, or a count."""
    same = [v for v in b.values if np.prod(v[1], dtype=int) == np.prod(shape, dtype=int)]
    other = b.one_of(*same)
    b.add("Shape", [other[0]], (len(other[1]),), i64)
    b.add("Reshape", [name, b.values[-1][0]], other[1], dtype, allowzero=1)


def _tile(b, name, shape, dtype):
    repeats = [b.one_of(1, 1, 2) for _ in shape]
    if shape:
        b.add("Tile", [name, b.constant(np.array(repeats, np.int64))], [n * r for n, r in zip(shape, repeats)], dtype)


STEPS = (_expand, _gather, _flatten, _shape_of, _tile, _squeeze, _unary, _unary, _unary, _binary, _binary, _binary, _cast, _cast, _transpose, _transpose, _reshape, _squeeze, _slice, _concat,
         _reduce, _softmax, _matmul, _conv, _batch_norm, _where, _compare, _pad)  # fmt: skip


@st.composite
def graphs(draw, nodes=7):
    b = Builder(draw)
    for _ in range(b.one_of(1, 2)):
        b.start()
    for _ in range(draw(st.integers(1, nodes))):
        b.step()
    return finish(b)


def finish(b):
    """The case of a built graph: what no node reads is an output, and here and there another value."""
    draw = b.draw
    if not b.nodes:
        b.add("Identity", [b.values[0][0]], *b.values[0][1:])
    made = [name for node in b.nodes for name in node.output if name]
    used = {i for node in b.nodes for i in node.input}
    outputs = [v for v in made if v not in used or draw(st.integers(0, 3)) == 0]
    shapes = b.one_of("static", "symbolic", "unknown")
    if shapes != "static" and draw(st.booleans()):
        _twist(b)
    return GraphCase(b.nodes, b.inputs, b.initializers, outputs, shapes)


def _twist(b):
    """Other extents than the graph was made for: it runs all the same, or is refused at every level."""
    name = b.one_of(*b.inputs)
    array = b.inputs[name]
    if array.ndim:
        axis = b.draw(st.integers(0, array.ndim - 1))
        extent = b.one_of(1, 2, 5, 0, 6)
        shape = (*array.shape[:axis], extent, *array.shape[axis + 1 :])
        b.inputs[name] = b.array(shape, array.dtype)
