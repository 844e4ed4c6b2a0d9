"""MobileNetV2 (width 1.0) with Clip 0..6 and BatchNormalization left as nodes, opset 12."""

from .cnn import CnnBuilder, image_inputs
from .registry import GeneratedModel

# expansion, output channels, blocks, stride of the first block
_STAGES = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
]
# Batch norms before a Clip spread wide enough for its upper bound to matter.
_CLIP_SCALE = 2.0


def _inverted_residual(g, x, expansion, channels, stride):
    hidden = x.channels * expansion
    y = x
    if expansion != 1:
        y = g.relu6(g.batch_norm(g.conv(y, "conv.0.0", hidden, 1), "conv.0.1", scale=_CLIP_SCALE))
    y = g.conv(y, "conv.1.0", hidden, 3, stride=stride, padding=1, group=hidden)
    y = g.relu6(g.batch_norm(y, "conv.1.1", scale=_CLIP_SCALE))
    y = g.batch_norm(g.conv(y, "conv.2", channels, 1), "conv.3", shift=0)
    return g.add(x, y) if stride == 1 and x.channels == channels else y


def build(size=224):
    """Input `input` (batch, 3, size, size), output `output` (batch, 1000). `size` None: height and width are symbolic."""
    g = CnnBuilder("mobilenet_v2", opset=12)
    x = g.image("input", size)
    with g.scope("features.0"):
        x = g.relu6(g.batch_norm(g.conv(x, "0", 32, 3, stride=2, padding=1), "1", scale=_CLIP_SCALE))
    index = 1
    for expansion, channels, blocks, stride in _STAGES:
        for block in range(blocks):
            with g.scope(f"features.{index}"):
                x = _inverted_residual(g, x, expansion, channels, 1 if block else stride)
            index += 1
    with g.scope("features.18"):
        x = g.relu6(g.batch_norm(g.conv(x, "0", 1280, 1), "1", scale=_CLIP_SCALE))
    x = g.linear(g.flatten(g.global_average_pool(x)), "classifier.1", 1000)
    g.output(x.name, "output", ["batch", 1000])
    return g.model()


MODELS = [GeneratedModel("mobilenet_v2", image_inputs, build, ("mobilenet.py", "cnn.py", "builder.py"))]
