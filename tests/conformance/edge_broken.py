"""Cases that were good and are not: a shape, an attribute or an index is changed so that most must be refused, the same at each level."""

import numpy as np
from hypothesis import strategies as st

from tests.conformance.edge_kit import fill

EXTREMES = (0, -1, 1, 7, -7, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**40)


@st.composite
def broken(draw, good):
    """`good`: a strategy of cases."""
    case = draw(good)
    case.exact = case.typed = False
    one_of = lambda *choices: draw(st.sampled_from(choices))
    arrays = [i for i, v in enumerate(case.inputs) if isinstance(v, np.ndarray)]
    numbers = [k for k, v in case.attributes.items() if isinstance(v, int) or (isinstance(v, list) and v and isinstance(v[0], int))]
    how = one_of("shape", "values", "attribute", "missing")
    if how == "attribute" and numbers:
        name = one_of(*numbers)
        value = case.attributes[name]
        if name in ("to", "dtype", "output_datatype"):
            case.attributes[name] = one_of(0, 99, -1, 8, 14)
        elif isinstance(value, int):
            case.attributes[name] = one_of(*EXTREMES)
        else:
            changed = list(value)
            changed[draw(st.integers(0, len(changed) - 1))] = one_of(*EXTREMES)
            case.attributes[name] = one_of(changed, value[:-1] or changed, [*value, 1])
    elif how == "missing" and arrays:
        at = one_of(*arrays)
        case.inputs[at] = None
        while case.inputs and case.inputs[-1] is None:
            case.inputs.pop()
        case.constants = tuple(i for i in case.constants if i < len(case.inputs) and case.inputs[i] is not None)
    elif how == "values" and any("int" in case.inputs[i].dtype.name for i in arrays):
        at = one_of(*[i for i in arrays if "int" in case.inputs[i].dtype.name])
        array = np.array(case.inputs[at])
        if array.size and array.dtype.itemsize >= 4:
            limits = np.iinfo(array.dtype)
            array.reshape(-1)[draw(st.integers(0, array.size - 1))] = min(max(one_of(*EXTREMES), limits.min), limits.max)
        case.inputs[at] = array
    elif arrays:
        at = one_of(*arrays)
        array = case.inputs[at]
        shape = list(array.shape)
        change = one_of("extent", "grow", "shrink", "scalar")
        if change == "extent" and shape:
            shape[draw(st.integers(0, len(shape) - 1))] = one_of(0, 1, 2, 5, 6)
        elif change == "grow":
            shape.insert(draw(st.integers(0, len(shape))), one_of(1, 2, 0))
        elif change == "shrink" and shape:
            shape.pop(draw(st.integers(0, len(shape) - 1)))
        elif change == "scalar":
            shape = []
        case.inputs[at] = fill(array.dtype, tuple(shape), "plain", draw(st.integers(0, 99)))
    return case
