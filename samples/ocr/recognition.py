"""What does it say? A CTC network gives each column of a strip the probabilities of all characters."""

import numpy as np

from .strips import batches_by_width, natural_width, strip

HEIGHT = 48
LEAST_WIDTH = 320
WIDTH_STEP = 32  # widths are rounded up to this, so that few distinct shapes reach the engine
LEAST_SPACE = 0.02  # a gap is a space from this probability on


class TextRecognizer:
    """Reads crops of text lines with `model`, a loaded recognition network.

    The characters are in the model's metadata under `character`, one a line; the network puts the CTC blank
    before them and the space after them. ValueError if that does not fit the network's output.
    """

    def __init__(self, model, *, batch=6):
        self._model = model
        self._input = model.inputs[0].name
        self._output = model.outputs[0].name
        self._batch = batch
        if "character" not in model.metadata:
            raise ValueError("the recognition model has no `character` entry in its metadata: it can't be decoded")
        self._alphabet = ["", *model.metadata["character"].removesuffix("\n").split("\n"), " "]

    def read(self, crops):
        """(text, confidence) of each crop, a BGR picture; the confidence is 0 where nothing was read."""
        read = [("", 0.0)] * len(crops)
        for batch in batches_by_width(crops, self._batch):
            width = max(LEAST_WIDTH, *(natural_width(crops[i], HEIGHT) for i in batch))
            width = -(-width // WIDTH_STEP) * WIDTH_STEP
            tensor = np.stack([strip(crops[i], HEIGHT, width) for i in batch])
            probabilities = self._model.run({self._input: tensor})[self._output]
            if probabilities.shape[2] != len(self._alphabet):
                raise ValueError(
                    f"the recognition model tells {probabilities.shape[2]} classes apart, but its `character`"
                    f" metadata makes {len(self._alphabet)} with blank and space"
                )
            for i, columns in zip(batch, probabilities):
                read[i] = decode(columns, self._alphabet)
        return read


def decode(columns, alphabet):
    """The text of `columns` (T, classes) and its confidence, the mean of the characters' other than spaces.

    Greedy CTC: the likeliest class of each column, repeats merged, then blanks (class 0) dropped. (Graves et al.,
    "Connectionist Temporal Classification", 2006.) Spaces (the last class) are for the network hardly anything but
    blanks: it sees them, but seldom prefers them, so that between words a small probability decides.
    """
    likeliest = columns.argmax(axis=1)
    space = columns.shape[1] - 1
    likeliest[(likeliest == 0) & (columns[:, space] > LEAST_SPACE)] = space
    begins = np.ones(len(likeliest), dtype=bool)
    begins[1:] = likeliest[1:] != likeliest[:-1]
    kept = np.flatnonzero(begins & (likeliest != 0))
    text = " ".join("".join(alphabet[likeliest[t]] for t in kept).split())
    sure = kept[likeliest[kept] != space]
    confidence = float(columns[sure, likeliest[sure]].mean()) if len(sure) else 0.0
    return text, confidence
