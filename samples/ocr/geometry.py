"""Rectangles of text: corners, growing, cutting out of a picture, reading order.

A box is a float32 array of shape (4, 2): corners x, y in pixels, clockwise from the top left one of the text,
so that its first side is the line's top and runs the way the text does.
"""

import cv2
import numpy as np


def upright_rectangle(points):
    """The smallest rectangle around `points` as (centre, size, angle), its width nearest to horizontal.

    OpenCV may call either side the width, and versions differ in the range of the angle, so that both are
    brought to an angle between -45 and 45 degrees here.
    """
    (cx, cy), (width, height), angle = cv2.minAreaRect(points)
    quarter_turns = int(np.floor((angle + 45.0) / 90.0))
    if quarter_turns % 2:
        width, height = height, width
    return (cx, cy), (width, height), angle - 90.0 * quarter_turns


def corners(centre, size, angle):
    """The box of a rectangle: `size` is (width, height), `angle` in degrees, clockwise on the screen."""
    turn = np.deg2rad(angle)
    along = np.array([np.cos(turn), np.sin(turn)]) * (size[0] / 2.0)
    down = np.array([-np.sin(turn), np.cos(turn)]) * (size[1] / 2.0)
    middle = np.asarray(centre, dtype=np.float64)
    box = [middle - along - down, middle + along - down, middle + along + down, middle - along + down]
    return np.array(box, dtype=np.float32)


def grown(size, ratio):
    """`size` with every side moved out by ratio * area / perimeter, DB's rule for undoing its shrunk masks.

    (Liao et al., "Real-time Scene Text Detection with Differentiable Binarization", 2020.) The paper offsets
    a polygon; for a rectangle the bounding rectangle of that offset is the grown rectangle itself.
    """
    width, height = size
    distance = ratio * width * height / (2.0 * (width + height))
    return width + 2.0 * distance, height + 2.0 * distance


def side_lengths(box):
    """Width and height of a box in pixels, the longer of each pair of opposite sides."""
    width = max(np.linalg.norm(box[1] - box[0]), np.linalg.norm(box[2] - box[3]))
    height = max(np.linalg.norm(box[3] - box[0]), np.linalg.norm(box[2] - box[1]))
    return float(width), float(height)


def lying(box):
    """`box` itself, or if it is a column, the box of the same corners whose text runs from the bottom to the top."""
    width, height = side_lengths(box)
    return np.roll(box, 1, axis=0) if height >= 1.5 * width else box


def upside_down(box):
    """The box of text that runs the other way."""
    return np.roll(box, 2, axis=0)


def cut_out(image, box):
    """The picture inside `box`, straightened so that the box's first side is on top."""
    columns, rows = (max(1, int(side)) for side in side_lengths(box))
    target = np.array([[0, 0], [columns, 0], [columns, rows], [0, rows]], dtype=np.float32)
    transform = cv2.getPerspectiveTransform(np.asarray(box, dtype=np.float32), target)
    return cv2.warpPerspective(
        image, transform, (columns, rows), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )


def reading_order(boxes):
    """Indices of `boxes` line by line from the top of the page, each line from where it begins.

    The page's turn is that of most of its text (weighted by length), whole quarters first, then the median
    within that quarter: it is taken out, so that a line of several boxes on a turned page stays one line.
    """
    if not boxes:
        return []
    stacked = np.stack(boxes).astype(np.float64)
    along = stacked[:, 1] - stacked[:, 0] + stacked[:, 2] - stacked[:, 3]
    length = np.linalg.norm(along, axis=1)
    angle = np.arctan2(along[:, 1], along[:, 0])
    quarter = np.round(angle / (np.pi / 2)).astype(int) % 4
    most = np.argmax(np.bincount(quarter, weights=length, minlength=4))
    agree = quarter == most
    within = (angle - most * np.pi / 2 + np.pi) % (2 * np.pi) - np.pi
    turn = most * np.pi / 2 + _weighted_median(within[agree], length[agree])

    to_page = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    x, y = to_page @ stacked.mean(axis=1).T
    height = np.ptp(stacked @ to_page[1], axis=1)
    lines = []
    for index in np.argsort(y, kind="stable"):
        if lines and y[index] - np.mean(y[lines[-1]]) < 0.4 * min(height[index], *height[lines[-1]]):
            lines[-1].append(index)
        else:
            lines.append([index])
    return [int(index) for line in lines for index in sorted(line, key=lambda i: x[i])]


def _weighted_median(values, weights):
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return values[order][np.searchsorted(total, total[-1] / 2.0)]
