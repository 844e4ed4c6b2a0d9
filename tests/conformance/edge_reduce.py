"""Cases of operators that fold, order or normalise along axes."""

import numpy as np

from tests.conformance.edge_elementwise import case
from tests.conformance.edge_kit import MILD, TAME, i64


@case(
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
    "ReduceSumSquare",
)  # fmt: skip
def reduce(kit):
    shape = kit.shape()
    axes = kit.one_of(None, np.array(kit.axes(len(shape)), i64))
    flags = dict(keepdims=kit.one_of(None, 0, 1), noop_with_empty_axes=kit.one_of(None, 0, 1))
    return kit.case(kit.input(0, shape), axes, **flags)


@case("ArgMax", "ArgMin")
def arg_reduce(kit):
    shape = kit.shape(min_rank=1)
    attributes = dict(keepdims=kit.one_of(None, 0), select_last_index=kit.one_of(None, 1))
    return kit.case(kit.input(0, shape), axis=kit.one_of(None, kit.axis(len(shape))), **attributes)


@case("Softmax", "LogSoftmax", "Hardmax")
def softmax(kit):
    shape = kit.shape(min_rank=1)
    return kit.case(kit.input(0, shape), axis=kit.one_of(None, kit.axis(len(shape))))


@case("LpNormalization")
def lp_normalization(kit):
    shape = kit.shape(min_rank=1)
    return kit.case(kit.input(0, shape, MILD), axis=kit.one_of(None, kit.axis(len(shape))), p=kit.one_of(None, 1, 2))


@case("CumSum", "CumProd")
def cumulative(kit):
    shape = kit.shape(min_rank=1)
    axis = np.array(kit.axis(len(shape))).astype(kit.dtype(1)).reshape(kit.one_of((), (), (1,)))
    flags = dict(exclusive=kit.one_of(None, 1), reverse=kit.one_of(None, 1))
    return kit.case(kit.input(0, shape, MILD), axis, **flags)


@case("TopK")
def top_k(kit):
    shape = kit.shape(min_rank=1)
    axis = kit.axis(len(shape))
    k = np.array([kit.integer(0, shape[axis])], i64)
    x = kit.input(0, shape)
    attributes = dict(axis=kit.one_of(None, axis) if axis in (-1, len(shape) - 1) else axis, largest=kit.one_of(None, 0))
    return kit.case(x, k, outputs=2, sorted=kit.one_of(None, 1), **attributes)


@case("Unique")
def unique(kit):
    shape = kit.shape(min_rank=1, max_rank=3)
    axis = kit.one_of(None, kit.axis(len(shape)))
    outputs = kit.one_of(["y0"], ["y0", "y1", "y2", "y3"], ["y0", "", "", "y3"])
    return kit.case(kit.input(0, shape, TAME + ("special",)), outputs=outputs, axis=axis, sorted=kit.one_of(None, 0, 1))


@case("NonMaxSuppression")
def non_max_suppression(kit):
    batch, classes, boxes = kit.integer(1, 2), kit.integer(1, 2), kit.integer(0, 6)
    corners = kit.array((batch, boxes, 4), np.dtype("f4"), ("plain", "ties"), low=0, high=4)
    scores = kit.array((batch, classes, boxes), np.dtype("f4"), ("plain", "ties"), low=-1, high=1)
    limit = kit.one_of(None, np.array([3], i64), np.array(2, i64), np.array([0], i64))
    overlap = kit.one_of(None, np.array([0.5], "f4"), np.array(0, "f4"), np.array([1], "f4"))
    threshold = kit.one_of(None, np.array([0.1], "f4"), np.array(-5, "f4"))
    return kit.case(corners, scores, limit, overlap, threshold, center_point_box=kit.one_of(None, 1))


