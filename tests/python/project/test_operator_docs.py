"""docs/operators/ says what the registry says, and the registry what ONNX says."""

import importlib.util
import json
import pathlib

import pytest
from onnx import defs, helper

from pyasc import _asc

ROOT = pathlib.Path(__file__).resolve().parents[3]


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_up_to_date():
    if "onednn" not in _asc.asc_device_create_kernels("cpu"):
        pytest.skip("the pages list the kernels of builds with oneDNN")
    hint = "run: PYTHONPATH=build/bindings/python python tools/operator_docs.py"
    assert tool("operator_docs").out_of_date() == [], hint


def test_the_forms_of_older_opsets_are_up_to_date():
    forms = tool("operator_forms")
    assert forms.TARGET.read_text() == forms.text(), "run: python tools/operator_forms.py"


def plain(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return pytest.approx(value, rel=1e-6) if isinstance(value, float) else value


# Exported nodes leave out attributes that have their default.
@pytest.mark.parametrize("row", json.loads(_asc.asc_registry_create_operators()), ids=lambda row: row["name"])
def test_defaults_are_those_of_onnx(row):
    if row["domain"] in ("asc", "com.microsoft"):
        pytest.skip("not ONNX's")
    schema = defs.get_schema(row["name"], domain=row["domain"])
    for spec in row["attributes"]:
        if spec["name"] in schema.attributes and "default" in spec:
            proto = schema.attributes[spec["name"]].default_value
            assert proto.name, f"{spec['name']} has no default in ONNX"
            assert spec["default"] == plain(helper.get_attribute_value(proto)), spec["name"]
