"""ResNet-50 v1.5 (stride in the 3x3 convolution), BatchNormalization left as nodes, opset 11."""

from .cnn import CnnBuilder, image_inputs
from .registry import GeneratedModel


def _bottleneck(g, x, width, stride):
    identity = x
    y = g.relu(g.batch_norm(g.conv(x, "conv1", width, 1), "bn1"))
    y = g.relu(g.batch_norm(g.conv(y, "conv2", width, 3, stride=stride, padding=1), "bn2"))
    # The last scale of a branch is small in trained networks; it keeps the sum from growing with depth.
    y = g.batch_norm(g.conv(y, "conv3", 4 * width, 1), "bn3", scale=0.5, shift=0)
    if x.channels != 4 * width:
        identity = g.conv(x, "downsample.0", 4 * width, 1, stride=stride)
        identity = g.batch_norm(identity, "downsample.1", shift=0)
    return g.relu(g.add(y, identity))


def build(size=224):
    """Input `input` (batch, 3, size, size), output `output` (batch, 1000). `size` None: height and width are symbolic."""
    g = CnnBuilder("resnet50", opset=11)
    x = g.image("input", size)
    x = g.relu(g.batch_norm(g.conv(x, "conv1", 64, 7, stride=2, padding=3), "bn1"))
    x = g.max_pool(x, 3, stride=2, padding=1)
    for stage, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(blocks):
            with g.scope(f"layer{stage + 1}.{block}"):
                x = _bottleneck(g, x, width, stride=2 if stage and not block else 1)
    x = g.linear(g.flatten(g.global_average_pool(x)), "fc", 1000)
    g.output(x.name, "output", ["batch", 1000])
    return g.model()


MODELS = [GeneratedModel("resnet50", image_inputs, build, ("resnet.py", "cnn.py", "builder.py"))]
