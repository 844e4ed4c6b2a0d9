"""Cases of the operators that networks are made of: products, convolutions, pools, images, attention, recurrent layers, signals."""

import numpy as np

from tests.conformance.edge_elementwise import case
from tests.conformance.edge_kit import MILD, TAME, f32, i32, i64, u8


@case("MatMul")
def matmul(kit):
    m, k, n = (kit.one_of(2, 1, 3, 0, 17) for _ in range(3))
    left, right = kit.shapes(2, max_rank=2)
    form = kit.one_of("both", "both", "vector left", "vector right", "vectors")
    a = (k,) if form in ("vector left", "vectors") else (*left, m, k)
    b = (k,) if form in ("vector right", "vectors") else (*right, k, n)
    return kit.case(kit.input(0, a, MILD), kit.input(1, b, MILD))


@case("Gemm")
def gemm(kit):
    m, k, n = (kit.one_of(2, 1, 3, 0, 17) for _ in range(3))
    ta, tb = kit.one_of(None, 1), kit.one_of(None, 1)
    c = kit.one_of(None, (), (n,), (1, n), (m, 1), (m, n), (1,), (1, 1))
    a, b = ((k, m) if ta else (m, k)), ((n, k) if tb else (k, n))
    bias = None if c is None else kit.input(2, c, MILD)
    scales = dict(alpha=kit.one_of(None, 0.5, 2.0), beta=kit.one_of(None, 0.5, 0.0))
    return kit.case(kit.input(0, a, TAME), kit.input(1, b, TAME), bias, transA=ta, transB=tb, **scales)


@case("MatMulInteger")
def matmul_integer(kit):
    m, k, n = (kit.one_of(2, 1, 3, 0, 17) for _ in range(3))
    batch = kit.shape(max_rank=1)
    a = kit.input(0, (*batch, m, k), ("plain", "special"), low=-128, high=256)
    b = kit.input(1, (*kit.one_of((), batch), k, n), ("plain", "special"), low=-128, high=256)
    zero = lambda kind, shape: kit.one_of(None, kit.array(shape, kind, ("plain", "special"), low=-9, high=9))
    za = zero(a.dtype, kit.one_of((), (1,)) if batch else kit.one_of((), (1,), (m,)))
    return kit.case(a, b, za, zero(b.dtype, kit.one_of((), (1,), (n,))))


@case("QLinearMatMul")
def qlinear_matmul(kit):
    m, k, n = (kit.one_of(2, 1, 3, 17) for _ in range(3))
    byte = lambda d: d.name in ("uint8", "int8")
    a = kit.array((m, k), kit.dtype(0, byte), ("plain", "special"), low=-128, high=256)
    b = kit.array((k, n), kit.dtype(3, byte), ("plain", "special"), low=-128, high=256)
    scale_type = kit.dtype(1, lambda d: d == f32)
    scale = lambda shape=(): np.abs(kit.array(shape, scale_type, ("plain",))) + scale_type.type(0.1)
    zero = lambda kind, shape=(): kit.array(shape, kind, ("plain",), low=-9, high=9)
    columns = kit.one_of((), (n,))
    kind = kit.dtype(7, byte)
    return kit.case(a, scale(), zero(a.dtype), b, scale(columns), zero(b.dtype, columns), scale() * 9, zero(kind))


@case("Einsum")
def einsum(kit):
    equation, letters = kit.one_of(
        ("ij,jk->ik", ["ij", "jk"]), ("ij->ji", ["ij"]), ("ii->i", ["ii"]), ("ij->", ["ij"]), ("i,j->ij", ["i", "j"]),
        ("bij,bjk->bik", ["bij", "bjk"]), ("...ij,...jk->...ik", ["ij", "jk"]), ("ij,ij->i", ["ij", "ij"]), ("ij,jk", ["ij", "jk"]),
        ("i->", ["i"]), ("ij,kj,lk->il", ["ij", "kj", "lk"]), (" i j , j -> i ", ["ij", "j"]), ("ijj->i", ["ijj"]), ("->", [""]),
        ("iji->j", ["iji"]), ("ba", ["ba"]), ("ab,cd->abcd", ["ab", "cd"]),
    )  # fmt: skip
    size = {c: kit.one_of(2, 3, 1, 0) for c in "abcdijkl"}
    return kit.case(*[kit.input(0, tuple(size[c] for c in term), TAME) for term in letters], equation=equation)


