"""From a picture to lines of text: detection, direction, recognition, whichever engine runs the models.

A model here is anything with `run({name: array}) -> {name: array}`, `inputs` and `outputs` (lists of things with
a `name`) and `metadata` (a dict of strings): `pyasc.load` gives one.
"""

import time
from dataclasses import dataclass

import cv2
import numpy as np

from . import geometry
from .detection import TextDetector
from .direction import DirectionClassifier
from .recognition import TextRecognizer

DOUBTFUL = 0.7  # confidence below which a line is tried the other way up


@dataclass(frozen=True)
class Line:
    """One line of text: where it is (a box of `geometry`), what it says, and how sure that is (0 to 1)."""

    box: np.ndarray
    text: str
    confidence: float


@dataclass(frozen=True)
class StageTime:
    """Seconds that a stage took, those of them inside the model, and how often it called the model."""

    stage: str
    seconds: float
    model_seconds: float
    calls: int


@dataclass(frozen=True)
class Page:
    """What was read from a picture, in the order of reading, and the time of each stage."""

    lines: list
    times: list


class OcrPipeline:
    """Reads pictures with three models. Lines less sure than `least_confidence` are left out.

    One pipeline serves one thread at a time (it clocks its models); pipelines may share models.
    """

    def __init__(self, detection, direction, recognition, *, least_confidence=0.5):
        self._models = [_Clocked(model) for model in (detection, direction, recognition)]
        self._detector = TextDetector(self._models[0])
        self._classifier = DirectionClassifier(self._models[1])
        self._recognizer = TextRecognizer(self._models[2])
        self._least_confidence = least_confidence

    def read(self, image):
        """The `Page` of a picture: a uint8 array (H, W, 3), blue first as OpenCV loads it."""
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise ValueError(f"expected a uint8 picture of shape (H, W, 3), got {image.dtype} {image.shape}")
        times = []
        with _Stage("detection", self._models[0], times):
            boxes, _ = self._detector.detect(image)
            crops = [geometry.cut_out(image, box) for box in boxes]
        with _Stage("direction", self._models[1], times):
            for i, upside_down in enumerate(self._classifier.upside_down(crops)):
                if upside_down:
                    boxes[i], crops[i] = _turned(boxes[i], crops[i])
        with _Stage("recognition", self._models[2], times):
            boxes, read = self._read_crops(boxes, crops)
        lines = [
            Line(box, text, confidence)
            for box, (text, confidence) in zip(boxes, read)
            if text and confidence >= self._least_confidence
        ]
        order = geometry.reading_order([line.box for line in lines])
        return Page([lines[i] for i in order], times)

    def _read_crops(self, boxes, crops):
        """The boxes, turned where the text proved to be, and (text, confidence) of each.

        The direction model errs on curved and on blurred lines, so that what makes little sense is read the
        other way up too, and the surer reading stands.
        """
        boxes, read = list(boxes), self._recognizer.read(crops)
        unsure = [i for i, (_, confidence) in enumerate(read) if confidence < DOUBTFUL]
        turned = [_turned(boxes[i], crops[i]) for i in unsure]
        for i, (box, _), other in zip(unsure, turned, self._recognizer.read([crop for _, crop in turned])):
            if other[1] > read[i][1]:
                boxes[i], read[i] = box, other
        return boxes, read


def _turned(box, crop):
    return geometry.upside_down(box), cv2.rotate(crop, cv2.ROTATE_180)


class _Clocked:
    """A model that counts its calls and their time."""

    def __init__(self, model):
        self._model = model
        self.inputs, self.outputs, self.metadata = model.inputs, model.outputs, model.metadata
        self.seconds, self.calls = 0.0, 0

    def run(self, feeds):
        start = time.perf_counter()
        try:
            return self._model.run(feeds)
        finally:
            self.seconds += time.perf_counter() - start
            self.calls += 1


class _Stage:
    """Appends the `StageTime` of a `with` block to a list."""

    def __init__(self, name, model, times):
        self._name, self._model, self._times = name, model, times

    def __enter__(self):
        self._model.seconds, self._model.calls = 0.0, 0
        self._start = time.perf_counter()

    def __exit__(self, kind, error, trace):
        seconds = time.perf_counter() - self._start
        self._times.append(StageTime(self._name, seconds, self._model.seconds, self._model.calls))
