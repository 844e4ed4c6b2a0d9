"""Which way up? A small classifier tells strips of text that stand on their head."""

import numpy as np

from .strips import batches_by_width, strip

HEIGHT, WIDTH = 48, 192


class DirectionClassifier:
    """Tells crops that are upside down with `model`, a loaded direction network (two classes: 0 and 180 degrees).

    A crop counts as upside down when the network is surer than `threshold` that it is.
    """

    def __init__(self, model, *, threshold=0.9, batch=6):
        self._model = model
        self._input = model.inputs[0].name
        self._output = model.outputs[0].name
        self._threshold = threshold
        self._batch = batch

    def upside_down(self, crops):
        """For each of the crops (BGR pictures) whether it seems to stand on its head."""
        found = [False] * len(crops)
        for batch in batches_by_width(crops, self._batch):
            tensor = np.stack([strip(crops[i], HEIGHT, WIDTH) for i in batch])
            probabilities = self._model.run({self._input: tensor})[self._output]
            for i, (_, probability) in zip(batch, probabilities):
                found[i] = bool(probability > self._threshold)
        return found
