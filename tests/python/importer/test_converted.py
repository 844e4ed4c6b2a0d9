"""Models of old opsets with inputs and outputs, as the onnx package ships them: what PyTorch exported in opsets 6 to 12."""

import pathlib

import numpy as np
import onnx
import onnx.backend.test
import pytest
from onnx import numpy_helper

import engines
from oracle import assert_same, levels

DATA = pathlib.Path(onnx.backend.test.__file__).parent / "data"
FOLDERS = sorted(
    folder
    for group in ("pytorch-converted", "pytorch-operator", "simple")
    for folder in (DATA / group).iterdir()
    if (folder / "model.onnx").exists()
)


def read(folder, kind, values):
    """The arrays (or lists of them) that go with the graph's inputs or outputs, by name."""
    arrays = {}
    for i, value in enumerate(values):
        data = (folder / f"{kind}_{i}.pb").read_bytes()
        if value.type.HasField("sequence_type"):
            arrays[value.name] = numpy_helper.to_list(onnx.SequenceProto.FromString(data))
        else:
            arrays[value.name] = numpy_helper.to_array(onnx.TensorProto.FromString(data))
    return arrays


@levels
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_outputs(folder, level):
    model = onnx.load(folder / "model.onnx")
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in constants]
    loaded = engines.load(folder / "model.onnx", level)
    for data in sorted(folder.glob("test_data_set_*")):
        feeds, want = read(data, "input", inputs), read(data, "output", model.graph.output)
        assert_same(loaded.run(feeds), want, rtol=1e-3, atol=1e-5, what=f"{data.name}: {np.shape(feeds)}")
