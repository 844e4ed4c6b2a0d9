"""FEATURES: loading and running models from Python."""

import concurrent.futures
import gc
import os
import threading
import warnings

import ml_dtypes
import numpy as np
import onnx
import onnx.helper as oh
import pytest

import pyasc

FLOAT, INT64, STRING = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.STRING


def tensor(name, shape, dtype=FLOAT):
    return oh.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs, outputs, metadata=(), **graph):
    made = oh.make_model(
        oh.make_graph(nodes, "test", inputs, outputs, **graph), opset_imports=[oh.make_opsetid("", 18)], ir_version=10
    )
    for key, value in metadata:
        made.metadata_props.add(key=key, value=value)
    return made


def add_model(shape=("N", 3), dtype=FLOAT):
    nodes = [oh.make_node("Add", ["a", "b"], ["sum"])]
    return model_of(
        nodes, [tensor("a", shape, dtype), tensor("b", shape, dtype)], [tensor("sum", shape, dtype)], [("author", "me")]
    )


def relu_model(shape=("N", 3), dtype=FLOAT):
    return model_of([oh.make_node("Relu", ["x"], ["y"])], [tensor("x", shape, dtype)], [tensor("y", shape, dtype)])


def rows(count):
    return np.arange(count * 3, dtype=np.float32).reshape(count, 3) - 1


@pytest.fixture(params=["path", "pathlib", "bytes", "bytearray", "memoryview", "proto"])
def given(request, tmp_path):
    """A model in each form that load takes."""
    proto = relu_model()
    content = proto.SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    return {
        "path": str(path),
        "pathlib": path,
        "bytes": content,
        "bytearray": bytearray(content),
        "memoryview": memoryview(content),
        "proto": proto,
    }[request.param]


def test_load_takes_paths_bytes_and_protos(given):
    model = pyasc.load(given)
    np.testing.assert_array_equal(model.run({"x": rows(2)})["y"], np.maximum(rows(2), 0))


def test_ports_say_name_shape_and_dtype():
    model = pyasc.load(add_model(("N", 3, None)))
    (a, b), (total,) = model.inputs, model.outputs
    assert [a.name, b.name, total.name] == ["a", "b", "sum"]
    assert a.shape == ("N", 3, None)
    assert a.dtype == np.float32
    assert a.kind == "tensor"
    assert pyasc.load(relu_model((2, 3))).inputs[0].shape == (2, 3)
    assert model.metadata["author"] == "me"
    assert "float32" in repr(model)


def test_one_input_may_be_passed_bare():
    model = pyasc.load(relu_model())
    np.testing.assert_array_equal(model.run(rows(1))["y"], np.maximum(rows(1), 0))
    np.testing.assert_array_equal(model([[1, -2, 3]])["y"], [[1, 0, 3]])
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="one input"):
        pyasc.load(add_model()).run(rows(1))


def test_what_does_not_fit_is_refused_by_name():
    model = pyasc.load(add_model((2, 3)))
    with pytest.raises(pyasc.errors.ShapeMismatchError, match="'b'") as raised:
        model.run({"a": rows(2), "b": rows(3)})
    assert raised.value.code == "E5001"
    with pytest.raises(pyasc.errors.TypeMismatchError, match="'a' must be float32, given float64"):
        model.run({"a": rows(2).astype(np.float64), "b": rows(2)})
    with pytest.raises(pyasc.errors.InvalidArgumentError, match=r"missing are \['b'\]"):
        model.run({"a": rows(2)})
    with pytest.raises(pyasc.errors.NotFoundError, match="did you mean 'b'"):
        model.run({"a": rows(2), "bb": rows(2)})
    with pytest.raises(pyasc.errors.TypeMismatchError, match="'a'"):
        model.run({"a": object(), "b": rows(2)})
    with pytest.raises(pyasc.errors.TypeMismatchError, match="'a'"):
        model.run({"a": [[1, 2], [3]], "b": rows(2)})
    model = pyasc.load(add_model(("N", 3)))
    with pytest.raises(pyasc.errors.ShapeMismatchError, match="'N'"):
        model.run({"a": rows(2), "b": rows(3)})
    assert model.run({"a": rows(2), "b": rows(2)})["sum"].shape == (2, 3)


