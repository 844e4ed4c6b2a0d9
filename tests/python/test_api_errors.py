"""FEATURES: errors, logs, comparisons, compatibility."""

import logging
import pickle

import numpy as np
import pytest

import pyasc
from pyasc import errors

# docs/errors.md
CLASSES = {
    "E5001": (errors.ShapeMismatchError, ValueError),
    "E5002": (errors.TypeMismatchError, TypeError),
    "E5003": (errors.InvalidArgumentError, ValueError),
    "E5004": (errors.NotFoundError, KeyError),
    "E5005": (errors.InvalidGraphError, ValueError),
    "E5006": (errors.InvalidModelError, ValueError),
    "E5007": (errors.OutOfRangeError, IndexError),
    "E5008": (errors.LayoutError, ValueError),
    "E5009": (errors.UnavailableError, NotImplementedError),
    "E5010": (errors.FileError, OSError),
    "E5011": (errors.DestroyedError, RuntimeError),
    "E5012": (errors.OutOfMemoryError, MemoryError),
    "E5013": (errors.CancelledError, RuntimeError),
    "E5014": (errors.ArithmeticError_, ArithmeticError),
    "E5020": (errors.DeviceError, RuntimeError),
    "E5033": (errors.UnsupportedOperatorError, NotImplementedError),
    "E5099": (errors.InternalError, RuntimeError),
}


@pytest.mark.parametrize("code", CLASSES)
def test_each_code_has_its_class_and_resembles_a_built_in(code):
    kind, built_in = CLASSES[code]
    error = errors._from_status(int(code[1:]), "what", "conv1", "do this", "")
    assert type(error) is kind
    assert isinstance(error, built_in) and isinstance(error, errors.PyascError)
    assert (error.code, error.message, error.node, error.hint) == (code, "what", "conv1", "do this")
    assert str(error) == f"{code} at node 'conv1': what (hint: do this)"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and str(again) == str(error)


def test_codes_that_are_not_known_are_internal():
    assert type(errors._from_status(1, "what", "", "", "")) is errors.InternalError


def test_the_error_table_of_the_documentation_is_this_one():
    import pathlib
    import re

    page = pathlib.Path(__file__).resolve().parents[2] / "docs/errors.md"
    rows = re.findall(r"^\| (E\d+) \| `(\w+)` \| `(\w+)` \|", page.read_text(), re.MULTILINE)
    assert {code: (name, base) for code, name, base in rows} == {
        code: (kind.__name__, base.__name__) for code, (kind, base) in CLASSES.items()
    }


def test_errors_of_the_engine_say_node_and_hint():
    with pyasc.Context() as ctx:
        with pytest.raises(errors.ShapeMismatchError) as raised:
            ctx.matmul(ctx.input("a", (2, 3)), ctx.input("b", (4, 5)), name="product")
        assert raised.value.node.startswith("product")
        assert raised.value.code == "E5001"


def test_running_out_of_memory_is_a_memory_error():
    from pyasc import _asc

    with pyasc.Context() as ctx:
        ctx.relu(ctx.input("x", ("N",)))
        model = ctx.compile()
        current, _, _ = _asc.asc_device_get_memory("cpu")
        _asc.asc_device_set_memory_limit("cpu", current + (1 << 20))
        try:
            with pytest.raises(MemoryError) as raised:
                model.run(np.ones(1 << 22, np.float32))
        finally:
            _asc.asc_device_set_memory_limit("cpu", 0)
        assert raised.value.code == "E5012"
        assert "bytes" in raised.value.message and raised.value.hint
        assert model.run(np.ones(1 << 22, np.float32))["relu_out"].all()


def test_integer_division_by_zero_is_an_arithmetic_error():
    with pyasc.Context() as ctx:
        ctx.div(ctx.input("a", ("N",), dtype="int32"), ctx.input("b", ("N",), dtype="int32"))
        feeds = {"a": np.array([1, 2], np.int32), "b": np.array([1, 0], np.int32)}
        with pytest.raises(ArithmeticError) as raised:
            ctx.execute(feeds)
        assert raised.value.code == "E5014"
        feeds["b"][1] = 2
        assert ctx.execute(feeds)["output"].tolist() == [1, 1]


