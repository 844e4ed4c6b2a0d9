"""The measurement of calls works; what it gives is for docs/performance.md, as no test fails on time."""

from tests.bench import call_cost


def test_calls_from_both_sides_take_some_time():
    best = call_cost.measure(rounds=1)
    assert best["c"] > 0
    assert best["python"] > 0