@pytest.mark.parametrize(
    "array",
    [
        rows(4)[::2],
        rows(4)[::-1],
        np.asfortranarray(rows(4)),
        rows(4).astype(">f4"),
        np.frombuffer(b"\0" + rows(4).tobytes(), np.uint8)[1:].view("V12").view(np.float32).reshape(4, 3),
        np.zeros((0, 3), np.float32),
    ],
    ids=["strided", "reversed", "fortran", "big-endian", "misaligned", "empty"],
)
def test_layouts_that_cannot_be_shared_are_copied(array):
    if not array.flags.writeable:
        array.flags.writeable = False
    result = pyasc.load(relu_model()).run({"x": array})["y"]
    assert result.shape == array.shape
    np.testing.assert_array_equal(result, np.maximum(array, 0))


def test_read_only_inputs_are_taken():
    array = rows(2)
    array.flags.writeable = False
    np.testing.assert_array_equal(pyasc.load(relu_model()).run(array)["y"], np.maximum(array, 0))


def test_outputs_are_writable_and_outlive_the_model():
    model = pyasc.load(relu_model())
    first, second = model.run(rows(2))["y"], model.run(rows(2))["y"]
    first[:] = 7
    del model
    gc.collect()
    np.testing.assert_array_equal(second, np.maximum(rows(2), 0))
    np.testing.assert_array_equal(first, np.full((2, 3), 7))


def test_inputs_are_not_kept_after_the_run():
    import sys

    model, array = pyasc.load(relu_model()), rows(2)
    references = sys.getrefcount(array)
    result = model.run({"x": array})
    assert sys.getrefcount(array) == references
    with pytest.raises(pyasc.errors.ShapeMismatchError):
        model.run({"x": array[:, :2].copy()})
    array.resize((4, 3))  # refused by NumPy while someone holds a buffer of it
    assert result["y"].shape == (2, 3)


def test_an_output_that_is_an_input_is_a_copy():
    model = pyasc.load(model_of([oh.make_node("Identity", ["x"], ["y"])], [tensor("x", [3])], [tensor("y", [3])]))
    array = np.ones(3, np.float32)
    result = model.run({"x": array})["y"]
    array[:] = 5
    np.testing.assert_array_equal(result, np.ones(3))


def test_outputs_are_written_into_given_arrays():
    model = pyasc.load(add_model())
    target = np.zeros((2, 3), np.float32)
    results = model.run({"a": rows(2), "b": rows(2)}, out={"sum": target})
    assert results["sum"] is target
    np.testing.assert_array_equal(target, 2 * rows(2))
    feeds = {"a": rows(2), "b": rows(2)}
    with pytest.raises(pyasc.errors.NotFoundError, match="'sum'"):
        model.run(feeds, out={"total": target})
    with pytest.raises(pyasc.errors.ShapeMismatchError, match="'sum'"):
        model.run(feeds, out={"sum": np.zeros((3, 3), np.float32)})
    with pytest.raises(pyasc.errors.TypeMismatchError, match="'sum'"):
        model.run(feeds, out={"sum": np.zeros((2, 3))})
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="C-contiguous"):
        model.run(feeds, out={"sum": np.zeros((2, 6), np.float32)[:, ::2]})
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="shares memory"):
        model.run(feeds, out={"sum": feeds["a"]})


NUMPY_TYPES = [
    "float32",
    "float64",
    "float16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]
EXTRA_TYPES = [
    "bfloat16",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "int4",
    "uint4",
    "float4_e2m1fn",
]


def type_number(name):
    dtype = np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)
    return oh.np_dtype_to_tensor_dtype(dtype), dtype


@pytest.mark.parametrize("name", NUMPY_TYPES + EXTRA_TYPES)
def test_every_type_goes_through_unchanged(name):
    number, dtype = type_number(name)
    model = pyasc.load(
        model_of([oh.make_node("Identity", ["x"], ["y"])], [tensor("x", ["N"], number)], [tensor("y", ["N"], number)])
    )
    assert model.inputs[0].dtype == dtype
    for values in ([0, 1, 1, 0, 1], [], [1]):
        array = np.array(values, dtype)
        result = model.run({"x": array})["y"]
        assert result.dtype == dtype
        assert result.tobytes() == array.tobytes()


