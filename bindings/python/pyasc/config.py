"""What is asked of a compilation."""

from __future__ import annotations

import operator
import os

from pyasc import _asc
from pyasc.errors import TypeMismatchError

__all__ = ["CompileConfig"]

_FLAGS = ("enable_const_fold", "enable_mem_reuse", "assume_finite", "winograd", "tune", "verify_passes")
_TEXTS = ("precision_mode", "dump_path", "tune_cache")
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_NUMBERS = ("graph_opt_level", "buffer_optimize_level", "plan_cache_size", "rewrite_limit", "threads")


class CompileConfig:
    """Options of `load(config=)`, `Context(config=)` and `compile(config=)`.

    graph_opt_level        3   0 none, 1 safe clean-ups, 2 fusion, 3 all with layout and tuning
    enable_const_fold      True   compute at compile time what never changes
    enable_mem_reuse       True   False: every intermediate value has memory of its own
    buffer_optimize_level  2   0 none, 1 reuse, 2 in-place and views as well
    assume_finite          False  True: NaN and infinity need not be handled
    winograd               True   fewer multiplications where that is faster: 3x3 convolutions by Winograd's algorithm
                           (errors up to 3e-5 of the largest output), large products with weights by Strassen's
                           in Winograd's form (3e-6)
    tune                   False  True: measure the kernels that could do a step when its shapes are first met, and keep the
                                 fastest; by estimates otherwise, which give the same kernels each time
    tune_cache             ""   folder for what tuning finds; "" is pyasc in XDG_CACHE_HOME or ~/.cache
    precision_mode         "must_keep_origin_dtype"; the others are not built yet (E5009)
    plan_cache_size        32   plans kept for distinct input shapes
    threads                0   cores used at most; 0: all that the process may use
    dump_path              ""   folder for the graph before and after each pass: text, DOT and, where the weights take no
                                more than 64 MiB, ONNX
    verify_passes          False  run the graph verifier after every pass
    rewrite_limit          -1   stop after this many rewrites, to bisect; -1: no limit

    Values out of range and unknown options are refused (E5003, naming the nearest), options that are not built yet by
    name (E5009). The same names are attributes.
    """

    __slots__ = ("_handle",)

    graph_opt_level: int
    buffer_optimize_level: int
    plan_cache_size: int
    rewrite_limit: int
    threads: int
    enable_const_fold: bool
    enable_mem_reuse: bool
    assume_finite: bool
    winograd: bool
    tune: bool
    verify_passes: bool
    precision_mode: str
    dump_path: str
    tune_cache: str

    def __init__(self, **options: int | str | os.PathLike[str]) -> None:
        object.__setattr__(self, "_handle", _asc.asc_compile_options_create())
        for key, value in options.items():
            self._set(key, value)

    def _set(self, key, value):
        if key in _FLAGS:
            if value not in (True, False):
                raise TypeMismatchError(f"compile option '{key}' is True or False, given {value!r}")
            _asc.asc_compile_options_set_int(self._handle, key, int(value))
        elif isinstance(value, (str, os.PathLike)):
            _asc.asc_compile_options_set_text(self._handle, key, os.fsencode(value))
        elif hasattr(value, "__index__") and not isinstance(value, bool):
            # Beyond 64 bits the engine's own words for absurd numbers do as well.
            _asc.asc_compile_options_set_int(self._handle, key, min(max(operator.index(value), _LOWEST), _HIGHEST))
        elif key in _TEXTS or key in _NUMBERS:
            expected = "a text" if key in _TEXTS else "a number"
            raise TypeMismatchError(f"compile option '{key}' is {expected}, given {value!r}")
        else:
            # Unknown or not built: the engine's words for that.
            _asc.asc_compile_options_set_int(self._handle, key, 0)

    def __getattr__(self, key):
        if key in _FLAGS:
            return bool(_asc.asc_compile_options_get_int(self._handle, key))
        if key in _NUMBERS:
            return _asc.asc_compile_options_get_int(self._handle, key)
        if key in _TEXTS:
            return _asc.asc_compile_options_get_text(self._handle, key)
        raise AttributeError(f"there is no compile option '{key}'")

    def __setattr__(self, key, value):
        self._set(key, value)

    def __dir__(self):
        return [*super().__dir__(), *_FLAGS, *_NUMBERS, *_TEXTS]

    def copy(self) -> CompileConfig:
        """Another one with the same options."""
        twin = object.__new__(CompileConfig)
        object.__setattr__(twin, "_handle", _asc.asc_compile_options_copy(self._handle))
        return twin

    def __repr__(self):
        default = CompileConfig()
        keys = (*_NUMBERS, *_FLAGS, *_TEXTS)
        changed = [f"{key}={getattr(self, key)!r}" for key in keys if getattr(self, key) != getattr(default, key)]
        return f"CompileConfig({', '.join(changed)})"


def prepared(config, threads=None):
    """A copy of the user's options (None: all defaults) for one compilation."""
    if config is not None and not isinstance(config, CompileConfig):
        raise TypeMismatchError(f"config must be a CompileConfig, given a {type(config).__name__}")
    options = CompileConfig() if config is None else config.copy()
    if threads is not None:
        options.threads = threads
    return options
