"""Random graphs whose nodes have bodies: If, Loop, Scan, SequenceMap, nested, with captures; sequences and optionals."""

import numpy as np
import onnx
from hypothesis import strategies as st

from tests.conformance.edge_graphs import STEPS, Builder, GraphCase, finish
from tests.conformance.edge_paths import oracle

f32, f64, i64, boolean = oracle.f32, oracle.f64, oracle.i64, oracle.boolean
DEEPEST = 2


class _Scope(Builder):
    """`loose`: values whose shapes depend on the run. A body reads the values of the scopes around it."""

    def __init__(self, draw, around=None):
        super().__init__(draw)
        self.depth = 0 if around is None else around.depth + 1
        self.prefix = f"b{self.depth}" if self.depth else ""
        self.values = list(around.values) if around else []
        self.loose = list(around.loose) if around else []
        self.outer = {v[0] for v in self.values + self.loose}
        self.facts = around.facts if around else {}
        self.formals = []

    def steps(self):
        if self.depth > DEEPEST - 1:
            return STEPS
        return (*STEPS[::3], *CONTROL)

    def formal(self, name, shape, dtype):
        """An input of the body; rarely it hides a value around it, which ONNX forbids and engines meet all the same."""
        hidden = [v for v in self.outer if v[0] != self.prefix] if self.draw(st.integers(0, 40)) == 40 else []
        name = self.one_of(*sorted(hidden)) if hidden else f"{self.prefix}{name}"
        if hidden:
            self.outer.discard(name)
            self.values = [v for v in self.values if v[0] != name]
            self.loose = [v for v in self.loose if v[0] != name]
        self.formals.append((name, self._spec(name, shape, dtype)))
        (self.loose if shape is None else self.values).append((name, shape, dtype))
        return name

    def _spec(self, name, shape, dtype):
        """ONNX Runtime wants to know the types of a body's inputs; they follow from the node, so others do not."""
        if self.draw(st.integers(0, 20)) == 20:
            return None
        return (dtype, shape) if shape == () or self.one_of(True, False) else (dtype, None)

    def grow(self, most=3):
        for _ in range(self.draw(st.integers(0, most))):
            self.step()

    def node(self, op, inputs, outputs, **attributes):
        """A node whose outputs are named by the caller."""
        name = f"{self.prefix}{op.lower()}{len(self.nodes)}"
        self.nodes.append(oracle.node(op, ",".join(inputs), ",".join(outputs), name=name, **attributes))
        return outputs

    def fresh(self, count=1):
        return [f"{self.prefix}v{len(self.nodes)}" + "abcdef"[i] for i in range(count)]

    def result(self, name):
        """A value as an output of the body: those of scopes around need a node, mostly."""
        taken = name in [n.name for n in self.outputs]
        is_formal = name in dict(self.formals) and self.one_of(True, False, True)
        if is_formal or (name in self.outer and self.draw(st.integers(0, 20)) < 20) or taken:
            [copy] = self.node("Identity", [name], self.fresh())
            return copy
        return name

    def give(self, name, spec=None):
        self.outputs.append(oracle.value_info(self.result(name), spec))

    outputs = ()

    def graph(self, *results):
        """`results`: (name, type): the outputs; they keep their type, and their shape where it is said."""
        self.outputs = []
        for name, dtype in results:
            self.give(name, self.one_of(None, dtype))
        made = oracle.make_graph(self.nodes, dict(self.formals), {}, self.initializers, name=f"{self.prefix}body")
        made.output.extend(self.outputs)
        return made

    def like(self, shape, dtype):
        """A value of this shape and type: a new one, an input of the body, a captured one or a constant."""
        same = [v for v in self.values if v[1] == shape and v[2] == dtype]
        how = self.one_of("new", "new", "new", "any", "constant")
        if how == "constant" or not same:
            return self.constant(self.array(shape, dtype))
        if how == "any":
            return self.one_of(*same)[0]
        name = self.one_of(*same[-3:])[0]
        if dtype == boolean:
            self.add("Not", [name], shape, dtype)
        else:
            self.add(self.one_of("Add", "Sub", "Mul"), [name, self.constant(self.array((), dtype))], shape, dtype)
        return self.values[-1][0]


def _condition(b):
    """A bool of one element: constant, given, or computed."""
    how = b.one_of("computed", "input", "constant", "computed")
    shape = b.one_of((), (1,))
    if how == "constant":
        return b.constant(np.full(shape, b.one_of(True, False)))
    if how == "input" and b.depth == 0:
        name = f"x{len(b.inputs)}"
        b.inputs[name] = np.full(shape, b.one_of(True, False))
        return name
    name, _, dtype = b.one_of(*b.values)
    [size] = b.node("Size", [name], b.fresh())
    [condition] = b.node(b.one_of("Greater", "Less", "Equal"), [size, b.constant(np.array(b.one_of(3, 0, 12), i64))], b.fresh())
    return condition


