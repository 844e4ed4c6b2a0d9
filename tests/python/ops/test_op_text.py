"""TfIdfVectorizer against its definition, and what Dropout draws for a seed."""

import collections

import numpy as np
import pytest

import pyasc
from oracle import one_node, run

f32 = np.float32


def count(row, pool, shortest, longest, skipped):
    """How often each n-gram of the pool occurs: by the definition, one gram after the other."""
    found = collections.Counter()
    for gram in pool:
        n = len(gram)
        if not shortest <= n <= longest:
            continue
        for distance in range(1, (skipped if n > 1 else 0) + 2):
            for start in range(len(row) - (n - 1) * distance):
                found[gram] += all(row[start + i * distance] == item for i, item in enumerate(gram))
    return found


def attributes_of(pool):
    pool = sorted(pool, key=len)
    sizes = [sum(len(gram) for gram in pool if len(gram) < n) for n in range(1, len(pool[-1]) + 1)]
    return pool, sizes, [item for gram in pool for item in gram]


POOL = [(1,), (2,), (5,), (1, 2), (2, 2), (3, 1), (1, 2, 3), (2, 1, 2)]


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("shape", [(12,), (3, 9), (2, 0)])
def test_tf_idf(shape, strings, mode):
    generator = np.random.default_rng(4)
    pool, starts, flat = attributes_of(POOL)
    columns = [int(c) for c in generator.permutation(len(pool) + 2)[: len(pool)]]
    weights = [float(w) for w in f32(generator.uniform(0.5, 2, len(pool)))]
    x = generator.integers(1, 5, shape)
    for (shortest, longest), skipped in (((1, 1), 0), ((1, 3), 2), ((2, 3), 1), ((2, 2), 20)):
        options = dict(mode=mode, min_gram_length=shortest, max_gram_length=longest, max_skip_count=skipped)
        options |= dict(ngram_counts=starts, ngram_indexes=columns, weights=weights)
        options |= {"pool_strings": [str(i) for i in flat]} if strings else {"pool_int64s": flat}
        given = x.astype(str).astype(object) if strings else x
        got = run(one_node("TfIdfVectorizer", {"x": given}, opset=18, **options), {"x": given})["y"]
        want = np.zeros((*shape[:-1], max(columns) + 1), f32)
        for index in np.ndindex(*shape[:-1]):
            found = count(x[index].tolist(), pool, shortest, longest, skipped)
            for gram, column, weight in zip(pool, columns, weights):
                times = min(found[gram], 1) if mode == "IDF" else found[gram]
                want[index][column] += times * (1 if mode == "TF" else f32(weight))
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        dict(mode="MANY"),
        dict(ngram_counts=[0, 4]),
        dict(ngram_counts=[1]),
        dict(ngram_indexes=[0, -1, 2]),
        dict(ngram_indexes=[0, 1]),
        dict(weights=[1.0]),
        dict(max_gram_length=0),
        dict(max_skip_count=-1),
        dict(pool_strings=["a"]),
    ],
)
def test_tf_idf_refuses(wrong):
    options = dict(mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0])
    options |= dict(ngram_indexes=[0, 1, 2], pool_int64s=[1, 2, 3])
    x = {"x": np.int64([1])}
    run(one_node("TfIdfVectorizer", x, opset=18, **options), x)
    with pytest.raises(pyasc.errors.InvalidArgumentError):
        pyasc.load(one_node("TfIdfVectorizer", x, opset=18, **options | wrong))


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1])
def test_dropout_draws_what_numpy_draws(seed):
    x = {"x": np.ones((50, 40), f32), "ratio": f32(0.3), "training": np.bool_(True)}
    x = {name: np.asarray(value) for name, value in x.items()}
    got = run(one_node("Dropout", x, "y,mask", opset=22, seed=seed), x)
    mask = np.random.RandomState(seed).uniform(0, 1, (50, 40)) >= f32(0.3)
    np.testing.assert_array_equal(got["mask"], mask)
    np.testing.assert_allclose(got["y"], mask / (1 - f32(0.3)), rtol=1e-6)
