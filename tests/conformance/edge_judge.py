"""Compares pyasc at both levels with the oracles, and decides by majority."""

import dataclasses
import warnings

import numpy as np

from tests.conformance import edge_numpy, edge_rules
from tests.conformance.edge_paths import oracle
from tests.conformance.edge_worker import ORACLES, PYASC, Answer


@dataclasses.dataclass
class Verdict:
    """`kind`: good; split (one oracle agrees, one does not); else what is wrong."""

    kind: str
    text: str = ""

    @property
    def bad(self):
        return self.kind in BAD


# Worst first. "unclear": a refusal that does not help or does harm; "refused": an oracle answers where pyasc does not; "wrong": no
# oracle agrees.
BAD = ("crashed", "unclear", "levels", "wrong", "refused")


def judge(case, worker):
    """Levels against each other, then pyasc against the oracles."""
    return _judge(case, worker, True)


def judge_levels(case, worker):
    """Whether pyasc survives and does the same at both levels; nobody else is asked."""
    return _judge(case, worker, False)


def _judge(case, worker, ask):
    model = case.model()
    data, feeds = model.SerializeToString(), case.feeds()
    answers = {engine: worker.ask(engine, data, feeds, getattr(case, "good", None)) for engine in PYASC}
    plain, optimised = answers["pyasc-0"], answers["pyasc-3"]
    for engine in PYASC:
        if answers[engine].kind in ("crashed", "hung"):
            return Verdict("crashed", f"{engine} {answers[engine].kind}")
        if answers[engine].kind == "unclear":
            return Verdict("unclear", f"{engine} {answers[engine].why[:600]}")
    if plain.kind != optimised.kind:
        return Verdict("levels", f"level 0 {_brief(plain)}; level 3 {_brief(optimised)}")
    if plain.outputs is None and plain.why[:5] != optimised.why[:5]:
        return Verdict("codes", f"level 0 {_brief(plain)}; level 3 {_brief(optimised)}")
    if plain.outputs is not None and case.exact:
        lines = _differences(case, optimised.outputs, plain.outputs)
        if lines:
            return Verdict("levels", f"level 3 (got) and level 0 (expected): {'; '.join(lines)}")
    if not ask:
        return Verdict("good")
    oracles = {peer: worker.ask(peer, data, feeds) for peer in ORACLES if not edge_rules.unfit(case, peer)}
    computed = edge_numpy.compute(case)
    if computed is not None:
        oracles["NumPy"] = Answer(dict(zip([n for n in case.outputs if n], computed)))
    return _vote(case, optimised, oracles)


def _vote(case, ours, oracles):
    answered = {peer: a for peer, a in oracles.items() if a.outputs is not None}
    if ours.outputs is None:
        others = ", ".join(f"{peer} {_values(a)}" for peer, a in answered.items())
        if not answered:
            return Verdict("good")
        rule = edge_rules.refusal(case)
        kind = "ruled" if rule else "refused"
        return Verdict(kind, f"{rule or ''} pyasc {_brief(ours)}; but {others}")
    differing, agreeing = {}, []
    for peer, answer in answered.items():
        lines = _differences(case, ours.outputs, answer.outputs)
        if lines:
            differing[peer] = "; ".join(lines)
        else:
            agreeing.append(peer)
    if not differing:
        if oracles and all(a.kind == "refused" for a in oracles.values()):
            return Verdict("alone", "; ".join(f"{peer} {_brief(a)}" for peer, a in oracles.items()))
        return Verdict("good")
    text = " | ".join(f"{peer}: {line}" for peer, line in differing.items())
    if agreeing:
        return Verdict("split", f"{text} | agrees with {', '.join(agreeing)}")
    silent = "".join(f" | {peer} {_brief(a)}" for peer, a in oracles.items() if a.outputs is None)
    return Verdict("wrong", text + silent)


def _differences(case, got, want):
    rtol, share = edge_rules.tolerance(case)
    atol = None if share is None else share * max(1.0, *map(_largest, want.values()), 0)
    if not case.exact:
        got = {n: np.zeros_like(v) for n, v in got.items()}
        want = {n: np.zeros_like(v) for n, v in want.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return oracle.differences(got, want, rtol, atol)


def _largest(value):
    """The largest finite number of a tensor of floats."""
    if not isinstance(value, np.ndarray) or not oracle.is_float(value.dtype):
        return 0.0
    wide = np.abs(value.astype(np.float64))
    return float(np.max(wide, initial=0, where=np.isfinite(wide)))


def _brief(answer):
    return "answers" if answer.outputs is not None else f"{answer.kind}: {answer.why[:300]}"


def _values(answer):
    return "gives " + ", ".join(f"{n}={_value(v)}" for n, v in answer.outputs.items())


def _value(value):
    if value is None or isinstance(value, list):
        return repr(value)[:80]
    value = np.asarray(value)
    return f"{oracle.short(value.dtype)}{list(value.shape)}{oracle.brief(value)[:80]}"
