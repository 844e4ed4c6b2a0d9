"""Where is text? A DB (differentiable binarization) network gives each pixel's probability of being text."""

import math

import cv2
import numpy as np

from . import geometry

MULTIPLE = 32  # the network halves its input five times
LONGEST = 8.0  # pictures whose sides differ more get a margin on both long sides


class TextDetector:
    """Finds boxes of text lines in a BGR picture with `model`, a loaded detection network.

    `min_side` and `max_side` bound the size that the network sees, in pixels; `threshold` makes a mask of the
    probabilities, `box_threshold` is the least mean probability inside an outline, `unclip_ratio` the growth that
    undoes the network's shrunk masks. A detector may be used from several threads if its model may be.
    """

    def __init__(
        self, model, *, min_side=736, max_side=2000, threshold=0.3, box_threshold=0.6, unclip_ratio=1.6, max_boxes=1000
    ):
        self._model = model
        self._input = model.inputs[0].name
        self._output = model.outputs[0].name
        self._min_side = min_side
        self._max_side = max_side
        self._threshold = threshold
        self._box_threshold = box_threshold
        self._unclip_ratio = unclip_ratio
        self._max_boxes = max_boxes

    def detect(self, image):
        """Boxes of shape (4, 2) in the picture's pixels and the mean probability of text in each, in no order."""
        tensor, scale, offset = self._prepare(image)
        probability = self._model.run({self._input: tensor})[self._output][0, 0]
        boxes, scores = [], []
        for box, score in self._boxes_of(probability):
            box = (box / scale - offset).astype(np.float32)
            if _touches(box, image) and min(geometry.side_lengths(box)) > 3:
                boxes.append(geometry.lying(box))
                scores.append(score)
        return boxes, scores

    def _prepare(self, image):
        """The tensor (1, 3, H, W), and how to come back: pixel = point / scale - offset (both in x, y)."""
        height, width = image.shape[:2]
        across = max(0, math.ceil((height / LONGEST - width) / 2))
        above = max(0, math.ceil((width / LONGEST - height) / 2))
        if across or above:
            image = cv2.copyMakeBorder(image, above, above, across, across, cv2.BORDER_REPLICATE)
            height, width = image.shape[:2]
        factor = min(1.0, self._max_side / max(height, width))
        factor *= max(1.0, self._min_side / (factor * min(height, width)))
        rows, columns = (max(MULTIPLE, round(side * factor / MULTIPLE) * MULTIPLE) for side in (height, width))
        resized = cv2.resize(image, (columns, rows)).astype(np.float32)
        tensor = np.ascontiguousarray((resized / 127.5 - 1.0).transpose(2, 0, 1)[np.newaxis])
        scale = np.array([columns / width, rows / height])
        return tensor, scale, np.array([across, above])

    def _boxes_of(self, probability):
        """Boxes and scores in the pixels of the map."""
        mask = (probability > self._threshold).astype(np.uint8)
        mask = cv2.dilate(mask, np.ones((2, 2), dtype=np.uint8))
        # Two levels: outlines, and the holes in them, which are no text. Islands in holes are outlines again.
        contours, hierarchy = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
        outlines = [contour for i, contour in enumerate(contours) if hierarchy[0, i, 3] < 0]
        for outline in outlines[: self._max_boxes]:
            centre, size, angle = geometry.upright_rectangle(outline)
            if min(size) < 3:
                continue
            score = _mean_inside(probability, outline[:, 0])
            if score < self._box_threshold:
                continue
            yield geometry.corners(centre, geometry.grown(size, self._unclip_ratio), angle), score


def _mean_inside(probability, outline):
    """The mean probability inside the outline itself: a curved line leaves much of its rectangle empty."""
    left, top = outline.min(axis=0)
    right, bottom = outline.max(axis=0) + 1
    inside = np.zeros((bottom - top, right - left), dtype=np.uint8)
    cv2.fillPoly(inside, [outline - [left, top]], 1)
    return float(cv2.mean(probability[top:bottom, left:right], inside)[0])


def _touches(box, image):
    """Whether the middle of the box lies on the picture (it may not, for one that was found in a margin)."""
    x, y = box.mean(axis=0)
    return 0 <= x < image.shape[1] and 0 <= y < image.shape[0]
