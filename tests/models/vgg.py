"""VGG-19 without batch normalisation, opset 13 (574 MB: three quarters of it is the first dense layer)."""

import numpy as np

from .cnn import Activation, CnnBuilder, image_inputs
from .registry import GeneratedModel


def _fit(maps, side):
    """The same maps repeated or cut to side x side."""
    times = -(-side // maps.shape[2])
    return np.tile(maps, (1, 1, times, times))[:, :, :side, :side]


def build(size=224):
    """Input `input` (batch, 3, size, size), output `output` (batch, 1000); the first dense layer shrinks with `size`."""
    g = CnnBuilder("vgg19", opset=13)
    x = g.image("input", size, calibration=(2, 64))
    index = 0
    for channels, convolutions in [(64, 2), (128, 2), (256, 4), (512, 4), (512, 4)]:
        for _ in range(convolutions):
            x = g.relu(g.conv(x, f"features.{index}", channels, 3, padding=1, bias=True, unit=True))
            index += 2
        x = g.max_pool(x, 2, stride=2)
        index += 1
    # The calibration maps are 2x2 here, the real ones of another size (7x7).
    x = Activation(x.name, _fit(x.data, size // 32))
    x = g.average_pool(x, 1, stride=1)  # what exporters make of an adaptive pooling that has nothing to do
    x = g.flatten(x)
    x = g.relu(g.linear(x, "classifier.0", 4096, shift=1))
    x = g.relu(g.linear(x, "classifier.3", 4096, shift=1))
    x = g.linear(x, "classifier.6", 1000)
    g.output(x.name, "output", ["batch", 1000])
    return g.model()


def inputs(rng, batch=1, size=224):
    return image_inputs(rng, batch, size, size)


MODELS = [GeneratedModel("vgg19", inputs, build, ("vgg.py", "cnn.py", "builder.py"))]
