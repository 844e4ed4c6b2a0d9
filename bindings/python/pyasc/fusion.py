"""Which fusions the compiler may do, and where."""

from __future__ import annotations

import contextvars
import difflib
import itertools
import json
import warnings

from pyasc import _asc
from pyasc.errors import InvalidArgumentError, UnavailableError

__all__ = [
    "FUSION_MODE_OFF",
    "FUSION_MODE_CONSERVATIVE",
    "FUSION_MODE_DEFAULT",
    "FUSION_MODE_AGGRESSIVE",
    "FusionScope",
    "fusions",
]

FUSION_MODE_OFF = 0
FUSION_MODE_CONSERVATIVE = 1
FUSION_MODE_DEFAULT = 2
FUSION_MODE_AGGRESSIVE = 3
_MODES = {"OFF": 0, "CONSERVATIVE": 1, "DEFAULT": 2, "AGGRESSIVE": 3}
_LAYOUTS = ("NCHW", "NHWC", "NC1HWC0", "NDC1HWC0", "FRACTAL_Z", "FRACTAL_NZ", "ND")

_numbers = itertools.count(1)
# The innermost scope of this thread (or task); others have their own.
_current = contextvars.ContextVar("pyasc_fusion_scope", default=None)


def fusions() -> list[dict[str, str]]:
    """All fusions, ordered by name: dicts with name, pass, mode ("conservative", "default" or "aggressive": the least
    that has it on), doc."""
    return json.loads(_asc.asc_registry_create_fusions())


class FusionScope:
    """Fusion settings for what is built, loaded or compiled inside the `with` block.

    Operators carry the scope that they are built in; a load or compile inside a scope applies it to the whole graph; a
    fusion needs the consent of all of its nodes. A scope inside another adds to it: what either disables is off, and
    the mode is the inner one's where it sets one. Other threads and what is outside do not see it. A scope that touched
    nothing warns at its end.
    """

    def __init__(self) -> None:
        self._number = next(_numbers)
        self._mode = None
        self._disabled = []
        self._outer = None
        self._token = None
        self._touched = False

    def set_mode(self, mode: int | str) -> None:
        """FUSION_MODE_OFF, _CONSERVATIVE, _DEFAULT or _AGGRESSIVE, or the part of the name after FUSION_MODE_; E5003
        for others."""
        if isinstance(mode, str):
            name = mode.upper().removeprefix("FUSION_MODE_")
            if name not in _MODES:
                near = difflib.get_close_matches(name, _MODES, 1, 0.4)
                hint = f"did you mean '{near[0]}'?" if near else ""
                raise InvalidArgumentError(
                    f"there is no fusion mode '{mode}'; the modes are {', '.join(_MODES)}", hint=hint
                )
            mode = _MODES[name]
        _asc.asc_compile_options_set_fusion_mode(_asc.asc_compile_options_create(), 0, mode)
        self._mode = mode

    def disable_fusion(self, name: str) -> None:
        """Switches the fusion of that name off ("ALL": every one); E5004 naming the nearest for unknown names."""
        _asc.asc_compile_options_disable_fusion(_asc.asc_compile_options_create(), 0, name)
        self._disabled.append(name)

    def set_tensor_layout(self, tensor: str, layout: str) -> None:
        """Not built yet (E5009); unknown layouts are refused with the nearest match (E5003)."""
        if layout not in _LAYOUTS:
            near = difflib.get_close_matches(str(layout), _LAYOUTS, 1, 0.4)
            hint = f"did you mean '{near[0]}'?" if near else ""
            raise InvalidArgumentError(
                f"there is no layout '{layout}'; the layouts are {', '.join(_LAYOUTS)}", hint=hint
            )
        raise UnavailableError(
            f"FusionScope.set_tensor_layout is not built yet (for tensor '{tensor}', layout {layout})"
        )

    def __enter__(self) -> FusionScope:
        if self._token is not None:
            raise InvalidArgumentError("this FusionScope is entered already")
        self._outer = _current.get()
        self._token = _current.set(self)
        self._touched = False
        return self

    def __exit__(self, *exception: object) -> None:
        _current.reset(self._token)
        self._token = None
        if not self._touched and exception[0] is None:
            warnings.warn("a FusionScope touched nothing: nothing was built, loaded or compiled in it", stacklevel=2)

    def _chain(self):
        """This scope and those around it, outermost first."""
        return [*(self._outer._chain() if self._outer is not None else ()), self]


def current():
    """The innermost scope here, or None; it counts as having touched something, and so do those around it."""
    scope = _current.get()
    if scope is not None:
        for each in scope._chain():
            each._touched = True
    return scope


def apply(options, node_scopes=()):
    """Writes the settings of the scope that a compilation happens in, and of those that nodes were built in, into its
    options."""
    inside = current()
    _write(options._handle, 0, inside._chain() if inside is not None else [])
    for scope in node_scopes:
        around = inside._chain() if inside is not None else []
        _write(options._handle, scope._number, [*around, *(each for each in scope._chain() if each not in around)])


def _write(handle, number, chain):
    for scope in chain:
        if scope._mode is not None:
            _asc.asc_compile_options_set_fusion_mode(handle, number, scope._mode)
        for name in scope._disabled:
            _asc.asc_compile_options_disable_fusion(handle, number, name)
