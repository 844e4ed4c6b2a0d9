"""Cases of ai.onnx.preview.training: one step of Adagrad, Adam and Momentum on one tensor or two."""

import numpy as np

from tests.conformance.edge_elementwise import case
from tests.conformance.edge_kit import MILD, TAME, i64

# What an optimiser keeps of each tensor, besides the tensor and its gradient.
_STATES = {"Adagrad": 1, "Adam": 2, "Momentum": 1}


@case(*_STATES)
def optimizer_step(kit):
    kind = kit.dtype(2)
    shapes = [kit.shape(max_rank=3) for _ in range(kit.integer(1, 2))]
    rate, count = np.array(kit.one_of(0.1, 0.0, 1.0), kit.dtype(0)), np.array(kit.one_of(0, 1, 9), i64)
    states = _STATES[kit.op]
    groups = [[kit.array(s, kind, MILD if k < 2 else TAME) for s in shapes] for k in range(2 + states)]
    if kit.op != "Momentum":  # sums of squares
        groups[-1] = [np.abs(a) for a in groups[-1]]
    attributes = dict(norm_coefficient=kit.one_of(0.0, 0.01))
    if kit.op == "Momentum":
        attributes.update(alpha=kit.one_of(0.9, 0.0), beta=kit.one_of(0.5, 1.0), mode=kit.one_of("standard", "nesterov"))
    else:
        attributes["epsilon"] = kit.one_of(None, 0.01)
    if kit.op == "Adagrad":
        attributes["decay_factor"] = kit.one_of(None, 0.1)
    if kit.op == "Adam":
        attributes.update(alpha=kit.one_of(None, 0.5), beta=kit.one_of(None, 0.9), norm_coefficient_post=kit.one_of(None, 0.01))
    want = _adam(rate, int(count), groups, attributes) if kit.op == "Adam" else None
    tensors = [a for group in groups for a in group]
    return kit.case(rate, count, *tensors, outputs=len(shapes) * (1 + states), expected=want, **attributes)


def _adam(rate, count, groups, attributes):
    given = lambda name, otherwise: float(np.float32(otherwise if attributes.get(name) is None else attributes[name]))
    alpha, beta = given("alpha", 0.9), given("beta", 0.999)
    step = float(rate) * (np.sqrt(1 - beta**count) / (1 - alpha**count) if count else 1)
    made = []
    with np.errstate(all="ignore"):
        for x, g, v, h in zip(*[[a.astype(np.float64) for a in group] for group in groups]):
            g = given("norm_coefficient", 0.0) * x + g
            v, h = alpha * v + (1 - alpha) * g, beta * h + (1 - beta) * g * g
            x = (1 - given("norm_coefficient_post", 0.0)) * (x - step * v / (np.sqrt(h) + given("epsilon", 1e-6)))
            made.append([np.asarray(a).astype(groups[0][0].dtype) for a in (x, v, h)])
    return [a for outputs in zip(*made) for a in outputs]
