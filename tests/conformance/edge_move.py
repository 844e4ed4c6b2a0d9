"""Cases of operators that move elements: views, slices, gathers, scatters, sequences."""

import numpy as np

from tests.conformance.edge_elementwise import case
from tests.conformance.edge_kit import TAME, i64, string

FAR = 2**63 - 1


def _ints(*values):
    return np.array(values, i64)


@case("Reshape")
def reshape(kit):
    shape = kit.shape()
    size = int(np.prod(shape, dtype=int))
    target = list(kit.draw_permutation(shape)) if kit.flag() else [size]
    if kit.flag():
        target = [1, *target]
    if target and size and kit.flag():
        target[kit.integer(0, len(target) - 1)] = -1
    return kit.case(kit.input(0, shape), np.array(target, i64), allowzero=kit.one_of(None, 0, 1))


@case("Flatten")
def flatten(kit):
    shape = kit.shape()
    return kit.case(kit.input(0, shape), axis=kit.one_of(None, kit.integer(-len(shape), len(shape)) if shape else 0))


@case("Squeeze")
def squeeze(kit):
    shape = tuple(kit.one_of(1, n) for n in kit.shape())
    ones = [a - kit.one_of(0, len(shape)) for a, n in enumerate(shape) if n == 1]
    return kit.case(kit.input(0, shape), kit.one_of(None, np.array(ones, i64), np.array(ones[:1], i64)))


@case("Unsqueeze")
def unsqueeze(kit):
    shape = kit.shape(max_rank=3)
    extra = kit.integer(0, 2)
    axes = kit.axes(len(shape) + extra)[:extra] if extra else []
    while len(axes) < extra:
        axes = (axes + [a for a in range(len(shape) + extra) if a not in [b % (len(shape) + extra) for b in axes]][:1])[:extra]
    return kit.case(kit.input(0, shape), np.array(axes, i64))


@case("Transpose")
def transpose(kit):
    shape = kit.shape()
    return kit.case(kit.input(0, shape), perm=kit.one_of(None, list(kit.draw_permutation(range(len(shape))))) if shape else None)


@case("Expand")
def expand(kit):
    a, b = kit.shapes(2)
    return kit.case(kit.input(0, a), np.array(b, i64))


@case("Tile")
def tile(kit):
    shape = kit.shape()
    return kit.case(kit.input(0, shape), np.array([kit.integer(0, 3) for _ in shape], i64))


@case("Slice")
def slice_of(kit):
    shape = kit.shape(min_rank=1)
    axes = kit.axes(len(shape), 1)
    bound = lambda: kit.one_of(0, 1, -1, 2, -2, 9, -9, FAR, -FAR - 1, 2**31 - 1, -(2**31))
    kind = kit.dtype(1)
    clip = lambda v: np.clip(v, np.iinfo(kind).min, np.iinfo(kind).max)
    starts, ends = ([clip(bound()) for _ in axes] for _ in range(2))
    steps = [clip(kit.one_of(1, -1, 2, -2, FAR, -FAR)) for _ in axes]
    arrays = [np.array(v, kind) for v in (starts, ends, axes)]
    return kit.case(kit.input(0, shape), *arrays, kit.one_of(None, np.array(steps, kind)))


@case("Pad")
def pad(kit):
    shape = kit.shape(min_rank=0)
    axes = kit.one_of(None, np.array(kit.axes(len(shape), min(1, len(shape))), kit.dtype(3)))
    count = len(shape) if axes is None else len(axes)
    mode = kit.one_of(None, "constant", "edge", "reflect", "wrap")
    pads = np.array([kit.one_of(0, 1, 2, -1, 3) for _ in range(2 * count)], i64)
    x = kit.input(0, shape)
    value = kit.one_of(None, kit.input(2, ())) if mode in (None, "constant") else None
    return kit.case(x, pads, value, axes, mode=mode)


@case("CenterCropPad")
def center_crop_pad(kit):
    shape = kit.shape(min_rank=1)
    axes = kit.one_of(None, kit.axes(len(shape), 1))
    count = len(shape) if axes is None else len(axes)
    return kit.case(kit.input(0, shape), kit.integers(0, 6, (count,)).astype(kit.dtype(1)), axes=axes)