def test_log_levels_are_set_by_number_or_name(caplog):
    pyasc.logging.set_level(pyasc.logging.INFO)
    try:
        assert logging.getLogger("pyasc").level == logging.INFO
        with caplog.at_level(logging.DEBUG, logger="pyasc"):
            pyasc.logging.set_level("debug")
            with pyasc.Context() as ctx:
                ctx.relu(ctx.input("x", (1,)))
                ctx.compile()
            pyasc.logging.flush()
    finally:
        pyasc.logging.set_level(pyasc.logging.WARNING)
    with pytest.raises(errors.InvalidArgumentError, match="'LOUD'"):
        pyasc.logging.set_level("LOUD")
    with pytest.raises(errors.InvalidArgumentError, match="15"):
        pyasc.logging.set_level(15)


def test_the_engines_messages_reach_pythons_logging(caplog, monkeypatch):
    from pyasc import _asc

    queue = [(logging.WARNING, "mind the gap"), (logging.ERROR, "100 % wrong")]
    monkeypatch.setattr(_asc, "asc_log_take_records", lambda: queue)
    monkeypatch.setattr(_asc, "asc_log_records_get_count", len)
    monkeypatch.setattr(_asc, "asc_log_records_get", lambda records, index: records[index])
    with caplog.at_level(logging.DEBUG, logger="pyasc"):
        pyasc.logging.flush()
    assert [(record.name, record.levelno, record.getMessage()) for record in caplog.records] == [
        ("pyasc", logging.WARNING, "mind the gap"),
        ("pyasc", logging.ERROR, "100 % wrong"),
    ]


# ---- testing ----


def test_close_results_pass():
    check = pyasc.testing.assert_allclose
    check([1.0, 2.0], [1.0005, 2.001])
    check(np.float16([1, np.nan, np.inf]), [1, np.nan, np.inf])
    check({"a": [1.0], "b": [np.ones(2), np.zeros(3)]}, {"a": [1.0], "b": [np.ones(2), np.zeros(3)]})
    check(np.array(["a", "b"], object), np.array(["a", "b"], object))
    check(np.zeros((0, 3)), np.zeros((0, 3)))
    check(1 + 2j, 1 + 2.001j)


@pytest.mark.parametrize(
    "got, want, says",
    [
        (
            [[1.0, 2.0], [3.0, 4.5]],
            [[1.0, 2.0], [3.0, 4.0]],
            r"1 of 4 elements .* element \[1, 1\] is 4.5 instead of 4.0",
        ),
        ([1.0, np.nan], [1.0, 2.0], r"element \[1\] is nan instead of 2.0; not finite"),
        ([1.0, np.inf], [1.0, -np.inf], r"element \[1\] is inf instead of -inf"),
        ([1.0], [[1.0]], r"shape \(1,\) instead of \(1, 1\)"),
        ({"a": 1.0}, {"b": 1.0}, "keys"),
        ({"a": np.array([1.0])}, {"a": np.array([2.0])}, r"result\['a'\]: 1 of 1"),
        ([np.ones(1)], [np.ones(1), np.ones(1)], "1 items instead of 2"),
        (np.array(["a"], object), np.array(["b"], object), "'a' instead of 'b'"),
    ],
)
def test_results_that_differ_are_told_where_and_how_far(got, want, says):
    with pytest.raises(AssertionError, match=says):
        pyasc.testing.assert_allclose(got, want)


# ---- compatibility ----


def test_versions_that_go_together_are_known():
    answer = pyasc.check_compatibility(cann="5.1.RC2")
    assert answer["compatible"] is True
    assert answer["requires"] == ">=0.3.2"
    assert "0.3.2" in answer["message"]
    assert pyasc.check_compatibility(cann="5.1.RC2", version="0.3.1")["compatible"] is False
    assert pyasc.check_compatibility(cann="5.1.RC2", version="0.3.2")["compatible"] is True
    with pytest.raises(errors.NotFoundError, match="5.1.RC2"):
        pyasc.check_compatibility(cann="5.1.RC3")
    with pytest.raises(errors.InvalidArgumentError, match="three numbers"):
        pyasc.check_compatibility(cann="5.1.RC2", version="new")
