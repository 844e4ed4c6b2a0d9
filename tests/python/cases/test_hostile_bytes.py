"""Damaged files: cut at every length, bits flipped, pieces doubled or dropped. Each is refused or runs; the process lives."""

import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from cases.wire import plain_models
from oracle import levels, run, seeded

WORKER = pathlib.Path(__file__).with_name("hostile_worker.py")
MODELS = plain_models()


def batch(models, level, seconds=120, run=True):
    """Outcome lines of all models; when a process dies, the one that it was at gets "DIED" and the rest go to a new one."""
    outcomes, start = {}, 0
    while start < len(models):
        payload = b"".join(len(m).to_bytes(8, "little") + m for m in models[start:])
        try:
            command = [sys.executable, str(WORKER), str(level)] + ([] if run else ["load"])
            done = subprocess.run(command, input=payload, capture_output=True, timeout=seconds)
            text, ended = (
                done.stdout.decode(),
                f"DIED with {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}",
            )
        except subprocess.TimeoutExpired as slow:
            text, ended = (slow.stdout or b"").decode(), f"DIED: no end after {seconds} s"
        begun = -1
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            if word == "start":
                begun = int(rest)
            elif re.fullmatch(r"\d+", word):
                outcomes[start + int(word)] = rest
        if begun < 0:
            pytest.fail(f"the worker did not start: {ended}")
        if start + begun not in outcomes:
            outcomes[start + begun] = ended
        start += begun + 1
        if sum(o.startswith("DIED") for o in outcomes.values()) > 5:
            break
    return outcomes


def assert_survived(models, level, describe, run=True):
    outcomes = batch(models, level, run=run)
    bad = [f"{describe(i)}: {o}" for i, o in sorted(outcomes.items()) if o.startswith(("DIED", "WRONG"))]
    assert not bad, f"{len(bad)} findings:\n" + "\n".join(bad[:10])
    assert len(outcomes) == len(models)
    return outcomes


@levels
@pytest.mark.parametrize("name", MODELS)
def test_whole_model_runs(name, level):
    """The models are good before they are damaged, and the worker runs them."""
    model, feeds = MODELS[name]
    run(model, feeds, level)
    assert batch([model.SerializeToString()], level) == {0: "ran"}


@pytest.mark.parametrize("name", MODELS)
def test_truncated(name):
    """Cut at every byte of the first and last 300 and at every seventh between."""
    data = MODELS[name][0].SerializeToString()
    cuts = [n for n in range(len(data)) if n < 300 or n > len(data) - 300 or n % 7 == 0]
    assert_survived([data[:n] for n in cuts], 3, lambda i: f"first {cuts[i]} of {len(data)} bytes")


@levels
@pytest.mark.parametrize("name", MODELS)
def test_bit_flips(name, level):
    """One flipped bit, 300 times."""
    data, generator = MODELS[name][0].SerializeToString(), seeded("flip", name)
    places = generator.integers(0, len(data) * 8, 300)

    def flipped(bit):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        return bytes(damaged)

    assert_survived([flipped(int(b)) for b in places], level, lambda i: f"bit {places[i]}", name != "flow")


@levels
@pytest.mark.parametrize("name", MODELS)
def test_bytes_replaced(name, level):
    """Up to 8 bytes replaced by values that are large as lengths, or by random ones, 300 times."""
    data, generator = MODELS[name][0].SerializeToString(), seeded("replace", name)
    interesting = np.array([0, 1, 0x7F, 0x80, 0xFF], np.uint8)

    def damaged():
        copy = bytearray(data)
        for _ in range(generator.integers(1, 9)):
            at = int(generator.integers(0, len(copy)))
            copy[at] = (
                int(generator.choice(interesting)) if generator.random() < 0.6 else int(generator.integers(0, 256))
            )
        return bytes(copy)

    assert_survived([damaged() for _ in range(300)], level, lambda i: f"variant {i}", name != "flow")


@pytest.mark.parametrize("name", MODELS)
def test_pieces_dropped_doubled_and_moved(name):
    data, generator = MODELS[name][0].SerializeToString(), seeded("pieces", name)

    def damaged(kind):
        a, b = sorted(int(v) for v in generator.integers(0, len(data), 2))
        if kind == 0:
            return data[:a] + data[b:]
        if kind == 1:
            return data[:b] + data[a:b] + data[b:]
        return data[:a] + bytes(generator.integers(0, 256, int(generator.integers(1, 20)), np.uint8)) + data[a:]

    assert_survived([damaged(i % 3) for i in range(300)], 3, lambda i: f"variant {i}", name != "flow")


@pytest.mark.parametrize("size", [1, 16, 1000, 20000])
def test_noise(size):
    generator = seeded("noise", size)
    noise = [bytes(generator.integers(0, 256, size, np.uint8)) for _ in range(60)]
    outcomes = assert_survived(noise, 3, lambda i: f"noise {i}")
    assert all(o.startswith("refused") for o in outcomes.values())


def test_every_prefix_is_not_the_model():
    """What is cut inside the graph does not load as if it were whole: fewer than one in twenty of the prefixes loads."""
    data = MODELS["conv"][0].SerializeToString()
    outcomes = batch([data[:n] for n in range(0, len(data), 11)], 0)
    loaded = [i for i, o in outcomes.items() if not o.startswith("refused")]
    assert len(loaded) < len(outcomes) / 20, [11 * i for i in loaded]