def _scalar(b, value):
    """A number of one element that is constant or given."""
    array = np.asarray(value).reshape(b.one_of((), (), (), (1,)))
    if array.ndim:
        b.facts["vector_of_one"] = True
    if b.depth == 0 and b.one_of(True, False):
        name = f"x{len(b.inputs)}"
        b.inputs[name] = array
        return name
    return b.constant(array)


def _if(b, name, shape, dtype):
    count = b.one_of(1, 1, 2)
    condition = _condition(b)
    branches = [_Scope(b.draw, b), _Scope(b.draw, b)]
    results, outputs = [[], []], []
    for branch in branches:
        branch.grow()
    for _ in range(count):
        first = b.one_of(*branches[0].values[-4:], *branches[0].loose[-1:])
        other_shape = first[1] if first[1] is not None and b.one_of(True, True, False) else b.one_of((), (1,), (2, 1), (0,), (3,))
        results[0].append((first[0], first[2]))
        results[1].append((branches[1].like(other_shape, first[2]), first[2]))
        outputs.append((first[1] if first[1] == other_shape else None, first[2]))
    then_branch, else_branch = (branch.graph(*found) for branch, found in zip(branches, results))
    if b.one_of(True, False):
        then_branch, else_branch = else_branch, then_branch
    names = b.node("If", [condition], b.fresh(count), then_branch=then_branch, else_branch=else_branch)
    for given, (out_shape, kind) in zip(names, outputs):
        (b.loose if out_shape is None else b.values).append((given, out_shape, kind))


def _loop(b, name, shape, dtype):
    carried = [b.one_of((name, shape, dtype), b.one_of(*b.values)) for _ in range(b.one_of(1, 2, 0))]
    grows = [v[1] is not None and len(v[1]) > 0 and b.one_of(False, False, True) for v in carried]
    limit, go, stop = b.one_of(3, 0, 1, None, -1, 2), b.one_of(True, None, True, False), b.one_of(None, 2, 0, 1)
    if limit is None and stop is None:
        stop = 2
    body = _Scope(b.draw, b)
    i = body.formal("i", (), i64)
    keep = body.formal("k", (), boolean)
    inner = [body.formal(f"s{at}", None if grow else v[1], v[2]) for at, (v, grow) in enumerate(zip(carried, grows))]
    body.grow()
    results = []
    if stop is None:
        results.append((b.one_of(keep, body.constant(np.array(True))), boolean))
    else:
        [less] = body.node("Less", [i, body.constant(np.array(stop, i64))], body.fresh())
        results.append((less, boolean))
    for formal, grow, v in zip(inner, grows, carried):
        if grow:
            [longer] = body.node("Concat", [formal, v[0]], body.fresh(), axis=b.one_of(0, -len(v[1])))
            results.append((longer, v[2]))
        else:
            results.append((body.like(v[1], v[2]), v[2]))
    scans = [body.one_of(*body.values[-4:]) for _ in range(b.one_of(1, 0, 2) if carried else 1)]
    results += [(v[0], v[2]) for v in scans]
    trips = [max(limit, 0)] if limit is not None else []
    trips += [stop + 1] if stop is not None else []
    count = 0 if go is False else min(trips)
    if count == 0 and scans:
        b.facts["loop_without_trips"] = True
    inputs = ["" if limit is None else _scalar(b, np.array(limit, i64)), "" if go is None else _scalar(b, np.array(go))]
    names = b.fresh(len(carried) + len(scans))
    b.node("Loop", [*inputs, *[v[0] for v in carried]], names, body=body.graph(*results))
    for given, v, grow in zip(names, carried, grows):
        (b.loose if grow else b.values).append((given, None if grow else v[1], v[2]))
    for given, v in zip(names[len(carried) :], scans):
        b.values.append((given, (count, *v[1]), v[2]))


