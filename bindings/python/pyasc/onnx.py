"""Graphs as ONNX models: `pyasc.onnx.export`. (`pyasc.load` reads them.)"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, overload

from pyasc import _asc
from pyasc._values import from_value
from pyasc.errors import InvalidArgumentError, TypeMismatchError

if TYPE_CHECKING:
    from pyasc.context import Context
    from pyasc.graph import Graph
    from pyasc.model import Model

__all__ = ["export"]

# Where nothing may go into a file of its own.
_NEVER = 2**63 - 1


@overload
def export(
    source: Graph | Model | Context,
    path: None = None,
    *,
    optimized: bool = False,
    opset: int | None = None,
    value_info: bool = True,
) -> bytes: ...


@overload
def export(
    source: Graph | Model | Context,
    path: str | os.PathLike[str],
    *,
    optimized: bool = False,
    opset: int | None = None,
    external_data: bool | int | None = None,
    value_info: bool = True,
) -> None: ...


def export(source, path=None, *, optimized=False, opset=None, external_data=None, value_info=True):
    """Writes a graph as an ONNX model: a file, or without `path` the bytes of one (which onnx.load_from_string,
    onnxruntime.InferenceSession and pyasc.load take).

    source: a Graph is written as it is; of a Context, what it has built so far, with the results that nothing consumes as
    outputs; of a Model, the graph that was loaded or compiled, before any optimisation. A model that came from an .om
    file has the optimised one only. External weight files of a loaded model must still be there.
    optimized: of a Model, the graph that the compiler made, with its own operators written as ONNX's: equal to the other
    one to rounding. Inputs with a default are fixed in it.
    opset: version of ONNX's operators; default: the oldest, not under 13, in which all of the graph's operators mean what
    they do here, so that most engines can run it.
    external_data: whether weights go into a file beside the model, `<path>.data`: True, False, or a number of bytes above
    which they do; default: only where they would not fit into the 2 GiB of one ONNX message.
    value_info: types of intermediate values are written too.

    Names of inputs, outputs and nodes stay. A variable becomes an input with a default, and where it is assigned an output
    `<variable>_next`. Operators of other domains than ONNX's are written as they are.

    Raises E5033 for operators of the compiler that ONNX has no words for, E5003 for an opset that lacks what the graph
    needs (naming the node), an output that has an input's name, or weights that do not fit, E5010 when the file cannot
    be written, which leaves what was there.
    """
    graph = _graph_of(source, optimized)
    options = _asc.asc_export_options_create()
    if opset is not None:
        _asc.asc_export_options_set_int(options, "opset", opset)
    _asc.asc_export_options_set_int(options, "value_info", int(value_info))
    if external_data is not None:
        if path is None and external_data is not False:
            raise InvalidArgumentError("external_data needs a path: weights go into a file beside it")
        over = {True: 0, False: _NEVER}[external_data] if isinstance(external_data, bool) else external_data
        _asc.asc_export_options_set_int(options, "external_data_over", over)
    if path is None:
        return from_value(_asc.asc_graph_export_bytes(graph, options)).tobytes()
    _asc.asc_graph_export_file(graph, os.fsencode(path), options)
    return None


def _graph_of(source, optimized):
    from pyasc.context import Context
    from pyasc.graph import Graph
    from pyasc.model import Model

    if isinstance(source, Model):
        if optimized:
            return _asc.asc_session_create_graph(source._session)
        return _asc.asc_session_create_source_graph(source._session)
    if not isinstance(source, (Context, Graph)):
        raise TypeMismatchError(f"a Graph, Model or Context is exported, given a {type(source).__name__}")
    if optimized:
        raise InvalidArgumentError(
            f"a {type(source).__name__} is not optimised yet", hint="export(graph.compile(), optimized=True)"
        )
    if isinstance(source, Graph):
        return source._handle
    copy = _asc.asc_graph_copy(source._open())
    _asc.asc_graph_add_leaf_outputs(copy)
    return copy
