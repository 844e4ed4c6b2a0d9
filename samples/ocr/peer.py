"""The same pipeline on ONNX Runtime, in a process of its own: what `main.py --compare` measures against.

Prints one JSON object on standard output.
"""

import argparse
import json
import time
from types import SimpleNamespace

from .files import load_picture, model_paths
from .pipeline import OcrPipeline
from .report import measure


class OnnxRuntimeModel:
    """An ONNX Runtime session with the face that the pipeline wants of a model."""

    def __init__(self, path, threads=0):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.inputs = [SimpleNamespace(name=value.name, shape=value.shape) for value in self._session.get_inputs()]
        self.outputs = [SimpleNamespace(name=value.name, shape=value.shape) for value in self._session.get_outputs()]
        self.metadata = self._session.get_modelmeta().custom_metadata_map

    def run(self, feeds):
        names = [value.name for value in self.outputs]
        return dict(zip(names, self._session.run(names, feeds)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("image")
    parser.add_argument("--models", help="folder of the three models")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()

    image = load_picture(options.image)
    start = time.perf_counter()
    models = {stage: OnnxRuntimeModel(path, options.threads) for stage, path in model_paths(options.models).items()}
    load = 1e3 * (time.perf_counter() - start)
    _, report = measure(OcrPipeline(**models), image, options.repeat)
    print(json.dumps({**report, "load": load}))


if __name__ == "__main__":
    main()
