"""`pip install .` makes a package that works where neither the checkout nor Debian's libraries are."""

import json
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Runs a graph, and prints the version and every library that is loaded by then.
LOADED = """
import json, numpy, pyasc
with pyasc.Context() as ctx:
    ctx.conv2d(ctx.input("x", (1, 1, 4, 4)), numpy.ones((1, 1, 3, 3), numpy.float32), padding=1)
    assert ctx.execute({"x": numpy.ones((1, 1, 4, 4), numpy.float32)})["output"].sum() == 100
maps = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
print(json.dumps({"version": pyasc.__version__, "file": pyasc.__file__, "libraries": sorted(maps)}))
"""


# One worker builds it, in a folder of the checkout.
pytestmark = pytest.mark.xdist_group("wheel")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    # The folder stays, so that a second run compiles only what has changed.
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
        + ["-w", str(folder), "--config-settings=build-dir=build-wheel", "."],
        cwd=ROOT,
        check=True,
    )
    return next(folder.glob("pyasc-*.whl"))


@pytest.fixture(scope="module")
def loaded(wheel, tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(site)
    code = f"import sys; sys.path.insert(0, {str(site)!r})\n{LOADED}"
    found = json.loads(
        subprocess.check_output([sys.executable, "-I", "-c", code], cwd=site, text=True)
    )
    assert pathlib.Path(found["file"]).is_relative_to(site)
    return site, found


def test_one_wheel_serves_every_python(wheel):
    assert "-cp311-abi3-linux_" in wheel.name


def test_wheel_holds_only_the_package(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"pyasc"}
    assert not [name for name in names if name.endswith((".pyc", ".h", ".a", "meson.build"))]
    assert "pyasc/py.typed" in names


def test_wheel_has_the_command(wheel):
    archive = zipfile.ZipFile(wheel)
    (entries,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    assert "[console_scripts]\npyasc = pyasc.cli:main" in archive.read(entries).decode().replace("\r", "")


def test_wheel_lists_the_licence_of_every_library(wheel):
    archive = zipfile.ZipFile(wheel)
    (page,) = [name for name in archive.namelist() if name.endswith("licenses/THIRD_PARTY.md")]
    listed = re.findall(r"`(lib\w+?)_?\*?`", archive.read(page).decode().split("These are compiled")[0])
    carried = {name.split("/")[-1].split(".so")[0] for name in archive.namelist() if ".so" in name}
    libraries = {name for name in carried if name.startswith("lib")} - {"libasc"}
    assert libraries
    assert not [name for name in sorted(libraries) if not name.startswith(tuple(listed))]


def test_wheel_brings_the_libraries_it_needs(loaded):
    site, found = loaded
    ours = [path for path in found["libraries"] if path.startswith(str(site))]
    assert any("/libasc.so" in path for path in ours)
    # Not from outside the wheel: anything that a bare machine lacks.
    outside = [path for path in found["libraries"] if path not in ours]
    third_party = ("absl", "dnnl", "gomp", "hwy", "xxhash", "asc")
    assert not [path for path in outside if any(f"lib{name}" in path for name in third_party)]


def test_wheel_loads_one_openmp_runtime(loaded):
    _, found = loaded
    assert len([path for path in found["libraries"] if "libgomp" in path or "libomp" in path]) <= 1
