"""Resize: every coordinate mode with every interpolation, up and down, by scales and by sizes, against the ONNX reference."""

import itertools

import numpy as np
import pytest

import engines
from cases.resize_oracle import coordinate, on_the_edge, resize
from oracle import (
    FLOATS,
    assert_load_or_run_refused,
    assert_same,
    check,
    f16,
    f32,
    f64,
    i32,
    i64,
    i8,
    levels,
    make_model,
    node,
    random,
    run,
    short,
    u8,
)

COORDINATES = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
LENGTHS = [1, 2, 3, 5, 7, 8, 10]
SCALES = [0.26, 0.5, 0.7, 1.0, 1.5, 2.0, 2.3]


def resize_model(x, scales=None, sizes=None, roi=None, spec=None, opset=19, **attributes):
    weights = {"scales": np.array(scales, f32)} if scales is not None else {"sizes": np.array(sizes, i64)}
    if roi is not None:
        weights["roi"] = np.array(roi, x.dtype)
    names = f"x,{'roi' if roi is not None else ''}," + ("scales" if scales is not None else ",sizes")
    nodes = [node("Resize", names, "y", name="the_resize", **attributes)]
    return make_model(nodes, {"x": spec or x}, {"y": x.dtype}, weights, opset=opset)


@levels
def test_onnxruntime_17564(level):
    """align_corners and asymmetric differ."""
    x = np.array([[[1, 2]]], f32)
    a = resize_model(x, sizes=[1, 1, 3], mode="linear", coordinate_transformation_mode="align_corners")
    check(a, {"x": x}, np.array([[[1, 1.5, 2]]], f32), level)
    b = resize_model(x, scales=[1, 1, 1.5], mode="linear", coordinate_transformation_mode="asymmetric")
    check(b, {"x": x}, np.array([[[1, 5 / 3, 2]]], f32), level)


@levels
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("by", ["sizes", "scales"])
def test_onnx_4275(by, mode, level):
    """pytorch_half_pixel to length 1: source coordinate 0."""
    x = np.array([[[[1, 2, 3, 4]]]], f32)
    attributes = dict(mode=mode, coordinate_transformation_mode="pytorch_half_pixel")
    how = {"sizes": [1, 1, 1, 1]} if by == "sizes" else {"scales": [1, 1, 1, 0.25]}
    check(resize_model(x, **how, **attributes), {"x": x}, np.array([[[[1]]]], f32), level, peers=())


@levels
@pytest.mark.parametrize("rounding", NEAREST)
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_nearest(coordinates, rounding, level):
    """Lengths 4 and 5 to seven lengths and by seven scales; coordinates whose rounding hangs on the last bit are left out."""
    for n in (4, 5):
        x = np.arange(1, n + 1, dtype=f32).reshape(1, 1, n)
        attributes = dict(mode="nearest", coordinate_transformation_mode=coordinates, nearest_mode=rounding)
        for how in [{"sizes": [1, 1, m]} for m in LENGTHS] + [{"scales": [1, 1, s]} for s in SCALES]:
            want, got = resize(x, **how, **attributes), run(resize_model(x, **how, **attributes), {"x": x}, level)["y"]
            m = want.shape[2]
            scale = m / n if "sizes" in how else float(f32.type(how["scales"][2]))
            length = m if "sizes" in how else float(f32.type(n) * f32.type(scale))
            places = [coordinate(i, n, m, scale, coordinates, length=length) for i in range(m)]
            sure = [i for i in range(m) if scale in (0.5, 1, 2) or not on_the_edge(places[i], rounding)]
            assert_same(got[..., sure], want[..., sure], what=f"{n} by {how}")


@levels
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("rank", [1, 2])
def test_interpolation(rank, coordinates, mode, level):
    """One and two dimensions of different scales."""
    x = random((1, 2, *([5, 4][:rank])), f32, "resize")
    attributes = dict(mode=mode, coordinate_transformation_mode=coordinates)
    for index, length in enumerate(LENGTHS):
        sizes = [1, 2, *([length, LENGTHS[-1 - index]][:rank])]
        check(
            resize_model(x, sizes=sizes, **attributes),
            {"x": x},
            resize(x, sizes=sizes, **attributes),
            level,
            peers=(),
            atol=2e-5,
        )
        scales = [1, 1, *([SCALES[index], SCALES[-1 - index]][:rank])]
        check(
            resize_model(x, scales=scales, **attributes),
            {"x": x},
            resize(x, scales=scales, **attributes),
            level,
            peers=(),
            atol=2e-5,
        )


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_the_oracle_itself(coordinates, mode):
    """resize_oracle agrees with the evaluator of the onnx package where that has no known mistake."""
    x = random((1, 1, 4, 5))
    for sizes in ([1, 1, 3, 7], [1, 1, 8, 2]):
        attributes = dict(mode=mode, coordinate_transformation_mode=coordinates)
        want = engines.ask("reference", resize_model(x, sizes=sizes, **attributes), {"x": x})["y"]
        assert_same(resize(x, sizes=sizes, **attributes), want, atol=1e-5)


