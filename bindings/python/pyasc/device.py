"""The devices of this process: "cpu" is the host, "npu:N" an emulated NPU."""

from __future__ import annotations

import builtins
import json
from typing import Any

from pyasc import _asc
from pyasc.errors import _MissingAttribute
from pyasc.model import device_name

__all__ = ["get_properties", "list"]


def list() -> builtins.list[dict[str, Any]]:
    """The properties of all devices: dicts with id, name, kind ("host" or "emulated"), cores, memory_bytes (0: the
    host's), bandwidth_bytes_per_second (0: not known), flops (per second, by element type) and c0 (block sizes, by
    element type)."""
    return json.loads(_asc.asc_device_create_list())


def get_properties(id: str | int = "cpu") -> dict[str, Any]:
    """The properties of one device; E5020 naming the ones that exist for others."""
    return json.loads(_asc.asc_device_create_properties(device_name(id)))


def __getattr__(name):
    if name in ("register", "inject", "recommend_batch_size"):
        raise _MissingAttribute(f"pyasc.device.{name} is not built yet")
    raise AttributeError(f"module 'pyasc.device' has no attribute '{name}'")
