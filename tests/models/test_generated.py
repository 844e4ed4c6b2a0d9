"""The test models are worth testing with: valid, with outputs that have spread, and sensitive to every weight and input."""

import os

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from tests import models
from tests.models import registry
from tests.models.builder import rng_for

# Variant, input sizes that keep a run short, and, for models of many or large weights, every how manieth is tried.
_SMALL = {
    "resnet50": ({"size": None}, {"height": 64, "width": 64}, 2),
    "mobilenet_v2": ({"size": None}, {"height": 64, "width": 64}, 1),
    "densenet121": ({"size": None}, {"height": 64, "width": 64}, 4),
    "vgg19": ({"size": 32}, {"size": 32}, 2),
    "bert_base": ({}, {"seq": 8}, 7),
    "minilm": ({}, {"batch": 2, "seq": 8, "padding": 1}, 1),
    "vit_small": ({"size": 64}, {"size": 64}, 2),
    "gpt": ({}, {"batch": 2, "seq": 3, "past": 4, "padding": 1}, 1),
    "lstm": ({}, {"batch": 2, "seq": 7}, 1),
    "small20": ({}, {"batch": 2}, 1),
}


def _session(model_or_path, level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    source = model_or_path if isinstance(model_or_path, str | bytes) else model_or_path.SerializeToString()
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def _run(session, feeds):
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds), strict=True))


def test_every_generated_model_is_listed():
    assert set(_SMALL) == set(models.GENERATED)


def test_opsets_vary():
    opsets = {onnx.load(models.path(name)).opset_import[0].version for name in ("lstm", "small20", "mobilenet_v2")}
    assert opsets == {16, 18, 12}


# One worker for all tests of a model: its file is then made once.
each_generated = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in models.GENERATED]
)


