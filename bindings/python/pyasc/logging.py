"""The engine's log messages, handed to Python's `logging` under the name "pyasc".

The engine's threads never call Python: messages wait in a queue, which is emptied after loading, compiling and runs
that take the long way, when the level is set, and by `flush()`.
"""

from __future__ import annotations

import logging as _logging

from pyasc import _asc
from pyasc.errors import InvalidArgumentError, _nearest

__all__ = ["DEBUG", "INFO", "WARNING", "ERROR", "OFF", "set_level", "flush"]

DEBUG = _logging.DEBUG
INFO = _logging.INFO
WARNING = _logging.WARNING
ERROR = _logging.ERROR
OFF = 100

_NAMES = {"DEBUG": DEBUG, "INFO": INFO, "WARNING": WARNING, "ERROR": ERROR, "OFF": OFF}
_logger = _logging.getLogger("pyasc")
_logger.addHandler(_logging.NullHandler())


def set_level(level: int | str) -> None:
    """Messages below `level` (DEBUG, INFO, WARNING, ERROR, OFF, or their names) are not made any more. The default is
    WARNING."""
    if isinstance(level, str):
        if level.upper() not in _NAMES:
            raise InvalidArgumentError(
                f"there is no log level '{level}'; the levels are {', '.join(_NAMES)}",
                hint=_nearest(level.upper(), _NAMES),
            )
        level = _NAMES[level.upper()]
    flush()
    _asc.asc_log_set_level(level)
    _logger.setLevel(level)


def flush() -> None:
    """Hands the messages that wait to Python's `logging`."""
    records = _asc.asc_log_take_records()
    for index in range(_asc.asc_log_records_get_count(records)):
        level, message = _asc.asc_log_records_get(records, index)
        _logger.log(level, "%s", message)
