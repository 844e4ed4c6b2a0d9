"""Element types: the ABI's numbers, NumPy's and ml_dtypes' types, and packed forms of the narrow ones."""

import functools

import ml_dtypes
import numpy as np

from pyasc import _asc
from pyasc.errors import TypeMismatchError

STRING = 8
# Types of which several share a byte in memory, least significant bits first: bits, and whether negative numbers exist.
PACKED = {21: (4, False), 22: (4, True), 23: (4, False), 25: (2, False), 26: (2, True)}
_INTEGERS = {2, 3, 4, 5, 6, 7, 12, 13}


def name(number):
    """ "float32" for 1."""
    return _asc.asc_data_type_name(number)


@functools.cache
def to_numpy(number):
    """The NumPy type that holds elements of this type: its own, ml_dtypes', or object for strings; None for
    undefined."""
    if number == STRING:
        return np.dtype(object)
    text = name(number)
    if hasattr(ml_dtypes, text):
        return np.dtype(getattr(ml_dtypes, text))
    return None if text == "undefined" else np.dtype(text)


def is_integer(number):
    return number in _INTEGERS


@functools.cache
def _number_of_name(text):
    return _asc.asc_data_type_parse(text)


def number_of(dtype):
    """The number of "float32", np.float32, np.dtype("f4"), ml_dtypes.bfloat16, str, ...; E5002 for what is no element
    type."""
    if isinstance(dtype, str):
        try:
            return _number_of_name(dtype)
        except TypeMismatchError as error:
            try:
                dtype = np.dtype(dtype)
            except TypeError:
                raise error from None
    try:
        dtype = np.dtype(dtype)
    except TypeError:
        raise TypeMismatchError(f"{dtype!r} is no element type") from None
    if dtype.kind in "OUST":
        return STRING
    return _number_of_name(dtype.name)


def pack(array, number):
    """The bytes of an array of a narrow type, several elements to a byte; a flat uint8 array."""
    bits, _ = PACKED[number]
    per_byte = 8 // bits
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    padded = np.zeros(-(-flat.size // per_byte) * per_byte, np.uint8)
    padded[: flat.size] = flat
    shifted = padded.reshape(-1, per_byte) << (np.arange(per_byte, dtype=np.uint8) * bits)
    return np.bitwise_or.reduce(shifted, axis=1).astype(np.uint8)


def unpack(packed, number, shape):
    """The reverse of `pack`."""
    bits, signed = PACKED[number]
    per_byte = 8 // bits
    count = int(np.prod(shape, dtype=np.int64))
    shifts = np.arange(per_byte, dtype=np.uint8) * bits
    flat = ((packed[:, None] >> shifts) & ((1 << bits) - 1)).reshape(-1)[:count].astype(np.uint8)
    if signed:
        sign = np.uint8(1 << (bits - 1))
        flat = ((flat ^ sign).astype(np.int8) - np.int8(sign)).view(np.uint8)
    return flat.view(to_numpy(number)).reshape(shape)
