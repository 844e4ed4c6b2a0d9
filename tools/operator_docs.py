"""Writes docs/operators/: a page for each operator and an index, from the engine's registry.

    PYTHONPATH=build/bindings/python python tools/operator_docs.py            # write
    PYTHONPATH=build/bindings/python python tools/operator_docs.py --check    # say what is out of date
"""

import collections
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "operators"
ONNX = "https://github.com/onnx/onnx/blob/main/docs/"
# Where each domain's operators are defined: whose words they are, and the page.
SPECIFICATIONS = {
    "": ("ONNX", ONNX + "Operators.md"),
    "ai.onnx.ml": ("ONNX", ONNX + "Operators-ml.md"),
    "ai.onnx.preview.training": ("ONNX", ONNX + "Operators.md"),
    "com.microsoft": ("ONNX Runtime", "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md"),
}

CLASSES = {
    "convolution": "Convolution",
    "matmul": "Matrix products and attention",
    "pooling": "Pooling",
    "normalization": "Normalisation and softmax",
    "reduction": "Reduction",
    "elementwise": "Element by element",
    "data_movement": "Moving elements",
    "view": "Views",
    "other": "Others",
}

# Where a formula was first written down, beside ONNX's text.
PAPERS = {
    "AffineGrid": "Jaderberg et al., Spatial Transformer Networks, 2015",
    "Attention": "Vaswani et al., Attention Is All You Need, 2017",
    "BatchNormalization": "Ioffe and Szegedy, Batch Normalization, 2015",
    "Celu": "Barron, Continuously Differentiable Exponential Linear Units, 2017",
    "DeformConv": "Dai et al., Deformable Convolutional Networks, 2017; Zhu et al., Deformable ConvNets v2, 2018",
    "DepthToSpace": "Shi et al., Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel CNN, 2016",
    "Dropout": "Srivastava et al., Dropout, 2014",
    "Elu": "Clevert et al., Fast and Accurate Deep Network Learning by Exponential Linear Units, 2015",
    "FusedAttention": "Vaswani et al., Attention Is All You Need, 2017",
    "GRU": "Cho et al., Learning Phrase Representations Using RNN Encoder-Decoder, 2014",
    "Gelu": "Hendrycks and Gimpel, Gaussian Error Linear Units, 2016",
    "GridSample": "Jaderberg et al., Spatial Transformer Networks, 2015",
    "GroupNormalization": "Wu and He, Group Normalization, 2018",
    "HardSwish": "Howard et al., Searching for MobileNetV3, 2019",
    "InstanceNormalization": "Ulyanov et al., Instance Normalization, 2016",
    "LRN": "Krizhevsky et al., ImageNet Classification with Deep Convolutional Neural Networks, 2012",
    "LSTM": "Hochreiter and Schmidhuber, Long Short-Term Memory, 1997",
    "LayerNormalization": "Ba et al., Layer Normalization, 2016",
    "Mish": "Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019",
    "PRelu": "He et al., Delving Deep into Rectifiers, 2015",
    "RMSNormalization": "Zhang and Sennrich, Root Mean Square Layer Normalization, 2019",
    "RoiAlign": "He et al., Mask R-CNN, 2017",
    "RotaryEmbedding": "Su et al., RoFormer, 2021",
    "Selu": "Klambauer et al., Self-Normalizing Neural Networks, 2017",
    "SwiGLU": "Shazeer, GLU Variants Improve Transformer, 2020",
    "Swish": "Ramachandran et al., Searching for Activation Functions, 2017",
}


def full_name(row):
    return f"{row['domain']}.{row['name']}" if row["domain"] else row["name"]


def domain_of(row):
    return row["domain"] or "ai.onnx"


def path_of(row):
    return f"{row['domain']}/{row['name']}.md" if row["domain"] else f"{row['name']}.md"


def cell(text):
    return " ".join(str(text).replace("|", "\\|").split())


def table(head, rows):
    rows = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *rows, ""] if rows else []


def types_of(row, parameter):
    types = row["types"].get(parameter["type"])
    return f"`{parameter['type']}`" if types else "any value"


def kind_of(parameter):
    kind = {"single": "", "optional": "optional", "variadic": "any number"}[parameter["kind"]]
    return kind if parameter["homogeneous"] else f"{kind}, types may differ"


def name_of(each):
    """As in methods, and as in ONNX where that differs: calls take both."""
    same = each["name"] == each["python_name"]
    return f"`{each['python_name']}`" if same else f"`{each['python_name']}` (`{each['name']}`)"


