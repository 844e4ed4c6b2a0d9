"""The picture with what was found on it."""

import cv2
import numpy as np

COLOURS = [(36, 28, 237), (76, 177, 34), (232, 162, 0), (201, 39, 158), (0, 127, 255)]
LEAST_SIDE = 720  # smaller pictures are enlarged, so that the numbers leave the text legible


def draw_lines(image, lines):
    """A copy of `image` with a box around each of `lines` and the line's number, from 1, at its left end."""
    scale = max(1.0, LEAST_SIDE / min(image.shape[:2]))
    if scale > 1.0:
        image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    drawn = image.copy()
    for number, line in enumerate(lines, start=1):
        colour = COLOURS[(number - 1) % len(COLOURS)]
        box = np.round(line.box * scale).astype(np.int32)
        cv2.polylines(drawn, [box], isClosed=True, color=colour, thickness=2, lineType=cv2.LINE_AA)
        _label(drawn, str(number), box[0], colour)
    return drawn


def _label(image, text, corner, colour):
    font, size, thickness = cv2.FONT_HERSHEY_SIMPLEX, 0.55, 1
    (width, height), below = cv2.getTextSize(text, font, size, thickness)
    x = int(np.clip(corner[0], 0, max(0, image.shape[1] - width - 6)))
    y = int(np.clip(corner[1], height + below + 4, image.shape[0]))
    cv2.rectangle(image, (x, y - height - below - 4), (x + width + 6, y), colour, cv2.FILLED)
    cv2.putText(image, text, (x + 3, y - below - 1), font, size, (255, 255, 255), thickness, cv2.LINE_AA)
