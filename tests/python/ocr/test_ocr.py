"""The OCR sample as a whole: what it reads, on what, and how its command line behaves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyasc
import pytest
from samples.ocr.files import example_page, load_picture, model_paths
from samples.ocr.pipeline import OcrPipeline

from .pages import EXAMPLE_LINES, load_pages
from .score import error_rate

ROOT = Path(__file__).resolve().parents[3]

# Character error rates of the package rapidocr-onnxruntime 1.4.4, whose models the sample uses, on ONNX Runtime
# 1.32.0, measured with `python -m tests.python.ocr.measure`, see docs/ocr.md.
PACKAGE_ERROR_RATE = {"example": 0.3144, "english": 0.1436, "chinese": 0.0}
# What the sample itself reaches, with two characters to spare: a step back is noticed.
OWN_ERROR_RATE = {"example": 0.02, "english": 0.02, "chinese": 0.0}

needs_load = pytest.mark.skipif(not hasattr(pyasc, "load"), reason="this build of pyasc cannot load models")


def run_python(*arguments):
    paths = [str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep), str(Path(pyasc.__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    command = [sys.executable, "-P", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


def run_peer(picture):
    done = run_python("-m", "samples.ocr.peer", str(picture), "--repeat", "0")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def pipeline():
    return OcrPipeline(**{stage: pyasc.load(str(path)) for stage, path in model_paths().items()})


@needs_load
@pytest.mark.parametrize("name", PACKAGE_ERROR_RATE)
def test_reads_at_least_as_well_as_the_package(pipeline, name):
    picture, text = load_pages()[name]
    lines = [line.text for line in pipeline.read(picture).lines]
    rate = error_rate(lines, text)
    assert rate <= PACKAGE_ERROR_RATE[name], lines
    assert rate <= OWN_ERROR_RATE[name], lines


@needs_load
def test_reads_the_prose_of_the_example_page_without_an_error(pipeline):
    lines = [line.text for line in pipeline.read(load_picture(example_page())).lines]
    assert lines[:6] == list(EXAMPLE_LINES[:6])


@needs_load
def test_reads_what_onnx_runtime_reads(pipeline):
    lines = pipeline.read(load_picture(example_page())).lines
    peer = run_peer(example_page())["lines"]
    assert [line.text for line in lines] == [line["text"] for line in peer]
    # A pixel of the mask that falls the other way by rounding moves a box, and with it the confidence, a little.
    assert [line.confidence for line in lines] == pytest.approx([line["confidence"] for line in peer], abs=0.03)


@needs_load
def test_reads_a_page_that_stands_on_its_head(pipeline):
    page = load_picture(example_page())
    lines = pipeline.read(page[::-1, ::-1].copy()).lines
    assert [line.text for line in lines][:6] == list(EXAMPLE_LINES[:6])
    assert lines[0].box[0][0] > lines[0].box[1][0], "the box should begin where the text does, on the right"


@needs_load
def test_finds_nothing_on_an_empty_page(pipeline):
    assert pipeline.read(load_picture(example_page())[:1, :1].repeat(300, 0).repeat(200, 1)).lines == []


@needs_load
def test_command_line_reads_the_example_page_without_onnx_runtime(tmp_path):
    out = tmp_path / "boxes.png"
    program = f"""
import sys
from samples.ocr.main import main
code = main(["--out", {str(out)!r}, "--repeat", "0"])
loaded = [line.split()[-1] for line in open("/proc/self/maps") if "onnxruntime" in line and ".so" in line]
assert not loaded, loaded
assert not [name for name in sys.modules if name.startswith("onnxruntime")]
sys.exit(code)
"""
    done = run_python("-c", program)
    assert done.returncode == 0, done.stderr
    for line in EXAMPLE_LINES[:6]:
        assert line in done.stdout
    for stage in ("detection", "direction", "recognition"):
        assert stage in done.stdout
    assert load_picture(out).shape[1] >= 384


def test_peer_reads_the_example_page():
    lines = [line["text"] for line in run_peer(example_page())["lines"]]
    assert error_rate(lines, "\n".join(EXAMPLE_LINES)) <= OWN_ERROR_RATE["example"]


@pytest.mark.parametrize("name", ["onnxruntime", "onnxruntime.capi"])
def test_onnx_runtime_cannot_be_imported_beside_the_sample(name):
    done = run_python("-c", f"import samples.ocr.main\nimport {name}")
    assert done.returncode != 0
    assert "ImportError: `onnxruntime` must not be imported here" in done.stderr


def test_sample_refuses_to_start_beside_onnx_runtime():
    done = run_python("-c", "import sys; sys.modules['onnxruntime'] = sys\nimport samples.ocr.main")
    assert "RuntimeError: ONNX Runtime is in this process already" in done.stderr


@pytest.mark.parametrize("content", [None, b"", b"no picture"])
def test_command_line_refuses_what_is_no_picture(tmp_path, content):
    path = tmp_path / "page.png"
    if content is not None:
        path.write_bytes(content)
    done = run_python("-m", "samples.ocr.main", str(path))
    assert done.returncode == 1
    assert done.stderr.startswith("error: ") and "page.png" in done.stderr
    assert "Traceback" not in done.stderr
