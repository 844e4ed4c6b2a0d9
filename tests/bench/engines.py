"""The engines that are measured, each at its own best settings and called in its own manner.

An engine is made from a file, a number of threads and the inputs that it will get; `call()` runs it once on those inputs, `outputs()`
gives the results of a run by name, `settings` says how it was set up, and `winograd` whether convolutions round as Winograd's
algorithm does.
"""

import importlib.util


class Pyasc:
    """pyasc in its default mode, where NaN propagates everywhere."""

    package = "pyasc"
    config = {}

    @property
    def winograd(self):
        from pyasc import profiler

        # The summary does not know the kernels of models whose input shapes are not fixed.
        profiler.start(peaks=(0, 0))
        try:
            self.call()
        finally:
            profiler.stop()
        return any("winograd" in step["kernel"] for plan in profiler.report()["plans"] for step in plan["steps"])

    def __init__(self, file, threads, feeds, static):
        import pyasc

        options = {"config": pyasc.CompileConfig(**self.config)} if self.config else {}
        self._model = pyasc.load(file, threads=threads, **options)
        self._feeds = feeds
        self.settings = {"version": pyasc.__version__, "threads": threads, **self.config}

    def call(self):
        return self._model.run(self._feeds)

    def outputs(self):
        return dict(self.call())


class PyascFinite(Pyasc):
    """pyasc with `assume_finite`."""

    config = {"assume_finite": True}


class PyascBefore(Pyasc):
    """Another build of pyasc, which the worker's process finds first on its path."""


class OnnxRuntime:
    """ONNX Runtime with all optimisations."""

    package = "onnxruntime"
    winograd = False

    def __init__(self, file, threads, feeds, static):
        import onnxruntime

        self._feeds = feeds
        self.settings = {
            "version": onnxruntime.__version__,
            "graph_optimization_level": "ORT_ENABLE_ALL",
            "execution_mode": "ORT_SEQUENTIAL",
            "intra_op_num_threads": threads,
            "shapes": "fixed" if static else "as in the file",
        }

        def session(level, overrides=()):
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = level
            options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            for name, length in overrides:
                options.add_free_dimension_override_by_name(name, length)
            return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])

        levels = onnxruntime.GraphOptimizationLevel
        lengths = []
        if static:
            plain = session(levels.ORT_DISABLE_ALL)
            lengths = _named_lengths([(i.shape, feeds[i.name].shape) for i in plain.get_inputs()])
            del plain
        self._session = session(levels.ORT_ENABLE_ALL, lengths)

    def call(self):
        return self._session.run(None, self._feeds)

    def outputs(self):
        return dict(zip([o.name for o in self._session.get_outputs()], self.call(), strict=True))


class OpenVino:
    """OpenVINO with the LATENCY hint, computing in float32."""

    package = "openvino"
    winograd = False

    def __init__(self, file, threads, feeds, static):
        import openvino

        core = openvino.Core()
        properties = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": threads,
        }
        model = core.read_model(file)
        if static:
            model.reshape({i.any_name: list(feeds[i.any_name].shape) for i in model.inputs})
        self._compiled = core.compile_model(model, "CPU", properties)
        self._request = self._compiled.create_infer_request()
        self._feeds = feeds
        self.settings = {
            "version": openvino.__version__.split("-")[0],
            **properties,
            "NUM_STREAMS": str(self._compiled.get_property("NUM_STREAMS")),
            "shapes": "fixed" if static else "as in the file",
        }

    def call(self):
        return self._request.infer(self._feeds, share_inputs=True, share_outputs=True)

    def outputs(self):
        results = self.call()
        return {name: results[output].copy() for output in self._compiled.outputs for name in output.names}


ENGINES = {"pyasc": Pyasc, "pyasc-finite": PyascFinite, "onnxruntime": OnnxRuntime, "openvino": OpenVino}
# What the engines call their number of threads in `settings`.
THREAD_SETTINGS = {"threads", "intra_op_num_threads", "INFERENCE_NUM_THREADS"}
PEERS = ("onnxruntime", "openvino")
# Not one of ENGINES: it is there only where a build is named.
BEFORE = "pyasc-before"


def installed():
    """The names of the engines whose package is there."""
    return [name for name, engine in ENGINES.items() if importlib.util.find_spec(engine.package)]


def _named_lengths(shapes):
    """(name, length) of the symbolic dimensions, those left out whose name stands for different lengths."""
    lengths = {}
    for declared, given in shapes:
        for name, length in zip(declared, given, strict=True):
            if isinstance(name, str):
                lengths.setdefault(name, set()).add(length)
    return [(name, values.pop()) for name, values in lengths.items() if len(values) == 1]
