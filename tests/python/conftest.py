"""Makes oracle.py and engines.py importable from every folder below, and marks what a peer is known to get wrong."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import engines  # noqa: E402
import known_defects  # noqa: E402


def pytest_collection_modifyitems(items):
    """With PYASC_TEST_ENGINE set to a peer, its known defects do not count; pyasc has no such list."""
    if engines.ENGINE == "pyasc":
        return
    for item in items:
        reason = known_defects.crash(engines.ENGINE, item.nodeid)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
            continue
        reason = known_defects.wrong(engines.ENGINE, item.nodeid)
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=False))
