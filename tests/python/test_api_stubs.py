"""The generated types and documentation of operators speak of the same registry as the package."""

import ast
import inspect
import keyword
import pathlib

import pytest

import pyasc
from pyasc._operators import registry

FOLDER = pathlib.Path(pyasc.__file__).parent


def definitions(name):
    path = FOLDER / name
    if not path.exists():  # in the build folder, where the modules themselves are links
        path = pathlib.Path(pyasc._asc.__file__).parent / name
    tree = ast.parse(path.read_text())
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    body = classes[0].body if classes else tree.body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", ["_methods.pyi", "ops.pyi"])
def test_every_operator_is_typed(name):
    found = definitions(name)
    assert set(found) - {"conv2d_custom"} == set(registry())
    for method, operator in registry().items():
        arguments = found[method].args
        given = [each.arg for each in (*arguments.args, *arguments.kwonlyargs)] + (
            [arguments.vararg.arg] if arguments.vararg else []
        )
        expected = list(operator.signature.parameters)
        assert set(given) - {"self", "expected_format"} == set(expected), method
        assert ast.get_docstring(found[method])


def test_names_are_no_keywords():
    for operator in registry().values():
        for name in operator.signature.parameters:
            assert name.isidentifier() and not keyword.iskeyword(name), f"{operator.method}: {name}"


def test_the_signature_is_what_help_shows():
    signature = inspect.signature(pyasc.Context.conv2d)
    assert list(signature.parameters)[:4] == ["self", "x", "weight", "bias"]
    assert {"kernel_size", "stride", "padding", "dilation", "groups", "name"} <= set(signature.parameters)
    assert signature.parameters["groups"].default == 1
    assert "weight" in pyasc.Context.conv2d.__doc__
