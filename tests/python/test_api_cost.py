"""What the Python layer costs: memory that stays flat. The time of a call is tests/bench/call_cost.py's."""

import gc
import os
import pathlib
import warnings

import numpy as np

import pyasc
from pyasc import _asc


def living_handles():
    """Handles that something still holds: those of garbage, which an earlier test may have left, are collected first."""
    gc.collect()
    return _asc.asc_handle_count()


def resident_bytes():
    gc.collect()
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grown_bytes(work, count):
    """How much more is resident after `count` rounds than after the first tenth of them."""
    for index in range(count // 10):
        work(index)
    before = resident_bytes()
    for index in range(count // 10, count):
        work(index)
    return resident_bytes() - before


def test_ten_thousand_contexts_leave_memory_flat():
    feeds = {"x": np.ones((1, 8), np.float32)}

    def work(index):
        ctx = pyasc.Context()
        ctx.relu(ctx.input("x", shape=(1, 8)) + 1.0)
        ctx.execute(feeds)
        if index % 2:
            ctx.destroy()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        work(1)
        handles = living_handles()
        grown = grown_bytes(work, 10_000)
    assert living_handles() == handles
    assert grown <= 2 << 20


def test_runs_of_one_model_leave_memory_flat():
    with pyasc.Context() as ctx:
        ctx.relu(ctx.input("x", shape=("N", 1000)))
        model = ctx.compile()
    handles = living_handles()

    def work(index):
        model.run({"x": np.ones((index % 4 + 1, 1000), np.float32)})
        model.run(np.ones((1, 2000), np.float32)[:, ::2])  # copied: it is not contiguous
        model.run_async({"x": np.ones((1, 1000), np.float32)}).result()

    assert grown_bytes(work, 3000) <= 2 << 20
    assert living_handles() == handles