def parameters(row, title, given):
    rows = [(name_of(each), types_of(row, each), kind_of(each), each["doc"]) for each in given]
    return [f"## {title}", "", *table(("name", "type", "", "meaning"), rows)] if rows else []


def attributes(row):
    def default(spec):
        return "required" if spec["required"] else f"`{json.dumps(spec['default'])}`" if "default" in spec else ""

    rows = [(name_of(each), each["type"], default(each), each["doc"]) for each in row["attributes"]]
    rows += [(f"`{name}`", "graph", "required", "a body") for name in row["regions"]]
    return ["## Attributes", "", *table(("name", "type", "default", "meaning"), rows)] if rows else []


def element_types(row):
    rows = [(f"`{variable}`", ", ".join(types)) for variable, types in sorted(row["types"].items())]
    return ["## Types", "", *table(("variable", "element types"), rows)] if rows else []


def source(row):
    if row["domain"] == "asc":
        text = "The compiler's own: the line at the top is the whole formula. `core/ops/expansion.h` says how it is exported."
    else:
        whose, page = SPECIFICATIONS[row["domain"]]
        anchor = f"{row['domain']}.{row['name']}" if row["domain"] else row["name"]
        text = f"{whose}, [{row['name']} of {domain_of(row)}]({page}#{anchor}), opset {row['since_version']}."
    lines = ["## Source of the formula", "", text]
    if row["name"] in PAPERS:
        lines += ["", f"First in: {PAPERS[row['name']]}."]
    return [*lines, ""]


def kernels(row, by_device):
    devices = collections.defaultdict(list)
    for device, listed in by_device.items():
        devices[tuple(listed.get(full_name(row), ()))].append(f"`{device}`")
    rows = [
        (", ".join(names), ", ".join(f"`{kernel}`" for kernel in found) or "none: refused (E5033)")
        for found, names in devices.items()
    ]
    return ["## Kernels", "", *table(("device", "best first"), rows)]


def operator_page(row, operator, by_device):
    lines = [
        "<!-- Written by tools/operator_docs.py: do not edit. -->",
        f"# {row['name']}",
        "",
        f"{row['doc'] or row['name']}",
        "",
        "```python",
        f"ctx.{operator.method}{operator.signature}",
        "```",
        "",
        f"Method of `pyasc.Context` and function of `pyasc.ops`: `{operator.method}`. In fusion patterns: `{row['fusion']}`.",
        "",
        *parameters(row, "Inputs", row["inputs"]),
        *parameters(row, "Outputs", row["outputs"]),
        *attributes(row),
        *element_types(row),
        *kernels(row, by_device),
        *source(row),
    ]
    return "\n".join(lines).rstrip() + "\n"


def index(rows):
    lines = [
        "<!-- Written by tools/operator_docs.py: do not edit. -->",
        "# Operators",
        "",
        "Every operator is a method of `pyasc.Context`, a function of `pyasc.ops`, and a name that `asc_graph_add_operator`"
        " takes.",
        "Domains other than `ai.onnx` are written before the name; those of `asc` are the compiler's own.",
        "",
    ]
    for key, title in CLASSES.items():
        found = [row for row in rows if row["class"] == key]
        links = [
            (f"[{full_name(row)}]({path_of(row)})", f"`{row['method']}`", row["doc"] or row["name"]) for row in found
        ]
        lines += [f"## {title}", "", *table(("operator", "method", ""), links)] if links else []
    differentiable = [f"[{row['name']}]({path_of(row)})" for row in rows if row["differentiable"]]
    lines += ["## Operators with a gradient", "", "[Gradients](../gradients.md) pass these:", "", ", ".join(differentiable) + "."]
    return "\n".join(lines).rstrip() + "\n"


def pages():
    """The text of every page by its path inside the folder."""
    from pyasc import _asc
    from pyasc._operators import registry

    operators = sorted(registry().values(), key=lambda operator: (operator.row["domain"], operator.row["name"]))
    by_device = {
        each["id"]: json.loads(_asc.asc_device_create_kernels(each["id"])) for each in json.loads(_asc.asc_device_create_list())
    }
    made = {path_of(each.row): operator_page(each.row, each, by_device) for each in operators}
    return made | {"README.md": index([each.row for each in operators])}


def out_of_date():
    """Paths of pages that are missing, differ, or are of no operator."""
    made = pages()
    there = {path.relative_to(FOLDER).as_posix(): path.read_text() for path in FOLDER.rglob("*.md")}
    return sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))


def write():
    made = pages()  # before the old ones go: it may fail
    for path in FOLDER.rglob("*.md"):
        path.unlink()
    for name, text in made.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        wrong = out_of_date()
        print("\n".join(wrong))
        sys.exit(bool(wrong))
    write()