def _window(kit, rank, dilate=True):
    """Attributes of a sliding window, with the kernel's sides."""
    kernel = [kit.one_of(2, 1, 3) for _ in range(rank)]
    auto = kit.one_of(None, None, "SAME_UPPER", "SAME_LOWER", "VALID")
    attributes = dict(auto_pad=auto, strides=kit.one_of(None, [kit.integer(1, 3) for _ in range(rank)]))
    dilations = [1] * rank
    if dilate and kit.one_of(False, False, True) and auto in (None, "VALID"):
        dilations = attributes["dilations"] = [kit.integer(1, 2) for _ in range(rank)]
    return kernel, dilations, attributes, auto


def _sides(kit, kernel, dilations, extra=4):
    return tuple(d * (k - 1) + 1 + kit.integer(0, extra) for k, d in zip(kernel, dilations))


@case("Conv", "ConvInteger", "QLinearConv")
def conv(kit):
    rank = kit.one_of(2, 1, 2, 3)
    kernel, dilations, attributes, auto = _window(kit, rank)
    group = kit.one_of(1, 2, 3)
    per_in, per_out = kit.one_of(1, 2), kit.one_of(1, 2)
    if auto is None:
        attributes["pads"] = kit.one_of(None, [kit.integer(0, 2) for _ in range(2 * rank)])
    shape = (kit.one_of(1, 2, 0), group * per_in, *_sides(kit, kernel, dilations))
    weight = (group * per_out, per_in, *kernel)
    attributes.update(group=None if group == 1 else group, kernel_shape=kit.one_of(None, kernel))
    if kit.op == "Conv":
        bias = kit.one_of(None, kit.input(2, weight[:1], TAME))
        return kit.case(kit.input(0, shape, MILD), kit.input(1, weight, TAME), bias, **attributes)
    byte = lambda d: d.name in ("uint8", "int8")
    first, second = kit.dtype(0, byte), kit.dtype(1 if kit.op == "ConvInteger" else 3, byte)
    x, w = (kit.array(s, d, ("plain", "special"), low=-128, high=256) for s, d in ((shape, first), (weight, second)))
    zero = lambda kind, s=(): kit.array(s, kind, ("plain",), low=-9, high=9)
    if kit.op == "ConvInteger":
        return kit.case(x, w, kit.one_of(None, zero(first)), kit.one_of(None, zero(second)), **attributes)
    scale = lambda s=(): np.abs(kit.array(s, f32, ("plain",))) + f32.type(0.1)
    per = kit.one_of((), weight[:1])
    kind = kit.dtype(7, byte)
    bias = kit.one_of(None, kit.integers(-50, 50, weight[:1], i32))
    return kit.case(x, scale(), zero(first), w, scale(per), np.zeros(per, second), scale() * 9, zero(kind), bias, **attributes)


@case("ConvTranspose")
def conv_transpose(kit):
    rank = kit.one_of(2, 1, 2, 3)
    kernel, _, attributes, auto = _window(kit, rank)
    group, per_in, per_out = kit.one_of(1, 2), kit.one_of(1, 2), kit.one_of(1, 2)
    strides = attributes["strides"] or [1] * rank
    if auto is None:
        attributes["pads"] = kit.one_of(None, [kit.integer(0, min(1, k - 1)) for k in kernel] * 2)
        attributes["output_padding"] = kit.one_of(None, [kit.integer(0, s - 1) for s in strides])
    shape = (kit.one_of(1, 2), group * per_in, *[kit.integer(1, 4) for _ in kernel])
    weight = (group * per_in, per_out, *kernel)
    bias = kit.one_of(None, kit.input(2, (group * per_out,), TAME))
    attributes.update(group=None if group == 1 else group)
    return kit.case(kit.input(0, shape, TAME), kit.input(1, weight, TAME), bias, **attributes)


