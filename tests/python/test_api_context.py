"""FEATURES: building graphs operator by operator."""

import gc
import os
import threading
import warnings

import ml_dtypes
import numpy as np
import pytest

import pyasc


@pytest.fixture
def ctx():
    with pyasc.Context() as context:
        yield context


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def conv_reference(x, w, padding=0, stride=1):
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding))).astype(np.float64)
    kernel = w.shape[2]
    windows = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwij,ocij->nohw", windows, w.astype(np.float64))


def test_the_snippet_of_the_features_page():
    data, weights = random(1, 3, 224, 224), random(64, 3, 3, 3)
    with pyasc.Context(device_id=0) as ctx:
        x = ctx.input("x", shape=(1, 3, 224, 224), dtype="float32")
        w = ctx.input("w", shape=(64, 3, 3, 3))
        conv = ctx.conv2d(x, weight=w, kernel_size=3, padding=1, stride=1)
        y = ctx.relu(conv)
        result = ctx.execute({"x": data, "w": weights})
        assert y.name == "relu_out"
    want = np.maximum(conv_reference(data, weights, padding=1), 0)
    pyasc.testing.assert_allclose(result["relu_out"], want, rtol=1e-4, atol=1e-4)
    assert result["output"] is result["relu_out"]


# ---- names and results ----


def test_results_are_named_after_their_operator(ctx):
    x = ctx.input("x", shape=(2,))
    assert [ctx.relu(x).name, ctx.relu(x).name, ctx.relu(x, name="mine").name] == ["relu_out", "relu_out_1", "mine"]
    assert ctx.conv2d(ctx.input("i", (1, 1, 2, 2)), np.ones((1, 1, 1, 1), np.float32)).name == "conv2d_out"


def test_execute_gives_what_nothing_consumes_and_what_is_marked(ctx):
    x = ctx.input("x", shape=(2,))
    middle = ctx.relu(x)
    ctx.exp(middle)
    ctx.neg(middle, name="negative")
    feeds = {"x": np.array([1, -1], np.float32)}
    assert set(ctx.execute(feeds)) == {"exp_out", "negative"}
    assert ctx.output(middle) is middle
    result = ctx.execute(feeds)
    assert set(result) == {"relu_out", "exp_out", "negative"}
    np.testing.assert_array_equal(result["relu_out"], [1, 0])
    ctx.output(middle, name="again")
    assert "again" in ctx.execute(feeds)
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="already"):
        ctx.output(x, name="again")


def test_a_wrong_key_names_the_right_ones(ctx):
    x = ctx.input("x", shape=(2,))
    ctx.relu(x)
    result = ctx.execute({"x": np.zeros(2, np.float32)})
    assert "output" in result and "relu_out" in result and "relu" not in result
    assert result.get("nothing") is None
    with pytest.raises(KeyError, match="the outputs are \\['relu_out'\\]") as raised:
        result["relu_uot"]
    assert raised.value.code == "E5004"
    assert "did you mean 'relu_out'?" in str(raised.value)
    ctx.exp(x)
    result = ctx.execute({"x": np.zeros(2, np.float32)})
    assert "output" not in result
    with pytest.raises(pyasc.errors.NotFoundError, match="'output'"):
        result["output"]


def test_the_first_execution_compiles_and_later_ones_do_not(ctx):
    x = ctx.input("x", shape=("N", 2))
    ctx.relu(x)
    model = ctx.compile()
    for count in (1, 2, 1, 2):
        assert ctx.execute({"x": np.ones((count, 2), np.float32)})["output"].shape == (count, 2)
    assert ctx._model is model
    assert model.counter("plans_made") == 2
    ctx.exp(x)
    ctx.execute({"x": np.ones((1, 2), np.float32)})
    assert ctx._model is not model


def test_a_graph_without_outputs_is_refused(ctx):
    ctx.input("x", shape=(1,))
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="no outputs"):
        ctx.compile()


def test_outputs_can_go_into_given_arrays(ctx):
    ctx.relu(ctx.input("x", shape=(2,)))
    target = np.zeros(2, np.float32)
    assert ctx.execute({"x": np.array([1, -1], np.float32)}, out={"relu_out": target})["output"] is target
    np.testing.assert_array_equal(target, [1, 0])


# ---- operands and parameters ----


def test_every_operator_is_a_method_and_a_function():
    from pyasc._operators import registry

    assert len(registry()) > 100
    for method, operator in registry().items():
        assert callable(getattr(pyasc.Context, method))
        function = getattr(pyasc.ops, method)
        assert function.__doc__ == operator.doc
        assert function.__signature__ == operator.signature
        assert operator.row["name"] in function.__doc__


