"""A load maps the file: what it takes beyond that is the packed weights and little else."""

import pytest

from tests.bench.load_memory import MODELS, measure


@pytest.mark.parametrize("shift", [0, 1], ids=["aligned", "misaligned"])
@pytest.mark.parametrize("model", list(MODELS))
def test_a_load_takes_the_packed_weights_and_ten_percent(model, shift):
    peak, packed = measure(model, megabytes=192, shift=shift)
    assert packed >= 192 << 20
    assert peak <= 1.1 * packed
