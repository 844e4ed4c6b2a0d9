"""Searches for operators' edge cases on which pyasc is alone: empty dimensions, rank 0, every type, NaN, extreme attributes.

    python -m tests.conformance.edges [--examples N] [--seed N] [--op NAME ...] [--jobs N] [--verbose]

Hypothesis draws the cases from a strategy per kind of operator and the types of the ONNX schemas; pyasc at levels 0 and 3 is compared with the
reference evaluator, ONNX Runtime and NumPy, each in a worker process. The same seed gives the same cases.
"""

import argparse
import concurrent.futures
import multiprocessing
import sys

import hypothesis
import onnx
from hypothesis import strategies as st

from tests.conformance import edge_elementwise, edge_ml, edge_ml_models, edge_move, edge_network, edge_reduce, edge_training  # noqa: F401
from tests.conformance.edge_bodies import bodies, old_scans
from tests.conformance.edge_broken import broken
from tests.conformance.edge_graphs import graphs
from tests.conformance.edge_judge import BAD, judge, judge_levels
from tests.conformance.edge_kit import Kit, domain_of
from tests.conformance.edge_worker import Worker

CASES = edge_elementwise.CASES
# Opsets whose forms are compared: the newest that ONNX Runtime knows, and the newest.
OPSETS = (24, onnx.defs.onnx_opset_version())


def opsets_of(op):
    """Where the newest form is older than both there is one to test, and older versions of the same form; of other domains all."""
    if domain := domain_of(op):
        return [s.since_version for s in onnx.defs.get_all_schemas_with_history() if (s.name, s.domain) == (op, domain)]
    newest = onnx.defs.get_schema(op)
    try:
        onnx.defs.get_schema(op, OPSETS[0])
    except onnx.defs.SchemaError:
        return OPSETS[1:]
    compared = OPSETS if newest.since_version > OPSETS[0] else OPSETS[:1]
    history = [s for s in onnx.defs.get_all_schemas_with_history() if (s.name, s.domain) == (op, "")]
    older = [s.since_version for s in history if _form(s) == _form(newest) and not s.deprecated]
    return [*compared, *compared, *[v for v in older if v < OPSETS[0]]]


def _form(schema):
    """What a strategy for the newest form relies on."""
    takes = {t.type_param_str: any("tensor(" == a[:7] for a in t.allowed_type_strs) for t in schema.type_constraints}
    return [(i.name, takes.get(i.type_str)) for i in schema.inputs], sorted(schema.attributes), len(schema.outputs)


# In place of an operator: graphs of several nodes, and those whose nodes have bodies.
GRAPHS = {"graphs": graphs, "bodies": bodies, "old scans": old_scans}


@st.composite
def _nodes(draw, op):
    return CASES[op](Kit(draw, op, draw(st.sampled_from(opsets_of(op)))))


def cases(op):
    """The strategy for an operator's cases."""
    return GRAPHS[op]() if op in GRAPHS else _nodes(op)


def search(op, examples, seed, break_them=False):
    """Judges `examples` cases; gives the counts by kind, and the smallest cases of each kind that is worth a look."""
    worker, counts, found = Worker(), {}, {}

    @hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.seed(seed)
    @hypothesis.given(broken(cases(op)) if break_them else cases(op))
    def look(case):
        verdict = judge_levels(case, worker) if break_them else judge(case, worker)
        counts[verdict.kind] = counts.get(verdict.kind, 0) + 1
        if verdict.kind != "good":
            found.setdefault(verdict.kind, []).append((case.elements, str(case), verdict.text))

    try:
        look()
    except Exception as error:
        counts["strategy"] = 1
        found["strategy"] = [(0, op, f"{type(error).__name__}: {error}")]
    finally:
        worker.close()
    return op, counts, {kind: sorted(rows)[:3] for kind, rows in found.items()}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=100, help="cases per operator")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--op", nargs="*", help=f"operators, or one of {', '.join(GRAPHS)} (default: all)")
    parser.add_argument("--broken", action="store_true", help="cases that make no sense: refused or not, the same at both levels")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="show splits and rules too")
    options = parser.parse_args(arguments)
    ops = options.op or [*GRAPHS, *sorted(CASES)]
    total, bad = {}, 0
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.jobs, context) as pool:
        jobs = [pool.submit(search, op, options.examples, options.seed, options.broken) for op in ops]
        for job in jobs:
            op, counts, found = job.result()
            print(f"{op}: " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())), flush=True)
            for kind, rows in found.items():
                if kind in (*BAD, "strategy") or options.verbose:
                    for _, case, text in rows:
                        print(f"  {kind}: {case}\n      {text}", flush=True)
            bad += any(kind in (*BAD, "strategy") for kind in counts)
            for kind, n in counts.items():
                total[kind] = total.get(kind, 0) + n
    print("all: " + ", ".join(f"{n} {kind}" for kind, n in sorted(total.items())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