def test_functions_find_their_context(ctx):
    x = ctx.input("x", shape=(2,))
    y = pyasc.ops.concat([pyasc.ops.relu(x), x], dim=0)
    assert y.context is ctx and y.shape == (4,)
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="none of the operands"):
        pyasc.ops.relu(np.ones(2))


@pytest.mark.parametrize("padding", [1, (1, 1), [1, 1, 1, 1], np.int64(1)])
@pytest.mark.parametrize("stride", [2, (2, 2)])
def test_one_number_stands_for_every_axis(ctx, padding, stride):
    data, weight = random(1, 2, 5, 5), random(3, 2, 3, 3, seed=1)
    ctx.conv2d(ctx.input("x", data.shape), weight=weight, padding=padding, stride=stride)
    pyasc.testing.assert_allclose(ctx.execute({"x": data})["output"], conv_reference(data, weight, 1, 2), rtol=1e-4)


def test_padding_may_be_same_or_valid(ctx):
    x = ctx.input("x", (1, 1, 5, 5))
    weight = np.ones((1, 1, 3, 3), np.float32)
    assert ctx.conv2d(x, weight, padding="same").shape == (1, 1, 5, 5)
    assert ctx.conv2d(x, weight, padding="valid").shape == (1, 1, 3, 3)
    with pytest.raises(pyasc.errors.InvalidArgumentError, match='"same" or "valid"'):
        ctx.conv2d(x, weight, padding="sane")


def test_onnx_names_of_parameters_are_taken_too(ctx):
    x = ctx.input("x", (1, 1, 5, 5))
    assert ctx.max_pool2d(x, kernel_shape=2, strides=2).shape == (1, 1, 2, 2)
    assert ctx.softmax(x, axis=1).shape == x.shape
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="the same parameter"):
        ctx.softmax(x, axis=1, dim=1)


@pytest.mark.parametrize(
    "shape, kernel_size, wanted",
    [
        ((1, 64, 224, 224), 3, "[1, 3, 3, 3]"),  # an activation's
        ((64, 4, 3, 3), 3, "[64, 3, 3, 3]"),
        ((64, 4, 3, 3), None, "[64, 3, 3, 3]"),
        ((64, 3, 5, 5), 3, "[64, 3, 3, 3]"),
        ((64, 3, 5, 5), (3, 5), "[64, 3, 3, 5]"),
        ((64, 3, 3), 3, "[64, 3, 3, 3]"),
        ((64, 3, 3), None, "[64, 3, kernel, kernel]"),
        (("M", 4, 3, 3), 3, "[M, 3, 3, 3]"),
    ],
)
def test_a_weight_of_the_wrong_shape_is_refused_with_the_right_one(ctx, shape, kernel_size, wanted):
    x = ctx.input("x", (1, 3, 224, 224))
    w = ctx.input("w", shape)
    options = {} if kernel_size is None else {"kernel_size": kernel_size}
    with pytest.raises(pyasc.errors.ShapeMismatchError) as raised:
        ctx.conv2d(x, weight=w, name="stem", **options)
    assert raised.value.code == "E5001"
    assert raised.value.node.startswith("stem (test_api_context.py:")
    assert raised.value.hint == f"the weight should have shape {wanted}"
    given = str(list(shape)).replace("'", "")
    assert given in raised.value.message or kernel_size and str(list(shape[2:])) in raised.value.message


def test_numbers_and_lists_become_constants_of_the_right_type(ctx):
    x = ctx.input("x", shape=(2, 3), dtype="float16")
    assert (x + 1).dtype == np.float16
    assert ctx.mul(x, 2.5).dtype == np.float16
    assert ctx.reshape(x, [3, -1]).shape == (3, 2)
    assert ctx.reshape(x, shape=(6,)).shape == (6,)
    n = ctx.input("n", shape=(2, 3), dtype="int32")
    assert (n - 1).dtype == np.int32
    assert ctx.gather(x, [0, 1], axis=1).shape == (2, 2)
    assert ctx.where(ctx.greater(x, 0), x, 0).dtype == np.float16
    with pytest.raises(pyasc.errors.TypeMismatchError):
        ctx.add(x, np.ones(3, np.float64))
    with pytest.raises(pyasc.errors.TypeMismatchError, match="operand"):
        ctx.add(x, object())