@case("Concat")
def concat(kit):
    shape = kit.shape(min_rank=1)
    axis = kit.axis(len(shape))
    along = lambda n: tuple(n if a == axis % len(shape) else d for a, d in enumerate(shape))
    parts = [kit.input(0, along(kit.integer(0, 3))) for _ in range(kit.integer(1, 4))]
    return kit.case(*parts, axis=axis)


@case("Split")
def split(kit):
    shape = kit.shape(min_rank=1)
    axis = kit.axis(len(shape))
    count = kit.integer(1, 3)
    if kit.flag():
        return kit.case(kit.input(0, shape), outputs=count, axis=axis, num_outputs=count)
    sizes = [kit.integer(0, 2) for _ in range(count)]
    shape = tuple(sum(sizes) if a == axis % len(shape) else d for a, d in enumerate(shape))
    return kit.case(kit.input(0, shape), np.array(sizes, i64), outputs=count, axis=axis)


@case("Gather")
def gather(kit):
    shape = kit.shape(min_rank=1)
    axis = kit.axis(len(shape))
    n = shape[axis]
    where = kit.shape(max_rank=3) if n else (*kit.shape(max_rank=2), 0)
    indices = kit.integers(-n, n - 1, where).astype(kit.dtype(1))
    return kit.case(kit.input(0, shape), indices, axis=kit.one_of(None, 0) if axis == 0 else axis)


@case("GatherElements")
def gather_elements(kit):
    shape = kit.shape(min_rank=1)
    axis = kit.axis(len(shape))
    n = shape[axis]
    where = tuple(kit.integer(0, 3) if a == axis % len(shape) else kit.integer(0, d) for a, d in enumerate(shape))
    if n == 0:
        where = tuple(0 if a == axis % len(shape) else d for a, d in enumerate(where))
    return kit.case(kit.input(0, shape), kit.integers(-n, n - 1, where).astype(kit.dtype(1)), axis=axis)


def _nd_indices(kit, shape, batch, depth):
    """Indices for GatherND and ScatterND: in range, one column for each axis."""
    outer = shape[:batch] + kit.shape(max_rank=2)
    sides = shape[batch : batch + depth]
    if 0 in sides:
        outer = (*outer, 0)
    columns = [kit.integers(-n, n - 1, outer) for n in sides]
    return np.stack(columns, -1) if columns else np.zeros((*outer, 0), i64)


@case("GatherND")
def gather_nd(kit):
    shape = kit.shape(min_rank=1)
    batch = kit.integer(0, len(shape) - 1)
    depth = kit.integer(1, len(shape) - batch)
    return kit.case(kit.input(0, shape), _nd_indices(kit, shape, batch, depth), batch_dims=batch or kit.one_of(None, 0))


@case("ScatterND")
def scatter_nd(kit):
    shape = kit.shape(min_rank=1)
    depth = kit.integer(1, len(shape))
    indices = _nd_indices(kit, shape, 0, depth)
    how = kit.one_of(None, "none", "add", "mul", "max", "min")
    if how in (None, "none"):  # which of two equal indices wins is not said
        flat = indices.reshape(-1, depth) % np.maximum(shape[:depth], 1)
        if len({tuple(row) for row in flat}) < len(flat):
            indices = indices.reshape(-1, depth)[:1]
    updates = kit.input(2, indices.shape[:-1] + shape[depth:])
    only_numbers = how if updates.dtype != string and updates.dtype.kind not in "bc" else None
    if only_numbers is None and how not in (None, "none"):
        indices = indices.reshape(-1, depth)[:1]
        updates = kit.input(2, indices.shape[:-1] + shape[depth:])
    return kit.case(kit.input(0, shape), indices, updates, reduction=only_numbers)


@case("ScatterElements")
def scatter_elements(kit):
    shape = kit.shape(min_rank=1)
    axis = kit.axis(len(shape))
    at = axis % len(shape)
    n = shape[at]
    where = tuple(min(n, kit.integer(0, 3)) if a == at else kit.integer(0, d) for a, d in enumerate(shape))
    order = np.random.default_rng(kit.integer(0, 99)).permutation(n)[: where[at]] if n else np.zeros(0, int)
    indices = np.broadcast_to(order.reshape([-1 if a == at else 1 for a in range(len(shape))]), where)
    indices = np.where(kit.integers(0, 1, where) == 1, indices, indices - n).astype(kit.dtype(1))
    x = kit.input(0, shape)
    how = kit.one_of(None, "none", "add", "mul", "max", "min") if x.dtype != string and x.dtype.kind not in "bc" else None
    return kit.case(x, indices, kit.input(2, where), axis=axis, reduction=how)