def test_strings_are_object_arrays():
    nodes = [oh.make_node("StringConcat", ["x", "x"], ["y"])]
    model = model_of(nodes, [tensor("x", ["N"], STRING)], [tensor("y", ["N"], STRING)])
    model.opset_import[0].version = 20
    model = pyasc.load(model)
    assert model.inputs[0].dtype == object
    result = model.run({"x": np.array(["a", "é漢", ""], object)})["y"]
    assert result.dtype == object
    assert result.tolist() == ["aa", "é漢é漢", ""]
    assert model.run({"x": np.array(["ab"])})["y"].tolist() == ["abab"]
    assert model.run({"x": ["ab"]})["y"].tolist() == ["abab"]
    with pytest.raises(pyasc.errors.TypeMismatchError, match="must be a str"):
        model.run({"x": np.array([1, 2], object)})


def test_sequences_are_lists():
    sequence = oh.make_tensor_sequence_value_info
    nodes = [oh.make_node("SequenceInsert", ["s", "x"], ["t"]), oh.make_node("SequenceLength", ["t"], ["n"])]
    inputs = [sequence("s", FLOAT, ["N"]), tensor("x", ["N"])]
    model = pyasc.load(model_of(nodes, inputs, [sequence("t", FLOAT, ["N"]), tensor("n", [], INT64)]))
    assert model.inputs[0].kind == "sequence"
    result = model.run({"s": [np.ones(2, np.float32), [2, 3]], "x": np.zeros(2, np.float32)})
    assert isinstance(result["t"], list)
    np.testing.assert_array_equal(result["t"], [[1, 1], [2, 3], [0, 0]])
    assert result["n"] == 3
    assert model.run({"s": [], "x": np.zeros(2, np.float32)})["n"] == 1
    with pytest.raises(pyasc.errors.TypeMismatchError, match="list"):
        model.run({"s": np.ones(2, np.float32), "x": np.zeros(2, np.float32)})


def test_absent_optionals_are_none():
    inner = oh.make_tensor_type_proto(FLOAT, [2])
    optional = oh.make_value_info("o", oh.make_optional_type_proto(inner))
    nodes = [oh.make_node("OptionalHasElement", ["o"], ["has"])]
    model = pyasc.load(model_of(nodes, [optional], [tensor("has", [], onnx.TensorProto.BOOL)]))
    assert model.inputs[0].kind == "optional"
    assert model.run({"o": np.ones(2, np.float32)})["has"]
    assert not model.run({"o": None})["has"]
    assert not model.run({})["has"]


def scaled_model():
    """y = x * w, where w is an input with a default."""
    nodes = [oh.make_node("Mul", ["x", "w"], ["y"])]
    default = onnx.numpy_helper.from_array(np.array([1, 2, 3], np.float32), "w")
    return model_of(nodes, [tensor("w", [3]), tensor("x", ["N", 3])], [tensor("y", ["N", 3])], initializer=[default])


def test_inputs_with_a_default_may_be_left_out(tmp_path):
    model = pyasc.load(scaled_model())
    assert [port.name for port in model.inputs] == ["x"]
    (port,) = model.overridable
    assert (port.name, port.shape, port.dtype) == ("w", (3,), np.float32)
    scale = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(model.run(rows(2))["y"], rows(2) * scale)
    feeds = {"x": rows(2), "w": 2 * scale}
    np.testing.assert_array_equal(model.run(feeds)["y"], rows(2) * scale * 2)
    np.testing.assert_array_equal(model.run_async(feeds).result()["y"], rows(2) * scale * 2)
    target = np.zeros((2, 3), np.float32)
    assert model.run(feeds, out={"y": target})["y"] is target and target.any()
    np.testing.assert_array_equal(model.run({"x": rows(2)})["y"], rows(2) * scale)
    with pytest.raises(pyasc.errors.ShapeMismatchError, match="'w'"):
        model.run({"x": rows(2), "w": np.ones(4, np.float32)})
    with pytest.raises(pyasc.errors.TypeMismatchError, match="'w'"):
        model.run({"x": rows(2), "w": np.ones(3)})
    with pytest.raises(pyasc.errors.InvalidArgumentError, match=r"missing are \['x'\]"):
        model.run({"w": scale})
    with pytest.raises(pyasc.errors.NotFoundError, match=r"\['x', 'w'\]"):
        model.run({"x": rows(2), "v": scale})
    model.save(tmp_path / "fixed.om")
    fixed = pyasc.load(tmp_path / "fixed.om")
    assert fixed.overridable == [] and pyasc.load(relu_model()).overridable == []
    with pytest.raises(pyasc.errors.NotFoundError, match="'w'"):
        fixed.run(feeds)


