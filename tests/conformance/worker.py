"""Worker processes that run tests one at a time, and are replaced when one crashes or hangs."""

import collections
import contextlib
import dataclasses
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import time
import warnings

# Forked, so that the tests, which take seconds to make, are there at once. The parent loads no engine.
_FORK = multiprocessing.get_context("fork")


@dataclasses.dataclass(frozen=True)
class Task:
    index: int  # of the case
    engine: str
    level: int


@dataclasses.dataclass
class Outcome:
    task: Task
    failure: str  # "" when it passed
    seconds: float


def run(cases, tasks, engines, count, timeout):
    """Yields the Outcome of each task as it comes. `count` processes at a time; a test that takes more than `timeout`
    seconds, or ends its process, has failed."""
    waiting = collections.deque(tasks)
    workers = [_Worker(cases, engines) for _ in range(min(count, len(waiting)))]
    try:
        for worker in workers:
            worker.give(waiting)
        while any(worker.task for worker in workers):
            busy = {worker.connection: worker for worker in workers if worker.task}
            ready = multiprocessing.connection.wait(busy, timeout=0.5)
            for connection in ready:
                yield busy[connection].take()
                busy[connection].give(waiting)
            for worker in busy.values():
                if worker.task and time.monotonic() - worker.since > timeout:
                    yield worker.stop(f"not done after {timeout:g} seconds")
                    worker.give(waiting)
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    def __init__(self, cases, engines):
        self.cases, self.engines = cases, engines
        self.task, self.since = None, 0.0
        self._start()

    def _start(self):
        self.connection, theirs = _FORK.Pipe()
        self.process = _FORK.Process(target=_serve, args=(theirs, self.cases, self.engines), daemon=True)
        sys.stdout.flush()
        self.process.start()
        theirs.close()

    def give(self, waiting):
        self.task = waiting.popleft() if waiting else None
        self.since = time.monotonic()
        if self.task:
            self.connection.send(self.task)

    def take(self):
        try:
            return Outcome(self.task, self.connection.recv(), time.monotonic() - self.since)
        except EOFError:
            self.process.join()
            return self.stop(_how_it_ended(self.process.exitcode))

    def stop(self, failure):
        """Replaces the process; the task that it had has failed."""
        outcome = Outcome(self.task, failure, time.monotonic() - self.since)
        self.end()
        self._start()
        return outcome

    def end(self):
        self.process.kill()
        self.process.join()
        self.connection.close()


def _how_it_ended(code):
    return f"crashed by {signal.Signals(-code).name}" if code and code < 0 else f"the process ended with code {code}"


def _serve(connection, cases, engines):
    with open(os.devnull, "wb") as null:  # engines print of what they cannot do
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)
    warnings.simplefilter("ignore")
    with contextlib.suppress(EOFError):
        while True:
            task = connection.recv()
            connection.send(_failure(cases[task.index], engines[task.engine], task.level))


def _failure(case, engine, level):
    """Why the test fails; "" if it passes."""
    try:
        made = engine(case.model, level)
        for inputs, expected in case.data_sets():
            case.compare(expected, made.run(inputs))
    except Exception as error:  # whatever an engine raises is its answer
        return f"{type(error).__name__}: {' '.join(str(error).split())}"[:1000]
    return ""
