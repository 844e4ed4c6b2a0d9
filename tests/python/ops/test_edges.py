"""A few edge cases of every operator and of small graphs, the same in each run; `python -m tests.conformance.edges` searches for more."""

import hypothesis
import pytest

import engines
from tests.conformance.edge_judge import judge
from tests.conformance.edge_worker import Worker
from tests.conformance.edges import CASES, GRAPHS, cases

FEW, GRAPH_COUNT = 4, 60


@pytest.fixture(scope="module")
def worker():
    """Peers may crash: they run elsewhere."""
    one = Worker()
    yield one
    one.close()


@pytest.mark.skipif(engines.ENGINE != "pyasc", reason="compares pyasc with all peers at once")
@pytest.mark.parametrize("op", [*GRAPHS, *sorted(CASES)])
def test_edges(op, worker):
    @hypothesis.settings(
        max_examples=GRAPH_COUNT if op in GRAPHS else FEW,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(cases(op))
    def look(case):
        verdict = judge(case, worker)
        assert not verdict.bad, f"{verdict.kind}: {case}\n{verdict.text}"

    look()


def test_every_operator_has_a_strategy():
    """Those with bodies have tests of their own (cases/test_shape_control_flow.py); the others make no use of tensors."""
    import pyasc._operators as operators

    names = {o.row["name"] for o in operators.registry().values() if o.row["domain"] in ("", "ai.onnx.ml", "ai.onnx.preview.training")}
    without = {"If", "Loop", "Scan", "SequenceMap", "Optional", "SequenceEmpty"}
    assert names - set(CASES) - without == set()
