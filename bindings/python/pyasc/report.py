"""What a model tells of itself: tables that print, and the numbers behind them."""

from __future__ import annotations

from typing import Any

__all__ = ["Summary", "MemoryPlan"]



def size_text(count):
    """1536 -> "1.5 KiB"."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def _table(header, rows):
    rows = [header, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


class Summary(dict[str, Any]):
    """What was compiled: `str()` is a table of layers. As a dict: device, threads, graph_opt_level, inputs, outputs,
    parameter_bytes, packed_bytes, layers (each with name, operator, kernel, outputs, parameter_bytes)."""

    def __str__(self):
        rows = [
            (
                layer["name"],
                layer["operator"],
                ", ".join(layer["outputs"]),
                size_text(layer["parameter_bytes"]),
                layer["kernel"],
            )
            for layer in self["layers"]
        ]
        table = _table(("layer", "operator", "output", "parameters", "kernel"), rows)
        threads = "1 thread" if self["threads"] == 1 else f"{self['threads']} threads"
        return (
            f"{table}\n{len(rows)} layers on {self['device']} ({threads});"
            f" parameters {size_text(self['parameter_bytes'])},"
            f" packed forms {size_text(self['packed_bytes'])}"
        )


class MemoryPlan(dict[str, Any]):
    """Where each buffer lives, and when. As a dict: peak_bytes (of the arena), lower_bound_bytes (the most that is live
    in one step), buffers (name, type, kind, bytes, first_step, last_step; offset in the arena; shares: whose memory it
    is) and steps."""

    @property
    def peak_bytes(self) -> int:
        return self["peak_bytes"]

    @property
    def lower_bound_bytes(self) -> int:
        return self["lower_bound_bytes"]

    @property
    def buffers(self) -> list[dict[str, Any]]:
        return self["buffers"]

    def __str__(self):
        rows = []
        for buffer in self["buffers"]:
            place = f"{buffer['kind']}+{buffer['offset']}" if "offset" in buffer else buffer["kind"]
            steps = f"{buffer['first_step']}..{buffer['last_step']}"
            rows.append(
                (buffer["name"], buffer["type"], size_text(buffer["bytes"]), place, steps, buffer.get("shares", ""))
            )
        table = _table(("buffer", "type", "bytes", "place", "steps", "shares memory of"), rows)
        return f"{table}\npeak {size_text(self.peak_bytes)}, lower bound {size_text(self.lower_bound_bytes)}"