@levels
@pytest.mark.parametrize(
    "shape, sizes", [((1, 1, 2, 3, 4), (1, 1, 3, 3, 7)), ((2, 2, 3, 2, 3), (2, 2, 2, 4, 5))], ids=str
)
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_three_dimensions(mode, shape, sizes, level):
    x = random(shape)
    check(resize_model(x, sizes=sizes, mode=mode), {"x": x}, level=level, peers=("reference",), atol=1e-5)


@levels
@pytest.mark.parametrize("exclude", [0, 1])
@pytest.mark.parametrize("a", [-0.75, -0.5])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_cubic_options(coordinates, a, exclude, level):
    x = random((1, 1, 4, 4))
    options = dict(mode="cubic", cubic_coeff_a=a, exclude_outside=exclude, coordinate_transformation_mode=coordinates)
    for scale in (0.8, 2.0):
        scales = [1, 1, scale, scale]
        check(
            resize_model(x, scales=scales, **options),
            {"x": x},
            resize(x, scales=scales, **options),
            level,
            peers=(),
            atol=2e-5,
        )


@levels
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("sizes", [[1, 1, 3, 3], [1, 1, 2, 9], [1, 1, 1, 5], [1, 1, 12, 12]], ids=str)
def test_antialias(sizes, mode, level):
    """Down and up; where it goes up, antialias changes nothing."""
    x = random((1, 1, 7, 8))
    check(resize_model(x, sizes=sizes, mode=mode, antialias=1), {"x": x}, level=level, peers=("reference",), atol=1e-5)


@levels
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(
    "roi", [[0.4, 0.6, 0.7, 0.9], [0, 0, 1, 1], [0.4, 0.6, 1.2, 1.7], [0.9, 0.1, 0.2, 0.8]], ids=str
)
def test_crop_and_resize(roi, mode, level):
    """Regions inside, beyond and turned round; beyond the image is the extrapolation value."""
    x = random((1, 1, 4, 4))
    options = dict(
        roi=[0, 0, *roi[:2], 1, 1, *roi[2:]],
        mode=mode,
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=10.0,
    )
    for sizes in ([1, 1, 3, 3], [1, 1, 1, 6]):
        check(
            resize_model(x, sizes=sizes, **options),
            {"x": x},
            resize(x, sizes=sizes, **options),
            level,
            peers=(),
            atol=2e-5,
        )


@levels
@pytest.mark.parametrize("policy", ["stretch", "not_larger", "not_smaller"])
@pytest.mark.parametrize("axes, sizes", [([2, 3], [7, 8]), ([3, 2], [8, 7]), ([3], [6])], ids=str)
def test_axes_and_aspect_ratio(axes, sizes, policy, level):
    x = random((1, 1, 2, 4))
    model = resize_model(x, sizes=sizes, axes=axes, keep_aspect_ratio_policy=policy, mode="linear")
    check(model, {"x": x}, level=level, peers=("onnxruntime",), atol=1e-5)


@levels
@pytest.mark.parametrize(
    "policy, how",
    [("stretch", {"sizes": [1, 1, 1, 3]}), ("not_larger", {"scales": [1, 1, 0.5, 0.5]})],
    ids=["stretch", "not_larger"],
)
def test_negative_axes(policy, how, level):
    """Both peers go by the wrong axes here."""
    x = random((1, 1, 2, 4))
    model = resize_model(x, sizes=[1, 3], axes=[-2, -1], keep_aspect_ratio_policy=policy, mode="linear")
    check(model, {"x": x}, resize(x, **how, mode="linear"), level, peers=(), atol=1e-5)


@levels
@pytest.mark.parametrize("dtype", FLOATS + (i8, u8, i32, i64), ids=short)
def test_types(dtype, level):
    """Nearest takes every type."""
    x = random((1, 1, 2, 2), dtype)
    model = resize_model(x, scales=[1, 1, 2, 3])
    check(model, {"x": x}, np.repeat(np.repeat(x, 2, 2), 3, 3), level, peers=())