def test_arithmetic_builds_operators(ctx):
    a, b = random(2, 2), random(2, 2, seed=1)
    x, y = ctx.input("a", (2, 2)), ctx.input("b", (2, 2))
    z = (2 - x) * y / (1 + x**2) - (-y) @ x + b @ x
    got = ctx.execute({"a": a, "b": b})[z.name]
    np.testing.assert_allclose(got, (2 - a) * b / (1 + a**2) + b @ a + b @ a, rtol=1e-5, atol=1e-5)


def test_several_results_come_as_a_tuple(ctx):
    x = ctx.input("x", shape=(4, 6))
    values, indices = ctx.topk(x, [2])
    assert values.shape == (4, 2) and indices.dtype == np.int64
    first, second = ctx.split(x, num_outputs=2, dim=1)
    assert first.shape == second.shape == (4, 3)
    parts = ctx.split(x, [1, 2, 3], dim=1)
    assert [part.shape for part in parts] == [(4, 1), (4, 2), (4, 3)]
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="outputs=N"):
        ctx.split(x)
    pooled, where = ctx.max_pool2d(ctx.input("i", (1, 1, 4, 4)), kernel_size=2, outputs=2)
    assert pooled.shape == where.shape


def test_what_does_not_fit_an_operator_is_refused(ctx):
    x = ctx.input("x", shape=(2, 3))
    y = ctx.input("y", shape=(4, 5))
    with pytest.raises(pyasc.errors.ShapeMismatchError) as raised:
        ctx.add(x, y)
    assert raised.value.code == "E5001" and "test_api_context.py" in raised.value.node
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="takes 1 operands, given 2"):
        ctx.relu(x, y)
    with pytest.raises(pyasc.errors.InvalidArgumentError):
        ctx.relu()
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="did you mean 'kernel_size'"):
        ctx.max_pool2d(x, kernal_size=2)
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="given twice"):
        ctx.matmul(x, y, b=y)
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="of type int"):
        ctx.softmax(x, dim=1.5)
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="of type float"):
        ctx.leaky_relu(x, negative_slope="steep")
    assert len(ctx.graph) == 0


def test_an_unknown_operator_is_refused_with_the_nearest(ctx):
    with pytest.raises(pyasc.errors.UnsupportedOperatorError, match="did you mean 'conv2d'"):
        pyasc.ops.convv2d  # noqa: B018
    with pytest.raises(pyasc.errors.UnsupportedOperatorError, match="did you mean 'conv2d'") as raised:
        ctx.convv2d(ctx.input("x", (1,)))
    assert raised.value.code == "E5033"
    assert not hasattr(ctx, "convv2d")


def test_values_of_other_contexts_are_refused(ctx):
    with pyasc.Context() as other:
        x = other.input("x", shape=(1,))
        with pytest.raises(pyasc.errors.InvalidArgumentError, match="another context"):
            ctx.relu(x)
        with pytest.raises(pyasc.errors.InvalidArgumentError, match="another context"):
            ctx.output(x)
    with pytest.raises(pyasc.errors.DestroyedError):
        ctx.relu(x)
    with pytest.raises(pyasc.errors.TypeMismatchError):
        ctx.output(3)


def test_inputs_have_types_and_symbolic_shapes(ctx):
    x = ctx.input("x", shape=("N", 3, None, 4), dtype=np.int8)
    assert x.shape == ("N", 3, None, 4) and x.dtype == np.int8 and x.kind == "tensor"
    assert ctx.input("y", shape=("2*N",), dtype=ml_dtypes.bfloat16).dtype == ml_dtypes.bfloat16
    assert ctx.input("z").shape is None
    assert ctx.input("s", shape=(), dtype="string").dtype == object
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="already"):
        ctx.input("x", shape=(1,))
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="extent"):
        ctx.input("w", shape=(1.5,))
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="-1"):
        ctx.input("w", shape=(-1,))
    with pytest.raises(pyasc.errors.TypeMismatchError, match="did you mean 'float32'"):
        ctx.input("w", shape=(1,), dtype="flaot32")


def test_constants_are_copies(ctx):
    array = np.array([1, 2], np.float32)
    ctx.add(ctx.constant(array), ctx.constant([10, 20], dtype="float32"))
    array[:] = 0
    np.testing.assert_array_equal(ctx.execute()["output"], [11, 22])


def test_variables_keep_what_is_written(ctx):
    counter = ctx.variable(np.array([1, 2], np.float32), name="counter")
    ctx.assign(counter, counter + 1)
    seen = ctx.add(counter, 0.0, name="seen")
    ctx.output(seen)
    firsts = [ctx.execute()["seen"].tolist() for _ in range(3)]
    assert firsts == [[1, 2], [2, 3], [3, 4]]
    assert ctx.compile().get_variable("counter").tolist() == [1, 2]