def test_defaults_are_fused_and_packed_like_constants():
    weight = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)
    nodes = [oh.make_node("Conv", ["x", "w"], ["c"]), oh.make_node("Relu", ["c"], ["y"])]
    initializer = [onnx.numpy_helper.from_array(weight, "w")]
    x, w, y = tensor("x", [1, 3, 8, 8]), tensor("w", [4, 3, 3, 3]), tensor("y", [1, 4, 6, 6])
    plain = pyasc.load(model_of(nodes, [x], [y], initializer=initializer))
    listed = pyasc.load(model_of(nodes, [x, w], [y], initializer=initializer))
    assert plain.overridable == [] and [port.name for port in listed.overridable] == ["w"]
    assert listed.graph.to_text() == plain.graph.to_text()
    array = np.ones((1, 3, 8, 8), np.float32)
    assert listed.run(array)["y"].tobytes() == plain.run(array)["y"].tobytes()
    overridden = listed.run({"x": array, "w": -weight})["y"]
    assert overridden.min() == 0 and not np.array_equal(overridden, listed.run(array)["y"])


def test_many_threads_may_override_at_once():
    model = pyasc.load(scaled_model())

    def calls(seed):
        scale = np.full(3, seed, np.float32)
        return all(np.array_equal(model.run({"x": rows(2), "w": scale})["y"], rows(2) * scale) for _ in range(20))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(calls, range(8)))


def test_runs_can_be_asynchronous():
    model = pyasc.load(relu_model())
    futures = [model.run_async({"x": rows(count)}) for count in range(1, 20)]  # the arrays live as long as they must
    gc.collect()
    for count, future in enumerate(futures, 1):
        np.testing.assert_array_equal(future.result(timeout=60)["y"], np.maximum(rows(count), 0))
        assert future.done()
    with pytest.raises(pyasc.errors.ShapeMismatchError, match="'x'"):
        model.run_async({"x": np.ones((1, 4), np.float32)}).result()
    future = model.run_async({"x": rows(1)})
    future.cancel()
    try:
        future.result()
    except pyasc.errors.CancelledError as error:
        assert error.code == "E5013"


def test_a_model_may_be_called_from_many_threads():
    model = pyasc.load(relu_model())
    barrier = threading.Barrier(8)

    def calls(seed):
        barrier.wait()
        array = np.random.default_rng(seed).standard_normal((seed % 5 + 1, 3), np.float32)
        return all(np.array_equal(model.run({"x": array})["y"], np.maximum(array, 0)) for _ in range(50))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(calls, range(8)))


def test_the_interpreter_is_free_while_the_engine_works():
    n = 800
    model = pyasc.load(
        model_of([oh.make_node("MatMul", ["x", "x"], ["y"])], [tensor("x", [n, n])], [tensor("y", [n, n])]), threads=1
    )
    array = np.ones((n, n), np.float32)
    model.run(array)
    counts, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counts[0]
        for _ in range(5):
            model.run(array)
        assert counts[0] > before
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("threads", [0, 1, 2, 10**12])
def test_threads_are_capped(threads):
    model = pyasc.load(relu_model(), threads=threads)
    import os

    assert 1 <= model.counter("threads") <= len(os.sched_getaffinity(0))
    if threads == 1:
        assert model.counter("threads") == 1
    model.run(rows(1))


def test_known_shapes_are_planned_once():
    model = pyasc.load(relu_model())
    for _ in range(3):
        for count in (1, 2, 3):
            model.run(rows(count))
    assert model.counter("plans_made") == 3


def test_saved_models_load_again(tmp_path):
    path = tmp_path / "model.om"
    model = pyasc.load(add_model())
    model.save(path)
    for form in (path, str(path), path.read_bytes()):
        again = pyasc.load(form)
        assert [port.name for port in again.inputs] == ["a", "b"]
        np.testing.assert_array_equal(again.run({"a": rows(2), "b": rows(2)})["sum"], 2 * rows(2))
    with pytest.raises(pyasc.errors.FileError, match="no_such_folder"):
        model.save(tmp_path / "no_such_folder" / "model.om")


