"""How the plans of whole models come out: few changes of layout, and no more memory than the order of the steps needs."""

import gc

import pytest

import pyasc
from pyasc import _asc
from tests import models
from tests.bench import report

# At most so many layout changes. The first convolution reads plain images, so a network of convolutions only leaves the blocked
# layout, once; ocr_rec leaves it for its attention, comes back and leaves again; ocr_cls also leaves it for two channels in between.
TRANS_DATA = dict.fromkeys(report.NAMED, 0) | {
    "ocr_det": 1,
    "ocr_rec": 3,
    "ocr_cls": 2,
    "resnet50": 1,
    "mobilenet_v2": 1,
    "vgg19": 1,
    "densenet121": 1,
}
PEAK_OF_LOWER_BOUND = 1.05
THREADS = 2  # each has scratch of its own
_ALIGNMENT = 64

MODELS = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in report.NAMED]


def load(name):
    return pyasc.load(models.path(name), threads=THREADS)


def memory():
    """Bytes in use now, and the most since the last reset."""
    current, peak, _ = _asc.asc_device_get_memory("cpu")
    return current, peak


@pytest.mark.parametrize("name", MODELS)
def test_layouts_change_seldom(name):
    operators = [layer["operator"] for layer in load(name).summary()["layers"]]
    assert operators.count("asc.TransData") <= TRANS_DATA[name]


@pytest.mark.parametrize("name", MODELS)
def test_plans_take_what_the_order_of_steps_needs(name):
    feeds = models.inputs(name)
    model = load(name)
    plan = model.memory_plan({key: values.shape for key, values in feeds.items()})
    assert 0 < plan.lower_bound_bytes <= plan.peak_bytes <= PEAK_OF_LOWER_BOUND * plan.lower_bound_bytes
    # The arena tells all only where no value gets memory of its own while the steps run.
    assert not [buffer["name"] for buffer in plan.buffers if buffer["kind"] == "run"]

    # Nor do kernels and libraries take any: with the arena there, a run adds its outputs.
    model.run(feeds)
    gc.collect()
    _asc.asc_device_reset_peak("cpu")
    before, _ = memory()
    outputs = model.run(feeds)
    _, peak = memory()
    allowed = sum(-(-values.nbytes // _ALIGNMENT) * _ALIGNMENT for values in outputs.values())
    assert peak - before <= allowed
