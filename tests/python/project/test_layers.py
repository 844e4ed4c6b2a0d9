"""The rooms of core/ may include only what is below them."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BELOW = {
    "base": [],
    "tensor": ["base"],
    "graph": ["base", "tensor"],
    "ops": ["base", "tensor", "graph"],
    "gradient": ["base", "tensor", "graph", "ops"],
    "device": ["base", "tensor", "graph", "ops"],
}
for middle in ("onnx", "passes", "kernels"):
    BELOW[middle] = [*BELOW["device"], "gradient", "device"]
BELOW["compile"] = [*BELOW["device"], "gradient", "device", "onnx", "passes", "kernels"]
BELOW["runtime"] = [*BELOW["compile"], "compile"]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


@pytest.mark.parametrize("room", sorted(path.name for path in (ROOT / "core").iterdir() if path.is_dir()))
def test_room_includes_only_lower_rooms(room):
    allowed = {room, *BELOW[room]}
    wrong = []
    for path in sorted((ROOT / "core" / room).rglob("*.[hc]*")):
        for name in INCLUDE.findall(path.read_text()):
            parts = name.split("/")
            if parts[0] == "core" and parts[1] not in allowed or parts[0] in ("capi", "asc"):
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
    assert not wrong, "\n".join(wrong)
