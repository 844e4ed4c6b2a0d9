"""One engine in a process of its own, told what to do through a pipe.

The parent starts `python worker.py ENGINE FD` (see `Worker`) and sends (command, arguments); the answer is ("ok", value) or
("error", text). Standard output is free for what libraries print.
"""

import contextlib
import gc
import multiprocessing.connection
import os
import pathlib
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class WorkerError(Exception):
    """The engine failed or its process died; the message says how."""


class Worker:
    """The parent's end: `worker.load(...)`, `worker.measure(...)`, `worker.outputs()` run in the child and block."""

    def __init__(self, engine, packages=None):
        """`packages`: a folder whose Python packages go before all others."""
        ours, theirs = socket.socketpair()
        path = os.pathsep.join(filter(None, [packages and os.fspath(packages), os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, __file__, engine, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=os.environ | ({"PYTHONPATH": path} if path else {}),
        )
        theirs.close()
        self._pipe = multiprocessing.connection.Connection(ours.detach())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._pipe.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, command, **arguments):
        try:
            self._pipe.send((command, arguments))
            status, value = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise WorkerError(f"the process ended with code {self._process.wait(timeout=10)}") from error
        if status == "error":
            raise WorkerError(value)
        return value

    def load(self, file, threads, feeds, static):
        """Loads and runs a few times; returns {"settings", "winograd", "load_ms", "first_ms"}."""
        return self._ask("load", file=str(file), threads=threads, feeds=feeds, static=static)

    def measure(self, seconds):
        """Runs for `seconds` and at least three times; returns the milliseconds of each run."""
        return self._ask("measure", seconds=seconds)

    def outputs(self):
        """The arrays of one run by name."""
        return self._ask("outputs")


class _Commands:
    def __init__(self, engine):
        self._make = engine
        self._engine = None

    def load(self, file, threads, feeds, static):
        start = time.perf_counter_ns()
        self._engine = self._make(file, threads, feeds, static)
        loaded = time.perf_counter_ns()
        self._engine.call()
        first = time.perf_counter_ns()
        for _ in range(2):
            self._engine.call()
        return {
            "settings": self._engine.settings,
            "winograd": self._engine.winograd,
            "load_ms": (loaded - start) / 1e6,
            "first_ms": (first - loaded) / 1e6,
        }

    def measure(self, seconds):
        call, clock = self._engine.call, time.perf_counter_ns
        # Not counted: the engine before has emptied the caches, and the pause between has lowered the clock.
        call()
        times = []
        gc.collect()
        gc.disable()
        end = clock() + int(seconds * 1e9)
        while len(times) < 3 or clock() < end:
            start = clock()
            call()
            times.append((clock() - start) / 1e6)
        gc.enable()
        return times

    def outputs(self):
        return self._engine.outputs()


def _serve(engine, descriptor):
    commands = _Commands(engine)
    pipe = multiprocessing.connection.Connection(descriptor)
    with contextlib.suppress(EOFError, OSError):
        while True:
            command, arguments = pipe.recv()
            try:
                answer = ("ok", getattr(commands, command)(**arguments))
            except Exception as error:
                # Whatever an engine throws belongs into the table, not here.
                answer = ("error", f"{type(error).__name__}: {error}".strip())
            pipe.send(answer)


if __name__ == "__main__":
    # The folder of this file is on the path as a script's; the checkout takes its place.
    sys.path[0] = os.fspath(ROOT)
    from tests.bench.engines import BEFORE, ENGINES, PyascBefore

    _serve((ENGINES | {BEFORE: PyascBefore})[sys.argv[1]], int(sys.argv[2]))
