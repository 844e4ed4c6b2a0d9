"""Chains of operators that become one vector program: equal at every level, and from .om files."""

import ml_dtypes
import numpy as np
import pytest

import pyasc


def _model(level, rows, length):
    with pyasc.Context() as ctx:
        x = ctx.input("x", shape=(rows, length))
        y = ctx.input("y", shape=(rows, length))
        a = ctx.relu(ctx.add(ctx.mul(x, y), x))
        m = ctx.reduce_mean(a, axes=[-1], keepdim=1)
        ctx.output(ctx.tanh(ctx.sub(a, m)), "out")
        return ctx.compile(config=pyasc.CompileConfig(graph_opt_level=level))


@pytest.mark.parametrize("length", [1, 7, 49, 80, 128, 197, 1000])
def test_levels_agree_and_nan_stays(length):
    rng = np.random.default_rng(1)
    feeds = {n: rng.standard_normal((9, length), dtype=np.float32) for n in ("x", "y")}
    feeds["x"][3, 0] = np.nan
    results = [_model(level, 9, length).run(feeds)["out"] for level in (0, 1, 2, 3)]
    assert np.isnan(results[0][3]).all()
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("length", [1, 49, 130, 3000])
def test_narrow_floats_are_rounded_after_each_operator(dtype, length):
    def model(level):
        with pyasc.Context() as ctx:
            x = ctx.input("x", shape=(9, length), dtype=dtype)
            y = ctx.input("y", shape=(length,), dtype=dtype)
            a = ctx.mul(ctx.add(x, y), x)
            ctx.output(ctx.relu(ctx.sub(ctx.sqrt(ctx.abs(a)), y)), "out")
            return ctx.compile(config=pyasc.CompileConfig(graph_opt_level=level))

    rng = np.random.default_rng(2)
    kind = np.dtype(dtype) if dtype == "float16" else ml_dtypes.bfloat16
    feeds = {
        "x": rng.standard_normal((9, length)).astype(kind),
        "y": rng.standard_normal(length).astype(kind),
    }
    fused, plain = model(3), model(0)
    assert "asc.VectorProgram" in str(fused.graph)
    np.testing.assert_array_equal(
        fused.run(feeds)["out"].view(np.uint16), plain.run(feeds)["out"].view(np.uint16)
    )


def test_om_file(tmp_path):
    model = _model(3, 4, 200)
    assert "asc.VectorProgram" in str(model.graph)
    model.save(tmp_path / "chain.om")
    feeds = {n: np.linspace(-1, 1, 800, dtype=np.float32).reshape(4, 200) for n in ("x", "y")}
    loaded = pyasc.load(tmp_path / "chain.om")
    np.testing.assert_array_equal(loaded.run(feeds)["out"], model.run(feeds)["out"])
