"""The .onnx files that installed packages ship."""

import importlib.util
import pathlib

_FOLDERS = {
    "rapidocr_onnxruntime": "models",
    "silero_vad": "data",
    "magika": "models",
    "onnx": "backend/test/data/light",
}


def shipped_files():
    """[(package, path)], ordered; packages are located without being imported."""
    found = []
    for package, folder in _FOLDERS.items():
        spec = importlib.util.find_spec(package)
        if spec is None:
            raise FileNotFoundError(f"the Python package {package!r}, whose models are used, is not installed")
        found += [(package, path) for path in sorted((pathlib.Path(spec.origin).parent / folder).rglob("*.onnx"))]
    return found
