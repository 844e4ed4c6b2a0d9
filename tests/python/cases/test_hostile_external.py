"""External weight files: they stay in the model's folder, their offsets and lengths are checked, unknown keys are ignored."""

import os

import numpy as np
import pytest
from onnx import TensorProto

import engines
from oracle import assert_load_refused, assert_same, f32, f64, i64, levels, make_graph, make_model, node

VALUES = np.arange(4, dtype=f32)
DATA = VALUES.tobytes()


def external_tensor(name="w", dims=(4,), data_type=TensorProto.FLOAT, **keys):
    t = TensorProto(name=name, data_type=data_type, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in keys.items():
        t.external_data.add(key=key, value=str(value))
    return t


def model_with(*tensors):
    """y = Identity(w)."""
    model = make_model("y = Identity(w)", {}, {"y": f32})
    model.graph.initializer.extend(tensors)
    return model


def save(folder, model, name="model.onnx"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(model.SerializeToString())
    return str(folder / name)


def load_values(path, level=3):
    return engines.load(path, level).run({})["y"]


@levels
@pytest.mark.parametrize(
    "keys, content, want",
    [
        (dict(), DATA, VALUES),
        (dict(offset=0, length=16), DATA, VALUES),
        (dict(offset=8), b"\0" * 8 + DATA, VALUES),
        (dict(offset=4096, length=16), b"\0" * 4096 + DATA + b"tail", VALUES),
        (dict(offset=3, length=16), b"\0" * 3 + DATA, VALUES),  # misaligned
        (dict(offset=0, length=16, checksum="not-checked"), DATA, VALUES),
        (dict(offset=0, length=16, bogus="CVE-2026-34445"), DATA, VALUES),
        (dict(offset=0, length=16, __class__="x", offset2=5), DATA, VALUES),
    ],
    ids=[
        "whole-file",
        "length",
        "offset",
        "page",
        "misaligned",
        "checksum",
        "CVE-2026-34445-unknown-key",
        "unknown-keys",
    ],
)
def test_read(tmp_path, keys, content, want, level):
    path = save(tmp_path, model_with(external_tensor(location="w.bin", **keys)))
    (tmp_path / "w.bin").write_bytes(content)
    assert_same(load_values(path, level), want)


@levels
def test_subfolder_and_two_tensors_in_one_file(tmp_path, level):
    model = make_model("y = Add(w, v)", {}, {"y": f32})
    model.graph.initializer.append(external_tensor("w", location="data/all.bin", offset=0, length=16))
    model.graph.initializer.append(external_tensor("v", location="data/./all.bin", offset=16, length=16))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "all.bin").write_bytes(DATA * 2)
    assert_same(load_values(save(tmp_path, model), level), VALUES * 2)


@levels
def test_relative_path_and_other_working_folder(tmp_path, monkeypatch, level):
    """The folder is the model's, not the process's."""
    save(tmp_path / "a", model_with(external_tensor(location="w.bin")))
    (tmp_path / "a" / "w.bin").write_bytes(DATA)
    monkeypatch.chdir(tmp_path)
    assert_same(load_values(os.path.join("a", "model.onnx"), level), VALUES)
    monkeypatch.chdir(tmp_path / "a")
    assert_same(load_values("model.onnx", level), VALUES)


@levels
@pytest.mark.parametrize("as_bytes", [True, False], ids=["bytes", "proto"])
def test_onnxruntime_8422(as_bytes, level, tmp_path, monkeypatch):
    """From bytes there is no folder: refused, even if a file of that name happens to lie in the working folder."""
    model = model_with(external_tensor(location="w.bin"))
    (tmp_path / "w.bin").write_bytes(DATA)
    monkeypatch.chdir(tmp_path)
    assert_load_refused(model.SerializeToString() if as_bytes else model, level, words=["w.bin"])


@levels
def test_onnxruntime_8422_folded(level):
    """Folding does not read what is not there."""
    model = make_model("s = Add(w, w); y = Mul(s, x)", {"x": (f32, (4,))}, {"y": f32})
    model.graph.initializer.append(external_tensor(location="missing.bin"))
    assert_load_refused(model, level, words=["missing.bin"])


BAD_KEYS = {
    "CVE-2026-34445-offset-beyond": dict(offset=17),
    "CVE-2026-34445-length-negative": dict(offset=0, length=-16),
    "CVE-2026-34445-length-beyond": dict(offset=0, length=17),
    "offset-negative": dict(offset=-4),
    "offset-at-the-end": dict(offset=16),
    "offset-leaves-too-little": dict(offset=4),
    "offset-and-length-wrap": dict(offset=2**63 - 8, length=16),
    "offset-2-64": dict(offset=2**64),
    "offset-wraps-to-0": dict(offset=2**64 - 16, length=32),
    "length-shorter-than-the-tensor": dict(length=12),
    "length-longer-than-the-tensor": dict(offset=0, length=20),
    "offset-is-text": dict(offset="zero"),
    "offset-with-tail": dict(offset="0x10"),
    "offset-is-a-float": dict(offset="0.5"),
    "length-is-text": dict(length="all"),
    "offset-of-1000-digits": dict(offset="9" * 1000),
}


@levels
@pytest.mark.parametrize("why", BAD_KEYS)
def test_offsets_and_lengths(tmp_path, why, level):
    size = 20 if "longer" in why else 16
    path = save(tmp_path, model_with(external_tensor(location="w.bin", **BAD_KEYS[why])))
    (tmp_path / "w.bin").write_bytes((DATA * 2)[:size])
    assert_load_refused(path, level, words=["w"])


@levels
@pytest.mark.parametrize("dims", [(2**40, 2**40), (-4,), (2**62,), (5,), (2**32, 2**32)], ids=str)
def test_dimensions(tmp_path, dims, level):
    path = save(tmp_path, model_with(external_tensor(dims=dims, location="w.bin")))
    (tmp_path / "w.bin").write_bytes(DATA)
    assert_load_refused(path, level, words=["w"])


@levels
def test_strings_cannot_be_external(tmp_path, level):
    tensor = external_tensor(data_type=TensorProto.STRING, location="w.bin")
    path = save(tmp_path, model_with(tensor))
    (tmp_path / "w.bin").write_bytes(DATA)
    assert_load_refused(path, level)


LOCATIONS = {
    "parent": "../secret.bin",
    "parent-later": "data/../../secret.bin",
    "parent-many": "../" * 40 + "etc/hostname",
    "backslash": "..\\secret.bin",
    "dot": ".",
    "folder": "data",
    "empty": "",
    "missing": "nowhere.bin",
    "nul": "w.bin\0../secret.bin",
    "device": "/dev/zero",
    "proc": "/proc/self/environ",
    "url": "file:///etc/hostname",
    "very-long": "a" * 100000,
    "many-folders": "a/" * 10000 + "w.bin",
}


@levels
@pytest.mark.parametrize("why", LOCATIONS)
def test_locations(tmp_path, why, level):
    """The model lies in a folder beside which there is a readable file."""
    (tmp_path / "secret.bin").write_bytes(DATA)
    (tmp_path / "model" / "data").mkdir(parents=True)
    assert_load_refused(save(tmp_path / "model", model_with(external_tensor(location=LOCATIONS[why]))), level)


@levels
@pytest.mark.parametrize("inside", [True, False])
def test_absolute_paths(tmp_path, inside, level):
    """Refused even if the file is in the folder: a model that was moved would read another's."""
    target = (tmp_path / "model" if inside else tmp_path) / "w.bin"
    path = save(tmp_path / "model", model_with(external_tensor(location=str(target))))
    target.write_bytes(DATA)
    assert_load_refused(path, level)


@levels
def test_no_location(tmp_path, level):
    assert_load_refused(save(tmp_path, model_with(external_tensor(offset=0))), level, words=["w"])


@levels
@pytest.mark.parametrize("kind", ["file", "folder", "chain"])
def test_symbolic_links_that_leave(tmp_path, kind, level):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.bin").write_bytes(DATA)
    folder = tmp_path / "model"
    folder.mkdir()
    location = "w.bin"
    if kind == "file":
        (folder / "w.bin").symlink_to(tmp_path / "outside" / "secret.bin")
    elif kind == "folder":
        (folder / "data").symlink_to(tmp_path / "outside")
        location = "data/secret.bin"
    else:
        (folder / "w.bin").symlink_to("next.bin")
        (folder / "next.bin").symlink_to("../outside/secret.bin")
    assert_load_refused(save(folder, model_with(external_tensor(location=location))), level)


@levels
def test_symbolic_links_within_the_folder(tmp_path, level):
    """A link that stays inside is read; so is a model that is reached through a link to its folder."""
    folder = tmp_path / "model"
    path = save(folder, model_with(external_tensor(location="w.bin")))
    (folder / "real.bin").write_bytes(DATA)
    (folder / "w.bin").symlink_to("real.bin")
    assert_same(load_values(path, level), VALUES)
    (tmp_path / "alias").symlink_to(folder)
    assert_same(load_values(str(tmp_path / "alias" / "model.onnx"), level), VALUES)


@levels
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_does_not_hang(tmp_path, level):
    os.mkfifo(tmp_path / "w.bin")
    assert_load_refused(save(tmp_path, model_with(external_tensor(location="w.bin"))), level)


@levels
@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission(tmp_path, level):
    path = save(tmp_path, model_with(external_tensor(location="w.bin")))
    (tmp_path / "w.bin").write_bytes(DATA)
    (tmp_path / "w.bin").chmod(0)
    assert_load_refused(path, level, words=["w.bin"])


@levels
def test_external_data_in_a_branch(tmp_path, level):
    """Weights of inner graphs are found and checked as well."""
    branch = make_graph([node("Identity", "w", "r")], {}, {"r": f32}, name="then")
    branch.initializer.append(external_tensor(location="w.bin"))
    other = make_graph([node("Neg", "x", "q")], {}, {"q": f32}, name="else")
    model = make_model(
        [node("If", "c", "y", then_branch=branch, else_branch=other)],
        {"c": (np.dtype(bool), ()), "x": (f32, (4,))},
        {"y": f32},
    )
    path = save(tmp_path, model)
    assert_load_refused(path, level)
    (tmp_path / "w.bin").write_bytes(DATA)
    feeds = {"c": np.array(True), "x": VALUES}
    assert_same(engines.load(path, level).run(feeds)["y"], VALUES)
    (tmp_path / "w.bin").write_bytes(DATA[:-1])
    assert_load_refused(path, level)


@levels
@pytest.mark.parametrize(
    "dtype, tensor_type",
    [
        (f64, TensorProto.DOUBLE),
        (i64, TensorProto.INT64),
        (np.dtype(np.int8), TensorProto.INT8),
        (np.dtype(bool), TensorProto.BOOL),
    ],
    ids=str,
)
def test_types(tmp_path, dtype, tensor_type, level):
    values = np.array([1, 0, 1], dtype)
    model = make_model("y = Identity(w)", {}, {"y": dtype})
    model.graph.initializer.append(external_tensor(dims=(3,), data_type=tensor_type, location="w.bin", offset=1))
    (tmp_path / "w.bin").write_bytes(b"\0" + values.tobytes())
    assert_same(load_values(save(tmp_path, model), level), values)


@levels
def test_empty_tensor(tmp_path, level):
    """No elements, nothing to read; the file is there."""
    (tmp_path / "w.bin").write_bytes(b"")
    path = save(tmp_path, model_with(external_tensor(dims=(0, 3), location="w.bin")))
    assert_same(load_values(path, level), np.zeros((0, 3), f32))


def test_both_raw_and_external(tmp_path):
    """data_location wins over raw_data that is there too, or it is refused; the file's content is never mixed in."""
    tensor = external_tensor(location="w.bin")
    tensor.raw_data = (VALUES + 1).tobytes()
    (tmp_path / "w.bin").write_bytes(DATA)
    path = save(tmp_path, model_with(tensor))
    try:
        got = load_values(path)
    except engines.refusals():
        return
    assert_same(got, VALUES)


def test_model_and_weights_survive_the_file(tmp_path):
    """What is loaded does not depend on files that are deleted later."""
    path = save(tmp_path, model_with(external_tensor(location="w.bin")))
    (tmp_path / "w.bin").write_bytes(DATA)
    loaded = engines.load(path)
    os.remove(tmp_path / "w.bin")
    os.remove(path)
    assert_same(loaded.run({})["y"], VALUES)
