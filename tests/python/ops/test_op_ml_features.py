"""ai.onnx.ml: features, codes and maps, against NumPy, the ONNX reference and ONNX Runtime."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from ops.ml_oracle import DOMAIN, NUMBERS, check_ml, ml_model, tensor
from oracle import assert_load_or_run_refused, assert_same, difference, f32, i64, make_graph, random, run

numbers = pytest.mark.parametrize("dtype", NUMBERS, ids=lambda t: np.dtype(t).name)
ORT, REFERENCE, NEITHER = ("onnxruntime",), ("reference",), ()
nan = np.nan


@numbers
def test_array_feature_extractor(dtype):
    x, y = random((2, 3, 5), dtype), np.array([[4, 0, 0, 2]], i64)
    check_ml("ArrayFeatureExtractor", {"x": x, "i": y}, x[..., [4, 0, 0, 2]])
    check_ml("ArrayFeatureExtractor", {"x": x[0, 0], "i": y}, x[0, 0][None, [4, 0, 0, 2]])
    check_ml("ArrayFeatureExtractor", {"x": x, "i": y[:, :0]}, x[..., :0], peers=NEITHER)
    for wrong in (5, -1):
        feeds = {"x": x, "i": np.array([wrong], i64)}
        assert_load_or_run_refused(ml_model("ArrayFeatureExtractor", feeds), feeds, code="E5007")


def test_array_feature_extractor_of_strings():
    x = np.array([["a", "b"], ["c", "d"]], object)
    check_ml("ArrayFeatureExtractor", {"x": x, "i": np.array([1], i64)}, x[:, 1:])


@numbers
def test_binarizer(dtype):
    x = random((3, 4), dtype)
    check_ml("Binarizer", x, (x > 1).astype(dtype), threshold=1.0, peers=ORT if dtype == f32 else NEITHER)
    check_ml("Binarizer", x[:0], x[:0], peers=NEITHER)


def test_binarizer_of_nan_is_zero():
    check_ml("Binarizer", np.array([nan, np.inf, -np.inf], f32), np.array([0, 1, 0], f32))


def test_feature_vectorizer():
    a, b, c = random((3, 2)), random((3, 4), i64), random((3, 1), np.float64)
    want = np.concatenate([a, b[:, :2], np.zeros((3, 1)), c, np.zeros((3, 2))], 1).astype(f32)
    model = ml_model("FeatureVectorizer", {"a": a, "b": b, "c": c}, inputdimensions=[2, 2, 4])
    got = run(model, {"a": a, "b": b, "c": c})["y"]
    assert_same(got[:, :4], want[:, [0, 1, 2, 3]])
    assert_same(got[:, 4:5], c.astype(f32))
    assert_same(got[:, 5:], np.zeros((3, 3), f32))
    check_ml("FeatureVectorizer", {"a": a, "b": random((3, 3))}, inputdimensions=[2, 3])
    check_ml("FeatureVectorizer", random((4,)), inputdimensions=[6], peers=ORT)
    check_ml("FeatureVectorizer", random((0, 4)), np.zeros((0, 4), f32), inputdimensions=[4], peers=NEITHER)


def test_feature_vectorizer_refuses():
    a, b = random((3, 2)), random((2, 2))
    for free in (False, True):
        model = ml_model("FeatureVectorizer", {"a": a, "b": b}, free=free, inputdimensions=[2, 2])
        assert_load_or_run_refused(model, {"a": a, "b": b}, code="E5001")
    for widths in ([2, 2], [-1], [2**62]):
        model = ml_model("FeatureVectorizer", {"a": a[:0]}, inputdimensions=widths)
        assert_load_or_run_refused(model, {"a": a[:0]}, code="E5003")


@pytest.mark.parametrize("values", [[9.0], [9.0, 8.0, 7.0]])
def test_imputer(values):
    x = np.array([[1, nan, 0], [nan, 2, nan], [0, 0, 3]], f32)
    at = np.broadcast_to(np.array(values, f32), x.shape)
    attributes = {"imputed_value_floats": values}
    check_ml("Imputer", x, np.where(np.isnan(x), at, x), replaced_value_float=nan, **attributes)
    check_ml("Imputer", x, np.where(x == 0, at, x), **attributes)
    check_ml("Imputer", x.astype(np.float64), np.where(x == 0, at, x).astype(np.float64), peers=NEITHER, **attributes)
    check_ml("Imputer", x[:0], x[:0], peers=NEITHER, **attributes)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_imputer_of_integers(dtype):
    x = random((4, 2), dtype)
    check_ml("Imputer", x, np.where(x == -1, [7, 8], x).astype(dtype), peers=NEITHER, imputed_value_int64s=[7, 8], replaced_value_int64=-1)


def test_imputer_refuses():
    x = random((2, 3))
    assert_load_or_run_refused(ml_model("Imputer", {"x": x}, imputed_value_floats=[1.0, 2.0]), {"x": x}, code="E5001")
    assert_load_or_run_refused(ml_model("Imputer", {"x": x}, imputed_value_int64s=[1]), {"x": x}, code="E5003")


@numbers
@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(norm, dtype):
    x = random((4, 5), dtype)
    x[1] = 0
    divisor = {
        "MAX": lambda v: v.max(1),
        "L1": lambda v: np.abs(v).sum(1),
        "L2": lambda v: np.sqrt((v * v).sum(1)),
    }[norm](x.astype(np.float64))[:, None]
    want = (x / np.where(divisor == 0, 1, divisor)).astype(f32)
    check_ml("Normalizer", x, want, norm=norm, peers=ORT)
    check_ml("Normalizer", x[0], want[0], norm=norm, peers=ORT)
    check_ml("Normalizer", x[:0], want[:0], norm=norm, peers=ORT)


def test_normalizer_spreads_nan():
    check_ml("Normalizer", np.array([[nan, 1, 2], [1, 2, 4]], f32), np.array([[nan] * 3, [0.25, 0.5, 1]], f32), norm="MAX", peers=NEITHER)


@numbers
@pytest.mark.parametrize("each", [True, False])
def test_scaler(dtype, each):
    x = random((4, 3), dtype)
    offset, scale = ([1.0, -2.0, 0.5], [2.0, 3.0, 0.25]) if each else ([0.5], [3.0])
    want = ((x - np.array(offset)) * np.array(scale)).astype(f32)
    check_ml("Scaler", x, want, offset=offset, scale=scale, peers=ORT)
    check_ml("Scaler", x[:0], want[:0], offset=offset, scale=scale, peers=NEITHER)


def test_scaler_refuses():
    x = random((2, 3))
    assert_load_or_run_refused(ml_model("Scaler", {"x": x}, offset=[1.0, 2.0], scale=[1.0, 2.0]), {"x": x}, code="E5001")


# ---- codes ----


@pytest.mark.parametrize("key", ["int64s", "strings", "floats"])
@pytest.mark.parametrize("value", ["int64s", "strings", "floats"])
@pytest.mark.parametrize("version", [2, 4])
def test_label_encoder(key, value, version):
    lists = {
        "int64s": [3, -1, 1 << 40],
        "strings": ["b", "", "ä"],
        "floats": [0.5, -0.0, -3.0],
    }
    dtypes = {"int64s": np.int64, "strings": object, "floats": np.float32}
    other = {"int64s": [4], "strings": ["none"], "floats": [7.0]}[key]
    x = np.array([lists[key] + other, other + lists[key][::-1]], dtypes[key])
    default = {"int64s": -7, "strings": "?", "floats": 2.5}[value]
    codes = dict(zip(lists[key], lists[value]))
    want = np.array([[codes.get(k, default) for k in row] for row in x.tolist()], dtypes[value])
    check_ml(
        "LabelEncoder",
        x,
        want,
        version=version,
        **{f"keys_{key}": lists[key], f"values_{value}": lists[value], f"default_{value.rstrip('s')}": default},
    )


def test_label_encoder_defaults():
    x = np.array([1, 2], i64)
    check_ml("LabelEncoder", x, np.array([5, -1], i64), version=2, keys_int64s=[1], values_int64s=[5])
    check_ml("LabelEncoder", x, np.array(["a", "_Unused"], object), version=2, keys_int64s=[1], values_strings=["a"])
    check_ml("LabelEncoder", x, np.array([1.5, -0.0], f32), version=2, keys_int64s=[1], values_floats=[1.5])


@pytest.mark.parametrize("key", [np.int64, np.int32, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("value", [np.int64, np.int32, np.int16, np.float32, np.float64])
def test_label_encoder_of_tensors(key, value):
    keys, values = np.array([3, 1, -4], key), np.array([7, -2, 5], value)
    x = np.array([[1, 3], [2, -4]], key)
    codes = {"keys_tensor": tensor("k", keys), "values_tensor": tensor("v", values)}
    want = np.array([[-2, 7], [9, 5]], value)
    check_ml("LabelEncoder", x, want, version=4, peers=NEITHER, default_tensor=tensor("d", np.array([9], value)), **codes)
    want[1, 0] = -1 if np.issubdtype(value, np.integer) else -0.0
    check_ml("LabelEncoder", x, want, version=4, peers=NEITHER, **codes)


def test_label_encoder_of_nan_and_repeated_keys():
    payload = np.array([0x7FC00001, 0xFFC00000], np.uint32).view(f32)
    check_ml("LabelEncoder", np.append(payload, f32.type(-0.0)), np.array([5, 5, 6], i64), version=4, peers=ORT, keys_floats=[nan, 0.0], values_int64s=[5, 6])
    check_ml("LabelEncoder", np.array([1, 2], i64), np.array([6, -1], i64), version=4, peers=REFERENCE, keys_int64s=[1, 1], values_int64s=[5, 6])


def test_label_encoder_of_many_keys():
    rng = np.random.default_rng(1)
    for keys in (np.arange(-500, 500), rng.choice(1 << 60, 1000)):
        values = rng.integers(0, 1 << 40, 1000)
        x = np.concatenate([keys, keys + 1, [-(1 << 63), (1 << 63) - 1]]).astype(i64)
        codes = dict(zip(keys.tolist(), values.tolist()))
        want = np.array([codes.get(k, -1) for k in x.tolist()], i64)
        check_ml("LabelEncoder", x, want, version=2, keys_int64s=keys.tolist(), values_int64s=values.tolist())


def test_label_encoder_of_the_first_version():
    classes = ["a", "b", "c"]
    x = np.array([["b", "z", "a"]], object)
    check_ml("LabelEncoder", x, np.array([[1, -1, 0]], i64), version=1, peers=ORT, classes_strings=classes)
    check_ml("LabelEncoder", np.array([2, 9, 0], i64), np.array(["c", "?", "a"], object), version=1, peers=ORT, classes_strings=classes, default_string="?")


def test_label_encoder_refuses():
    x = np.array([1], i64)
    for code, attributes in [
        ("E5003", {"keys_int64s": [1, 2], "values_int64s": [1]}),
        ("E5003", {"values_int64s": [1]}),
        ("E5003", {"keys_int64s": [1], "keys_floats": [1.0], "values_int64s": [1]}),
        ("E5002", {"keys_strings": ["a"], "values_int64s": [1]}),
        ("E5002", {"keys_int64s": [1], "values_int64s": [1], "default_tensor": tensor("d", np.array([1.0], f32))}),
    ]:
        assert_load_or_run_refused(ml_model("LabelEncoder", {"x": x}, version=4, **attributes), {"x": x}, code=code)


def test_category_mapper():
    cats = {"cats_int64s": [3, 4], "cats_strings": ["a", "b"]}
    check_ml("CategoryMapper", np.array([["b", "z"], ["a", ""]], object), np.array([[4, -1], [3, -1]], i64), peers=ORT, **cats)
    check_ml("CategoryMapper", np.array([4, 5], i64), np.array(["b", "?"], object), peers=ORT, default_string="?", **cats)
    x = np.array([1], i64)
    assert_load_or_run_refused(ml_model("CategoryMapper", {"x": x}, cats_int64s=[1]), {"x": x}, code="E5003")


@numbers
def test_one_hot_encoder(dtype):
    x = np.array([[1, 3], [7, 2]], dtype)
    want = (x[..., None] == np.array([3, 1, 2])).astype(f32)
    check_ml("OneHotEncoder", x, want, peers=ORT, cats_int64s=[3, 1, 2])
    check_ml("OneHotEncoder", x[:0], want[:0], peers=NEITHER, cats_int64s=[3, 1, 2])
    assert_load_or_run_refused(ml_model("OneHotEncoder", {"x": x}, cats_int64s=[3, 1, 2], zeros=0), {"x": x}, code="E5007")
    check_ml("OneHotEncoder", x[:1], want[:1], peers=NEITHER, cats_int64s=[3, 1, 2], zeros=0)


def test_one_hot_encoder_of_strings_and_fractions():
    x = np.array(["b", "z", "a"], object)
    check_ml("OneHotEncoder", x, np.array([[0, 1], [0, 0], [1, 0]], f32), peers=ORT, cats_strings=["a", "b"])
    x = np.array([1.7, nan, np.inf, -1e30], f32)
    check_ml("OneHotEncoder", x, np.array([[1, 0], [0, 0], [0, 0], [0, 0]], f32), peers=NEITHER, cats_int64s=[1, 2])


# ---- maps ----


def map_model(op, key, value, **attributes):
    kind = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))
    n = helper.make_node(op, ["x"], ["y"], name=op.lower(), domain=DOMAIN, **attributes)
    graph = make_graph([n], {"x": kind}, {"y": None})
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def check_map(op, key, value, x, want, ask=True, **attributes):
    model = map_model(op, key, value, **attributes)
    for level in (0, 3):
        assert_same(run(model, {"x": x}, level)["y"], want)
    if ask:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        assert_same(session.run(None, {"x": x})[0], want)


INT64, STRING, FLOAT, DOUBLE = TensorProto.INT64, TensorProto.STRING, TensorProto.FLOAT, TensorProto.DOUBLE


def test_dict_vectorizer():
    words = {"string_vocabulary": ["a", "c", "b", "z"]}
    check_map("DictVectorizer", STRING, FLOAT, {"a": 4.0, "c": 8.0}, np.array([[4, 8, 0, 0]], f32), **words)
    check_map("DictVectorizer", STRING, FLOAT, {"a": 4.0, "other": 8.0}, np.array([[4, 0, 0, 0]], f32), **words)
    check_map("DictVectorizer", STRING, INT64, {"z": 1}, np.array([[0, 0, 0, 1]], i64), False, **words)
    check_map("DictVectorizer", INT64, STRING, {1: "x", 3: "y"}, np.array([["y", "", "x"]], object), False, int64_vocabulary=[3, 2, 1])
    check_map("DictVectorizer", INT64, DOUBLE, {1: 1.5}, np.array([[0, 0, 1.5]]), False, int64_vocabulary=[3, 2, 1])
    check_map("DictVectorizer", INT64, FLOAT, {}, np.zeros((1, 3), f32), False, int64_vocabulary=[3, 2, 1])
    assert_load_or_run_refused(map_model("DictVectorizer", INT64, FLOAT, **words), {"x": {1: 1.0}}, code="E5002")


def test_cast_map():
    x = {3: 1.5, 1: -2.25}
    for to, dense in (("FLOAT", np.array([[-2.25, 1.5]], f32)), ("INT64", np.array([[-2, 1]], i64)), ("STRING", np.array([["-2.250000", "1.500000"]], object))):
        check_map("CastMap", INT64, FLOAT, x, dense, cast_to=f"TO_{to}")
    sparse = {"map_form": "SPARSE", "max_map": 5}
    check_map("CastMap", INT64, FLOAT, x, np.array([[0, -2.25, 0, 1.5, 0]], f32), **sparse)
    check_map("CastMap", INT64, FLOAT, {9: 1.0}, np.zeros((1, 5), f32), **sparse)
    check_map("CastMap", INT64, STRING, {2: "1.5", 0: "-2"}, np.array([[-2, 0, 1.5, 0, 0]], f32), False, **sparse)
    check_map("CastMap", INT64, FLOAT, {}, np.zeros((1, 0), f32), False)
    for code, value, entries, attributes in [
        ("E5007", FLOAT, {-1: 1.0}, sparse),
        ("E5003", STRING, {1: "1.5x"}, {}),
        ("E5007", FLOAT, {1: 1e30}, {"cast_to": "TO_INT64"}),
        ("E5003", FLOAT, {1: 1.0}, {"cast_to": "TO_BOOL"}),
        ("E5003", FLOAT, {1: 1.0}, {"map_form": "SPARSE", "max_map": -1}),
    ]:
        assert_load_or_run_refused(map_model("CastMap", INT64, value, **attributes), {"x": entries}, code=code)


@pytest.mark.parametrize("labels", [{"classlabels_strings": ["b", "a"]}, {"classlabels_int64s": [9, -4]}])
def test_zip_map(labels):
    [keys] = labels.values()
    x = random((3, 2))
    for rows in (x, x[:0], x[0]):
        for free, level in ((False, 0), (True, 3)):
            model = ml_model("ZipMap", {"x": rows}, version=1, free=free, **labels)
            got = run(model, {"x": rows}, level)["y"]
            want = [dict(zip(keys, row.tolist())) for row in np.atleast_2d(rows)]
            assert [{k: float(v) for k, v in row.items()} for row in got] == want
            assert all(not difference(v, np.asarray(v, f32)) for row in got for v in row.values())
    wide = random((3, 3))
    assert_load_or_run_refused(ml_model("ZipMap", {"x": wide}, version=1, **labels), {"x": wide}, code="E5001")
