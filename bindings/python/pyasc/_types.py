"""Static types of graph values as Python sees them."""

import numpy as np

from pyasc import _asc, _dtypes
from pyasc.errors import InvalidArgumentError

TENSOR, SEQUENCE, OPTIONAL, MAP = range(4)
KINDS = ("tensor", "sequence", "optional", "map")


class Type:
    """Kind, element type and shape of a value; `element` is the type inside a sequence, optional or map."""

    __slots__ = ("kind", "number", "shape", "element", "text")

    def __init__(self, handle):
        self.kind = _asc.asc_type_get_kind(handle)
        self.number = _asc.asc_type_get_dtype(handle)
        self.text = _asc.asc_type_get_text(handle)
        self.shape = _shape(handle) if self.kind == TENSOR else None
        self.element = None if self.kind == TENSOR else Type(_asc.asc_type_create_element(handle))

    @property
    def dtype(self):
        """The NumPy type of a tensor's elements; of a sequence's or optional's tensors; of a map's keys."""
        if self.kind in (SEQUENCE, OPTIONAL):
            return self.element.dtype
        return _dtypes.to_numpy(self.number)


def _shape(handle):
    """Extents: an int, a name or expression of names, or None for one that nothing is known of; None for unknown
    rank."""
    rank = _asc.asc_type_get_rank(handle)
    if rank < 0:
        return None
    extents = []
    for axis in range(rank):
        text = _asc.asc_type_get_extent_text(handle, axis)
        extent = _asc.asc_type_get_extent(handle, axis)
        extents.append(extent if extent >= 0 else None if "?" in text else text)
    return tuple(extents)


def make_tensor_type(number, shape):
    """A handle for a tensor type. `shape` holds ints, names or None; None itself is unknown rank."""
    if shape is None:
        return _asc.asc_type_create_unranked(number)
    if isinstance(shape, (int, str, np.integer)):
        shape = (shape,)
    return _asc.asc_type_create_tensor(number, [_extent_text(extent) for extent in shape])


def _extent_text(extent):
    if extent is None:
        return "?"
    if isinstance(extent, str):
        return extent
    if isinstance(extent, (int, np.integer)) and not isinstance(extent, bool):
        return str(int(extent))
    raise InvalidArgumentError(f"an extent is an int, a name or None, given {extent!r}")


class Port:
    """An input or output of a model.

    name: what feeds and results call it. shape: a tuple of ints, dimension names (equal names mean equal extents) and
    None for extents that are not known; None when not even the rank is. dtype: NumPy's or ml_dtypes' type, object for
    strings. kind: "tensor", "sequence", "optional" or "map".
    """

    __slots__ = ("name", "type")

    def __init__(self, name: str, handle: object) -> None:
        self.name = name
        self.type = Type(handle)

    @property
    def shape(self) -> tuple[int | str | None, ...] | None:
        return self.type.shape

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype

    @property
    def kind(self) -> str:
        return KINDS[self.type.kind]

    def __repr__(self):
        return f"{self.name}: {self.type.text}"
