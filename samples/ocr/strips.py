"""Strips of text as network input: fixed height, normalised to -1..1, padded on the right, batched by width."""

import math

import cv2
import numpy as np


def natural_width(image, height):
    """Columns of `image` when it is scaled to `height` rows."""
    rows, columns = image.shape[:2]
    return max(1, math.ceil(height * columns / rows))


def strip(image, height, width):
    """A float32 tensor (3, height, width): `image` scaled to the height, squeezed if it is too wide, else padded
    with zeros, the middle grey."""
    columns = min(width, natural_width(image, height))
    resized = cv2.resize(image, (columns, height)).astype(np.float32)
    tensor = np.zeros((image.shape[2], height, width), dtype=np.float32)
    tensor[:, :, :columns] = (resized / 127.5 - 1.0).transpose(2, 0, 1)
    return tensor


def batches_by_width(images, size):
    """Lists of at most `size` indices into `images`, neighbours in the ratio of width to height, so that little
    of a batch is padding."""
    order = sorted(range(len(images)), key=lambda i: images[i].shape[1] / images[i].shape[0])
    return [order[start : start + size] for start in range(0, len(order), size)]