def test_bodies_of_control_flow_are_contexts(ctx):
    x = ctx.input("x", shape=(2,))
    flag = ctx.input("flag", shape=(), dtype=bool)
    with pyasc.Context() as then_body, pyasc.Context() as else_body:
        then_body.neg(then_body.capture(x))
        else_body.exp(else_body.capture(x))
        y = ctx.if_(flag, then_branch=then_body, else_branch=else_body, outputs=1)
    feeds = np.array([1, 2], np.float32)
    np.testing.assert_array_equal(ctx.execute({"x": feeds, "flag": np.array(True)})[y.name], -feeds)
    np.testing.assert_allclose(ctx.execute({"x": feeds, "flag": np.array(False)})[y.name], np.exp(feeds), rtol=1e-6)


# ---- layouts ----


def test_a_pinned_layout_that_cannot_be_met_is_refused_with_the_transpose(ctx):
    x = ctx.input("x", shape=(1, 3, 8, 8))
    w = random(4, 3, 3, 3)
    with pytest.raises(pyasc.errors.LayoutError) as raised:
        ctx.conv2d_custom(x, weight=w, expected_format="NHWC")
    assert raised.value.code == "E5008"
    assert "NHWC" in raised.value.message and "NCHW" in raised.value.message
    assert "ctx.transpose(x, perm=[0, 2, 3, 1])" in raised.value.hint
    assert len(ctx.graph) == 0


def test_a_transpose_permutes_the_layout(ctx):
    data, weight = random(1, 3, 8, 8), random(4, 3, 3, 3, seed=1)
    x = ctx.input("x", shape=data.shape)
    assert x.format == "NCHW"
    last = ctx.transpose(x, perm=[0, 2, 3, 1])
    assert last.format == "NHWC"
    y = ctx.conv2d_custom(last, weight=weight, expected_format="NHWC", name="y")
    assert y.name == "y" and y.shape == (1, 6, 6, 4) and y.format == "NHWC"
    assert ctx.relu(y).format == "NHWC"
    got = ctx.execute({"x": data})["relu_out"]
    want = np.maximum(conv_reference(data, weight), 0).transpose(0, 2, 3, 1)
    pyasc.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_a_blocked_layout_is_met_by_the_compiler(ctx):
    x = ctx.input("x", shape=(1, 3, 8, 8))
    w = random(4, 3, 3, 3)
    assert ctx.conv2d_custom(x, weight=w, expected_format="NC1HWC0").shape == (1, 4, 6, 6)
    assert ctx.conv2d_custom(x, weight=w, expected_format="NCHW").shape == (1, 4, 6, 6)
    nhwc = ctx.input("n", shape=(1, 8, 8, 3), format="NHWC")
    with pytest.raises(pyasc.errors.LayoutError, match="perm=\\[0, 3, 1, 2\\]"):
        ctx.conv2d_custom(nhwc, weight=w, expected_format="NCHW")
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="did you mean 'NHWC'"):
        ctx.conv2d_custom(x, weight=w, expected_format="NHWCC")
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="expected_format"):
        ctx.conv2d_custom(x, weight=w)


# ---- devices and configuration ----


def test_devices_are_opened_by_name_or_number():
    for arguments, device in ((("cpu",), "cpu"), ((), "cpu"), (("npu:0",), "npu:0")):
        with pyasc.Context(*arguments) as ctx:
            assert ctx.device == device
    with pytest.raises(pyasc.errors.DeviceError, match="npu:1") as raised:
        pyasc.Context("npu:1")
    assert raised.value.code == "E5020"
    with pytest.raises(pyasc.errors.DeviceError, match="'1'"):
        pyasc.Context(device_id=1)
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="not both"):
        pyasc.Context("cpu", device_id=0)
    with pytest.raises(pyasc.errors.TypeMismatchError, match="device_id"):
        pyasc.Context(device_id="cpu")


def test_a_configuration_is_the_contexts_or_the_compilations():
    with pyasc.Context(config=pyasc.CompileConfig(graph_opt_level=1), threads=1) as ctx:
        ctx.relu(ctx.input("x", shape=(1,)))
        assert ctx.compile().summary()["graph_opt_level"] == 1
        assert ctx.compile().counter("threads") == 1
        assert ctx.compile(config=pyasc.CompileConfig(graph_opt_level=0)).summary()["graph_opt_level"] == 0


# ---- the graph ----


