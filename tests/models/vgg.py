"""VGG-19 without batch normalisation, opset 13 (574 MB: three quarters of it is the first dense layer)."""

import numpy as np

from .cnn import Activation, CnnBuilder, image_inputs
from .registry import GeneratedModel


def build():
    """Input `input` (batch, 3, 224, 224), output `output` (batch, 1000)."""
    g = CnnBuilder("vgg19", opset=13)
    x = g.image("input", 224, calibration=(2, 64))
    index = 0
    for channels, convolutions in [(64, 2), (128, 2), (256, 4), (512, 4), (512, 4)]:
        for _ in range(convolutions):
            x = g.relu(g.conv(x, f"features.{index}", channels, 3, padding=1, bias=True, unit=True))
            index += 2
        x = g.max_pool(x, 2, stride=2)
        index += 1
    # The calibration maps are 2x2 here, the real ones 7x7.
    x = Activation(x.name, np.tile(x.data, (1, 1, 4, 4))[:, :, :7, :7])
    x = g.average_pool(x, 1, stride=1)  # what exporters make of an adaptive pooling that has nothing to do
    x = g.flatten(x)
    x = g.relu(g.linear(x, "classifier.0", 4096, shift=1))
    x = g.relu(g.linear(x, "classifier.3", 4096, shift=1))
    x = g.linear(x, "classifier.6", 1000)
    g.output(x.name, "output", ["batch", 1000])
    return g.model()


def inputs(rng, batch=1):
    return image_inputs(rng, batch, 224, 224)


MODELS = [GeneratedModel("vgg19", inputs, build, ("vgg.py", "cnn.py", "builder.py"))]
