"""Whole models, as imported and as optimised, go out and come back; ONNX Runtime runs what goes out."""

import numpy as np
import onnx
import onnxruntime
import pytest

import pyasc
from tests import models

# With options of the file and sizes of the inputs that keep it quick. The others bring no operator that these do not have.
CASES = [
    ("resnet50", {"size": None}, {"height": 64, "width": 64}),
    ("mobilenet_v2", {"size": None}, {"height": 64, "width": 64}),
    ("minilm", {}, {"batch": 2, "seq": 12, "padding": 2}),
    ("gpt", {}, {"seq": 5, "past": 3}),
    ("lstm", {}, {"batch": 3, "seq": 6}),
    ("small20", {}, {}),
    ("ocr_det", {}, {"height": 96, "width": 192}),
    ("ocr_rec", {}, {"width": 64}),
    ("ocr_cls", {}, {}),
    ("silero_sequence", {}, {"length": 6}),
    ("silero_vad", {}, {}),
    ("silero_op18", {}, {"rate": 8000}),
    ("silero_half", {}, {}),
    ("magika", {}, {}),
    ("light_shufflenet", {}, {}),
    ("light_squeezenet", {}, {}),
]


def feeds_for(name, sizes):
    try:
        return models.inputs(name, step=0, **sizes)
    except TypeError:
        return models.inputs(name, **sizes)


def peer_outputs(model, feeds):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def worst(got, want):
    return max(models.excess(got[name], values) for name, values in want.items())


@pytest.mark.parametrize(("name", "options", "sizes"), CASES, ids=[case[0] for case in CASES])
def test_model_comes_back_the_same(name, options, sizes):
    model = pyasc.load(models.path(name, **options))
    feeds = feeds_for(name, sizes)
    want = model.run(feeds)

    exported = pyasc.onnx.export(model)
    again = pyasc.load(exported).run(feeds)
    for output, values in want.items():
        assert np.array_equal(again[output], values, equal_nan=True), output
    assert worst(peer_outputs(exported, feeds), want) <= 1

    optimized = pyasc.onnx.export(model, optimized=True)
    assert {node.domain for node in onnx.load_from_string(optimized).graph.node} <= {"", "ai.onnx.ml"}
    assert worst(pyasc.load(optimized).run(feeds), want) <= 1
    assert worst(peer_outputs(optimized, feeds), want) <= 1
