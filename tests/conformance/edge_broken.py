"""Cases that were good and are not: an input, an attribute, a name or a type is changed so that most must be refused, the same at each level."""

import dataclasses

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import AttributeProto

from tests.conformance.edge_kit import fill
from tests.conformance.edge_paths import oracle

EXTREMES = (0, -1, 1, 7, -7, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**40)
FLOATS = (0.0, -1.0, float("nan"), float("inf"), 1e30, -1e-30)
TEXTS = ("", "nonsense", "NONE", "linear", "\0", "é" * 300)
OTHER_TYPES = tuple(np.dtype(t) for t in ("f4", "f8", "f2", "i8", "i4", "u1", "?", "O", "c8"))
OTHER_OPERATORS = ("Identity", "Add", "Loop", "If", "Concat", "Constant", "NoSuchOperator", "SequenceAt", "Reshape", "Cast")


@dataclasses.dataclass
class Broken:
    """A model as it is, with what is fed to it, and `good`: feeds that it may answer before and after."""

    proto: onnx.ModelProto
    given: dict
    what: str
    good: dict | None = None
    op: str = "broken"
    exact: bool = True

    @property
    def inputs(self):
        return list(self.given.values())

    @property
    def attributes(self):
        return {}

    @property
    def outputs(self):
        return [o.name for o in self.proto.graph.output]

    @property
    def elements(self):
        return self.proto.ByteSize()

    def feeds(self):
        return self.given

    def model(self):
        return self.proto

    def __str__(self):
        return f"{self.what} | {onnx.printer.to_text(self.proto.graph)} | " + ", ".join(f"{k}={v!r}" for k, v in self.given.items())


