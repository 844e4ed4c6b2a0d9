"""A load maps the file: what it takes beyond that is the packed weights and little else."""

import pytest

from tests.bench.load_memory import measure


@pytest.mark.parametrize("model", ["matmul", "conv"])
def test_a_load_takes_the_packed_weights_and_ten_percent(model):
    peak, packed = measure(model, megabytes=60)
    assert packed >= 60 << 20
    assert peak <= 1.1 * packed
