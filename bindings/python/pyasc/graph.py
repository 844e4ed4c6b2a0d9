"""Graphs: what a context builds, and what the compiler made of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

from pyasc import _asc
from pyasc._types import Port
from pyasc.errors import InvalidArgumentError, UnavailableError, _MissingAttribute, _nearest

if TYPE_CHECKING:
    from pyasc.config import CompileConfig
    from pyasc.model import Model

__all__ = ["Graph"]


class Graph:
    """A view of a graph: its inputs and outputs, and forms of it to read.

    `ctx.graph` is the one under construction and follows what is built; `model.graph` is the optimised one.
    """

    # Without a __dict__: a misspelt or not yet built setting is refused, not kept and ignored.
    __slots__ = ("_handle",)

    def __init__(self, handle: object) -> None:
        self._handle = handle

    @property
    def inputs(self) -> list[Port]:
        """The graph's inputs: name, shape, dtype."""
        count = _asc.asc_graph_get_input_count(self._handle)
        return [self._port(_asc.asc_graph_get_input(self._handle, i)) for i in range(count)]

    @property
    def outputs(self) -> list[Port]:
        """The values that are marked as outputs: name, shape, dtype."""
        count = _asc.asc_graph_get_output_count(self._handle)
        pairs = [_asc.asc_graph_get_output(self._handle, i) for i in range(count)]
        return [self._port(value, name) for name, value in pairs]

    def _port(self, value, name=None):
        name = _asc.asc_graph_get_value_name(self._handle, value) if name is None else name
        return Port(name, _asc.asc_graph_create_value_type(self._handle, value))

    def __len__(self) -> int:
        """The number of operators."""
        return _asc.asc_graph_get_node_count(self._handle)

    def compile(self, target: str | int = "cpu", config: CompileConfig | None = None) -> Model:
        """Compiles the graph for a device ("cpu", "npu:0", "npu0") and gives the Model. Results that nothing consumes
        are outputs, beside those that are marked."""
        from pyasc import config as _config, fusion
        from pyasc.model import compiled

        options = _config.prepared(config)
        fusion.apply(options)
        return compiled(self._handle, target, options)

    @property
    def config(self) -> Any:
        """Not built yet (E5009): give a CompileConfig to `compile`."""
        raise _MissingAttribute("Graph.config is not built yet", hint="graph.compile(config=pyasc.CompileConfig(...))")

    def to_text(self) -> str:
        """The readable form, one line a value."""
        return _asc.asc_graph_create_text(self._handle)

    def to_dot(self) -> str:
        """Graphviz DOT."""
        return _asc.asc_graph_create_dot(self._handle)

    def print(self, format: str = "dot", file: TextIO | None = None) -> None:
        """Writes the graph as "dot" or "text" to `file` (default: standard output)."""
        forms = {"dot": self.to_dot, "text": self.to_text}
        if format not in forms:
            raise InvalidArgumentError(
                f"a graph is printed as 'dot' or 'text', not as '{format}'", hint=_nearest(format, forms)
            )
        print(forms[format](), file=sys.stdout if file is None else file)

    def to_svg(self) -> str:
        """Not built yet (E5009)."""
        raise UnavailableError("Graph.to_svg is not built yet", hint="graph.to_dot() gives DOT for Graphviz")

    def to_html(self) -> str:
        """Not built yet (E5009)."""
        raise UnavailableError("Graph.to_html is not built yet", hint="graph.to_dot() gives DOT for Graphviz")

    def __str__(self):
        return self.to_text()

    def __repr__(self):
        return f"<pyasc.Graph of {len(self)} operators>"
