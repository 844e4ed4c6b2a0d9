"""Many callers of one model: a bounded number of threads, and each caller's own results."""

import json
import os
import subprocess
import sys

from tests.bench.worker import ROOT


def test_threads_are_bounded_and_results_bit_equal(tmp_path):
    # In a process of its own: the threads of other tests would be counted too.
    file = tmp_path / "callers.json"
    command = [sys.executable, ROOT / "tests/bench/callers.py", "--models", "ocr_cls", "--callers", "8", "--runs", "400"]
    subprocess.run([*command, "--threads", "2", "--rounds", "1", "--json", file], check=True, timeout=300)
    (row,) = json.loads(file.read_text())
    assert row["bit_equal"]
    # The callers and the main thread at least: they were all there at once.
    assert 9 <= row["process_threads"] <= 8 + len(os.sched_getaffinity(0)) + 2
