"""What a strategy draws with: element types that a schema allows, shapes, axes, and arrays full of awkward values."""

import dataclasses

import ml_dtypes
import numpy as np
import onnx
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.conformance.edge_paths import oracle, table

f16, f32, f64, bf16 = oracle.f16, oracle.f32, oracle.f64, oracle.bf16
i32, i64, u8, boolean, string = oracle.i32, oracle.i64, oracle.u8, oracle.boolean, oracle.string


# Of models whose node is in another domain.
MAIN_OPSET = 17
_DOMAINS = {s.name: s.domain for s in onnx.defs.get_all_schemas() if s.domain in ("ai.onnx.ml", "ai.onnx.preview.training")}


def domain_of(op):
    """The domain of an operator; names are unique over all of them."""
    return _DOMAINS.get(op, "")


@dataclasses.dataclass
class Case:
    """One node with its inputs (arrays, lists of arrays, None where absent)."""

    op: str
    opset: int
    inputs: list
    attributes: dict
    outputs: list  # names; "" where absent
    constants: tuple = ()  # positions that are initializers
    shapes: str = "static"  # what the model says of its inputs: static, symbolic, unknown
    exact: bool = True  # False: values that depend on chance; only types and shapes are compared
    typed: bool = True  # False: the model says nothing of its outputs
    domain: str = ""
    types: dict = dataclasses.field(default_factory=dict)  # of inputs that are no tensors, by position
    expected: list | None = None  # what NumPy computes, where the strategy says so

    @property
    def elements(self):
        arrays = [a for i in self.inputs if i is not None for a in (i if isinstance(i, list) else [i])]
        return sum(np.asarray(a).size for a in arrays) + len(self.attributes)

    def names(self):
        return ["" if value is None else f"x{i}" for i, value in enumerate(self.inputs)]

    def feeds(self):
        return {f"x{i}": v for i, v in enumerate(self.inputs) if v is not None and i not in self.constants}

    def model(self):
        inputs, initializers = {}, {}
        for i, value in enumerate(self.inputs):
            if value is None:
                continue
            if i in self.constants:
                initializers[f"x{i}"] = value
            else:
                inputs[f"x{i}"] = self._spec(i, value)
        while self.outputs and not self.outputs[-1]:
            self.outputs.pop()
        names = ",".join(self.names()), ",".join(self.outputs)
        node = oracle.node(self.op, *names, name="tested", domain=self.domain, **self.attributes)
        names = [o for o in self.outputs if o]
        outputs = names if self.typed and not self.domain else dict.fromkeys(names)
        if not self.domain:
            return oracle.make_model([node], inputs, outputs, initializers, opset=self.opset)
        return oracle.make_model([node], inputs, outputs, initializers, MAIN_OPSET, domains={self.domain: self.opset})

    def _spec(self, i, value):
        if i in self.types:
            return self.types[i]
        if isinstance(value, list):
            kind = np.asarray(value[0]).dtype
            element = onnx.helper.make_tensor_type_proto(oracle.onnx_type(kind), None)
            return onnx.helper.make_sequence_type_proto(element)
        if self.shapes == "unknown":
            return (value.dtype, None)
        if self.shapes == "symbolic":
            return (value.dtype, [f"d{i}_{axis}" for axis in range(value.ndim)])
        return value

    def __str__(self):
        given = [
            "-" if v is None else f"{'const ' if i in self.constants else ''}{describe(v)}"
            for i, v in enumerate(self.inputs)
        ]
        attributes = "".join(f" {k}={v!r}" for k, v in self.attributes.items())
        return f"{self.op}-{self.opset}({', '.join(given)}){attributes} [{self.shapes}]"


def describe(value):
    if isinstance(value, list):
        return "[" + ", ".join(describe(v) for v in value) + "]"
    if isinstance(value, dict):
        return repr(value)
    value = np.asarray(value)
    return f"{oracle.short(value.dtype)}{list(value.shape)}{oracle.brief(value)}"


def specials(dtype):
    """The awkward values of an element type."""
    if dtype == boolean:
        return np.array([False, True])
    if dtype == string:
        return np.array(["", "a", "A b", "ß", "模型 😀", "1.5", " x "], object)
    if dtype.kind == "c":
        part = specials(np.dtype(f"f{dtype.itemsize // 2}"))
        return np.array([complex(a, b) for a in part[:6] for b in part[:6]], dtype)
    if "int" in dtype.name:
        limits = ml_dtypes.iinfo(dtype)
        low, high = int(limits.min), int(limits.max)
        values = [v for v in (low, high, low + 1, high - 1, 0, 1, -1, 2, 7) if low <= v <= high]
        return np.array(values, np.uint64 if low == 0 else np.int64).astype(dtype)
    limits = ml_dtypes.finfo(dtype)
    tiny, big = float(limits.smallest_subnormal), float(limits.max)
    with np.errstate(all="ignore"):
        values = [np.nan, np.inf, -np.inf, -0.0, 0.0, tiny, -tiny, big, -big, float(limits.eps), 0.5, 1.5, 2.5, -2.5, -1]
        values = np.array(values).astype(dtype)
    return values


