import re

import pyasc


def test_version_has_three_numbers():
    assert re.fullmatch(r"\d+\.\d+\.\d+", pyasc.__version__)
