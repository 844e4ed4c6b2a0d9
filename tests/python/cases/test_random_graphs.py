"""Whole graphs against their nodes one by one: passes, views, results in place and layouts must not show, whatever stands beside what."""

import numpy as np
import pytest

import engines
from cases.random_graphs import Builder
from oracle import difference, f16, make_model

# Names of the dimensions where the model does not know its extents.
SPECS = {
    "known": lambda a: a,
    "named": lambda a: (a.dtype, [f"d{n}" if n > 1 else n for n in a.shape]),
    "open": lambda a: a.dtype,
}


def differs(got, want):
    """A sentence where more differs than rounding explains: it may decide a comparison or a tie here and there."""
    wide = want.dtype == f16
    text = difference(got, want, 5e-2 if wide else 2e-3, 2e-2 if wide else 1e-3)
    if text is None or got.shape != want.shape or got.dtype != want.dtype:
        return text
    with np.errstate(all="ignore"):
        off = ~np.isclose(got.astype(float), want.astype(float), 1e-2, 1e-2, equal_nan=True)
    return text if np.mean(off) > 0.1 else None


@pytest.mark.parametrize(
    "steps, seeds", [(12, range(s, s + 10)) for s in range(0, 60, 10)] + [(40, range(s, s + 5)) for s in range(100, 130, 5)]
)
def test_graphs(steps, seeds):
    wrong = []
    for seed in seeds:
        graph = Builder(seed, steps)
        outputs = graph.outputs()
        read = {name for n in graph.nodes for name in n.input}
        feeds = {n: a for n, a in graph.feeds.items() if n in read}
        constants = {n: a for n, a in graph.constants.items() if n in read}
        for how, spec in SPECS.items():
            model = make_model(graph.nodes, {n: spec(a) for n, a in feeds.items()}, dict.fromkeys(outputs), constants)
            for level in (0, 3):
                try:
                    got = engines.load(model, level).run(feeds)
                except engines.refusals() as error:
                    wrong.append(f"seed {seed}, shapes {how}, level {level}: {error}")
                    continue
                texts = [f"{o}: {text}" for o in outputs if (text := differs(got[o], graph.values[o]))]
                wrong += [f"seed {seed}, shapes {how}, level {level}: {text}" for text in texts[:1]]
    assert not wrong, "\n".join(wrong)
