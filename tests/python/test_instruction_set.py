"""PYASC_MAX_ISA: a machine stands in for a lesser one."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

# A convolution and a product, whose kernels differ from set to set.
PROGRAM = """
import json, logging, sys
import numpy as np
import pyasc
logging.basicConfig()
random = np.random.default_rng(0)
x = random.standard_normal((1, 16, 12, 12)).astype(np.float32)
with pyasc.Context() as ctx:
    y = ctx.conv2d(ctx.input("x", shape=x.shape), random.standard_normal((32, 16, 3, 3)).astype(np.float32), padding=1)
    y = ctx.relu(y)
    ctx.output(ctx.matmul(y, random.standard_normal((12, 20)).astype(np.float32)), name="y")
    model = ctx.compile()
pyasc.logging.flush()
json.dump({"c0": pyasc.device.get_properties()["c0"]["float32"], "y": model.run(x)["y"].ravel().tolist()}, sys.stdout)
"""


def run(isa):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYASC_MAX_ISA": isa},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("isa", ["portable", "avx2", "avx512"])
def test_sets_agree(isa):
    best, _ = run("")
    limited, warnings = run(isa)
    np.testing.assert_allclose(limited["y"], best["y"], rtol=1e-4, atol=1e-4)
    assert limited["c0"] == (best["c0"] if isa == "avx512" else 8)
    assert not warnings


def test_unknown_sets_are_ignored_with_a_warning():
    known, _ = run("")
    unknown, warnings = run("avx3")
    assert unknown == known
    assert "PYASC_MAX_ISA is 'avx3' and ignored; it may be portable, avx2 or avx512" in warnings
