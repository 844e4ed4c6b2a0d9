"""FEATURES: CompileConfig, FusionScope, fusions."""

import threading
import warnings

import numpy as np
import pytest

import pyasc
from pyasc import errors


def conv_bias_relu(ctx):
    x = ctx.input("x", shape=(1, 2, 6, 6))
    w = np.random.default_rng(0).standard_normal((3, 2, 3, 3)).astype(np.float32)
    return ctx.relu(ctx.add(ctx.conv2d(x, weight=w), np.ones((3, 1, 1), np.float32)))


def effects(model):
    """How often each fusion was applied."""
    return {name: row["effect_times"] for name, row in model.pass_report()["fusions"].items() if row["effect_times"]}


def test_options_are_attributes():
    config = pyasc.CompileConfig(graph_opt_level=1, enable_const_fold=False, dump_path="here")
    assert (config.graph_opt_level, config.enable_const_fold, config.dump_path) == (1, False, "here")
    assert config.buffer_optimize_level == 2 and config.assume_finite is False
    assert config.precision_mode == "must_keep_origin_dtype"
    config.graph_opt_level = 2
    copy = config.copy()
    copy.graph_opt_level = 0
    assert config.graph_opt_level == 2
    assert repr(copy) == "CompileConfig(graph_opt_level=0, enable_const_fold=False, dump_path='here')"
    assert repr(pyasc.CompileConfig()) == "CompileConfig()"


def test_the_snippet_of_the_features_page():
    config = pyasc.CompileConfig(
        graph_opt_level=3, enable_const_fold=True, enable_mem_reuse=True, buffer_optimize_level=2
    )
    with pyasc.Context(config=config) as ctx:
        conv_bias_relu(ctx)
        ctx.execute({"x": np.ones((1, 2, 6, 6), np.float32)})


@pytest.mark.parametrize(
    "options, kind, says",
    [
        ({"graph_opt_level": 4}, errors.InvalidArgumentError, "from 0 to 3, given 4"),
        ({"graph_opt_lvl": 1}, errors.InvalidArgumentError, "did you mean 'graph_opt_level'"),
        ({"graph_opt_level": "3"}, errors.TypeMismatchError, "given a text"),
        ({"graph_opt_level": 1.5}, errors.TypeMismatchError, "is a number, given 1.5"),
        ({"graph_opt_level": True}, errors.TypeMismatchError, "is a number, given True"),
        ({"enable_const_fold": 2}, errors.TypeMismatchError, "True or False"),
        ({"dump_path": 5}, errors.TypeMismatchError, "given a number"),
        ({"threads": -1}, errors.InvalidArgumentError, "threads"),
        ({"precision_mode": "force_fp16"}, errors.UnavailableError, "'force_fp16' is not built yet"),
        ({"precision_mode": "fp61"}, errors.InvalidArgumentError, "no precision_mode 'fp61'"),
        ({"cache_dir": "x"}, errors.UnavailableError, "'cache_dir' is not built yet"),
        ({"fusion_switch_file": "x"}, errors.UnavailableError, "not built yet"),
        ({"nonsense": None}, errors.InvalidArgumentError, "no compile option 'nonsense'"),
    ],
)
def test_what_is_wrong_or_not_built_is_refused(options, kind, says):
    with pytest.raises(kind, match=says):
        pyasc.CompileConfig(**options)


def test_a_config_must_be_one():
    with pytest.raises(errors.TypeMismatchError, match="CompileConfig"):
        pyasc.Context(config={"graph_opt_level": 1})
    with pytest.raises(AttributeError):
        pyasc.CompileConfig().nothing  # noqa: B018


def test_levels_decide_what_is_fused():
    with pyasc.Context() as ctx:
        y = conv_bias_relu(ctx)
        feeds = {"x": np.random.default_rng(1).standard_normal((1, 2, 6, 6)).astype(np.float32)}
        by_level = [ctx.compile(config=pyasc.CompileConfig(graph_opt_level=level)) for level in range(4)]
        results = [model.run(feeds)[y.name] for model in by_level]
    assert not effects(by_level[0]) and not effects(by_level[1])
    assert effects(by_level[2])
    for result in results[1:]:
        pyasc.testing.assert_allclose(result, results[0], rtol=1e-4)


def test_fusions_have_names():
    listed = pyasc.fusions()
    assert {"name", "pass", "mode", "doc"} <= listed[0].keys()
    assert "Conv2d+BiasAdd" in [fusion["name"] for fusion in listed]


