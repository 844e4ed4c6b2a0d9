"""Cases of ai.onnx.ml that prepare features and look up codes and labels; NumPy says what each gives."""

import numpy as np
from onnx import helper

from tests.conformance.edge_elementwise import case
from tests.conformance.edge_kit import MILD, TAME, f32, f64, i32, i64, specials, string
from tests.conformance.edge_paths import ml_oracle, oracle

TRANSFORMS = (None, None, "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
i16 = np.dtype(np.int16)


def rows(kit, features=None, styles=MILD):
    """[N, C], or [C]: one row."""
    width = kit.integer(1, 4) if features is None else features
    return kit.input(0, kit.one_of((kit.integer(0, 9), width), (width,), (1, width)), styles)


def numbers(kit, count, styles=("plain", "ties")):
    """A list of `count` attribute values."""
    return kit.array((count,), f32, styles).tolist()


def quiet(function, *arguments):
    with np.errstate(all="ignore"):
        return function(*arguments)


@case("ArrayFeatureExtractor")
def array_feature_extractor(kit):
    shape = kit.shape(min_rank=1)
    n = shape[-1]
    at = kit.integers(0, n - 1, kit.one_of((2,), (1,), (1, 3), (2, 2), (0,)) if n else (0,))
    x = kit.input(0, shape)
    picked = x[..., at.reshape(-1)]
    return kit.case(x, at, expected=[picked[None] if len(shape) == 1 else picked])


@case("Binarizer")
def binarizer(kit):
    x, threshold = kit.input(0, kit.shape()), kit.one_of(None, 1.0, -0.5, float("inf"), float("nan"))
    return kit.case(x, threshold=threshold, expected=[(x > f32.type(threshold or 0)).astype(x.dtype)])


@case("Imputer")
def imputer(kit):
    shape = kit.shape(min_rank=1, max_rank=3)
    x = kit.input(0, shape)
    count = kit.one_of(1, max(shape[-1], 1))
    if oracle.is_float(x.dtype):
        wanted, values = kit.one_of(None, 1.0, float("nan"), float("inf"), -0.0), numbers(kit, count, ("plain", "special"))
        at = np.isnan(x) if wanted is not None and np.isnan(wanted) else x == f32.type(wanted or 0)
        attributes = dict(replaced_value_float=wanted, imputed_value_floats=values)
    else:
        wanted, values = kit.one_of(None, 1, -1, -(2**31)), kit.integers(-9, 9, (count,)).tolist()
        at = x == (wanted or 0)
        attributes = dict(replaced_value_int64=wanted, imputed_value_int64s=values)
    fill = np.broadcast_to(np.array(values, f32 if oracle.is_float(x.dtype) else i64), shape)
    return kit.case(x, **attributes, expected=[quiet(np.where, at, fill, x).astype(x.dtype)])


@case("Normalizer")
def normalizer(kit):
    x, norm = rows(kit), kit.one_of(None, "MAX", "L1", "L2")
    if x.ndim == 2 and len(x) and kit.flag():
        x[0] = 0
    wide = x.astype(np.float64)
    measure = {"L1": lambda v: np.abs(v).sum(-1), "L2": lambda v: np.sqrt((v * v).sum(-1))}
    by = quiet(measure.get(norm, lambda v: v.max(-1)), wide)[..., None]
    return kit.case(x, norm=norm, expected=[quiet(np.divide, wide, np.where(by == 0, 1, by)).astype(f32)])


@case("Scaler")
def scaler(kit):
    shape = kit.shape(min_rank=1, max_rank=3, low=1)
    x = kit.input(0, shape, MILD)
    some = lambda: kit.one_of(numbers(kit, 1), numbers(kit, shape[-1]), None)
    offset, scale = some(), some()
    wide = x.astype(f32 if x.dtype == f32 else np.float64)
    want = quiet(lambda: (wide - np.array(offset or [0], f32)) * np.array(scale or [1], f32))
    return kit.case(x, offset=offset, scale=scale, expected=[want.astype(f32)])


@case("FeatureVectorizer")
def feature_vectorizer(kit):
    count = kit.integer(0, 4)
    parts = [kit.input(0, (count, kit.integer(1, 3))) for _ in range(kit.integer(1, 3))]
    widths = [p.shape[1] + kit.one_of(0, 0, 1, -1) for p in parts]
    pieces = [np.pad(p[:, :w], ((0, 0), (0, max(0, w - p.shape[1])))) for p, w in zip(parts, widths)]
    want = quiet(lambda: np.concatenate([p.astype(f32) for p in pieces], 1))
    return kit.case(*parts, inputdimensions=widths, expected=[want])


# ---- codes ----

_TEXTS = ("a", "", "A b", "ß", "_Unused")


def _codes(kit, dtype, count, keys=False):
    """Different values to encode from or to."""
    if dtype == string:
        return np.array(kit.draw_permutation(_TEXTS)[:count], object)
    if oracle.is_float(dtype):
        pool = [0.5, -0.0, float("nan"), float("inf"), -3.0]
        return np.array(kit.draw_permutation(pool)[:count], dtype)
    limits = np.iinfo(dtype)
    return np.array(kit.draw_permutation([3, 0, -1, int(limits.min), int(limits.max)])[:count], dtype)


def _lookup(x, keys, values, default, dtype):
    """NaN is one key, and so are 0 and -0; of a key that comes twice the last counts."""
    plain = lambda v: "nan" if isinstance(v, float) and v != v else v
    table = {plain(k): v for k, v in zip(keys.tolist(), np.asarray(values).tolist())}
    flat = [table.get(plain(v), default) for v in x.reshape(-1).tolist()]
    return np.array(flat, dtype).reshape(x.shape) if flat else np.zeros(x.shape, dtype)


def _drawn(kit, keys, shape):
    """An array of keys and of other values."""
    pool = np.concatenate([keys, np.array(["other"], object) if keys.dtype == string else specials(keys.dtype)])
    return np.asarray(pool[kit.integers(0, len(pool) - 1, shape)], pool.dtype).reshape(shape)


_LISTS = {i64: "int64s", f32: "floats", string: "strings"}


@case("LabelEncoder")
def label_encoder(kit):
    if kit.opset == 1:
        return _first_label_encoder(kit)
    types = (f32, i64, string) if kit.opset == 2 else (f32, i64, string, i32, i16, f64)
    source, target = kit.one_of(*types), kit.one_of(*types)
    count = kit.integer(1, 5)
    keys, values = _codes(kit, source, count, True), _codes(kit, target, count)
    x = _drawn(kit, keys, kit.shape(max_rank=3))
    attributes = {}
    for what, array in (("keys", keys), ("values", values)):
        if array.dtype in _LISTS and (kit.opset == 2 or kit.flag()):
            attributes[f"{what}_{_LISTS[array.dtype]}"] = array.tolist()
        else:
            attributes[f"{what}_tensor"] = ml_oracle.tensor(what, array)
    default = "_Unused" if target == string else -0.0 if oracle.is_float(target) else -1
    how = kit.one_of("none", "plain", "tensor" if kit.opset > 2 else "none")
    if how != "none":
        [default] = _codes(kit, target, 1).tolist()
    if how == "tensor":
        attributes["default_tensor"] = ml_oracle.tensor("default", np.array([default], target))
    elif how == "plain":
        name = "string" if target == string else "float" if oracle.is_float(target) else "int64"
        attributes[f"default_{name}"] = default
    return kit.case(x, **attributes, expected=[_lookup(x, keys, values, default, target)])


def _first_label_encoder(kit):
    words = _codes(kit, string, kit.integer(1, 4))
    if kit.flag():
        x, default = _drawn(kit, words, kit.shape(max_rank=2)), kit.one_of(None, 7)
        want = _lookup(x, words, np.arange(len(words)), -1 if default is None else default, i64)
        return kit.case(x, classes_strings=words.tolist(), default_int64=default, expected=[want])
    x, default = kit.integers(-2, 6, kit.shape(max_rank=2)), kit.one_of(None, "?")
    want = _lookup(x, np.arange(len(words)), words, "_Unused" if default is None else default, object)
    return kit.case(x, classes_strings=words.tolist(), default_string=default, expected=[want])


@case("CategoryMapper")
def category_mapper(kit):
    count = kit.integer(1, 4)
    words, codes = _codes(kit, string, count), _codes(kit, i64, count)
    attributes = dict(cats_strings=words.tolist(), cats_int64s=codes.tolist())
    if kit.flag():
        x, default = _drawn(kit, words, kit.shape(max_rank=2)), kit.one_of(None, 7)
        want = _lookup(x, words, codes, -1 if default is None else default, i64)
        return kit.case(x, **attributes, default_int64=default, expected=[want])
    x, default = _drawn(kit, codes, kit.shape(max_rank=2)), kit.one_of(None, "?")
    want = _lookup(x, codes, words, "_Unused" if default is None else default, object)
    return kit.case(x, **attributes, default_string=default, expected=[want])


@case("OneHotEncoder")
def one_hot_encoder(kit):
    kind = kit.dtype(0)
    words = _codes(kit, string if kind == string else i64, kit.integer(1, 4))
    x = _drawn(kit, words, kit.shape(max_rank=2))
    if kind != string:
        x = kit.one_of(quiet(x.astype, kind), kit.array(x.shape, kind, ("plain", "ties")))
    whole = quiet(np.trunc, x.astype(np.float64)) if oracle.is_float(kind) else x
    hits = whole[..., None] == words
    zeros = kit.one_of(None, 1, 0) if hits.any(-1).all() else None
    name = "cats_strings" if kind == string else "cats_int64s"
    return kit.case(x, **{name: words.tolist()}, zeros=zeros, expected=[hits.astype(f32)])


# ---- maps ----

_MAP_TYPES = {i64: 7, string: 8, f32: 1, f64: 11}


def _map(kit, key, value, keys):
    proto = helper.make_map_type_proto(_MAP_TYPES[key], helper.make_tensor_type_proto(_MAP_TYPES[value], []))
    values = kit.array((len(keys),), value, TAME).tolist()
    return dict(zip(keys, values)), {0: proto}


@case("DictVectorizer")
def dict_vectorizer(kit):
    key, value = kit.one_of((string, f32), (string, i64), (string, f64), (i64, string), (i64, f32), (i64, f64))
    pool = list(_TEXTS[:3]) if key == string else [3, -1, 2**40]
    vocabulary = list(kit.draw_permutation(pool))[: kit.integer(1, 3)]
    x, types = _map(kit, key, value, list(kit.draw_permutation([*pool, "z" if key == string else 9]))[: kit.integer(0, 4)])
    zero = "" if value == string else 0
    name = "string_vocabulary" if key == string else "int64_vocabulary"
    want = np.array([[x.get(k, zero) for k in vocabulary]], value)
    return kit.case(x, types=types, **{name: vocabulary}, expected=[want])


@case("CastMap")
def cast_map(kit):
    to = kit.one_of(None, "TO_FLOAT", "TO_INT64", "TO_STRING")
    sparse = kit.flag()
    keys = list(kit.draw_permutation([0, 1, 3, 6]))[: kit.integer(0, 4)]
    x, types = _map(kit, i64, kit.one_of(f32, string), keys)
    if any(isinstance(v, str) for v in x.values()):
        x = {k: kit.one_of("1.5", "-2", "1e3", "0") for k in x}
        if to == "TO_INT64":
            x = {k: kit.one_of("15", "-2", "0") for k in x}
    form = dict(map_form="SPARSE", max_map=kit.one_of(None, 2, 8)) if sparse else dict(map_form=kit.one_of(None, "DENSE"))
    return kit.case(x, types=types, cast_to=to, **form)


@case("ZipMap")
def zip_map(kit):
    count = kit.integer(1, 3)
    x = kit.input(0, kit.one_of((kit.integer(0, 3), count), (count,)))
    words = kit.one_of(_codes(kit, string, count), _codes(kit, i64, count)).tolist()
    name = "classlabels_strings" if isinstance(words[0], str) else "classlabels_int64s"
    want = [dict(zip(words, row)) for row in x.reshape(-1, count)]
    return kit.case(x, **{name: words}, expected=[want])
