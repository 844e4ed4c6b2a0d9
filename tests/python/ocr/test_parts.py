"""The parts of the OCR sample that run no model, and the yardstick of its tests."""

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from samples.ocr import geometry, recognition, strips
from samples.ocr.detection import TextDetector
from samples.ocr.draw import draw_lines
from samples.ocr.files import load_picture
from samples.ocr.pipeline import Line
from samples.ocr.recognition import TextRecognizer

from .render import PAGES, render
from .score import edit_distance, error_rate


def make_model(run, metadata=None):
    return SimpleNamespace(
        run=lambda feeds: {"y": run(feeds["x"])},
        inputs=[SimpleNamespace(name="x")],
        outputs=[SimpleNamespace(name="y")],
        metadata=metadata or {},
    )


def box(left, top, right, bottom):
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float32)


@pytest.mark.parametrize(
    ("read", "true", "distance"),
    [("", "", 0), ("abc", "abc", 0), ("", "abc", 3), ("abc", "", 3), ("abd", "abc", 1), ("kitten", "sitting", 3)],
)
def test_edit_distance(read, true, distance):
    assert edit_distance(read, true) == distance


def test_error_rate_counts_a_missing_line_with_its_end():
    assert error_rate(["ab", "cd"], "ab\ncd") == 0
    assert error_rate(["ab"], "ab\ncd") == 3 / 5


@pytest.mark.parametrize("name", PAGES)
def test_rendered_pages_are_the_same_each_time(name):
    picture = render(PAGES[name])
    assert np.array_equal(picture, render(PAGES[name]))
    assert picture.dtype == np.uint8 and picture.shape[2] == 3 and picture.std() > 10


@pytest.mark.parametrize("angle", [-40, -1, 0, 3, 44])
def test_rectangle_is_found_again_from_its_corners(angle):
    corners = geometry.corners((50, 60), (80, 20), angle)
    centre, size, found = geometry.upright_rectangle(corners)
    assert centre == pytest.approx((50, 60), abs=1e-3)
    assert size == pytest.approx((80, 20), abs=1e-3)
    assert found == pytest.approx(angle, abs=1e-2)


def test_grown_moves_every_side_by_the_distance_of_db():
    assert geometry.grown((30, 10), 1.6) == pytest.approx((30 + 12, 10 + 12))  # 1.6 * 300 / 80 = 6 a side


def test_column_is_cut_out_lying_down():
    image = np.zeros((40, 40, 3), dtype=np.uint8)
    image[5:35, 10:15] = 50
    image[5:10, 10:15] = 200  # the upper end of the column is the end of the line
    crop = geometry.cut_out(image, geometry.lying(box(10, 5, 15, 35)))
    assert crop.shape[:2] == (5, 30)
    assert (crop[:, 26:29] > 150).all() and (crop[:, 1:24] < 60).all()


def test_box_upside_down_is_cut_out_turned():
    image = np.arange(12, dtype=np.uint8).reshape(3, 4)[:, :, np.newaxis].repeat(3, 2)
    whole = box(0, 0, 4, 3)
    upright = geometry.cut_out(image, whole)
    turned = geometry.cut_out(image, geometry.upside_down(whole))
    assert upright.shape == turned.shape
    assert turned[1, 1, 0] > turned[1, 3, 0], "what was on the right should be on the left"


@pytest.mark.parametrize("turn", [0, 3, -4, 90, 180, 270, 183])
def test_reading_order_follows_the_turn_of_the_page(turn):
    rows = [box(0, 0, 300, 20), box(0, 40, 140, 60), box(160, 41, 300, 61), box(0, 80, 200, 100)]
    angle = np.deg2rad(turn)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    boxes = [row @ rotation.T for row in rows]
    shuffled = [2, 0, 3, 1]
    order = geometry.reading_order([boxes[i] for i in shuffled])
    assert [shuffled[i] for i in order] == [0, 1, 2, 3]


def test_reading_order_of_nothing():
    assert geometry.reading_order([]) == []


def test_strip_is_normalised_and_padded():
    white = np.full((24, 50, 3), 255, dtype=np.uint8)
    tensor = strips.strip(white, 48, 128)
    assert tensor.shape == (3, 48, 128) and tensor.dtype == np.float32
    assert (tensor[:, :, :100] == 1).all() and (tensor[:, :, 100:] == 0).all()
    assert (strips.strip(white, 48, 64) == 1).all(), "too wide a crop is squeezed"


def test_batches_hold_neighbours_in_width():
    crops = [np.zeros((10, width, 3), np.uint8) for width in (50, 10, 40, 20, 30)]
    assert strips.batches_by_width(crops, 2) == [[1, 3], [4, 2], [0]]
    assert strips.batches_by_width([], 2) == []


def columns(*classes, probability=0.9):
    """CTC columns over blank, "a", "b" and the space, each sure of one class."""
    table = np.full((len(classes), 4), (1 - probability) / 1000, dtype=np.float32)
    table[np.arange(len(classes)), list(classes)] = probability
    return table


ALPHABET = ["", "a", "b", " "]


