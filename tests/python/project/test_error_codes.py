"""docs/errors.md has every code that there is, and all languages have the same ones."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/errors.md").read_text()


def numbers(path, pattern):
    return sorted(int(found) for found in re.findall(pattern, (ROOT / path).read_text(), re.MULTILINE))


CODES = numbers("core/base/status.h", r"^  k\w+ = (5\d{3}),")


def test_the_engine_has_codes():
    assert len(CODES) == len(set(CODES)) > 15


@pytest.mark.parametrize(
    "path, pattern",
    [
        ("capi/include/asc/status.h", r"^  ASC_\w+ = (5\d{3})"),
        ("bindings/go/errors.go", r"^\tErr\w+ +Code = (5\d{3})$"),
        ("bindings/python/pyasc/errors.py", r'^    code = "E(5\d{3})"$'),
        ("docs/errors.md", r"^\| E(5\d{3}) \|"),
        ("docs/errors.md", r"^## E(5\d{3})$"),
    ],
)
def test_the_same_codes_are_everywhere(path, pattern):
    assert sorted(set(numbers(path, pattern))) == CODES


def test_java_has_a_class_for_each():
    folder = ROOT / "bindings/java/src/org/pyasc"
    names = {path.stem for path in folder.glob("*Exception.java")} - {"PyascException"}
    python = dict(re.findall(r"^\| E(\d+) \| `(\w+)`", PAGE, re.MULTILINE))
    expected = {name.replace("Error", "Exception") for name in python.values()} - {"ArithmeticException_"}
    assert names == expected | {"IntegerArithmeticException"}
    chosen = (folder / "PyascException.java").read_text()
    assert all(f"new {name}(" in chosen for name in names)


def test_each_code_has_cause_and_remedy():
    sections = re.split(r"^## E(5\d{3})$", PAGE, flags=re.MULTILINE)[1:]
    for code, text in zip(sections[::2], sections[1::2]):
        assert re.search(r"\*\*Cause\.\*\* \S", text) and re.search(r"\*\*What helps\.\*\* \S", text), code


def test_the_sections_stand_in_order():
    assert re.findall(r"^## E(5\d{3})$", PAGE, re.MULTILINE) == [str(code) for code in CODES]