class _Breaker:
    def __init__(self, draw):
        self.draw = draw

    def one_of(self, *choices):
        return self.draw(st.sampled_from(choices))

    def among(self, items):
        return items[self.draw(st.integers(0, len(items) - 1))]

    # ---- arrays ----

    def array(self, array):
        """The array with another extent, rank, type, or with far values."""
        array = array.astype(object) if array.dtype.kind in "US" else array
        how = self.one_of("shape", "shape", "values", "type")
        if how == "type":
            to = self.one_of(*OTHER_TYPES)
            return fill(to, array.shape, "plain", self.draw(st.integers(0, 99)))
        if how == "values" and "int" in array.dtype.name and array.dtype.itemsize >= 4 and array.size:
            changed, limits = np.array(array), np.iinfo(array.dtype)
            changed.reshape(-1)[self.draw(st.integers(0, array.size - 1))] = min(max(self.one_of(*EXTREMES), limits.min), limits.max)
            return changed
        if how == "values":
            return fill(array.dtype, array.shape, "special", self.draw(st.integers(0, 99)))
        shape = list(array.shape)
        change = self.one_of("extent", "grow", "shrink", "scalar", "deep")
        if change == "extent" and shape:
            shape[self.draw(st.integers(0, len(shape) - 1))] = self.one_of(0, 1, 2, 5, 6)
        elif change == "grow":
            shape.insert(self.draw(st.integers(0, len(shape))), self.one_of(1, 2, 0))
        elif change == "shrink" and shape:
            shape.pop(self.draw(st.integers(0, len(shape) - 1)))
        elif change == "deep":
            shape = [1] * self.one_of(9, 20) + shape
        elif change == "scalar":
            shape = []
        return fill(array.dtype, tuple(shape), "plain", self.draw(st.integers(0, 99)))

    # ---- models ----

    def graphs(self, model):
        """The graph of a model and those of its nodes."""
        found = [model.graph]
        for graph in found:
            found += [a.g for n in graph.node for a in n.attribute if a.type == AttributeProto.GRAPH]
        return found

    def attribute(self, a):
        """Another value of the same kind, or another kind."""
        kind = a.type
        if self.draw(st.integers(0, 9)) == 9:
            a.CopyFrom(onnx.helper.make_attribute(a.name, self.one_of(1, 1.0, "x", [1, 2], ["a"])))
        elif kind == AttributeProto.INT:
            a.i = self.one_of(*EXTREMES, 99, 8, 14)
        elif kind == AttributeProto.FLOAT:
            a.f = self.one_of(*FLOATS)
        elif kind == AttributeProto.STRING:
            a.s = self.one_of(*TEXTS).encode()
        elif kind == AttributeProto.TENSOR:
            self.tensor(a.t)
        elif kind in (AttributeProto.INTS, AttributeProto.FLOATS, AttributeProto.STRINGS):
            values = {AttributeProto.INTS: a.ints, AttributeProto.FLOATS: a.floats, AttributeProto.STRINGS: a.strings}[kind]
            new = {AttributeProto.INTS: EXTREMES, AttributeProto.FLOATS: FLOATS, AttributeProto.STRINGS: [t.encode() for t in TEXTS]}[kind]
            how = self.one_of("change", "drop", "add", "empty")
            if how == "add" or not values:
                values.append(self.one_of(*new))
            elif how == "empty":
                del values[:]
            elif how == "drop":
                del values[self.draw(st.integers(0, len(values) - 1))]
            else:
                values[self.draw(st.integers(0, len(values) - 1))] = self.one_of(*new)

    def tensor(self, t):
        how = self.one_of("dims", "type", "array")
        if how == "dims":
            t.dims.append(self.one_of(1, 2, 0, -1, 2**40))
        elif how == "type":
            t.data_type = self.one_of(1, 7, 6, 9, 10, 2, 0, 99)
        else:
            name = t.name
            t.CopyFrom(onnx.numpy_helper.from_array(self.array(onnx.numpy_helper.to_array(t)), name))

    def node(self, graph, names):
        node = self.among(graph.node)
        how = self.one_of("attribute", "attribute", "attribute", "input", "output", "operator", "attribute gone", "attribute new")
        if how == "attribute" and node.attribute:
            self.attribute(self.among(node.attribute))
        elif how == "attribute gone" and node.attribute:
            del node.attribute[self.draw(st.integers(0, len(node.attribute) - 1))]
        elif how == "attribute new":
            node.attribute.append(onnx.helper.make_attribute(self.one_of("axis", "axes", "nonsense", "body"), self.one_of(1, [1], "x", 2.0)))
        elif how == "operator":
            node.op_type = self.one_of(*OTHER_OPERATORS)
        elif how == "output" and node.output:
            change = self.one_of("more", "twice", "none")
            if change == "none":
                node.output.pop()
            else:
                node.output.append(node.output[0] if change == "twice" else "one_more")
        elif node.input:
            at = self.draw(st.integers(0, len(node.input) - 1))
            change = self.one_of("", "other", "unknown", "more", "fewer")
            if change == "more":
                node.input.append(self.among(names))
            elif change == "fewer":
                node.input.pop(at)
            else:
                node.input[at] = self.among(names) if change == "other" else change

    def interface(self, graph):
        """The inputs, outputs and constants of a graph."""
        ports = [p for p in (graph.input, graph.output, graph.initializer) if p]
        ports = self.among(ports)
        at = self.draw(st.integers(0, len(ports) - 1))
        how = self.one_of("drop", "twice", "type", "name")
        if how == "drop":
            del ports[at]
        elif how == "twice":
            ports.add().CopyFrom(ports[at])
        elif how == "name":
            ports[at].name = self.one_of("", "other", ports[0].name)
        elif isinstance(ports[at], onnx.TensorProto):
            self.tensor(ports[at])
        elif ports[at].type.HasField("tensor_type"):
            tensor = ports[at].type.tensor_type
            if self.one_of(True, False):
                tensor.elem_type = self.one_of(1, 7, 9, 8, 0, 99)
            else:
                tensor.shape.dim.add().dim_value = self.one_of(1, 0, -1, 2**62)

    def model(self, model):
        graphs = self.graphs(model)
        graph = self.among(graphs)
        names = [n for g in graphs for p in (g.input, g.initializer) for n in [v.name for v in p]]
        names += [o for g in graphs for n in g.node for o in n.output if o]
        how = self.one_of("node", "node", "node", "interface", "version")
        if how == "version":
            self.among(model.opset_import).version = self.one_of(1, 6, 8, 12, 18, 28, 0, -1, 99)
        elif how == "node" and graph.node:
            self.node(graph, names or ["x"])
        elif graph.input or graph.output or graph.initializer:
            self.interface(graph)


@st.composite
def broken(draw, good):
    """`good`: a strategy of cases. What is fed is changed, the model, or both."""
    case, breaker = draw(good), _Breaker(draw)
    feeds, how = dict(case.feeds()), breaker.one_of("inputs", "feeds", "model", "both", "model")
    arrays = [n for n, v in feeds.items() if isinstance(v, np.ndarray)]
    if how in ("inputs", "both") and arrays and hasattr(case, "constants"):
        # The model is made for the changed inputs.
        at = breaker.among([i for i, v in enumerate(case.inputs) if isinstance(v, np.ndarray)])
        case.inputs[at] = breaker.array(case.inputs[at])
        feeds = dict(case.feeds())
    if hasattr(case, "typed"):
        case.typed = False
    model = case.model()
    for output in model.graph.output:
        output.ClearField("type")
    found = Broken(model, feeds, how, good=dict(feeds) if case.exact else None, exact=case.exact)
    if how == "feeds" and arrays:
        name = breaker.one_of(*arrays)
        found.given = {**feeds, name: breaker.array(feeds[name])}
    if how in ("model", "both"):
        for _ in range(breaker.one_of(1, 1, 2, 3)):
            breaker.model(found.proto)
    return found