def _scan(b, name, shape, dtype):
    if not shape:
        return
    at = b.draw(st.integers(0, len(shape) - 1))
    length = shape[at]
    others = [(v, v[1].index(length)) for v in b.values if length in v[1]]
    walked = [((name, shape, dtype), at), *[b.one_of(*others) for _ in range(b.one_of(0, 1))]]
    states = [b.one_of(*b.values) for _ in range(b.one_of(0, 1, 2))]
    body = _Scope(b.draw, b)
    for number, v in enumerate(states):
        body.formal(f"s{number}", *v[1:])
    for number, (v, axis) in enumerate(walked):
        body.formal(f"e{number}", (*v[1][:axis], *v[1][axis + 1 :]), v[2])
    body.grow()
    results = [(body.like(*v[1:]), v[2]) for v in states]
    scans = [body.one_of(*body.values[-4:]) for _ in range(b.one_of(1, 2, 0) if states else 1)]
    results += [(v[0], v[2]) for v in scans]
    axes = [b.draw(st.integers(0, len(v[1]))) for v in scans]
    sign = lambda axis, rank: axis - b.one_of(0, rank)
    attributes = dict(
        scan_input_axes=b.one_of([sign(axis, len(v[1])) for v, axis in walked], None if not any(a for _, a in walked) else [axis for _, axis in walked]),
        scan_output_axes=[sign(axis, len(v[1]) + 1) for v, axis in zip(scans, axes)] or None,
        scan_input_directions=b.one_of(None, [b.one_of(0, 1) for _ in walked]),
        scan_output_directions=b.one_of(None, [b.one_of(0, 1) for _ in scans] or None),
    )
    names = b.fresh(len(states) + len(scans))
    inputs = [v[0] for v in states] + [v[0] for v, _ in walked]
    b.node("Scan", inputs, names, body=body.graph(*results), num_scan_inputs=len(walked), **attributes)
    for given, v in zip(names, states):
        b.values.append((given, *v[1:]))
    for given, v, axis in zip(names[len(states) :], scans, axes):
        b.values.append((given, (*v[1][:axis], length, *v[1][axis:]), v[2]))


def _sequence(b, name, shape, dtype):
    """Makes a sequence, perhaps maps or fills it, and takes something from it."""
    same = [v for v in b.values if v[2] == dtype]
    items = [(name, shape, dtype), *[b.one_of(*same) for _ in range(b.one_of(1, 0, 2))]]
    how = b.one_of("construct", "split", "insert")
    if how == "split" and shape:
        axis = b.draw(st.integers(0, len(shape) - 1))
        [sequence] = b.node("SplitToSequence", [name], b.fresh(), axis=axis, keepdims=b.one_of(0, 1))
        count, shapes = shape[axis], None
    elif how == "insert":
        [sequence] = b.node("SequenceEmpty", [], b.fresh(), dtype=oracle.onnx_type(dtype))
        for v in items:
            [sequence] = b.node("SequenceInsert", [sequence, v[0]], b.fresh())
        count, shapes = len(items), {v[1] for v in items}
    else:
        [sequence] = b.node("SequenceConstruct", [v[0] for v in items], b.fresh())
        count, shapes = len(items), {v[1] for v in items}
    if b.depth < DEEPEST and b.one_of(True, False):
        sequence, dtype, shapes = _map(b, sequence, dtype, shapes)
    if b.depth < DEEPEST and b.one_of(True, False, False):
        sequence, count = _filled(b, sequence, dtype, count)
        shapes = None
    taken = b.one_of("at", "length", "concat")
    if taken == "at" and count:
        at = b.constant(np.array(b.draw(st.integers(-count, count - 1)), i64))
        [found] = b.node("SequenceAt", [sequence, at], b.fresh())
        known = shapes.pop() if shapes and len(shapes) == 1 else None
        (b.loose if known is None else b.values).append((found, known, dtype))
    elif taken == "concat" and shapes and len(shapes) == 1 and () not in shapes:
        [found] = b.node("ConcatFromSequence", [sequence], b.fresh(), axis=0, new_axis=b.one_of(0, 1))
        b.loose.append((found, None, dtype))
    else:
        [found] = b.node("SequenceLength", [sequence], b.fresh())
        b.values.append((found, (), i64))


def _map(b, sequence, dtype, shapes):
    body = _Scope(b.draw, b)
    known = next(iter(shapes)) if shapes and len(shapes) == 1 else None
    item = body.formal("e", known, dtype)
    extra = b.one_of(*b.values) if b.one_of(True, False) else None
    if extra:
        body.formal("t", *extra[1:])
    if known is None:
        body.add(b.one_of("Identity", "Identity", "Not" if dtype == boolean else "Abs"), [item], (), dtype)
        body.values.pop()
        result = (body.nodes[-1].output[0], None, dtype)
    else:
        body.grow()
        result = body.one_of(*body.values[-3:])
    inputs = [sequence, *([extra[0]] if extra else [])]
    [mapped] = b.node("SequenceMap", inputs, b.fresh(), body=body.graph((result[0], result[2])))
    return mapped, result[2], None if result[1] is None else {result[1]}