@each_generated
def test_valid_with_outputs_that_have_spread_and_follow_the_inputs(name):
    options, dims, _ = _SMALL[name]
    file = models.path(name, **options)
    onnx.checker.check_model(str(file), full_check=True)
    session = _session(str(file))
    feeds = models.inputs(name, **dims)
    outputs = _run(session, feeds)
    for key, values in outputs.items():
        assert np.isfinite(values).all()
        assert values.std() >= 0.1, key
        # Saturated outputs would all but coincide.
        assert len(np.unique(np.round(values / values.std(), 2))) > min(30, values.size // 3), key
    for key in feeds:
        if key in ("attention_mask", "lengths", "token_type_ids", "position_ids"):
            continue  # integers with a meaning: the changes below would be out of range
        changed = dict(feeds)
        if feeds[key].dtype.kind == "f":
            changed[key] = feeds[key] + 0.05 * rng_for("noise", key).standard_normal(feeds[key].shape, dtype=np.float32)
        else:
            changed[key] = np.where(feeds[key] > 1001, feeds[key] - 1, feeds[key])
        assert _largest_excess(_run(session, changed), outputs) > 10, key


@each_generated
def test_rounding_stays_small(name):
    """Another order of rounding moves the outputs by well under what is allowed: the tolerance is fair."""
    options, dims, _ = _SMALL[name]
    file, feeds = str(models.path(name, **options)), models.inputs(name, **dims)
    plain = _run(_session(file, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL), feeds)
    assert _largest_excess(_run(_session(file), feeds), plain) < 0.5


@pytest.mark.parametrize("name", ["bert_base", "minilm", "gpt"])
def test_tokens_stay_different(name):
    """Tokens that grew alike would hide wrong attention."""
    (hidden, *_) = _run(_session(str(models.path(name))), models.inputs(name, seq=32)).values()
    assert np.median(np.corrcoef(hidden[0])) < 0.8


def _largest_excess(got, want):
    return max(models.excess(got[key], want[key]) for key in want)


def _has_no_effect(name):
    # A key bias adds the same to all scores of a query; softmax takes it out again.
    return name.endswith("attention.self.key.bias")


@each_generated
def test_every_weight_matters(name):
    """Noise of 5 % on any one weight breaks the agreement that is asked of pyasc, by a factor of 10 and more."""
    options, dims, every = _SMALL[name]
    model = onnx.load(models.path(name, **options))
    floats = [i for i in model.graph.initializer if i.data_type == onnx.TensorProto.FLOAT and np.prod(i.dims) > 1]
    # Initializers that are inputs too may be given at run time.
    model.graph.input.extend(helper.make_tensor_value_info(i.name, i.data_type, i.dims) for i in floats)
    session = _session(model)
    feeds = models.inputs(name, **dims)
    want = _run(session, feeds)
    weak = []
    for weight in floats[::every]:
        values = numpy_helper.to_array(weight)
        noise = rng_for("noise", weight.name).standard_normal(values.shape, dtype=np.float32)
        changed = values + np.float32(0.05 * values.std()) * noise
        effect = _largest_excess(_run(session, {**feeds, weight.name: changed}), want)
        if effect < 10 and not _has_no_effect(weight.name):
            weak.append(f"{weight.name}: {effect:.2f}")
    assert not weak


@pytest.mark.parametrize("name", [n for n in models.NAMES if not n.startswith("light_") and n not in models.GENERATED])
def test_packaged_model_runs(name):
    session = _session(str(models.path(name)))
    if models.feedback(name):
        steps = models.run_steps(lambda feeds: _run(session, feeds), name, 12)
        probability = np.concatenate([np.ravel(s.get("output", s.get("speech_probs"))) for s in steps])
        assert probability.max() - probability.min() > 0.1
    else:
        for values in _run(session, models.inputs(name, batch=2)).values():
            assert np.isfinite(values).all() and models.excess(values[0], values[1]) > 10


@pytest.mark.parametrize("name", ["light_squeezenet", "light_shufflenet", "light_inception_v2"])
def test_light_model_has_spread(name):
    onnx.checker.check_model(str(models.path(name)), full_check=True)
    (values,) = _run(_session(str(models.path(name))), models.inputs(name)).values()
    scores = np.log(values)
    assert np.isfinite(scores).all() and scores.std() > 0.1
    assert models.path(name, weights="constant").name == f"{name}.onnx"


def test_inputs_are_the_same_each_time_and_follow_dims():
    first, again = (models.inputs("minilm", seq=9) for _ in range(2))
    assert all(np.array_equal(first[k], again[k]) for k in first)
    assert first["input_ids"].shape == (1, 9)
    assert models.inputs("minilm", seq=5)["input_ids"].shape == (1, 5)


def test_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYASC_MODEL_CACHE", str(tmp_path / "cache"))
    made = models.path("small20")
    assert made.parent == tmp_path / "cache" and models.path("small20") == made
    content = made.read_bytes()

    sources = tmp_path / "sources"
    sources.mkdir()
    for file in ("small.py", "builder.py"):
        (sources / file).write_bytes((registry.SOURCES / file).read_bytes())
    monkeypatch.setattr(registry, "SOURCES", sources)
    assert models.path("small20") == made
    with (sources / "small.py").open("a") as file:
        file.write("# changed\n")
    remade = models.path("small20")
    assert remade != made and remade.read_bytes() == content
    assert made.exists(), "another checkout may still use it"

    os.utime(made, (0, 0))
    remade.unlink()
    models.path("small20")
    assert [f.name for f in made.parent.iterdir()] == [remade.name]


def test_excess():
    want = np.asarray([1.0, -10.0, np.nan, np.inf], np.float32)
    assert models.excess(want, want) == 0
    assert models.excess(want + np.float32([1e-4, 0, 0, 0]), want) == pytest.approx(0.5, rel=0.01)
    assert models.excess(want + np.float32([0, 0.01, 0, 0]), want) == pytest.approx(9.1, rel=0.01)
    for wrong in ([1, -10, 0, np.inf], [1, -10, np.nan, -np.inf], [np.nan, -10, np.nan, np.inf]):
        assert models.excess(np.float32(wrong), want) == np.inf
    assert models.excess(want[None], want) == models.excess(want.astype(np.float64), want) == np.inf
    assert models.excess(np.int64([1, 2]), np.int64([1, 3])) == np.inf
    assert models.excess(np.float32([0.0]), np.float32([0.0])) == 0
    assert models.excess(np.float32([1e-9]), np.float32([0.0])) == np.inf
    assert models.excess(np.empty((0, 3), np.float32), np.empty((0, 3), np.float32)) == 0


def test_difference():
    want = np.float32([1, -4, np.nan])
    assert models.difference(want, want) == 0
    assert models.difference(want + np.float32([0.5, 0, 0]), want) == pytest.approx(0.125)
    assert models.difference(np.float32([1, np.nan, np.nan]), want) == np.inf
    assert models.difference(want[:2], want) == models.difference(np.int64([1]), np.int64([2])) == np.inf
    assert models.difference(np.float32([1e-9]), np.float32([0.0])) == np.inf


def test_unknown_name():
    with pytest.raises(KeyError, match="no test model 'resnet51'.*resnet50"):
        models.path("resnet51")
