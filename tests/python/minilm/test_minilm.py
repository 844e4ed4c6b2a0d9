"""The sentence sample: tokens, weights, vectors against NumPy, and its command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyasc
import pytest
from samples.minilm.encoder import SentenceEncoder, model_folder
from samples.minilm.main import CORPUS
from samples.minilm.safetensors import read_safetensors
from samples.minilm.wordpiece import WordPiece

from .reference import embed

ROOT = Path(__file__).resolve().parents[3]
SENTENCES = CORPUS.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def encoder():
    return SentenceEncoder()


@pytest.fixture(scope="module")
def expected(encoder):
    """Vectors of texts by NumPy."""
    weights = read_safetensors(model_folder() / "model.safetensors")
    settings = json.loads((model_folder() / "config.json").read_text(encoding="utf-8"))
    return lambda texts: np.stack([embed(encoder.tokenizer.encode(text), weights, settings) for text in texts])


# ---- vectors ----


def test_vectors_are_those_of_numpy(encoder, expected):
    vectors = encoder.encode(SENTENCES)
    assert vectors.shape == (len(SENTENCES), 384) and vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected(SENTENCES), rtol=0, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("texts", [["word"], ["", "a"], ["long " * 400, "short"]], ids=["one", "empty", "cut off"])
def test_texts_of_any_length_fit_together(encoder, expected, texts):
    np.testing.assert_allclose(encoder.encode(texts), expected(texts), rtol=0, atol=1e-4)


def test_what_a_text_is_encoded_with_does_not_matter(encoder):
    together = encoder.encode(SENTENCES)
    for index in (0, 7):
        np.testing.assert_allclose(encoder.encode([SENTENCES[index]])[0], together[index], atol=1e-5)


def test_near_meanings_have_near_vectors(encoder):
    query, same, other = encoder.encode(["A man is eating food.", "Somebody has a meal.", "The stock market fell."])
    assert query @ same > 0.5 > 0.2 > query @ other


# ---- tokens ----


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece(model_folder() / "tokenizer.json")


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("Hello, World!", [7592, 1010, 2088, 999]),
        ("embeddings", [7861, 8270, 4667, 2015]),  # em ##bed ##ding ##s
        ("naïve  café\n", [15743, 7668]),
        ("don't", [2123, 1005, 1056]),
        ("中文", [1746, 1861]),
        ("a\u200bb\u0000", [11113]),  # ab
        ("x" * 101, [100]),
        ("\U0001f994", [100]),
        ("", []),
    ],
)
def test_tokens(tokenizer, text, tokens):
    assert tokenizer.encode(text) == [101, *tokens, 102]


def test_long_texts_are_cut_off_and_short_ones_filled_up(tokenizer):
    ids, mask = tokenizer.batch(["word " * 999, "word"])
    assert ids.shape == mask.shape == (2, 256)
    assert ids[0, -1] == 102 and mask[0].all()
    assert ids[1, :4].tolist() == [101, 2773, 102, 0] and mask[1].sum() == 3


# ---- weights ----


def safetensors(header, body=b""):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def test_arrays_are_read(tmp_path):
    path = tmp_path / "weights.safetensors"
    body = np.float32([1, 2, 3, 4, 5, 6]).tobytes() + np.int64([7]).tobytes()
    header = {
        "__metadata__": {"format": "np"},
        "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "b": {"dtype": "I64", "shape": [], "data_offsets": [24, 32]},
    }
    path.write_bytes(safetensors(header, body))
    arrays = read_safetensors(path)
    assert arrays["a"].tolist() == [[1, 2, 3], [4, 5, 6]] and arrays["b"] == 7 and len(arrays) == 2


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "empty"),
        (b"abc", "header"),
        (b"\xff" * 64, "header"),
        (safetensors({})[:8] + b"no", "JSON"),
        (safetensors({"a": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}, b"ab"), "BF16"),
        (safetensors({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, b"abcd"), "does not fit"),
        (safetensors({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, b"abcd"), "does not fit"),
    ],
)
def test_damaged_files_are_refused(tmp_path, content, words):
    path = tmp_path / "weights.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        read_safetensors(path)


# ---- the command line ----


def run_sample(*arguments):
    paths = [str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep), str(Path(pyasc.__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    command = [sys.executable, "-P", "-m", "samples.minilm.main", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


def test_the_sample_ranks_its_corpus():
    done = run_sample("--repeat", "1")
    assert done.returncode == 0, done.stderr
    first = next(line for line in done.stdout.splitlines() if line.startswith("  1 "))
    assert "compiler" in first and "ms a sentence" in done.stdout


def test_the_sample_ranks_other_files(tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("Bread is baked in an oven.\n\nThe ship reached the harbour.\n")
    done = run_sample("sailing", "--corpus", str(corpus), "--top", "0", "--repeat", "0")
    assert done.returncode == 0, done.stderr
    ranked = [line for line in done.stdout.splitlines() if line.startswith("  ")]
    assert "ship" in ranked[0] and "oven" in ranked[1] and len(ranked) == 2


def test_the_sample_says_what_is_missing(tmp_path):
    done = run_sample("--corpus", str(tmp_path / "none.txt"))
    assert done.returncode == 1 and "none.txt" in done.stderr and "Traceback" not in done.stderr
    done = run_sample("--model", str(tmp_path))
    assert done.returncode == 1 and "config.json" in done.stderr and "Traceback" not in done.stderr