def _filled(b, sequence, dtype, count):
    """A loop that carries a sequence and puts its first element in again."""
    trips = b.one_of(2, 0, 1)
    b.facts["loop_of_sequence"] = True
    body = _Scope(b.draw, b)
    for name, dtype in (("i", i64), ("k", boolean)):
        body.formals.append((f"{body.prefix}{name}", (dtype, ())))
    kept = f"{body.prefix}q"
    tensor = onnx.helper.make_tensor_type_proto(oracle.onnx_type(dtype), None)
    body.formals.append((kept, onnx.helper.make_sequence_type_proto(tensor)))
    if count:
        [first] = body.node("SequenceAt", [kept, body.constant(np.array(0, i64))], body.fresh())
        [longer] = body.node("SequenceInsert", [kept, first], body.fresh())
    else:
        [longer] = body.node("Identity", [kept], body.fresh())
    graph = oracle.make_graph(body.nodes, dict(body.formals), {f"{body.prefix}k": (boolean, ()), longer: None}, body.initializers)
    [filled] = b.node("Loop", [_scalar(b, np.array(trips, i64)), "", sequence], b.fresh(), body=graph)
    return filled, count + (trips if count else 0)


def _optional(b, name, shape, dtype):
    full = b.one_of(True, False)
    kind = onnx.helper.make_tensor_type_proto(oracle.onnx_type(dtype), None)
    optional = b.node("Optional", [name] if full else [], b.fresh(), **({} if full else {"type": kind}))
    [has] = b.node("OptionalHasElement", optional, b.fresh())
    b.values.append((has, (), boolean))
    if full and b.one_of(True, False):
        b.values.append((*b.node("OptionalGetElement", optional, b.fresh()), shape, dtype))
        return
    yes, no = _Scope(b.draw, b), _Scope(b.draw, b)
    [held] = yes.node("OptionalGetElement", optional, yes.fresh())
    then_branch, else_branch = yes.graph((held, dtype)), no.graph((no.like(shape, dtype), dtype))
    b.values.append((*b.node("If", [has], b.fresh(), then_branch=then_branch, else_branch=else_branch), shape, dtype))


def _of_loose(b, name, shape, dtype):
    """Goes on from a value whose shape depends on the run."""
    if not b.loose:
        return
    name, _, dtype = b.one_of(*b.loose)
    if b.one_of(True, False):
        op = "Not" if dtype == boolean else b.one_of("Abs", "Identity")
        b.loose.append((*b.node(op, [name], b.fresh()), None, dtype))
    else:
        b.values.append((*b.node("Size", [name], b.fresh()), (), i64))


CONTROL = (_if, _if, _loop, _loop, _scan, _sequence, _optional, _of_loose)


@st.composite
def bodies(draw):
    """Graphs of a few nodes, of which some have bodies."""
    b = _Scope(draw)
    for _ in range(b.one_of(1, 2)):
        b.start()
    for _ in range(draw(st.integers(0, 2))):
        b.step()
    b.one_of(*CONTROL[:-1])(b, *b.one_of(*b.values))
    for _ in range(draw(st.integers(0, 3))):
        b.step()
    case = finish(b)
    case.attributes = b.facts
    return case


@st.composite
def old_scans(draw):
    """Scan of opset 8: a batch on axis 0, the sequence on axis 1."""
    b = _Scope(draw)
    batch, length, shape = b.one_of(2, 1, 3), b.one_of(3, 1, 4), b.one_of((), (2,), (2, 3))
    states, walked, scans = b.one_of(1, 0, 2), b.one_of(1, 2), b.one_of(1, 2)
    body = _Scope(draw, b)
    for number in range(states):
        b.inputs[f"s{number}"] = b.array((batch, *shape), f32)
        body.formals.append((f"b1s{number}", (f32, shape)))
    for number in range(walked):
        b.inputs[f"e{number}"] = b.array((batch, length, *shape), f32)
        body.formals.append((f"b1e{number}", (f32, shape)))
    read = [name for name, _ in body.formals]
    made = []
    for _ in range(states + scans):
        op = b.one_of("Add", "Mul", "Neg")
        made += body.node(op, [b.one_of(*read) for _ in range(1 if op == "Neg" else 2)], body.fresh())
    graph = oracle.make_graph(body.nodes, dict(body.formals), {name: (f32, shape) for name in made}, name="body")
    names = b.fresh(states + scans)
    directions = b.one_of(None, [b.one_of(0, 1) for _ in range(walked)])
    b.node("Scan", ["", *b.inputs], names, body=graph, num_scan_inputs=walked, directions=directions)
    shapes = b.one_of("static", "symbolic", "unknown")
    return GraphCase(b.nodes, b.inputs, {}, names, shapes, opset=8)
