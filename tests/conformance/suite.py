"""The tests of the `onnx` package: what they feed, what they expect, how they compare.

Kinds: node (one operator, or its function body expanded), simple, pytorch-operator, pytorch-converted. Tests of kind
"real" download their models, and are not here.
"""

import dataclasses
import functools
import pathlib
import re
import warnings

import onnx
from onnx import numpy_helper

KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")


@dataclasses.dataclass
class Case:
    """One test. `model` and `data_sets` (pairs of inputs and expected outputs) are read when they are asked for."""

    kind: str
    source: object  # onnx.backend.test.case.test_case.TestCase

    @property
    def name(self):
        return self.source.name

    @functools.cached_property
    def model(self):
        if self.source.model is not None:
            return self.source.model
        return onnx.load(pathlib.Path(self.source.model_dir) / "model.onnx")

    def data_sets(self):
        if self.source.data_sets is not None:
            return [tuple(map(_arrays, pair)) for pair in self.source.data_sets]
        folders = sorted(pathlib.Path(self.source.model_dir).glob("test_data_set*"))
        return [
            (_read(folder, "input", self.model.graph.input), _read(folder, "output", self.model.graph.output))
            for folder in folders
        ]

    def compare(self, expected, outputs):
        """Raises AssertionError as the test runner of `onnx` does, by its own function.

        That one takes the elements of a sequence for lists of outputs, and so fails on every element of rank 0; here
        they are compared as outputs are.
        """
        from onnx.backend.test.runner import Runner

        assert len(outputs) == len(expected), f"{len(outputs)} values, {len(expected)} expected"
        for got, want in zip(outputs, expected):
            assert isinstance(got, list) == isinstance(want, list), f"a {type(got)}, a {type(want)} expected"
            if isinstance(want, list):
                self.compare(want, got)
            else:
                Runner.assert_similar_outputs([want], [got], rtol=self.source.rtol, atol=self.source.atol)


def collect(kinds=KINDS):
    """All tests of these kinds; those of nodes take some seconds, as `onnx` computes what they expect."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [Case(kind, source) for kind in kinds for source in sorted(load_model_tests(kind=kind), key=_name)]


def operators(cases):
    """What each test is about, by test name: the operator of its node; of the unexpanded test for function bodies; all
    operators of models of several nodes."""
    found = {case.name: "+".join(sorted({_operator(node) for node in case.model.graph.node})) for case in cases}
    for name in found:
        whole = re.sub(r"_expanded.*", "", name)
        found[name] = found.get(whole, found[name])
    return found


def _operator(node):
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


def _name(source):
    return source.name


def _arrays(values):
    return [numpy_helper.to_array(each) if isinstance(each, onnx.TensorProto) else each for each in values]


def _read(folder, prefix, ports):
    count = len(list(folder.glob(f"{prefix}_*.pb")))
    return [_value((folder / f"{prefix}_{i}.pb").read_bytes(), ports[i].type) for i in range(count)]


def _value(content, type_):
    if type_.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
    if type_.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(content))
    return numpy_helper.to_array(onnx.TensorProto.FromString(content))
