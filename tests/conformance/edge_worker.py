"""Engines in a process of their own: one that crashes or hangs is an answer, not the end of the search."""

import dataclasses
import multiprocessing
import warnings

import onnx

from tests.conformance.edge_paths import engines, oracle

# pyasc without and with its passes, then who is asked for an opinion.
PYASC = ("pyasc-0", "pyasc-3")
ORACLES = ("reference", "onnxruntime")


@dataclasses.dataclass
class Answer:
    """What an engine said: `outputs` by name, or why there are none."""

    outputs: dict | None = None
    why: str = ""  # of a refusal
    kind: str = "answered"  # answered, refused, lacks (has no such kernel), crashed, hung, unclear (refused as it must not be)


class _Unclear(Exception):
    """A refusal that does not help, or that leaves the model other than it was."""


def _run_pyasc(model, level, feeds, good):
    """`good`: feeds that must be answered after a refusal as they were before it."""
    import pyasc

    try:
        loaded = engines.load(model, level)
        before = _or_none(loaded, good)
        try:
            return loaded.run(feeds)
        except pyasc.errors.PyascError as error:
            _check_refusal(loaded, feeds, error)
            if before is not None and (lines := oracle.differences(loaded.run(good), before)):
                raise _Unclear(f"after a refusal: {'; '.join(lines)}") from error
            raise
    except pyasc.errors.PyascError as error:
        if error.code == "E5099" or not error.message.strip() or not error.hint:
            raise _Unclear(str(error)) from error
        raise


def _or_none(loaded, feeds):
    try:
        return None if feeds is None else loaded.run(feeds)
    except Exception:
        return None


def _check_refusal(loaded, feeds, error):
    try:
        loaded.run(feeds)
    except Exception as again:
        if getattr(again, "code", "") == error.code:
            return
        raise _Unclear(f"first {error}, then {again}") from again
    raise _Unclear(f"first {error}, then an answer")


def _answer(engine, model, feeds, good):
    try:
        if engine.startswith("pyasc"):
            return Answer(_run_pyasc(model, int(engine[-1]), feeds, good))
        return Answer(engines.PEERS[engine](onnx.load_from_string(model)).run(feeds))
    except _Unclear as error:
        return Answer(why=str(error), kind="unclear")
    except engines.Unavailable as error:
        return Answer(why=str(error), kind="lacks")
    except Exception as error:
        text = f"{getattr(error, 'code', type(error).__name__)} {error}"
        if engine.startswith("pyasc") and not hasattr(error, "code"):
            return Answer(why=text, kind="unclear")
        lacks = not engine.startswith("pyasc") and any(word in text for word in (*engines.LACKS, "NotImplemented", "No module named"))
        return Answer(why=text, kind="lacks" if lacks else "refused")


def _serve(pipe):
    warnings.simplefilter("ignore")
    while True:
        pipe.send(_answer(*pipe.recv()))


class Worker:
    """A process that runs engines one after the other; started again when it dies or takes too long."""

    def __init__(self, timeout=180):
        self.timeout = timeout
        self._process = None

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, engine, model, feeds, good=None):
        if self._process is None or not self._process.is_alive():
            self._start()
        try:
            self._pipe.send((engine, model, feeds, good))
            if self._pipe.poll(self.timeout):
                return self._pipe.recv()
            kind = "hung"
        except (EOFError, ConnectionError):
            kind = "crashed"
        self.close()
        return Answer(why=kind, kind=kind)

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
