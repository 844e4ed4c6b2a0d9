"""The Python tests' own helpers, which lie in a folder that only pytest has on its path."""

import pathlib
import sys

_PYTHON = pathlib.Path(__file__).resolve().parent.parent / "python"
for folder in (_PYTHON / "ops", _PYTHON):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import engines  # noqa: E402, F401
import ml_oracle  # noqa: E402, F401
import oracle  # noqa: E402, F401
import table  # noqa: E402, F401
