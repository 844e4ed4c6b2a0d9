"""A graph engine for neural networks: build, import, optimise, compile and run graphs."""

from pyasc import _asc

__version__: str = _asc.asc_version()

__all__ = ["__version__"]
