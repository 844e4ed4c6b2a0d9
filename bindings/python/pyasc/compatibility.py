"""Which versions go together."""

from __future__ import annotations

import re
from typing import Any

from pyasc.errors import InvalidArgumentError, NotFoundError, _nearest

__all__ = ["check_compatibility"]

# CANN version -> the first pyasc that goes with it.
_FIRST_PYASC = {"5.1.RC2": "0.3.2"}


def _key(version):
    numbers = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", str(version))
    if not numbers:
        raise InvalidArgumentError(f"a pyasc version is three numbers, given '{version}'")
    return tuple(map(int, numbers.groups()))


def check_compatibility(cann: str, version: str | None = None) -> dict[str, Any]:
    """Whether a pyasc version (default: this one) goes with a CANN version.

    Gives a dict: compatible (bool), cann, pyasc, requires (">=0.3.2") and message. E5004 naming the known ones for
    other CANN versions.
    """
    from pyasc import __version__

    version = __version__ if version is None else version
    if cann not in _FIRST_PYASC:
        raise NotFoundError(
            f"nothing is known of CANN '{cann}'; known are {', '.join(_FIRST_PYASC)}", hint=_nearest(cann, _FIRST_PYASC)
        )
    first = _FIRST_PYASC[cann]
    compatible = _key(version) >= _key(first)
    message = f"CANN {cann} needs pyasc >= {first}; this is {version}"
    return {"compatible": compatible, "cann": cann, "pyasc": version, "requires": f">={first}", "message": message}