@case("LayerNormalization", "RMSNormalization")
def layer_normalization(kit):
    shape = kit.shape(min_rank=1, low=0)
    axis = kit.axis(len(shape))
    inner = shape[axis:]
    if kit.flag():
        inner = tuple(kit.one_of(n, 1) for n in inner)[kit.integer(0, len(inner) - 1) :]
    x, scale = kit.input(0, shape, MILD), kit.input(1, inner, TAME)
    attributes = dict(axis=axis, epsilon=kit.one_of(None, 0.1, 0.0))
    if kit.op == "RMSNormalization":
        return kit.case(x, scale, **attributes)
    bias = kit.one_of(None, kit.input(2, inner, TAME))
    return kit.case(x, scale, bias, outputs=kit.one_of(1, ["y0", "y1", "y2"], ["y0", "", "y2"]), **attributes)


@case("BatchNormalization")
def batch_normalization(kit):
    channels = kit.integer(0, 4)
    shape = (kit.integer(0, 3), channels, *kit.shape(max_rank=2))
    x = kit.input(0, shape, MILD)
    scale, bias = (kit.input(i, (channels,), TAME) for i in (1, 2))
    mean, variance = kit.input(3, (channels,), TAME), np.abs(kit.input(4, (channels,), TAME))
    training = kit.one_of(None, None, 1)
    return kit.case(
        x, scale, bias, mean, variance, outputs=3 if training and kit.flag() else 1, training_mode=training,
        epsilon=kit.one_of(None, 0.1), momentum=kit.one_of(None, 0.0),
    )  # fmt: skip


@case("InstanceNormalization")
def instance_normalization(kit):
    shape = (kit.integer(0, 2), kit.integer(1, 3), *kit.shape(min_rank=1, max_rank=2))
    parts = [kit.input(i, (shape[1],), TAME) for i in (1, 2)]
    return kit.case(kit.input(0, shape, MILD), *parts, epsilon=kit.one_of(None, 0.1))


@case("GroupNormalization")
def group_normalization(kit):
    groups = kit.integer(1, 3)
    channels = groups * kit.integer(1, 2)
    shape = (kit.integer(0, 2), channels, *kit.shape(min_rank=1, max_rank=2))
    parts = [kit.input(i, (channels,), TAME) for i in (1, 2)]
    return kit.case(kit.input(0, shape, MILD), *parts, num_groups=groups, epsilon=kit.one_of(None, 0.1))


@case("MeanVarianceNormalization")
def mean_variance(kit):
    shape = kit.shape(4, 4, low=1) if kit.flag() else kit.shape(min_rank=1, low=1)
    axes = None if len(shape) == 4 and kit.flag() else kit.axes(len(shape), 1)
    return kit.case(kit.input(0, shape, TAME), axes=axes)


@case("LRN")
def lrn(kit):
    shape = (kit.integer(0, 2), kit.integer(0, 4), *kit.shape(max_rank=2))
    attributes = dict(alpha=kit.one_of(None, 0.5), beta=kit.one_of(None, 0.5), bias=kit.one_of(None, 2.0))
    return kit.case(kit.input(0, shape, MILD), size=kit.one_of(1, 3, 5, 2, 4), **attributes)


@case("Det")
def det(kit):
    n = kit.integer(0, 4)
    return kit.case(kit.input(0, (*kit.shape(max_rank=2), n, n), TAME))


@case("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(kit):
    batch, classes = kit.integer(1, 3), kit.integer(1, 4)
    rest = kit.shape(max_rank=2, low=1)
    target = kit.integers(0, classes - 1, (batch, *rest)).astype(kit.dtype(1))
    weights = kit.one_of(None, np.abs(kit.input(2, (classes,), ("plain",))) + kit.dtype(2).type(0.5))
    attributes = dict(reduction=kit.one_of(None, "none", "sum", "mean"), ignore_index=kit.one_of(None, 0, 1))
    outputs = 2 if kit.op == "SoftmaxCrossEntropyLoss" and kit.flag() else 1
    return kit.case(kit.input(0, (batch, classes, *rest), TAME), target, weights, outputs=outputs, **attributes)
