"""The examples of README.md run as they stand, and print what their comments say."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("ASC_BUILD_DIR", ROOT / "build")).resolve()
TEXT = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What a line prints is the comment behind it.
PRINTS = re.compile(r"(?:print|Print|cout).*?\s(?:#|//|/\*)\s*(.*?)\s*(?:\*/)?$", re.MULTILINE)
NEEDS = {"python": "python3", "c": "gcc", "cpp": "g++", "java": "java", "go": "go"}


def examples():
    """Language, source and commands: each example is a block of source and a block of commands."""
    blocks = BLOCK.findall(TEXT)
    return {
        language: (source, blocks[index + 1][1])
        for index, (language, source) in enumerate(blocks)
        if language != "sh"
    }


@pytest.fixture
def checkout(tmp_path):
    """What the examples need of a checkout, with the build folder under its usual name."""
    (tmp_path / "build").symlink_to(BUILD)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    interpreter = tmp_path / ".deps/venv/bin/python"
    interpreter.parent.mkdir(parents=True)
    interpreter.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    interpreter.chmod(0o755)
    return tmp_path


def test_there_is_an_example_for_each_language():
    assert set(examples()) == set(NEEDS)


@pytest.mark.parametrize("language", NEEDS)
def test_example(language, checkout):
    if shutil.which(NEEDS[language]) is None:
        pytest.skip(f"needs {NEEDS[language]}")
    source, commands = examples()[language]
    name = re.match(r"\S+ (\S+)", source)[1]
    assert name in commands
    (checkout / name).write_text(source)
    prints = PRINTS.findall(source)
    assert prints
    # Tools may warn on stderr.
    done = subprocess.run(["bash", "-euc", commands], cwd=checkout, text=True, capture_output=True)
    assert done.stdout.splitlines() == prints and done.returncode == 0, done.stdout + done.stderr


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", BLOCK.sub("", TEXT)):
        assert (ROOT / target).exists(), target


def test_the_scripts_are_there():
    scripts = re.findall(r"^bash (\S+)", TEXT, re.MULTILINE)
    assert scripts == ["samples/run.sh", "tests/run.sh"]
    for script in scripts:
        subprocess.run(["bash", "-n", script], cwd=ROOT, check=True)