@pytest.mark.parametrize(
    ("classes", "text"),
    [
        ((1, 1, 0, 2), "ab"),
        ((1, 0, 1), "aa"),
        ((0, 0), ""),
        ((1, 3, 2), "a b"),
        ((3, 1, 3, 0, 3, 2, 3), "a b"),
    ],
)
def test_ctc_merges_repeats_then_drops_blanks(classes, text):
    read, confidence = recognition.decode(columns(*classes), ALPHABET)
    assert read == text
    assert confidence == pytest.approx(0.9 if text else 0.0)


def test_gap_that_may_be_a_space_is_one():
    table = columns(1, 0, 2)
    table[1, 3] = 0.05
    read, confidence = recognition.decode(table, ALPHABET)
    assert read == "a b"
    assert confidence == pytest.approx(0.9)


def test_recognizer_batches_shapes_and_keeps_the_order():
    shapes = []

    def run(tensor):
        shapes.append(tensor.shape)
        wide = tensor[:, 0, 0, 330] != 0
        return np.stack([columns(2) if is_wide else columns(1) for is_wide in wide])

    recognizer = TextRecognizer(make_model(run, {"character": "a\nb\n"}), batch=2)
    crops = [np.full((48, width, 3), 255, np.uint8) for width in (700, 30, 610)]
    assert [text for text, _ in recognizer.read(crops)] == ["b", "a", "b"]
    assert shapes == [(2, 3, 48, 640), (1, 3, 48, 704)]
    assert recognizer.read([]) == []


def test_recognizer_refuses_a_dictionary_that_does_not_fit():
    with pytest.raises(ValueError, match="no `character` entry"):
        TextRecognizer(make_model(lambda tensor: tensor))
    recognizer = TextRecognizer(make_model(lambda tensor: np.stack([columns(1)]), {"character": "a"}))
    with pytest.raises(ValueError, match="4 classes.*makes 3"):
        recognizer.read([np.zeros((10, 20, 3), np.uint8)])


@pytest.mark.parametrize(
    ("picture", "network"),
    [
        ((191, 384), (736, 1472)),  # enlarged to the least side, both sides multiples of 32
        ((1000, 4000), (736, 2944)),  # the least side wins over the largest
        ((3000, 3500), (1728, 1984)),  # shrunk to the largest side
        ((10, 800), (736, 5888)),  # a strip gets margins until it is 8 to 1
        ((800, 10), (5888, 736)),
    ],
)
def test_detector_sees_a_bounded_picture_and_comes_back(picture, network):
    shapes = []

    def run(tensor):
        shapes.append(tensor.shape)
        rows, across = tensor.shape[2:]
        probability = np.zeros((1, 1, rows, across), np.float32)
        probability[:, :, rows // 2 - 20 : rows // 2 + 20, across // 2 - 80 : across // 2 + 80] = 0.9
        return probability

    boxes, scores = TextDetector(make_model(run)).detect(np.full((*picture, 3), 128, np.uint8))
    assert shapes == [(1, 3, *network)]
    if min(picture) > 10:  # the box in the middle is less than three pixels of a thin strip
        assert len(boxes) == 1
        assert boxes[0].mean(axis=0) == pytest.approx((picture[1] / 2, picture[0] / 2), rel=0.02)
        assert scores[0] > 0.8


def test_detector_leaves_out_faint_areas_and_the_holes_of_others():
    def run(tensor):
        probability = np.zeros((1, 1, *tensor.shape[2:]), np.float32)
        probability[0, 0, 100:300, 100:600] = 0.9
        probability[0, 0, 150:250, 250:450] = 0.0  # a hole
        probability[0, 0, 400:440, 100:600] = 0.4  # above the mask's threshold, but unsure
        return probability

    boxes, _ = TextDetector(make_model(run)).detect(np.zeros((736, 736, 3), np.uint8))
    assert len(boxes) == 1


def test_pictures_of_all_kinds_load_as_blue_green_red(tmp_path):
    path = tmp_path / "picture.png"
    red = np.zeros((4, 5, 3), np.uint8)
    red[:, :, 0] = 255
    Image.fromarray(red).save(path)
    assert load_picture(path)[0, 0].tolist() == [0, 0, 255]
    Image.fromarray(np.full((4, 5), 7, np.uint8)).save(path)
    assert load_picture(path)[3, 4].tolist() == [7, 7, 7]
    Image.fromarray(np.zeros((4, 5, 4), np.uint8)).save(path)
    assert load_picture(path)[0, 0].tolist() == [255, 255, 255], "transparent is white"
    Image.fromarray(np.full((4, 5), 65535, np.uint16)).save(path)
    assert load_picture(path)[0, 0].tolist() == [255, 255, 255]


def test_boxes_are_drawn_on_a_copy():
    page = np.full((100, 200, 3), 255, np.uint8)
    drawn = draw_lines(page, [Line(box(10, 20, 150, 40), "text", 0.9)])
    assert (page == 255).all()
    assert drawn.shape == (720, 1440, 3), "small pages are enlarged"
    assert (drawn != 255).any()