@case("TensorScatter")
def tensor_scatter(kit):
    batch, length = kit.integer(1, 2), kit.integer(1, 4)
    new = kit.integer(1, length)
    mode = kit.one_of(None, "linear", "circular")
    top = length - 1 if mode == "circular" else length - new
    start = kit.one_of(None, kit.integers(0, top, (batch,)))
    return kit.case(kit.input(0, (batch, 2, length, 3)), kit.input(1, (batch, 2, new, 3)), start, mode=mode)


@case("Compress")
def compress(kit):
    shape = kit.shape(min_rank=1)
    axis = kit.one_of(None, kit.axis(len(shape)))
    n = int(np.prod(shape)) if axis is None else shape[axis]
    condition = kit.array((kit.integer(0, n),), np.dtype(bool), ("plain",))
    return kit.case(kit.input(0, shape), condition, axis=axis)


@case("Trilu")
def trilu(kit):
    k = kit.one_of(None, np.array(kit.one_of(0, 1, -1, 9, -9, FAR, -FAR), i64))
    return kit.case(kit.input(0, kit.shape(min_rank=2)), k, upper=kit.one_of(None, 0, 1))


@case("DepthToSpace", "SpaceToDepth")
def blocks(kit):
    n = kit.integer(1, 3)
    square, (c, h, w) = n * n, (kit.integer(0, 2), kit.integer(0, 3), kit.integer(0, 3))
    to_space = kit.op == "DepthToSpace"
    shape = (kit.integer(0, 2), c * square, h, w) if to_space else (kit.integer(0, 2), c, h * n, w * n)
    mode = kit.one_of(None, "DCR", "CRD") if to_space or kit.opset >= 28 else None
    return kit.case(kit.input(0, shape), blocksize=n, mode=mode)


@case("ReverseSequence")
def reverse_sequence(kit):
    shape = kit.shape(min_rank=2)
    time = kit.one_of(None, 0, 1)
    batch = None if time is None else 1 - time
    steps, items = (shape[1], shape[0]) if time == 1 else (shape[0], shape[1])
    lengths = kit.integers(min(1, steps), steps, (items,))
    return kit.case(kit.input(0, shape), lengths, time_axis=time, batch_axis=batch)


def _list(kit, shapes, position=0):
    kind = kit.dtype(position)
    return [kit.array(s, kind, TAME) for s in shapes]


@case("ConcatFromSequence")
def concat_from_sequence(kit):
    shape = kit.shape(min_rank=1)
    new = kit.one_of(None, 0, 1)
    axis = kit.axis(len(shape) + (new or 0))
    kind = kit.one_of(np.dtype("f4"), np.dtype("i8"), string)
    return kit.case([kit.array(shape, kind, TAME) for _ in range(kit.integer(1, 3))], axis=axis, new_axis=new)


@case("SequenceAt", "SequenceErase", "SequenceInsert", "SequenceLength")
def sequence(kit):
    kind = kit.one_of(np.dtype("f4"), np.dtype("i8"), string)
    items = [kit.array(kit.shape(), kind, TAME) for _ in range(kit.integer(1, 3))]
    n = len(items)
    at = np.array(kit.integer(-n, n - 1)).astype(kit.one_of(np.int64, np.int32))
    if kit.op == "SequenceLength":
        return kit.case(items)
    if kit.op == "SequenceAt":
        return kit.case(items, at)
    if kit.op == "SequenceErase":
        return kit.case(items, kit.one_of(None, at))
    return kit.case(items, kit.array(kit.shape(), kind, TAME), kit.one_of(None, at))


@case("SequenceConstruct")
def sequence_construct(kit):
    return kit.case(*[kit.input(0, kit.shape()) for _ in range(kit.integer(1, 3))])


@case("SplitToSequence")
def split_to_sequence(kit):
    shape = kit.shape(min_rank=1)
    axis = kit.axis(len(shape))
    n = shape[axis]
    keep = kit.one_of(None, 0, 1)
    x = kit.input(0, shape)
    if kit.flag():
        return kit.case(x, axis=axis, keepdims=keep)
    kind = kit.dtype(1)
    parts = kit.one_of(np.array(kit.integer(1, 3), kind), np.array([n], kind), np.array([n, 0], kind))
    return kit.case(x, parts, axis=axis)
