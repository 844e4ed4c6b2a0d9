"""Loads models from standard input in a process of its own and runs those that load: `python hostile_worker.py LEVEL [load]`.

With `load` nothing is run: a damaged trip count may ask for 2^60 rounds, which is no fault of the engine's. Each model comes as 8 bytes of
length and its bytes. For each, one line is written before ("start N") and one after ("N refused: ...", "N ran" or "N WRONG ..."), so
that the parent knows what the process was doing when it died.
"""

import os
import pathlib
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402
import pytest  # noqa: E402

import engines  # noqa: E402

LIMIT = 4 << 30  # of address space: a model that asks for more is to be refused, not to take the machine with it


def say(text):
    os.write(1, text.encode(errors="replace") + b"\n")


def feeds_for(loaded):
    """Ones of the declared shapes, or None when they are too large to be sensible."""
    feeds = {}
    for name, shape, dtype in engines.inputs_of(loaded):
        sizes = [d if isinstance(d, int) and d >= 0 else 2 for d in shape]
        if np.prod(sizes, dtype=float) > 1e6:
            return None
        feeds[name] = np.ones(sizes, dtype)
    return feeds


def attempt(data, level, run):
    try:
        loaded = engines.load(data, level)
    except engines.refusals() as error:
        return "refused: " + str(error).replace("\n", " ")[:200]
    try:
        feeds = feeds_for(loaded) if run else None
        if feeds is None:
            return "loaded"
        loaded.run(feeds)
    except engines.refusals() as error:
        return "run refused: " + str(error).replace("\n", " ")[:200]
    return "ran"


def main():
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT if hard == resource.RLIM_INFINITY else min(LIMIT, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    level, run = int(sys.argv[1]), "load" not in sys.argv[2:]
    for number in range(1 << 62):
        head = sys.stdin.buffer.read(8)
        if len(head) < 8:
            break
        data = sys.stdin.buffer.read(int.from_bytes(head, "little"))
        say(f"start {number}")
        try:
            say(f"{number} {attempt(data, level, run)}")
        except pytest.skip.Exception as error:  # a peer without the kernel
            say(f"{number} refused: {error}")
        except BaseException as error:  # anything but the engine's own error is a finding
            say(f"{number} WRONG {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