# Ways to fill an array; the later the more awkward.
TAME, MILD, WILD = ("plain", "ties"), ("plain", "ties", "nan"), ("plain", "ties", "nan", "special")


def fill(dtype, shape, style, seed, low=-3, high=3):
    """An array by style: plain numbers, small integers with repeats, plain with NaN, infinities and -0, or only specials."""
    dtype, generator = np.dtype(dtype), np.random.default_rng(seed)
    if style == "special":
        values = specials(dtype)
        return np.asarray(values[generator.integers(0, len(values), shape)]).reshape(shape)
    array = oracle.random(tuple(shape), dtype, seed, low=low, high=high)
    if style == "plain" or dtype.kind in "biuOc" or "int" in dtype.name:
        return array
    if style == "ties":
        return np.asarray(np.round(array.astype(np.float64))).astype(dtype)
    odd = np.array([np.nan, np.inf, -np.inf, -0.0])[generator.integers(0, 4, shape)].astype(dtype)
    return np.asarray(np.where(generator.random(shape) < 0.3, odd, array)).astype(dtype).reshape(shape)


class Kit:
    """The draws of one case. Types are bound per type variable, so that inputs that share one agree."""

    def __init__(self, draw, op, opset):
        self.draw, self.op, self.opset = draw, op, opset
        self.domain = domain_of(op)
        self.schema = onnx.defs.get_schema(op, opset, self.domain)
        self._bound = {}

    def one_of(self, *choices):
        return self.draw(st.sampled_from(choices))

    def flag(self):
        return self.draw(st.booleans())

    def integer(self, low, high):
        return self.draw(st.integers(low, high))

    def dtype(self, position=0, only=None, output=False):
        """An element type of an input; `only`: a predicate that narrows the choice."""
        parameters = self.schema.outputs if output else self.schema.inputs
        variable = parameters[min(position, len(parameters) - 1)].type_str
        if variable not in self._bound:
            allowed = table.types_of(self.op, position, self.opset, domain=self.domain) if not output else _output_types(self.schema, variable)
            allowed = [d for d in allowed if d.name != "float4_e2m1fn" and (only is None or only(d))]
            assert allowed, f"{self.op}: nothing to draw for input {position}"
            # float32 first: that is what examples shrink to.
            self._bound[variable] = self.draw(st.sampled_from(sorted(allowed, key=lambda d: (d != f32, d.name))))
        return self._bound[variable]

    def shape(self, min_rank=0, max_rank=4, low=0, high=4):
        side = st.sampled_from([n for n in (2, 1, 3, 4, 5, 0) if low <= n <= high])
        return tuple(self.draw(st.lists(side, min_size=min_rank, max_size=max_rank)))

    def shapes(self, count, max_rank=4, low=0):
        """Shapes that broadcast together."""
        strategy = hnp.mutually_broadcastable_shapes(num_shapes=count, max_dims=max_rank, min_side=low, max_side=3)
        return list(self.draw(strategy).input_shapes)

    def axis(self, rank):
        return self.integer(-rank, rank - 1) if rank else 0

    def axes(self, rank, low=0):
        """Some different axes, some of them counted from the end."""
        chosen = self.draw(st.lists(st.integers(0, max(rank - 1, 0)), unique=True, min_size=min(low, rank), max_size=rank))
        return [a - rank if self.flag() else a for a in chosen]

    def draw_permutation(self, values):
        return self.draw(st.permutations(list(values)))

    def array(self, shape, dtype, styles=WILD, low=-3, high=3):
        return fill(dtype, shape, self.one_of(*styles), self.integer(0, 2**16), low, high)

    def input(self, position, shape, styles=WILD, only=None, **limits):
        return self.array(shape, self.dtype(position, only), styles, **limits)

    def integers(self, low, high, shape, dtype=i64):
        """Whole numbers in [low, high]; nothing where the range is empty."""
        if high < low:
            return np.zeros(shape, dtype)
        generator = np.random.default_rng(self.integer(0, 2**16))
        return np.asarray(generator.integers(low, high + 1, shape)).astype(dtype)

    def case(self, *inputs, outputs=1, constants=None, exact=True, types=None, expected=None, **attributes):
        """`constants`: positions that may become initializers, drawn; default: any. `expected`: what NumPy says of the outputs."""
        inputs = list(inputs)
        while inputs and inputs[-1] is None:
            inputs.pop()
        possible = range(len(inputs)) if constants is None else constants
        fixed = tuple(
            i for i in possible if i < len(inputs) and isinstance(inputs[i], np.ndarray) and self.one_of(False, True, False)
        )
        names = [f"y{i}" for i in range(outputs)] if isinstance(outputs, int) else list(outputs)
        attributes = {k: v for k, v in attributes.items() if v is not None}
        shapes = self.one_of("static", "symbolic", "unknown")
        case = Case(self.op, self.opset, inputs, attributes, names, fixed, shapes, exact, domain=self.domain)
        case.types, case.expected = types or {}, expected
        return case


def _output_types(schema, variable):
    texts = next((t.allowed_type_strs for t in schema.type_constraints if t.type_param_str == variable), [variable])
    return [d for d in map(table.dtype_of, texts) if d is not None]