def test_a_scope_switches_fusions_off_for_what_is_built_in_it():
    with pyasc.Context() as ctx:
        with pyasc.FusionScope() as fusion:
            fusion.disable_fusion("ALL")
            conv_bias_relu(ctx)
        model = ctx.compile()
    assert not effects(model)
    reasons = [row["not_applied"] for row in model.pass_report()["fusions"].values()]
    assert any(reasons)
    with pyasc.Context() as ctx:
        conv_bias_relu(ctx)
        assert effects(ctx.compile())


def test_a_scope_switches_one_fusion_off_by_name():
    with pyasc.Context() as ctx:
        y = conv_bias_relu(ctx)
        everything = effects(ctx.compile())
        name = next(iter(everything))
        with pyasc.FusionScope() as fusion:
            fusion.disable_fusion(name)
            model = ctx.compile()  # a compilation in a scope is all in it
        assert name not in effects(model)
        feeds = {"x": np.ones((1, 2, 6, 6), np.float32)}
        pyasc.testing.assert_allclose(model.run(feeds)[y.name], ctx.compile().run(feeds)[y.name])


def test_modes_go_from_off_to_aggressive():
    counts = []
    for mode in (pyasc.FUSION_MODE_OFF, "CONSERVATIVE", "FUSION_MODE_DEFAULT", pyasc.FUSION_MODE_AGGRESSIVE):
        with pyasc.Context() as ctx, pyasc.FusionScope() as fusion:
            fusion.set_mode(mode)
            conv_bias_relu(ctx)
            counts.append(sum(effects(ctx.compile()).values()))
    assert counts[0] == 0
    assert counts == sorted(counts) and counts[2] > 0


def test_scopes_nest_and_end():
    with pyasc.Context() as ctx:
        with pyasc.FusionScope() as outer:
            outer.disable_fusion("ALL")
            with pyasc.FusionScope() as inner:
                inner.set_mode(pyasc.FUSION_MODE_AGGRESSIVE)
                conv_bias_relu(ctx)
        assert not effects(ctx.compile())  # what the outer one disables stays off
    with pyasc.Context() as ctx:
        with pyasc.FusionScope() as outer:
            outer.set_mode(pyasc.FUSION_MODE_OFF)
            with pyasc.FusionScope() as inner:
                inner.set_mode(pyasc.FUSION_MODE_DEFAULT)
                conv_bias_relu(ctx)
        assert effects(ctx.compile())  # the mode is the inner one's


def test_other_threads_do_not_see_a_scope():
    found = []

    def build():
        with pyasc.Context() as ctx:
            conv_bias_relu(ctx)
            found.append(effects(ctx.compile()))

    with pytest.warns(UserWarning, match="touched nothing"), pyasc.FusionScope() as fusion:
        fusion.disable_fusion("ALL")
        thread = threading.Thread(target=build)
        thread.start()
        thread.join()
    assert found[0]


def test_a_scope_that_touched_nothing_warns():
    with pytest.warns(UserWarning, match="touched nothing"), pyasc.FusionScope():
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pyasc.Context() as ctx, pyasc.FusionScope():
            ctx.relu(ctx.input("x", (1,)))
        with pytest.raises(KeyError), pyasc.FusionScope():
            raise KeyError


def test_unknown_names_are_refused_with_the_nearest():
    fusion = pyasc.FusionScope()
    with pytest.raises(errors.NotFoundError, match="did you mean 'Conv2d\\+BiasAdd'"):
        fusion.disable_fusion("Conv2d+BiassAdd")
    with pytest.raises(errors.InvalidArgumentError, match="did you mean 'AGGRESSIVE'"):
        fusion.set_mode("AGRESSIVE")
    with pytest.raises(errors.InvalidArgumentError, match="given 7"):
        fusion.set_mode(7)
    with pytest.raises(errors.InvalidArgumentError, match="did you mean 'NC1HWC0'"):
        fusion.set_tensor_layout("x", "NC1HWCO")
    with pytest.raises(errors.UnavailableError, match="set_tensor_layout"):
        fusion.set_tensor_layout("x", "NC1HWC0")


def test_a_load_in_a_scope_is_all_in_it():
    import onnx
    from onnx import helper as oh

    weight = onnx.numpy_helper.from_array(np.ones((3, 2, 3, 3), np.float32), "w")
    bias = onnx.numpy_helper.from_array(np.ones((3, 1, 1), np.float32), "b")
    nodes = [oh.make_node("Conv", ["x", "w"], ["c"]), oh.make_node("Add", ["c", "b"], ["y"])]
    x = oh.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 2, 6, 6])
    y = oh.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    model = oh.make_model(
        oh.make_graph(nodes, "g", [x], [y], [weight, bias]), opset_imports=[oh.make_opsetid("", 18)], ir_version=10
    )
    assert effects(pyasc.load(model))
    with pyasc.FusionScope() as fusion:
        fusion.disable_fusion("ALL")
        assert not effects(pyasc.load(model))