@case("DeformConv")
def deform_conv(kit):
    kernel, stride = [kit.one_of(2, 1, 3), kit.one_of(2, 1)], [kit.integer(1, 2), kit.integer(1, 2)]
    pads = [kit.integer(0, 1) for _ in range(4)]
    group, groups = kit.one_of(1, 2), kit.one_of(1, 2)
    c = 2
    side = [k + kit.integer(0, 3) for k in kernel]
    out = [(n + pads[i] + pads[i + 2] - k) // s + 1 for i, (n, k, s) in enumerate(zip(side, kernel, stride))]
    taps = kernel[0] * kernel[1]
    x, w = kit.input(0, (1, c, *side), TAME), kit.input(1, (2, c // group, *kernel), TAME)
    offset = kit.input(2, (1, groups * taps * 2, *out), TAME)
    bias = kit.one_of(None, kit.input(3, (2,), TAME))
    mask = kit.one_of(None, kit.input(4, (1, groups * taps, *out), TAME))
    attributes = dict(group=group, offset_group=groups, kernel_shape=kernel, strides=stride, pads=pads)
    return kit.case(x, w, offset, bias, mask, **attributes)


@case("MaxPool", "AveragePool", "LpPool")
def pool(kit):
    rank = kit.one_of(2, 1, 2, 3)
    kernel, dilations, attributes, auto = _window(kit, rank)
    if auto is None:
        attributes["pads"] = kit.one_of(None, [kit.integer(0, k - 1) for k in kernel] * 2)
    attributes["ceil_mode"] = kit.one_of(None, 1)
    if kit.op == "AveragePool":
        attributes["count_include_pad"] = kit.one_of(None, 1)
    if kit.op == "LpPool":
        attributes["p"] = kit.one_of(None, 1, 2, 3)
    outputs = 1
    if kit.op == "MaxPool":
        outputs = kit.one_of(1, 1, 2)
        attributes["storage_order"] = kit.one_of(None, 1)
    shape = (kit.one_of(1, 2, 0), kit.one_of(1, 3), *_sides(kit, kernel, dilations))
    return kit.case(kit.input(0, shape, MILD), outputs=outputs, kernel_shape=kernel, **attributes)


@case("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(kit):
    shape = (kit.one_of(1, 2, 0), kit.one_of(1, 3), *kit.shape(min_rank=1, max_rank=3, low=1))
    return kit.case(kit.input(0, shape, MILD), p=kit.one_of(None, 1, 3) if kit.op == "GlobalLpPool" else None)


@case("MaxUnpool")
def max_unpool(kit):
    h, w = kit.integer(1, 3), kit.integer(1, 3)
    cell = 2 * np.arange(w) + 4 * w * np.arange(h)[:, None]
    indices = (cell + kit.integers(0, 1, (h, w)) + 2 * w * kit.integers(0, 1, (h, w))).reshape(1, 1, h, w)
    return kit.case(kit.input(0, (1, 1, h, w), MILD), indices.astype(i64), kernel_shape=[2, 2], strides=[2, 2])


@case("MaxRoiPool")
def max_roi_pool(kit):
    rois = np.array([[0, 0, 0, 3, 3], [0, 1, 1, 2, 4]][: kit.integer(1, 2)]).astype(kit.dtype(0))
    size = [kit.integer(1, 3), kit.integer(1, 3)]
    return kit.case(kit.input(0, (1, 2, 6, 6), TAME), rois, pooled_shape=size, spatial_scale=kit.one_of(None, 0.5))


@case("RoiAlign")
def roi_align(kit):
    n = kit.integer(0, 3)
    kind = kit.dtype(0)
    rois = np.sort(kit.array((n, 2, 2), f32, ("plain",), low=0, high=8), axis=1).reshape(n, 4).astype(kind)
    attributes = dict(
        mode=kit.one_of(None, "avg", "max"), coordinate_transformation_mode=kit.one_of(None, "half_pixel", "output_half_pixel"),
        output_height=kit.one_of(None, 2, 3), output_width=kit.one_of(None, 2), sampling_ratio=kit.one_of(None, 0, 1, 2),
        spatial_scale=kit.one_of(None, 0.5),
    )  # fmt: skip
    return kit.case(kit.input(0, (2, 2, 6, 5), TAME), rois, kit.integers(0, 1, (n,)), **attributes)


@case("Resize")
def resize(kit):
    shape = (1, kit.one_of(1, 2), *[kit.integer(1, 5) for _ in range(kit.one_of(2, 1))])
    mode = kit.one_of("nearest", "linear", "cubic")
    how = kit.one_of("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric")
    scales = sizes = None
    if kit.flag():
        scales = np.array([1, 1, *[kit.one_of(2.0, 0.5, 1.5, 1.0, 0.3) for _ in shape[2:]]], np.float32)
        if any(int(n * s) == 0 for n, s in zip(shape, scales)):
            scales[:] = 2
            scales[:2] = 1
    else:
        sizes = np.array([*shape[:2], *[kit.integer(1, 7) for _ in shape[2:]]], i64)
    attributes = dict(mode=mode, coordinate_transformation_mode=how)
    if mode == "nearest":
        attributes["nearest_mode"] = kit.one_of(None, "floor", "ceil", "round_prefer_ceil", "round_prefer_floor")
    if mode == "cubic":
        attributes.update(cubic_coeff_a=kit.one_of(None, -0.5), exclude_outside=kit.one_of(None, 1))
    x = kit.input(0, shape, TAME, only=lambda d: d.kind == "f" or mode == "nearest")
    return kit.case(x, None, scales, sizes, **attributes)


@case("GridSample")
def grid_sample(kit):
    rank = kit.one_of(2, 2, 3)
    mode = kit.one_of(None, "linear", "nearest", "cubic") if rank == 2 else kit.one_of(None, "linear", "nearest")
    shape = (kit.integer(1, 2), kit.integer(1, 2), *[kit.integer(1, 4) for _ in range(rank)])
    grid = kit.array((shape[0], *[kit.integer(0, 3) for _ in range(rank)], rank), kit.dtype(1), ("plain",), low=-2, high=2)
    attributes = dict(align_corners=kit.one_of(None, 1), padding_mode=kit.one_of(None, "border", "reflection"))
    return kit.case(kit.input(0, shape, TAME, only=lambda d: d.kind == "f"), grid, mode=mode, **attributes)


@case("AffineGrid")
def affine_grid(kit):
    rank = kit.one_of(2, 3)
    n = kit.integer(1, 2)
    size = np.array([n, 2, *[kit.integer(1, 3) for _ in range(rank)]], i64)
    return kit.case(kit.input(0, (n, rank, rank + 1), TAME), size, align_corners=kit.one_of(None, 1))


@case("Col2Im")
def col2im(kit):
    image, block = [kit.integer(2, 5), kit.integer(2, 5)], [kit.integer(1, 2), kit.integer(1, 2)]
    pads, strides = [kit.integer(0, 1)] * 4, [kit.integer(1, 2), kit.integer(1, 2)]
    count = int(np.prod([(n + 2 * pads[0] - b) // s + 1 for n, b, s in zip(image, block, strides)]))
    x = kit.input(0, (kit.integer(0, 2), 2 * block[0] * block[1], count), TAME)
    return kit.case(x, np.array(image, i64), np.array(block, i64), pads=pads, strides=strides)


@case("RNN", "GRU", "LSTM")
def recurrent(kit):
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[kit.op]
    direction = kit.one_of(None, "forward", "reverse", "bidirectional")
    d = 2 if direction == "bidirectional" else 1
    steps, batch, size, hidden = kit.integer(1, 4), kit.integer(1, 3), kit.integer(1, 3), kit.integer(1, 3)
    layout = kit.one_of(None, None, 1)
    swap = lambda s: (s[1], s[0], *s[2:]) if layout else s
    x = kit.input(0, swap((steps, batch, size)), TAME)
    w, r = kit.input(1, (d, gates * hidden, size), TAME), kit.input(2, (d, gates * hidden, hidden), TAME)
    bias = kit.one_of(None, kit.input(3, (d, 2 * gates * hidden), TAME))
    lengths = kit.one_of(None, kit.integers(0, steps, (batch,), i32))
    state = lambda: kit.one_of(None, kit.input(5, swap((d, batch, hidden)), TAME))
    inputs = [x, w, r, bias, lengths, state()]
    attributes = dict(direction=direction, hidden_size=hidden, layout=layout, clip=kit.one_of(None, 0.5))
    if kit.op == "LSTM":
        inputs += [state(), kit.one_of(None, kit.input(7, (d, 3 * hidden), TAME))]
        attributes["input_forget"] = kit.one_of(None, None, 1)
    if kit.op == "GRU":
        attributes["linear_before_reset"] = kit.one_of(None, 1)
    outputs = {"LSTM": ["y0", "y1", "y2"]}.get(kit.op, ["y0", "y1"])
    return kit.case(*inputs, outputs=kit.one_of(outputs, ["", "y1"]), **attributes)


@case("Attention")
def attention(kit):
    batch, heads, width = kit.integer(1, 2), kit.one_of(1, 2), kit.integer(1, 3)
    queries, keys, out = kit.integer(1, 4), kit.integer(1, 4), kit.integer(1, 3)
    groups = kit.one_of(1, 2)
    q, k = kit.input(0, (batch, heads * groups, queries, width), TAME), kit.input(1, (batch, heads, keys, width), TAME)
    v = kit.input(2, (batch, heads, keys, out), TAME)
    mask_type = kit.one_of(np.dtype(bool), q.dtype)
    rows = kit.one_of((queries, keys), (1, 1, queries, keys), (batch, 1, queries, keys))
    mask = kit.one_of(None, kit.array(rows, mask_type, ("plain",)))
    attributes = dict(is_causal=kit.one_of(None, 1), scale=kit.one_of(None, 0.5), softcap=kit.one_of(None, 2.0))
    return kit.case(q, k, v, mask, **attributes)


@case("LinearAttention")
def linear_attention(kit):
    heads, width, out, steps = kit.one_of(1, 2), kit.integer(1, 3), kit.integer(1, 3), kit.integer(1, 4)
    rule = kit.one_of("linear", "gated", "delta", "gated_delta")
    q, k = (kit.input(i, (1, steps, heads * width), ("plain",), low=-1, high=1) for i in (0, 1))
    v = kit.input(2, (1, steps, heads * out), ("plain",), low=-1, high=1)
    decay = kit.input(4, (1, steps, heads), ("plain",), low=-1, high=0) if "gated" in rule else None
    beta = kit.input(5, (1, steps, heads), ("plain",), low=0, high=1) if "delta" in rule else None
    return kit.case(q, k, v, None, decay, beta, outputs=2, q_num_heads=heads, kv_num_heads=heads, update_rule=rule)


@case("CausalConvWithState")
def causal_conv(kit):
    batch, channels, length, taps = kit.integer(1, 2), kit.integer(1, 3), kit.integer(1, 5), kit.integer(1, 4)
    x, w = kit.input(0, (batch, channels, length), TAME), kit.input(1, (channels, 1, taps), TAME)
    bias = kit.one_of(None, kit.input(2, (channels,), TAME))
    state = kit.one_of(None, kit.input(3, (batch, channels, taps - 1), TAME))
    return kit.case(x, w, bias, state, outputs=2, activation=kit.one_of(None, "silu"))


@case("RotaryEmbedding")
def rotary(kit):
    batch, heads, steps, width = kit.integer(1, 2), kit.integer(1, 2), kit.integer(1, 3), kit.one_of(2, 4, 6)
    part = kit.one_of(None, 2)
    half = (part or width) // 2
    x = kit.input(0, (batch, heads, steps, width), TAME)
    if kit.flag():
        positions = kit.integers(0, 4, (batch, steps))
        caches = [kit.input(i, (5, half), TAME) for i in (1, 2)]
    else:
        positions = None
        caches = [kit.input(i, (batch, steps, half), TAME) for i in (1, 2)]
    attributes = dict(interleaved=kit.one_of(None, 1), rotary_embedding_dim=part)
    return kit.case(x, *caches, positions, **attributes)


@case("DFT")
def dft(kit):
    inverse = kit.one_of(None, 1)
    part = 2 if inverse else kit.one_of(1, 2)
    shape = (kit.integer(1, 2), kit.integer(1, 5), kit.integer(1, 5), part)
    length = kit.one_of(None, np.array(kit.integer(1, 6)).astype(kit.dtype(1)))
    axis = kit.one_of(None, np.array(kit.one_of(1, 2, -2, -3), i64))
    onesided = kit.one_of(None, 1) if part == 1 else None
    return kit.case(kit.input(0, shape, TAME), length, axis, inverse=inverse, onesided=onesided)


@case("STFT")
def stft(kit):
    length, frame = kit.integer(4, 9), kit.integer(1, 4)
    x = kit.input(0, (kit.integer(1, 2), length, 1), TAME)
    step = np.array(kit.integer(1, 3)).astype(kit.dtype(1))
    window = kit.one_of(None, kit.input(2, (frame,), TAME))
    return kit.case(x, step, window, np.array(frame).astype(kit.dtype(1)), onesided=kit.one_of(None, 0, 1))


@case("MelWeightMatrix")
def mel(kit):
    ints = [np.array(n).astype(kit.dtype(0)) for n in (kit.integer(1, 6), kit.one_of(16, 32), kit.one_of(100, 8000 % 127))]
    edges = [np.array(v).astype(kit.dtype(3)) for v in (kit.one_of(0.0, 5.0), kit.one_of(20.0, 40.0))]
    return kit.case(*ints, *edges)