def test_the_graph_prints_itself(ctx, capsys):
    ctx.relu(ctx.input("x", shape=(2,)), name="r")
    ctx.graph.print("text")
    assert "%r: float32[2] = Relu" in capsys.readouterr().out
    ctx.graph.print()
    assert capsys.readouterr().out.startswith("digraph")
    assert [port.name for port in ctx.graph.inputs] == ["x"]
    assert len(ctx.graph) == 1
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="'svg'"):
        ctx.graph.print("svg")
    for method in ("to_svg", "to_html"):
        with pytest.raises(pyasc.errors.UnavailableError, match=method):
            getattr(ctx.graph, method)()


def test_a_graph_compiles_by_itself(ctx):
    ctx.relu(ctx.input("x", shape=(2,)))
    graph = ctx.graph
    for target in ("cpu", "npu0", 0):
        np.testing.assert_array_equal(
            graph.compile(target=target).run(np.array([1, -1], np.float32))["relu_out"], [1, 0]
        )
    with pytest.raises(pyasc.errors.DeviceError, match="npu1"):
        graph.compile(target="npu1")
    with pytest.raises(pyasc.errors.UnavailableError, match="config"):
        graph.config  # noqa: B018


def test_nodes_know_the_line_that_built_them(ctx):
    x = ctx.input("x", shape=(2, 3))
    ctx.relu(x)
    assert "test_api_context.py:" in ctx.graph.to_text()


def test_the_dump_flag_writes_the_passes_work(ctx, tmp_path):
    ctx.relu(ctx.relu(ctx.input("x", shape=(2,))))
    ctx.set_dump_flag(dump_path=str(tmp_path / "dump"))
    ctx.execute({"x": np.zeros(2, np.float32)})
    files = os.listdir(tmp_path / "dump")
    assert "fusion_result.json" in files and len(files) > 1


def test_the_optimised_graph_is_saved(ctx, tmp_path):
    ctx.relu(ctx.input("x", shape=(2,)))
    ctx.save_optimized_graph(tmp_path / "graph.om")
    np.testing.assert_array_equal(
        pyasc.load(tmp_path / "graph.om").run(np.array([1, -1], np.float32))["relu_out"], [1, 0]
    )


# ---- life ----


def test_destroy_may_be_called_twice_and_everything_else_is_refused():
    ctx = pyasc.Context()
    x = ctx.input("x", shape=(2,))
    y = ctx.relu(x)
    result = ctx.execute({"x": np.array([1, -1], np.float32)})
    ctx.destroy()
    ctx.destroy()
    for action in (
        lambda: ctx.input("y", shape=(1,)),
        lambda: ctx.constant(1),
        lambda: ctx.variable(1),
        lambda: ctx.relu(x),
        lambda: pyasc.ops.relu(x),
        lambda: ctx.output(x),
        lambda: ctx.execute({}),
        lambda: ctx.compile(),
        lambda: ctx.graph,
        lambda: ctx.set_dump_flag("x"),
        lambda: ctx.save_optimized_graph("x"),
        lambda: ctx.__enter__(),
        lambda: y.name,
        lambda: y + 1,
    ):
        with pytest.raises(pyasc.errors.DestroyedError) as raised:
            action()
        assert raised.value.code == "E5011"
    np.testing.assert_array_equal(result["output"], [1, 0])
    assert "destroyed" in repr(ctx)


def test_a_compiled_model_outlives_its_context():
    with pyasc.Context() as ctx:
        ctx.relu(ctx.input("x", shape=(2,)))
        model = ctx.compile()
    np.testing.assert_array_equal(model.run(np.array([1, -1], np.float32))["relu_out"], [1, 0])


def test_a_context_that_is_never_destroyed_warns_and_is_freed():
    from pyasc import _asc

    gc.collect()
    before = _asc.asc_handle_count()
    with pytest.warns(ResourceWarning, match="never destroyed"):
        ctx = pyasc.Context()
        ctx.relu(ctx.input("x", shape=(1,)))
        ctx.execute({"x": np.ones(1, np.float32)})
        del ctx
        gc.collect()
    assert _asc.asc_handle_count() == before


def test_a_context_that_could_not_be_made_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(pyasc.errors.DeviceError):
            pyasc.Context("nowhere")
        gc.collect()


def test_contexts_of_many_threads_do_not_meet():
    failures = []

    def build(seed):
        try:
            for _ in range(20):
                with pyasc.Context() as ctx:
                    y = ctx.relu(ctx.input("x", shape=(3,))) * float(seed)
                    got = ctx.execute({"x": np.array([-1, 0, 1], np.float32)})[y.name]
                    np.testing.assert_array_equal(got, [0, 0, seed])
        except Exception as error:  # reported below
            failures.append(error)

    threads = [threading.Thread(target=build, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
