"""ImageDecoder: every format against Pillow, and broken files."""

import io
import struct
import time
import zlib

import numpy as np
import pytest

import pyasc
from oracle import make_model, node, run

Image = pytest.importorskip("PIL.Image")
u8 = np.uint8


def decoder(pixel_format="RGB"):
    made = [node("ImageDecoder", "file", "image", pixel_format=pixel_format)]
    return make_model(made, {"file": (u8, ["n"])}, {"image": (u8, [None, None, None])}, opset=20)


def picture(height=37, width=29):
    """Smooth, so that lossy formats keep it, with some noise in one corner."""
    y, x = np.mgrid[:height, :width]
    rgb = np.stack([x * 255 // width, y * 255 // height, (x + y) * 255 // (width + height)], -1).astype(u8)
    rgb[:9, :9] = np.random.default_rng(1).integers(0, 256, (9, 9, 3))
    return Image.fromarray(rgb)


def saved(image, form, **options):
    file = io.BytesIO()
    image.save(file, form, **options)
    return np.frombuffer(file.getvalue(), u8)


def as_rgb(file):
    image = Image.open(io.BytesIO(file.tobytes()))
    if image.mode.startswith("I;16"):  # Pillow cuts off what is above 255
        image = Image.fromarray((np.array(image) >> 8).astype(u8))
    return np.array(image.convert("RGBA" if image.mode in ("P", "LA", "PA", "RGBA") else "RGB"))[..., :3]


WIDE = np.random.default_rng(2).integers(0, 65536, (11, 13)).astype(np.uint16)
FILES = {
    "bmp": lambda: saved(picture(), "BMP"),
    "bmp-palette": lambda: saved(picture().quantize(200), "BMP"),
    "bmp-16-colours": lambda: saved(picture().quantize(16), "BMP"),
    "bmp-bits": lambda: saved(picture().convert("1"), "BMP"),
    "bmp-grey": lambda: saved(picture().convert("L"), "BMP"),
    "bmp-alpha": lambda: saved(picture().convert("RGBA"), "BMP"),
    "pgm": lambda: saved(picture().convert("L"), "PPM"),
    "ppm": lambda: saved(picture(), "PPM"),
    "pbm": lambda: saved(picture().convert("1"), "PPM"),
    "ppm-plain": lambda: np.frombuffer(b"P3 # plain\n2 2\n# most\n7\n0 1 2 3 4 5 6 7 0\n1 2 3", u8),
    "pgm-plain": lambda: np.frombuffer(b"P2\n3 1 255\n0 128 255", u8),
    "pbm-plain": lambda: np.frombuffer(b"P1\n3 2\n101\n0 1 0\n", u8),
    "tiff": lambda: saved(picture(), "TIFF"),
    "tiff-lzw": lambda: saved(picture(200, 150), "TIFF", compression="tiff_lzw"),
    "tiff-zlib": lambda: saved(picture(), "TIFF", compression="tiff_adobe_deflate"),
    "tiff-packbits": lambda: saved(picture(), "TIFF", compression="packbits"),
    "tiff-differences": lambda: saved(picture(), "TIFF", compression="tiff_lzw", tiffinfo={317: 2}),
    "tiff-grey": lambda: saved(picture().convert("L"), "TIFF"),
    "tiff-bits": lambda: saved(picture().convert("1"), "TIFF"),
    "tiff-palette": lambda: saved(picture().quantize(99), "TIFF"),
    "tiff-alpha": lambda: saved(picture().convert("RGBA"), "TIFF"),
    "tiff-wide": lambda: saved(Image.fromarray(WIDE), "TIFF"),
    "png": lambda: saved(picture(), "PNG"),
    "png-grey": lambda: saved(picture().convert("L"), "PNG"),
    "png-bits": lambda: saved(picture().convert("1"), "PNG"),
    "png-palette": lambda: saved(picture().quantize(50), "PNG"),
    "png-alpha": lambda: saved(picture().convert("RGBA"), "PNG"),
    "png-grey-alpha": lambda: saved(picture().convert("LA"), "PNG"),
    "png-wide": lambda: saved(Image.fromarray(WIDE), "PNG"),
    "jpeg": lambda: saved(picture(), "JPEG"),
    "jpeg-best": lambda: saved(picture(), "JPEG", quality=97, subsampling=0),
    "jpeg-progressive": lambda: saved(picture(), "JPEG", progressive=True),
    "jpeg-grey": lambda: saved(picture().convert("L"), "JPEG"),
    "webp": lambda: saved(picture(), "WEBP"),
    "webp-lossless": lambda: saved(picture(), "WEBP", lossless=True),
    "jp2": lambda: saved(picture(), "JPEG2000"),
    "jp2-lossy": lambda: saved(picture(), "JPEG2000", irreversible=True, quality_layers=[20]),
    "jp2-grey": lambda: saved(picture().convert("L"), "JPEG2000"),
}


@pytest.mark.parametrize("name", FILES)
def test_formats(name):
    file = FILES[name]()
    want = as_rgb(file)
    got = run(decoder(), {"file": file})["image"]
    assert got.shape == want.shape
    # Versions of a lossy codec may round otherwise.
    most = 1 if name.startswith(("jpeg", "webp", "jp2")) and "lossless" not in name else 0
    assert np.abs(got.astype(int) - want).max() <= most


def test_four_inks():
    file = saved(picture().convert("CMYK"), "JPEG", quality=97, subsampling=0)
    got = run(decoder(), {"file": file})["image"]
    assert np.abs(got.astype(int) - as_rgb(file)).max() <= 2


@pytest.mark.parametrize("level", [0, 3])
def test_pixel_formats(level):
    file = FILES["png"]()
    rgb = as_rgb(file)
    grey = np.array(Image.fromarray(rgb).convert("L"))[..., None]
    for pixel_format, want in (("RGB", rgb), ("BGR", rgb[..., ::-1]), ("Grayscale", grey)):
        np.testing.assert_array_equal(run(decoder(pixel_format), {"file": file}, level)["image"], want)
    with pytest.raises(pyasc.errors.InvalidArgumentError, match="pixel_format"):
        pyasc.load(decoder("CMYK"))


BROKEN = ["bmp", "bmp-palette", "ppm", "ppm-plain", "tiff-lzw", "tiff-zlib", "tiff-packbits", "tiff-palette"]
BROKEN += ["png", "jpeg", "webp", "jp2"]


def test_what_is_no_image_is_empty():
    model = pyasc.load(decoder())
    for file in (b"", b"P6", b"BM", b"no image at all", bytes(1000)):
        assert model.run({"file": np.frombuffer(file, u8)})["image"].shape == (0, 0, 3)
    grey = pyasc.load(decoder("Grayscale"))
    assert grey.run({"file": np.zeros(9, u8)})["image"].shape == (0, 0, 1)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_give_an_image_or_nothing(name):
    model = pyasc.load(decoder())
    file = FILES[name]()
    generator = np.random.default_rng(3)
    for size in np.unique(np.linspace(0, len(file) - 1, 60).astype(int)):
        assert model.run({"file": file[:size].copy()})["image"].ndim == 3
    assert model.run({"file": file[: len(file) // 2].copy()})["image"].size == 0
    for _ in range(150):
        damaged = file.copy()
        places = generator.integers(0, min(len(file), 400), 4)
        damaged[places] = generator.integers(0, 256, 4)
        assert model.run({"file": damaged})["image"].ndim == 3


def test_sizes_that_lie():
    """A small file that claims a huge image takes no memory for it."""
    model = pyasc.load(decoder())
    bmp = FILES["bmp"]().copy()
    bmp[18:26] = [255, 255, 255, 0x7F, 255, 255, 255, 0x7F]
    png = FILES["png"]().copy()
    png[16:24] = [0x7F, 255, 255, 255] * 2
    for file in (bmp, png, np.frombuffer(b"P6 999999999 999999999 255 ", u8)):
        assert model.run({"file": file})["image"].size == 0


def png_of(side):
    """A small picture's data under a header of another size."""
    file = bytearray(FILES["png"]().tobytes())
    file[16:24] = struct.pack(">II", side, side)
    file[29:33] = struct.pack(">I", zlib.crc32(file[12:29]))
    return file


def jpeg_of(side, progressive):
    file = bytearray(saved(picture(), "JPEG", progressive=progressive).tobytes())
    at = file.find(b"\xff\xc2" if progressive else b"\xff\xc0")
    file[at + 5 : at + 9] = struct.pack(">HH", side, side)
    return file


def webp_of(side):
    file = bytearray(FILES["webp"]().tobytes())
    at = file.find(b"\x9d\x01\x2a")
    file[at + 3 : at + 7] = struct.pack("<HH", side, side)
    return file


def tiff_of_tiles(width, height, side, count):
    """Tiles that are all the same zlib stream of zeros."""
    packed = zlib.compress(bytes(side * side), 9)
    tags = {256: width, 257: height, 258: 8, 259: 8, 262: 1, 277: 1, 322: side, 323: side}
    data = 8 + 2 + (len(tags) + 2) * 12 + 4
    places = data + len(packed)
    file = b"II*\0" + struct.pack("<IH", 8, len(tags) + 2)
    for tag, value in tags.items():
        file += struct.pack("<HHII", tag, 4, 1, value)
    file += struct.pack("<HHII", 324, 4, count, places) + struct.pack("<HHII", 325, 4, count, places + 4 * count)
    return file + bytes(4) + packed + struct.pack("<I", data) * count + struct.pack("<I", len(packed)) * count


BOMBS = {f"{name}-{side}": (make, side) for side in (16000, 60000) for name, make in (
    ("png", png_of),
    ("jpeg", lambda side: jpeg_of(side, progressive=False)),
    ("jpeg-progressive", lambda side: jpeg_of(side, progressive=True)),
)}
BOMBS["webp-16383"] = webp_of, 16383


@pytest.mark.parametrize("name", BOMBS)
def test_headers_that_claim_more_than_the_data_hold(name):
    make, side = BOMBS[name]
    started = time.process_time()
    assert pyasc.load(decoder()).run({"file": np.frombuffer(bytes(make(side)), u8)})["image"].size == 0
    assert time.process_time() - started < 5


def test_few_pixels_in_large_tiles():
    model = pyasc.load(decoder())
    small = np.frombuffer(tiff_of_tiles(100, 90, 64, 4), u8)
    assert model.run({"file": small})["image"].shape == (90, 100, 3)
    side = 4096
    started = time.process_time()
    large = np.frombuffer(tiff_of_tiles(1, 2000 * side, side, 2000), u8)
    assert model.run({"file": large})["image"].size == 0
    assert time.process_time() - started < 5


def test_scans_without_end():
    """Each scan of a progressive file goes over the whole image, and may take few bytes."""
    file = saved(Image.new("L", (2000, 2000)), "JPEG", progressive=True).tobytes()
    scan = file[file.rfind(b"\xff\xda") : -2]
    repeated = np.frombuffer(file[:-2] + scan * 3000 + file[-2:], u8)
    started = time.process_time()
    assert pyasc.load(decoder()).run({"file": repeated})["image"].size == 0
    assert time.process_time() - started < 5
