"""Models that installed Python packages ship: PP-OCR (rapidocr_onnxruntime), Silero VAD (silero_vad), Magika (magika)."""

import numpy as np

from .registry import PackagedModel, packaged_file

# Text lines on the photographed page of scikit-image, as rows of pixels.
_LINES = [(47, 68), (65, 84), (83, 102), (101, 119), (120, 139)]


def _page(rows=None):
    from PIL import Image

    page = Image.open(packaged_file("skimage", "data/page.png")).convert("RGB")
    return page.crop((0, rows[0], page.width, rows[1])) if rows else page


def _pixels(image, height, width):
    """(3, height, width) between -1 and 1."""
    pixels = np.asarray(image.resize((width, height)), np.float32)
    return np.ascontiguousarray((pixels / 127.5 - 1).transpose(2, 0, 1))


def _page_inputs(rng, batch=1, height=640, width=640):
    """The whole page, for detection; later ones of the batch a little brighter.

    Below about 96x160 no text is found: all outputs are then next to nothing, and tell nothing.
    """
    page = _pixels(_page(), height, width)
    return {"x": np.stack([page * np.float32(1 - 0.1 * i) for i in range(batch)])}


def _line_inputs(rng, batch=1, width=320):
    """Lines of text, 48 pixels high, for recognition."""
    return {"x": np.stack([_pixels(_page(_LINES[i % len(_LINES)]), 48, width) for i in range(batch)])}


def _direction_inputs(rng, batch=1):
    """Lines of text, every second one upside down, 48x192."""
    lines = [_pixels(_page(_LINES[i % len(_LINES)]), 48, 192) for i in range(batch)]
    return {"x": np.stack([line[:, ::-1, ::-1] if i % 2 else line for i, line in enumerate(lines)])}


def _voice(rate, samples):
    """A buzz of harmonics under two moving formants, with pauses: near enough to speech for probabilities to move."""
    t = np.arange(samples) / rate
    pitch = 130 + 25 * np.sin(2 * np.pi * 1.5 * t)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    first, second = 550 + 250 * np.sin(2 * np.pi * 2.3 * t), 1500 + 500 * np.sin(2 * np.pi * 1.7 * t)
    sound = np.zeros(samples)
    for k in range(1, 26):
        f = k * pitch
        gain = np.exp(-(((f - first) / 200) ** 2)) + 0.5 * np.exp(-(((f - second) / 300) ** 2)) + 0.02
        sound += gain * np.sin(k * phase)
    loud = np.clip(4 * np.sin(2 * np.pi * 2.1 * t), 0, 1)
    return (0.15 * sound * loud).astype(np.float32)


def _windows(rng, rate, first, count, batch):
    """(batch, count, window) of audio: each window is 32 ms with the last 4 ms of the one before in front."""
    chunk, context = rate * 32 // 1000, rate * 4 // 1000
    sound = np.concatenate([np.zeros(context, np.float32), _voice(rate, (first + count) * chunk)])
    frames = np.stack([sound[i * chunk : (i + 1) * chunk + context] for i in range(first, first + count)])
    louder = np.linspace(1, 0.5, batch, dtype=np.float32)
    noise = 0.003 * rng.standard_normal((batch, *frames.shape), dtype=np.float32)
    return frames * louder[:, None, None] + noise


def _vad_inputs(rng, batch=1, rate=16000, step=0):
    """One window of audio, and an empty state."""
    return {
        "input": _windows(rng, rate, step, 1, batch)[:, 0],
        "state": np.zeros((2, batch, 128), np.float32),
        "sr": np.asarray(rate, np.int64),
    }


def _vad_16k_inputs(rng, batch=1, step=0):
    feeds = _vad_inputs(rng, batch, 16000, step)
    del feeds["sr"]
    return feeds


def _vad_sequence_inputs(rng, length=32, step=0):
    """`length` windows at once."""
    zero = np.zeros((1, 1, 128), np.float32)
    return {"input": _windows(rng, 16000, step * length, length, 1)[0], "h": zero, "c": zero.copy()}


_C_SOURCE = b"""\
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    double *values = malloc(sizeof(double) * (size_t)argc);
    for (int i = 1; i < argc; ++i) values[i - 1] = atof(argv[i]);
    qsort(values, (size_t)(argc - 1), sizeof(double), compare);
    for (int i = 0; i < argc - 1; ++i) printf("%g\\n", values[i]);
    free(values);
    return 0;
}
"""
_JSON_SOURCE = b'{"name": "page", "lines": [{"text": "one", "score": 0.5}, {"text": "two", "score": null}]}\n' * 12
_PADDING_BYTE, _MAGIKA_PART = 256, 1024


def _magika_inputs(rng, batch=1):
    """Bytes from the start and from the end of a file, 1,024 each, padded with 256."""
    rows = []
    for i in range(batch):
        content = np.frombuffer((_C_SOURCE, _JSON_SOURCE)[i % 2], np.uint8).astype(np.int32)
        row = np.full(2 * _MAGIKA_PART, _PADDING_BYTE, np.int32)
        head, tail = content[:_MAGIKA_PART], content[-_MAGIKA_PART:]
        row[: len(head)] = head
        row[len(row) - len(tail) :] = tail
        rows.append(row)
    return {"bytes": np.stack(rows)}


def _ocr(name, file, make_inputs):
    return PackagedModel(name, make_inputs, package="rapidocr_onnxruntime", file=f"models/{file}")


def _silero(name, file, make_inputs):
    state = {"stateN": "state"} if make_inputs is not _vad_sequence_inputs else {"hn": "h", "cn": "c"}
    return PackagedModel(name, make_inputs, package="silero_vad", file=f"data/{file}", feedback=state)


MODELS = [
    _ocr("ocr_det", "ch_PP-OCRv4_det_infer.onnx", _page_inputs),
    _ocr("ocr_rec", "ch_PP-OCRv4_rec_infer.onnx", _line_inputs),
    _ocr("ocr_cls", "ch_ppocr_mobile_v2.0_cls_infer.onnx", _direction_inputs),
    _silero("silero_sequence", "silero_vad_16k_sequence.onnx", _vad_sequence_inputs),
    _silero("silero_vad", "silero_vad.onnx", _vad_inputs),
    _silero("silero_op15", "silero_vad_16k_op15.onnx", _vad_inputs),
    _silero("silero_op18", "silero_vad_op18_ifless.onnx", _vad_inputs),
    _silero("silero_half", "silero_vad_half.onnx", _vad_16k_inputs),
    _silero("silero_openvino", "silero_vad_openvino_16k.onnx", _vad_16k_inputs),
    PackagedModel("magika", _magika_inputs, package="magika", file="models/standard_v3_3/model.onnx"),
]
