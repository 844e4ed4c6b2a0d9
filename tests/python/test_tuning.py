"""`CompileConfig(tune=True)`: what it finds is kept and taken again; results stay the same to rounding."""

import numpy as np
import pytest

import pyasc


@pytest.fixture
def graph():
    random = np.random.default_rng(0)
    with pyasc.Context() as ctx:
        x = ctx.input("x", shape=("N", 16, 20, 20))
        y = ctx.relu(ctx.conv2d(x, random.standard_normal((16, 16, 3, 3), np.float32), padding=1))
        ctx.output(ctx.matmul(ctx.flatten(y), random.standard_normal((6400, 8), np.float32)), "y")
        yield ctx


def test_choices_are_kept_on_disk(graph, tmp_path):
    x = np.random.default_rng(1).standard_normal((1, 16, 20, 20), np.float32)
    want = graph.compile().run(x)["y"]
    config = pyasc.CompileConfig(tune=True, tune_cache=tmp_path / "choices")
    got = graph.compile(config).run(x)["y"]
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=5e-5 * np.abs(want).max())
    (file,) = (tmp_path / "choices").iterdir()
    lines = file.read_text().splitlines()
    assert len(lines) > 1 and lines[0].startswith("# ") and all("\t" in line for line in lines[1:])
    assert any("MatMul" in line and "float32[1, 6400]" in line for line in lines[1:])
    again = graph.compile(config)
    np.testing.assert_array_equal(again.run(x)["y"], got)
    assert file.read_text().splitlines() == lines
    again.run(np.concatenate([x, x]))
    assert len(file.read_text().splitlines()) > len(lines)  # other shapes are measured too


def test_without_it_nothing_is_written(graph, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert not pyasc.CompileConfig().tune
    x = np.ones((1, 16, 20, 20), np.float32)
    first = graph.compile().run(x)["y"]
    np.testing.assert_array_equal(graph.compile().run(x)["y"], first)
    assert not list(tmp_path.iterdir())
    graph.compile(pyasc.CompileConfig(tune=True)).run(x)
    assert list((tmp_path / "pyasc").iterdir())


def test_options_are_checked():
    config = pyasc.CompileConfig(tune=True, tune_cache="x")
    assert config.tune and config.tune_cache == "x" and "tune=True" in repr(config)
    with pytest.raises(pyasc.errors.TypeMismatchError, match="tune"):
        pyasc.CompileConfig(tune="yes")
    with pytest.raises(pyasc.errors.TypeMismatchError, match="tune_cache"):
        pyasc.CompileConfig(tune_cache=3)
