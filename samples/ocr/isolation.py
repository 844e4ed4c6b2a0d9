"""Makes ONNX Runtime impossible to import, so that nothing but pyasc can run the models of this process."""

import importlib.abc
import sys

BLOCKED = "onnxruntime"


class _Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == BLOCKED or name.startswith(BLOCKED + "."):
            raise ImportError(f"`{name}` must not be imported here: this process runs its models on pyasc", name=name)
        return None


def block_onnxruntime():
    """From now on `import onnxruntime` raises ImportError. RuntimeError if it has been imported already."""
    if any(name == BLOCKED or name.startswith(BLOCKED + ".") for name in sys.modules):
        raise RuntimeError("ONNX Runtime is in this process already: block it before anything imports it")
    sys.meta_path.insert(0, _Blocker())