@levels
@pytest.mark.parametrize("dtype", [f16, f32, f64], ids=short)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_float_types(mode, dtype, level):
    x = random((1, 1, 3, 3), dtype)
    model = resize_model(x, sizes=[1, 1, 5, 4], mode=mode)
    check(model, {"x": x}, level=level, peers=("reference",), atol=1e-5 if dtype != f16 else 5e-3)


@levels
@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "HW", "batch-too"])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_which_axes_are_scaled(mode, layout, level):
    """The scaled axes need not be the last two."""
    shape, scales = {
        "NCHW": ((2, 3, 4, 5), (1, 1, 2, 1.5)),
        "NHWC": ((2, 4, 5, 3), (1, 2, 1.5, 1)),
        "HW": ((4, 5), (2, 1.5)),
        "batch-too": ((2, 1, 2, 3), (2, 1, 2, 1)),
    }[layout]
    x = random(shape)
    want = resize(x, scales=scales, mode=mode)
    check(resize_model(x, scales=scales, mode=mode), {"x": x}, want, level, peers=(), atol=1e-5)
    unknown = resize_model(x, scales=scales, mode=mode, spec=(f32, [f"d{i}" for i in range(x.ndim)]))
    check(unknown, {"x": x}, want, level, peers=(), atol=1e-5)


@levels
@pytest.mark.parametrize("opset", [9, 10, 11, 13])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_older_forms(mode, opset, level):
    """Upsample-9 and Resize-10 are asymmetric and floor; Resize-11 has roi and scales as inputs that must be there."""
    x = random((1, 1, 3, 4))
    scales = np.array([1, 1, 2, 1.5], f32)
    if opset <= 10:
        model = make_model(
            [node("Upsample" if opset == 9 else "Resize", "x,s", "y", mode=mode)],
            {"x": x},
            {"y": f32},
            {"s": scales},
            opset=opset,
        )
        options = dict(coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    else:
        weights, options = {"r": np.zeros(0, f32), "s": scales}, {}
        model = make_model([node("Resize", "x,r,s", "y", mode=mode)], {"x": x}, {"y": f32}, weights, opset=opset)
    check(model, {"x": x}, resize(x, scales=scales, mode=mode, **options), level, peers=(), atol=1e-5)


BAD = {
    "scale-0": dict(scales=[1, 1, 0, 1]),
    "scale-negative": dict(scales=[1, 1, -2, 1]),
    "scale-nan": dict(scales=[1, 1, np.nan, 1]),
    "scale-inf": dict(scales=[1, 1, np.inf, 1]),
    "scales-short": dict(scales=[2, 2]),
    "sizes-short": dict(sizes=[2, 2]),
    "size-negative": dict(sizes=[1, 1, -1, 2]),
    "size-huge": dict(sizes=[1, 1, 2**40, 2**40]),
    "scale-huge": dict(scales=[1, 1, 3e38, 3e38]),
    "mode": dict(scales=[1, 1, 2, 2], mode="fuzzy"),
    "coordinates": dict(scales=[1, 1, 2, 2], coordinate_transformation_mode="wrong"),
    "axis-beyond": dict(sizes=[2], axes=[4]),
    "axis-twice": dict(sizes=[2, 2], axes=[2, 2]),
    "crop-without-roi": dict(sizes=[1, 1, 2, 2], coordinate_transformation_mode="tf_crop_and_resize"),
}


@levels
@pytest.mark.parametrize("why", BAD)
def test_what_makes_no_sense_is_refused(why, level):
    x = random((1, 1, 2, 2))
    with np.errstate(all="ignore"):
        model = resize_model(x, **BAD[why])
    assert_load_or_run_refused(model, {"x": x}, level, node="the_resize")


@levels
def test_neither_scales_nor_sizes_or_both(level):
    x = random((1, 1, 2, 2))
    weights = {"s": np.array([1, 1, 2, 2], f32), "z": np.array([1, 1, 4, 4])}
    for names in ("x", "x,,", "x,,s,z"):
        model = make_model([node("Resize", names, "y", name="the_resize")], {"x": x}, {"y": f32}, weights)
        assert_load_or_run_refused(model, {"x": x}, level, node="the_resize")


@levels
def test_two_shapes_one_model(level):
    """Dynamic height and width, one load."""
    spec = (f32, [1, 1, "h", "w"])
    for mode, coordinates in itertools.product(["nearest", "linear"], ["half_pixel", "align_corners"]):
        for h, w in ((3, 4), (6, 2)):
            x, options = (
                random((1, 1, h, w)),
                dict(scales=[1, 1, 2, 2], mode=mode, coordinate_transformation_mode=coordinates),
            )
            check(resize_model(x, spec=spec, **options), {"x": x}, resize(x, **options), level, peers=(), atol=1e-5)
