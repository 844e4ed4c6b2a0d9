"""DenseNet-121: BatchNormalization and Relu before Conv, Concat of all earlier maps, AveragePool, opset 15."""

from .cnn import CnnBuilder, image_inputs
from .registry import GeneratedModel

_GROWTH = 32


def _dense_layer(g, features):
    x = g.concat(features)
    x = g.conv(g.relu(g.batch_norm(x, "norm1")), "conv1", 4 * _GROWTH, 1)
    return g.conv(g.relu(g.batch_norm(x, "norm2")), "conv2", _GROWTH, 3, padding=1)


def build(size=224):
    """Input `input` (batch, 3, size, size), output `output` (batch, 1000). `size` None: height and width are symbolic."""
    g = CnnBuilder("densenet121", opset=15)
    x = g.image("input", size)
    with g.scope("features"):
        x = g.relu(g.batch_norm(g.conv(x, "conv0", 64, 7, stride=2, padding=3), "norm0"))
        x = g.max_pool(x, 3, stride=2, padding=1)
        for block, layers in enumerate([6, 12, 24, 16], 1):
            features = [x]
            for layer in range(1, layers + 1):
                with g.scope(f"denseblock{block}.denselayer{layer}"):
                    features.append(_dense_layer(g, features))
            x = g.concat(features)
            if block < 4:
                with g.scope(f"transition{block}"):
                    x = g.conv(g.relu(g.batch_norm(x, "norm")), "conv", x.channels // 2, 1)
                    x = g.average_pool(x, 2, stride=2)
        x = g.relu(g.batch_norm(x, "norm5"))
    x = g.linear(g.flatten(g.global_average_pool(x)), "classifier", 1000)
    g.output(x.name, "output", ["batch", 1000])
    return g.model()


MODELS = [GeneratedModel("densenet121", image_inputs, build, ("densenet.py", "cnn.py", "builder.py"))]
