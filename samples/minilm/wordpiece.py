"""Text to token numbers as BERT's uncased models want them: words and punctuation, then the longest pieces that the vocabulary has."""

import json
import unicodedata

import numpy as np

_LONGEST_WORD = 100
# Chinese characters are words of their own (the CJK Unified Ideographs and their extensions).
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """A tokenizer with the vocabulary of a `tokenizer.json` file."""

    def __init__(self, path, longest=256):
        """longest: tokens of a text at most, the two at its ends included; the rest of the text is cut off."""
        with open(path, encoding="utf-8") as file:
            settings = json.load(file)
        model, normalizer = settings["model"], settings["normalizer"]
        if model["type"] != "WordPiece" or not normalizer["lowercase"]:
            raise ValueError(f"{path} is not of an uncased WordPiece model")
        self._vocabulary = model["vocab"]
        self._unknown = self._vocabulary[model["unk_token"]]
        self._prefix = model["continuing_subword_prefix"]
        self._begin, self._end, self._pad = (self._vocabulary[token] for token in ("[CLS]", "[SEP]", "[PAD]"))
        self._longest = longest

    def encode(self, text):
        """The token numbers of one text, with [CLS] before and [SEP] after them."""
        tokens = [token for word in _words(text) for token in self._pieces(word)]
        return [self._begin, *tokens[: self._longest - 2], self._end]

    def batch(self, texts):
        """(input_ids, attention_mask): int64 arrays of shape (texts, longest text); the mask is 0 where a text is filled up."""
        encoded = [self.encode(text) for text in texts]
        ids = np.full((len(encoded), max(map(len, encoded), default=0)), self._pad, np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(encoded):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        return ids, mask

    def _pieces(self, word):
        """The word cut into the longest pieces from the left; [UNK] where there are none."""
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        pieces, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = self._vocabulary.get((self._prefix if start else "") + word[start:end])
                if piece is not None:
                    break
            else:
                return [self._unknown]
            pieces.append(piece)
            start = end
        return pieces


def _words(text):
    """Words without accents in lower case; punctuation and ideographs are words of their own."""
    words, word = [], ""
    for character in _clean(text):
        if character.isspace() or _stands_alone(character):
            if word:
                words.append(word)
            word = ""
            if not character.isspace():
                words.append(character)
        else:
            word += character
    return [*words, word] if word else words


def _clean(text):
    """Without control characters and accents, in lower case; every kind of blank is a space."""
    kept = []
    for character in text:
        if character in "\t\n\r" or unicodedata.category(character) == "Zs":
            kept.append(" ")
        elif character not in "\0\ufffd" and unicodedata.category(character) not in ("Cc", "Cf"):
            kept.append(character)
    # Lower case comes last: an accent that it splits off (of a dotted capital I) stays.
    plain = (c for c in unicodedata.normalize("NFD", "".join(kept)) if unicodedata.category(c) != "Mn")
    # Letter by letter: whole words would get a final sigma, which the vocabulary was not made with.
    return "".join(c.lower() for c in plain)


def _stands_alone(character):
    code = ord(character)
    # All of ASCII that is no letter, digit or blank counts as punctuation, whatever Unicode calls it.
    if code < 128:
        return not character.isalnum()
    return unicodedata.category(character).startswith("P") or any(a <= code <= b for a, b in _IDEOGRAPHS)
