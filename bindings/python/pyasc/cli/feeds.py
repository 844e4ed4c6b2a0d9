"""Inputs for models that commands run: from a file, or made up."""

from __future__ import annotations

import numpy as np

import pyasc
from pyasc.errors import FileError, InvalidArgumentError, NotFoundError, UnavailableError, _nearest


def add_options(parser):
    """The options that say what a model is run on."""
    parser.add_argument(
        "--inputs", metavar="FILE.npz", help="arrays by input name; what is not there is made up (floats around 0, integers 0 and 1)"
    )
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=N", help="the extent of a named dimension; may be repeated"
    )
    parser.add_argument(
        "--shape", action="append", default=[], metavar="INPUT=AxBxC", help="the shape of an input; may be repeated"
    )


def make(model: pyasc.Model, options) -> dict[str, np.ndarray]:
    """The inputs of one run. An unknown first extent, which is nearly always the batch, is 1; other unknown ones must be given."""
    given = _load(options.inputs) if options.inputs else {}
    dims = {name: _extent(text) for name, text in map(_pair, options.dim)}
    shapes = {name: tuple(map(_extent, text.split("x") if text else ())) for name, text in map(_pair, options.shape)}
    names = [port.name for port in model.inputs]
    for name in (*given, *shapes):
        if name not in names:
            raise NotFoundError(f"the model has no input '{name}'; its inputs are {names}", hint=_nearest(name, names))
    known = {extent for port in model.inputs for extent in port.shape or () if isinstance(extent, str)}
    for name in dims:
        if name not in known:
            raise NotFoundError(
                f"the model has no dimension '{name}'; its dimensions are {sorted(known)}", hint=_nearest(name, known)
            )
    random = np.random.default_rng(0)
    return {
        port.name: given[port.name] if port.name in given else _made_up(port, _shape(port, shapes, dims), random)
        for port in model.inputs
    }


def _load(path):
    try:
        with np.load(path) as arrays:
            return dict(arrays)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise FileError(f"cannot read arrays by name from '{path}': {error}", hint="np.savez makes such a file") from None


def _pair(text):
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise InvalidArgumentError(f"expected NAME=VALUE, given '{text}'")
    return name, value


def _extent(text):
    try:
        extent = int(text)
    except ValueError:
        extent = -1
    if extent < 0:
        raise InvalidArgumentError(f"an extent is a whole number, given '{text}'")
    return extent


def _shape(port, shapes, dims):
    if port.name in shapes:
        return shapes[port.name]
    if port.shape is None:
        raise InvalidArgumentError(
            f"the shape of input '{port.name}' is not known", hint=f"give --shape {port.name}=AxBxC"
        )
    shape = []
    for axis, extent in enumerate(port.shape):
        if isinstance(extent, str) and extent in dims:
            extent = dims[extent]
        elif not isinstance(extent, int):
            if axis > 0:
                option = f"--dim {extent}=N" if extent else f"--shape {port.name}=AxBxC"
                raise InvalidArgumentError(
                    f"extent {axis} of input '{port.name}' {list(port.shape)} is not fixed", hint=f"give {option}"
                )
            extent = 1
        shape.append(extent)
    return tuple(shape)


def _made_up(port, shape, random):
    dtype = port.dtype
    if port.kind != "tensor" or dtype is None or dtype == object:
        raise UnavailableError(f"input '{port.name}' is a {port.kind} that cannot be made up", hint="give it by --inputs")
    if dtype.kind in "bui":
        # Small, so that they fit as indices, token numbers and masks.
        return random.integers(0, 2, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)
