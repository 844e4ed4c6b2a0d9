"""Models for tests and benchmarks: generated ones with random weights, and those that installed packages ship.

    models.path("resnet50")             the ONNX file; generated on first use into `.cache/models` of the checkout
                                        (or `PYASC_MODEL_CACHE`), again when the generator's source has changed
    models.path("resnet50", size=None)  a variant: symbolic height and width, same weights
    models.inputs("bert_base", seq=8)   input arrays by name, the same ones each time
    models.run_steps(run, "gpt", 4)     outputs of four steps, each fed with the states of the one before
    models.NAMES                        all names

`python -m tests.models [NAME...]` generates files and prints where they are.
"""

from . import bert, densenet, gpt, light, lstm, mobilenet, packages, resnet, small, vgg, vit
from .builder import rng_for
from .compare import ABSOLUTE_OF_LARGEST_WINOGRAD, difference, excess

_FAMILIES = (resnet, mobilenet, vgg, densenet, bert, vit, gpt, lstm, small, packages, light)
_MODELS = {model.name: model for family in _FAMILIES for model in family.MODELS}

__all__ = ["ABSOLUTE_OF_LARGEST_WINOGRAD", "GENERATED", "NAMES", "difference", "excess", "feedback", "inputs", "path", "run_steps"]

NAMES = tuple(_MODELS)
GENERATED = tuple(m.name for f in _FAMILIES if f not in (packages, light) for m in f.MODELS)


def _model(name):
    if name not in _MODELS:
        raise KeyError(f"no test model {name!r}; there are {', '.join(NAMES)}")
    return _MODELS[name]


def path(name, **options):
    """The model's file as a `pathlib.Path`. `options` are those of the family's `build`."""
    return _model(name).path(**options)


def inputs(name, **dims):
    """Input arrays by name. `dims` are those of the family's `inputs`; the defaults are the benchmark's sizes."""
    key = tuple(sorted(dims.items()))
    return _model(name).make_inputs(rng_for(name, key), **dims)


def feedback(name):
    """Which output becomes which input of the next step; empty for models without a state."""
    return dict(_model(name).feedback)


def run_steps(run, name, count, **dims):
    """Calls `run(inputs) -> outputs by name` for `count` steps, states carried over; gives the list of outputs."""
    results = []
    for step in range(count):
        feeds = inputs(name, step=step, **dims)
        if results:
            feeds.update({into: results[-1][out] for out, into in feedback(name).items()})
        results.append(run(feeds))
    return results
