"""The pages under docs/ speak of files that are there, and their code compiles."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("ASC_BUILD_DIR", ROOT / "build")).resolve()
PAGES = sorted((ROOT / "docs").rglob("*.md"))
# The reader makes this one.
TO_BE_MADE = {"core/passes/double_negation.cpp"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page):
    named = set(re.findall(r"`((?:core|capi|bindings|tests|samples|tools|docs)/[\w./]*)`", page.read_text()))
    assert not [name for name in sorted(named - TO_BE_MADE) if not (ROOT / name).exists()]


def syntax_of(like, source, tmp_path):
    """What the compiler says of a source with the options of a file that is built."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    command = next(each for each in commands if each["file"].endswith(like))
    words = shlex.split(command["command"])
    file = tmp_path / "page.cpp"
    file.write_text(source)
    options = [word for word in words if word.startswith(("-I", "-isystem", "-std", "-W", "-D"))]
    compiler = words[1] if words[0].endswith("ccache") else words[0]
    return subprocess.run(
        [compiler, *options, "-fsyntax-only", str(file)], cwd=command["directory"], text=True, capture_output=True
    ).stderr


def test_the_pass_of_the_page_compiles(tmp_path):
    page = (ROOT / "docs/add_a_pass.md").read_text()
    source, tests = map(textwrap.dedent, re.findall(r"```cpp\n(.*?)```", page, re.DOTALL))
    assert syntax_of("core/passes/no_op.cpp", source, tmp_path) == ""
    frame = """
#include "tests/core/passes/pass_test.h"

namespace asc {
std::unique_ptr<Pass> MakeDoubleNegation();
namespace {
using testing::ExpectRewrite;
using testing::ExpectUnchanged;
%s
}  // namespace
}  // namespace asc
"""
    assert syntax_of("core/passes/pass_test.cpp", frame % tests, tmp_path) == ""