def test_summary_and_memory_plan_print_as_tables():
    fixed = pyasc.load(add_model((2, 3)))
    text = str(fixed.summary())
    assert "Add" in text and "float32[2, 3]" in text and "1 layers on cpu" in text
    assert fixed.summary()["inputs"][0] == {"name": "a", "type": "float32[2, 3]"}
    plan = fixed.memory_plan()
    assert plan.peak_bytes >= plan.lower_bound_bytes >= 0
    assert {"name", "type", "kind", "bytes", "first_step", "last_step"} <= plan.buffers[0].keys()
    assert "lower bound" in str(plan)
    dynamic = pyasc.load(add_model())
    assert "float32[N, 3]" in str(dynamic.summary())
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="not fixed"):
        dynamic.memory_plan()
    assert "float32[5, 3]" in str(dynamic.memory_plan({"a": (5, 3), "b": (5, 3)}))
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="'b'"):
        dynamic.memory_plan({"a": (5, 3)})


def test_the_optimised_graph_can_be_read():
    graph = pyasc.load(relu_model()).graph
    assert len(graph) == 1
    assert "Relu" in graph.to_text()


def test_file_names_need_not_be_utf8(tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xe9")
    with open(name + ".onnx", "wb") as file:
        file.write(relu_model().SerializeToString())
    model = pyasc.load(name + ".onnx")
    model.save(name + ".om")
    pyasc.onnx.export(model, name + "2.onnx", external_data=True)
    for ending in (".om", "2.onnx"):
        np.testing.assert_array_equal(pyasc.load(name + ending).run({"x": np.float32([[-1, 2, 3]])})["y"], [[0, 2, 3]])
    with pytest.raises(pyasc.errors.FileError, match="E5010"):
        pyasc.load(name + "3.onnx")
    pyasc.load(name + ".onnx", config=pyasc.CompileConfig(dump_path=name))
    assert os.listdir(name)


def test_models_that_are_none_are_refused(tmp_path):
    with pytest.raises(pyasc.errors.FileError, match="nowhere.onnx") as raised:
        pyasc.load(tmp_path / "nowhere.onnx")
    assert isinstance(raised.value, OSError)
    (tmp_path / "garbage.onnx").write_bytes(b"not a model at all")
    for model in (tmp_path / "garbage.onnx", b"garbage", b""):
        with pytest.raises(pyasc.errors.InvalidModelError):
            pyasc.load(model)
    with pytest.raises(pyasc.errors.TypeMismatchError, match="a path, bytes or a ModelProto"):
        pyasc.load(12)
    bad = relu_model()
    bad.graph.node[0].op_type = "Relux"
    with pytest.raises(pyasc.errors.UnsupportedOperatorError, match="Relux"):
        pyasc.load(bad)


def test_devices_are_chosen_by_name_or_number():
    for device in ("cpu", "npu:0", "npu0", 0, "0"):
        np.testing.assert_array_equal(pyasc.load(relu_model(), device=device).run(rows(1))["y"], np.maximum(rows(1), 0))
    with pytest.raises(pyasc.errors.DeviceError, match="npu:1"):
        pyasc.load(relu_model(), device="npu:1")
    with pytest.raises(pyasc.errors.TypeMismatchError, match="a device is"):
        pyasc.load(relu_model(), device=1.5)


def test_what_is_not_built_yet_is_refused_by_name():
    with pytest.raises(pyasc.errors.UnavailableError, match="cache_dir") as raised:
        pyasc.load(relu_model(), cache_dir="cache")
    assert raised.value.code == "E5009"
    with pytest.raises(pyasc.errors.UnavailableError, match="distributed"):
        pyasc.distributed  # noqa: B018
    for owner, name in ((pyasc, "distributed"), (pyasc, "nn"), (pyasc.ops, "fallback"), (pyasc.device, "register")):
        assert not hasattr(owner, name)
        with pytest.raises(pyasc.errors.UnavailableError, match=f"{name} is not built yet"):
            getattr(owner, name)
    with pyasc.Context() as ctx, pytest.raises(pyasc.errors.UnavailableError, match="stream"):
        ctx.stream  # noqa: B018
    assert not hasattr(pyasc, "nothing_of_that_name")


def test_loading_and_running_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = pyasc.load(relu_model())
        model.run(rows(1))
        del model
        gc.collect()
