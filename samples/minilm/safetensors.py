"""Reads weights from a safetensors file: eight bytes of length, a JSON header of that length, then the arrays' bytes."""

import json
import math
import mmap

import numpy as np

_DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
    "BOOL": np.bool_,
}


def read_safetensors(path):
    """{name: array}; the arrays are read-only views of the mapped file. ValueError for a file that is damaged or of another kind."""
    with open(path, "rb") as file:
        try:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError as error:
            raise ValueError(f"{path} is empty") from error
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise ValueError(f"{path} is no safetensors file: its header would be {length} bytes long")
    try:
        header = json.loads(bytes(data[8 : 8 + length]))
    except ValueError as error:
        raise ValueError(f"{path} is no safetensors file: its header is no JSON") from error
    body = data[8 + length :]
    return {name: _array(path, name, entry, body) for name, entry in header.items() if name != "__metadata__"}


def _array(path, name, entry, body):
    dtype = _DTYPES.get(entry["dtype"])
    if dtype is None:
        raise ValueError(f"{path}: array '{name}' has the type {entry['dtype']}, which NumPy lacks")
    begin, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    if not 0 <= begin <= end <= len(body) or end - begin != math.prod(shape) * np.dtype(dtype).itemsize:
        raise ValueError(f"{path}: array '{name}' of shape {shape} does not fit its place {begin} to {end}")
    return np.frombuffer(body[begin:end], dtype).reshape(shape)
