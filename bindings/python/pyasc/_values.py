"""From Python's objects to the engine's values and back; memory is shared wherever its layout allows."""

import numpy as np

from pyasc import _asc, _dtypes
from pyasc._types import KINDS, MAP, OPTIONAL, SEQUENCE, TENSOR
from pyasc.errors import InvalidArgumentError, TypeMismatchError


def to_array(object_, number=None):
    """An array of what the user gives. Arrays stay what they are; numbers and lists become `number`'s type where one is
    given."""
    if isinstance(object_, np.ndarray):
        return object_
    if hasattr(object_, "__array__") or hasattr(object_, "__array_interface__"):
        return np.asarray(object_)
    try:
        dtype = None if number is None else _dtypes.to_numpy(number)
        array = np.asarray(object_, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise TypeMismatchError(f"cannot make a tensor of a {type(object_).__name__}: {error}") from None
    if array.dtype == object and number != _dtypes.STRING:
        raise TypeMismatchError(
            f"cannot make a tensor of a {type(object_).__name__}: its items differ in shape or type"
        )
    return array


def tensor_to_value(array, writable=False):
    """A value over the array's memory, or over a contiguous copy where the layout does not allow that.

    `writable`: the engine will write into it, so that a copy would be of no use: E5003 says what is in the way.
    """
    number = _dtypes.number_of(array.dtype)
    shareable = array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative
    if writable:
        if number == _dtypes.STRING or number in _dtypes.PACKED:
            raise InvalidArgumentError(f"outputs of type {_dtypes.name(number)} cannot be written into an array")
        if not shareable or not array.flags.writeable:
            raise InvalidArgumentError("an array for an output must be C-contiguous, aligned, native and writable")
    if number == _dtypes.STRING:
        items = array.reshape(-1).tolist()
        try:
            return _asc.asc_value_create_strings(array.shape, items)
        except TypeError:  # not all are str
            return _asc.asc_value_create_strings(array.shape, [_to_text(item) for item in items])
    if number in _dtypes.PACKED:
        return _asc.pyasc_borrow(_dtypes.pack(array, number), number, array.shape, False)
    if not shareable:
        # ascontiguousarray would turn rank 0 into rank 1.
        array = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
    # As plain bytes: the buffer protocol has no name for ml_dtypes' types.
    return _asc.pyasc_borrow(array.reshape(-1).view(np.uint8), number, array.shape, writable)


def _to_text(item):
    if isinstance(item, str):
        return item
    if isinstance(item, bytes):
        return item.decode()
    raise TypeMismatchError(f"an element of a string tensor must be a str, given a {type(item).__name__}")


def to_value(object_, type_):
    """A value of the kind that `type_` names; None (a null handle) for an optional that holds nothing."""
    if type_.kind == TENSOR:
        return tensor_to_value(to_array(object_, type_.number or None))
    if type_.kind == OPTIONAL:
        return None if object_ is None else to_value(object_, type_.element)
    if type_.kind == SEQUENCE:
        if not isinstance(object_, (list, tuple)):
            raise TypeMismatchError(f"a sequence is given as a list, not as a {type(object_).__name__}")
        return _asc.asc_value_create_sequence([to_value(item, type_.element) for item in object_], type_.element.number)
    if not isinstance(object_, dict):
        raise TypeMismatchError(f"a map is given as a dict, not as a {type(object_).__name__}")
    items = [to_value(item, type_.element) for item in object_.values()]
    make = _asc.asc_value_create_string_map if type_.number == _dtypes.STRING else _asc.asc_value_create_int_map
    return make((list(object_), items))


def from_value(value):
    """Arrays for tensors (over the engine's memory, which they keep alive), lists, None, dicts."""
    kind = _asc.asc_value_get_kind(value)
    if kind == TENSOR:
        return _tensor_from_value(value)
    count = _asc.asc_value_get_count(value)
    if kind == OPTIONAL:
        return from_value(_asc.asc_value_create_item(value, 0)) if count else None
    items = [from_value(_asc.asc_value_create_item(value, i)) for i in range(count)]
    if kind == SEQUENCE:
        return items
    assert kind == MAP, KINDS[kind]
    strings = _asc.asc_value_get_dtype(value) == _dtypes.STRING
    key = _asc.asc_value_get_string_key if strings else _asc.asc_value_get_int_key
    return {key(value, i): item for i, item in enumerate(items)}


def _tensor_from_value(value):
    number = _asc.asc_value_get_dtype(value)
    shape = _asc.asc_value_get_dims(value)
    if number == _dtypes.STRING:
        items = _asc.pyasc_strings(value, _asc.asc_value_get_count(value))
        return np.fromiter(items, object, len(items)).reshape(shape)
    buffer = _asc.pyasc_buffer(value)
    if number in _dtypes.PACKED:
        return _dtypes.unpack(np.frombuffer(buffer, np.uint8), number, shape)
    return np.ndarray(shape, _dtypes.to_numpy(number), buffer)
