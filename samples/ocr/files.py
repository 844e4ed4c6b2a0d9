"""Pictures and models on disk. The models and the example page come with two Python packages."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from ..packages import package_folder

MODELS = {
    "detection": "ch_PP-OCRv4_det_infer.onnx",
    "direction": "ch_ppocr_mobile_v2.0_cls_infer.onnx",
    "recognition": "ch_PP-OCRv4_rec_infer.onnx",
}


def model_paths(folder=None):
    """Stage name to model file; `folder` defaults to the models in the package rapidocr-onnxruntime."""
    folder = Path(folder) if folder else package_folder("rapidocr_onnxruntime") / "models"
    paths = {stage: folder / name for stage, name in MODELS.items()}
    for path in paths.values():
        if not path.is_file():
            raise FileNotFoundError(f"no model {path}")
    return paths


def example_page():
    """The photographed page of scikit-image."""
    return package_folder("skimage") / "data" / "page.png"


def load_picture(path):
    """A uint8 array (H, W, 3), blue first. Transparent pictures are laid on white; cameras' turns are undone.

    OSError if there is no such file or Pillow can't read it.
    """
    with Image.open(path) as file:
        picture = ImageOps.exif_transpose(file)
    if picture.mode.startswith("I;16"):
        picture = Image.fromarray((np.asarray(picture) // 257).astype(np.uint8))
    if picture.has_transparency_data:
        white = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(white, picture.convert("RGBA"))
    return np.ascontiguousarray(np.asarray(picture.convert("RGB"))[:, :, ::-1])
