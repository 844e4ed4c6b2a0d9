"""Whole models give ONNX Runtime's outputs at every optimisation level and for several input shapes.

Allowed is an error of 1e-4 relative plus 1e-5 of the largest output. Level 0 may run plain reference kernels, so it gets small
inputs; the sizes that models are made for run at level 3.
"""

import dataclasses
import functools

import numpy as np
import onnxruntime
import pytest

import engines
from tests import models

ALL = (0, 1, 2, 3)
TOP = (3,)


@dataclasses.dataclass(frozen=True)
class Case:
    """A model file (`options` choose the variant), the input sizes to run one after the other, and the levels.

    Where there are `steps`, each size is run that often with the states carried over.
    """

    model: str
    sizes: list[dict]
    levels: tuple[int, ...] = ALL
    options: dict = dataclasses.field(default_factory=dict)
    steps: int = 0

    def __str__(self):
        return "-".join([self.model, *(f"{k}_{v}" for k, v in self.options.items())])


_SMALL_IMAGES = [{"height": 64, "width": 64}, {"batch": 2, "height": 32, "width": 64}]
_ANY_SIZE = {"size": None}
CASES = [
    Case("resnet50", _SMALL_IMAGES, options=_ANY_SIZE),
    Case("resnet50", [{}, {"batch": 2}], TOP),
    Case("mobilenet_v2", _SMALL_IMAGES, options=_ANY_SIZE),
    Case("mobilenet_v2", [{}, {"batch": 3}], TOP),
    Case("densenet121", _SMALL_IMAGES, options=_ANY_SIZE),
    Case("densenet121", [{}], TOP),
    Case("vgg19", [{"size": 32}, {"size": 32, "batch": 2}], options={"size": 32}),
    Case("vgg19", [{}], TOP),
    Case("bert_base", [{"seq": 8}, {"batch": 2, "seq": 5, "padding": 1}]),
    Case("bert_base", [{"seq": 128}, {"batch": 3, "seq": 17, "padding": 4}], TOP),
    Case("minilm", [{"seq": 8}, {"batch": 2, "seq": 12, "padding": 2}, {"seq": 1}]),
    Case("minilm", [{"seq": 128}, {"batch": 4, "seq": 33, "padding": 5}], TOP),
    Case("vit_small", [{"size": 64}, {"size": 64, "batch": 2}], options={"size": 64}),
    Case("vit_small", [{}, {"batch": 2}], TOP),
    Case("gpt", [{"seq": 5, "past": 0}, {"past": 7}, {"batch": 2, "seq": 3, "past": 4, "padding": 1}], steps=2),
    Case("gpt", [{"seq": 32, "past": 0}, {"past": 128}], TOP, steps=3),
    Case("lstm", [{"seq": 9}, {"batch": 3, "seq": 6}]),
    Case("lstm", [{}, {"batch": 5}], TOP),
    Case("small20", [{}, {"batch": 3}]),
    Case("ocr_det", [{"height": 96, "width": 192}, {"batch": 2, "height": 96, "width": 160}]),
    Case("ocr_det", [{}], TOP),
    Case("ocr_rec", [{"width": 64}, {"batch": 2, "width": 40}]),
    Case("ocr_rec", [{}, {"batch": 3, "width": 480}], TOP),
    Case("ocr_cls", [{}, {"batch": 3}]),
    Case("silero_sequence", [{"length": 6}, {"length": 2}], steps=2),
    Case("silero_sequence", [{}], TOP, steps=2),
    Case("silero_vad", [{}, {"rate": 8000}, {"batch": 2}], steps=6),
    Case("silero_op15", [{}, {"batch": 2}], steps=6),
    Case("silero_op18", [{}, {"rate": 8000}, {"batch": 2}], steps=6),
    Case("silero_half", [{}, {"batch": 2}], steps=6),
    Case("silero_openvino", [{}], steps=6),
    Case("magika", [{}, {"batch": 2}]),
    Case("light_shufflenet", [{}]),
    # Its weights are computed by nodes: without constant folding convolutions get them at run time.
    Case("light_shufflenet", [{}], options={"weights": "constant"}),
    Case("light_squeezenet", [{}], TOP),
    Case("light_inception_v1", [{}], TOP),
    Case("light_inception_v2", [{}], TOP),
    Case("light_resnet50", [{}], TOP),
    Case("light_densenet121", [{}], TOP),
    Case("light_bvlc_alexnet", [{}], TOP),
]


def _runs(run, case):
    """The outputs (lists of dicts) for each of the case's sizes; the first size comes again at the end."""
    results = []
    for size in [*case.sizes, case.sizes[0]]:
        if case.steps:
            results.append(models.run_steps(run, case.model, case.steps, **size))
        else:
            results.append([run(models.inputs(case.model, **size))])
    return results


# Levels of a case follow each other: one entry is enough, and big models do not pile up.
@functools.lru_cache(maxsize=1)
def _expected(index):
    """ONNX Runtime's outputs with its own optimiser off: the graph as it is written."""
    case = CASES[index]
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    file = str(models.path(case.model, **case.options))
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return _runs(lambda feeds: dict(zip(names, session.run(names, feeds), strict=True)), case)


def _tests():
    for index, case in enumerate(CASES):
        group = pytest.mark.xdist_group(case.model)
        for level in case.levels:
            sizes = "full" if case.levels == TOP else "small"
            yield pytest.param(index, level, id=f"{case}-{sizes}-level{level}", marks=group)


@pytest.mark.parametrize(("index", "level"), list(_tests()))
def test_model_agrees_with_onnxruntime(index, level):
    case = CASES[index]
    want = _expected(index)
    model = engines.load(str(models.path(case.model, **case.options)), level)
    got = _runs(model.run, case)
    wrong = []
    for number, size in enumerate(case.sizes):
        for step, (got_step, want_step) in enumerate(zip(got[number], want[number], strict=True)):
            for name, values in want_step.items():
                excess = models.excess(got_step[name], values)
                if not excess <= 1:
                    wrong.append(f"{name} {np.shape(values)} at {size or 'full size'}, step {step}: {excess:.3g} times")
    assert not wrong, "error over what is allowed:\n" + "\n".join(wrong[:20])
    for first_step, last_step in zip(got[0], got[-1], strict=True):
        for name, values in first_step.items():
            assert np.array_equal(values, last_step[name]), f"{name} differs when the first shape comes again"


def test_every_model_is_covered():
    # The two large ones of the light family bring no operator that the others do not have.
    assert {case.model for case in CASES} == set(models.NAMES) - {"light_vgg19", "light_zfnet512"}
