"""The measurement of chains works: every chain is a model that both engines run alike."""

import numpy as np
import pytest

from tests.bench import chains


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("chain", chains.CHAINS, ids=lambda chain: chain[0])
def test_chain(chain, dtype):
    runs = chains.engines(*chains.make(*chain[1:], 5, 130, dtype), threads=1)
    for name in ("plain", "onnxruntime"):
        tolerance = 1e-5 if dtype == "float32" else 1e-2
        np.testing.assert_allclose(runs["fused"](), runs[name](), rtol=tolerance, atol=tolerance)
    assert all(time > 0 for time in chains.measure(runs, rounds=1).values())
