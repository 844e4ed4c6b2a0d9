"""The command line: `pyasc COMMAND ...`, or `python -m pyasc COMMAND ...`.

Exit codes: 0 done, 1 the engine refused or failed (the error is on standard error), 2 a wrong command line.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import pyasc
from pyasc.cli import profile

__all__ = ["main"]

# Each adds its parser to the group that it is given.
_COMMANDS = (profile,)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (without the program's name; None: the process's own) and gives the exit code."""
    parser = argparse.ArgumentParser(prog="pyasc", description="Runs and inspects neural networks.")
    parser.add_argument("--version", action="version", version=f"pyasc {pyasc.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_to(commands)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as end:  # --help, or a wrong command line
        return int(end.code or 0)
    try:
        return options.run(options)
    except pyasc.errors.PyascError as error:
        print(f"pyasc: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader, `head` say, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
