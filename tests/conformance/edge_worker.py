"""Engines in a process of their own: one that crashes or hangs is an answer, not the end of the search."""

import dataclasses
import multiprocessing

from tests.conformance.edge_paths import engines

# pyasc without and with its passes, then who is asked for an opinion.
PYASC = ("pyasc-0", "pyasc-3")
ORACLES = ("reference", "onnxruntime")


@dataclasses.dataclass
class Answer:
    """What an engine said: `outputs` by name, or why there are none."""

    outputs: dict | None = None
    why: str = ""  # of a refusal
    kind: str = "answered"  # answered, refused, lacks (has no such kernel), crashed, hung


def _answer(engine, model, feeds):
    try:
        if engine.startswith("pyasc"):
            loaded = engines.load(model.SerializeToString(), int(engine[-1]))
        else:
            loaded = engines.PEERS[engine](model)
        return Answer(loaded.run(feeds))
    except engines.Unavailable as error:
        return Answer(why=str(error), kind="lacks")
    except Exception as error:
        text = f"{getattr(error, 'code', type(error).__name__)} {error}"
        lacks = engine != "pyasc" and any(word in text for word in (*engines.LACKS, "NotImplemented", "No module named"))
        return Answer(why=text, kind="lacks" if lacks else "refused")


def _serve(pipe):
    import warnings

    import onnx

    warnings.simplefilter("ignore")
    while True:
        engine, model, feeds = pipe.recv()
        answer = _answer(engine, onnx.load_from_string(model), feeds)
        pipe.send(answer)


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

    def ask(self, engine, model, feeds):
        if self._process is None or not self._process.is_alive():
            self._start()
        try:
            self._pipe.send((engine, model, feeds))
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
