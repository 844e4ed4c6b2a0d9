"""ai.onnx.ml: linear models, support vector machines and tree ensembles, against NumPy, the ONNX reference and ONNX Runtime.

Where ONNX leaves a result open and the peers differ, `peers` names the one that the engine follows; docs/decisions/0012-ml-operators.md says why.
"""

import numpy as np
import pytest

from ops.ml_oracle import MODES, NUMBERS, TRANSFORMS, Trees, check_ml, logistic, ml_model, softmax, tensor
from oracle import assert_load_refused, f32, i64, random, run, seeded

numbers = pytest.mark.parametrize("dtype", NUMBERS, ids=lambda t: np.dtype(t).name)
transforms = pytest.mark.parametrize("transform", TRANSFORMS)
ORT, REFERENCE, NEITHER = ("onnxruntime",), ("reference",), ()
LABELS = {"ints": ("classlabels_ints", [7, -2, 5], i64), "strings": ("classlabels_strings", ["b", "", "c"], object)}
nan = np.nan


def weights(*shape):
    return seeded("weights", shape).uniform(-1, 1, shape).astype(f32)


# ---- linear ----


@numbers
@transforms
@pytest.mark.parametrize("kind", LABELS)
def test_linear_classifier(dtype, transform, kind):
    name, labels, label_type = LABELS[kind]
    x, w, b = random((6, 11), dtype), weights(3, 11), weights(3)
    if transform == "PROBIT":
        x, w, b = np.abs(x), np.abs(w) / 70, np.abs(b) / 10
    scores = (x.astype(np.float64) @ w.T + b).astype(f32)
    want = [np.array(labels, label_type)[scores.argmax(1)], TRANSFORMS[transform](scores.astype(np.float64)).astype(f32)]
    attributes = {name: labels, "coefficients": w.ravel().tolist(), "intercepts": b.tolist(), "post_transform": transform}
    # The reference evaluator has float64 scores for float64.
    peers = ("onnxruntime", "reference") if dtype == f32 and kind == "ints" else ORT
    check_ml("LinearClassifier", x, want, "y,z", 1, peers, (1e-4, 1e-5), **attributes)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("labels", [{"classlabels_ints": [5, 7]}, {"classlabels_strings": ["n", "p"]}])
def test_linear_classifier_with_one_score(transform, labels):
    x, w = random((8, 4)), weights(4)
    score = (x @ w + f32.type(0.25)).astype(f32)
    [names] = labels.values()
    scores = np.stack([1 - score, score], 1) if transform == "NONE" else np.stack([logistic(-score), logistic(score)], 1)
    want = [np.array(names, object if isinstance(names[0], str) else i64)[(score > 0).astype(int)], scores.astype(f32)]
    check_ml("LinearClassifier", x, want, "y,z", 1, ORT, coefficients=w.tolist(), intercepts=[0.25], post_transform=transform, **labels)


def test_linear_classifier_with_one_score_and_softmax():
    x, w = random((8, 4)), weights(4)
    score = (x @ w).astype(f32)
    want = [np.array([5, 7], i64)[(score > 0).astype(int)], softmax(np.stack([-score, score], 1)).astype(f32)]
    check_ml("LinearClassifier", x, want, "y,z", 1, REFERENCE, coefficients=w.tolist(), intercepts=[0.0], post_transform="SOFTMAX", classlabels_ints=[5, 7])


def test_linear_classifier_without_labels_or_with_one():
    x, w = random((8, 4)), weights(4)
    score = (x @ w).astype(f32)[:, None]
    positive = score[:, 0] > 0
    check_ml("LinearClassifier", x, [positive.astype(i64), score], "y,z", 1, ORT, coefficients=w.tolist(), intercepts=[0.0])
    want = [np.where(positive, 9, 0).astype(i64), score]
    check_ml("LinearClassifier", x, want, "y,z", 1, NEITHER, coefficients=w.tolist(), classlabels_ints=[9])
    want = [np.where(positive, "p", "").astype(object), score]
    check_ml("LinearClassifier", x, want, "y,z", 1, NEITHER, coefficients=w.tolist(), classlabels_strings=["p"])


def test_linear_classifier_of_few_rows():
    w = weights(2, 3)
    for x in (random((3,)), random((0, 3))):
        scores = (np.atleast_2d(x) @ w.T).astype(f32)
        want = [np.array([4, 5], i64)[scores.argmax(1)] if len(scores) else np.zeros(0, i64), scores]
        check_ml("LinearClassifier", x, want, "y,z", 1, NEITHER, coefficients=w.ravel().tolist(), intercepts=[0.0, 0.0], classlabels_ints=[4, 5])


@numbers
@transforms
def test_linear_regressor(dtype, transform):
    x, w, b = random((6, 11), dtype), weights(2, 11), weights(2)
    if transform == "PROBIT":
        x, w, b = np.abs(x), np.abs(w) / 70, np.abs(b) / 10
    want = TRANSFORMS[transform](x.astype(np.float64) @ w.T + b).astype(f32)
    peers = ORT if dtype == f32 else NEITHER
    check_ml("LinearRegressor", x, want, "y", 1, peers, (1e-4, 1e-5), coefficients=w.ravel().tolist(), intercepts=b.tolist(), targets=2, post_transform=transform)


def test_linear_regressor_with_one_target():
    x, w = random((6, 4)), weights(4)
    score = (x @ w)[:, None]
    check_ml("LinearRegressor", x, score.astype(f32), "y", 1, ORT, coefficients=w.tolist())
    check_ml("LinearRegressor", x, logistic(score).astype(f32), "y", 1, NEITHER, coefficients=w.tolist(), post_transform="LOGISTIC")


@pytest.mark.parametrize(
    "op, changes",
    [
        ("LinearClassifier", {"coefficients": [1.0] * 7}),
        ("LinearClassifier", {"coefficients": None}),
        ("LinearClassifier", {"intercepts": [1.0] * 4}),
        ("LinearClassifier", {"classlabels_ints": [1, 2]}),
        ("LinearClassifier", {"classlabels_strings": ["a", "b", "c"]}),
        ("LinearClassifier", {"post_transform": "TANH"}),
        ("LinearRegressor", {"targets": 0}),
        ("LinearRegressor", {"targets": -3}),
        ("LinearRegressor", {"targets": 4}),
        ("LinearRegressor", {"coefficients": [1.0] * 7}),
    ],
)
def test_linear_refuses(op, changes):
    base = {"coefficients": [1.0] * 6, "intercepts": [0.0] * 3}
    base.update({"classlabels_ints": [1, 2, 3]} if op == "LinearClassifier" else {"targets": 3})
    x = random((2, 2))
    assert_load_refused(ml_model(op, {"x": x}, version=1, **{**base, **changes}), code="E5003")
    wide = random((2, 3))
    assert_load_refused(ml_model(op, {"x": wide}, version=1, **base), code="E5001")


# ---- support vector machines ----

KERNELS = {
    "LINEAR": lambda x, v: x @ v.T,
    "POLY": lambda x, v: (0.3 * (x @ v.T) + 0.5) ** 3,
    "RBF": lambda x, v: np.exp(-0.3 * ((x[:, None] - v[None]) ** 2).sum(2)),
    "SIGMOID": lambda x, v: np.tanh(0.3 * (x @ v.T) + 0.5),
}
PARAMETERS = {"kernel_params": [0.3, 0.5, 3.0]}


@numbers
@pytest.mark.parametrize("kernel", KERNELS)
def test_svm_regressor(dtype, kernel):
    x, v, w = random((5, 4), dtype), weights(7, 4), weights(7)
    sums = KERNELS[kernel](x.astype(np.float64), v) @ w + 0.125
    attributes = {"support_vectors": v.ravel().tolist(), "coefficients": w.tolist(), "n_supports": 7, "rho": [0.125], "kernel_type": kernel, **PARAMETERS}
    peers = ("reference", "onnxruntime") if dtype == f32 else NEITHER
    check_ml("SVMRegressor", x, sums[:, None].astype(f32), "y", 1, peers, (1e-4, 1e-4), **attributes)
    want = np.where(sums > 0, 1, -1)[:, None].astype(f32)
    check_ml("SVMRegressor", x, want, "y", 1, peers, one_class=1, **attributes)


def test_svm_regressor_without_vectors():
    x, w = random((5, 4)), weights(4)
    check_ml("SVMRegressor", x, (x @ w + 0.5)[:, None].astype(f32), "y", 1, coefficients=w.tolist(), rho=[0.5])
    check_ml("SVMRegressor", x[:0], np.zeros((0, 1), f32), "y", 1, NEITHER, coefficients=w.tolist(), rho=[0.5])


def svm_scores(x, v, w, rho, counts, kernel):
    """Decisions of all pairs of classes, and the class that wins most of them."""
    starts = np.concatenate([[0], np.cumsum(counts)])
    k = KERNELS[kernel](x.astype(np.float64), v)
    scores, votes, pair = [], np.zeros((len(x), len(counts))), 0
    for i in range(len(counts)):
        for j in range(i + 1, len(counts)):
            a, b = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
            score = k[:, a] @ w[j - 1, a] + k[:, b] @ w[i, b] + rho[pair]
            votes[:, i] += score > 0
            votes[:, j] += score <= 0
            scores.append(score)
            pair += 1
    return np.stack(scores, 1), votes.argmax(1)


def svm_attributes(counts, kernel):
    classes, vectors = len(counts), sum(counts)
    pairs = classes * (classes - 1) // 2
    v, w, rho = weights(vectors, 4), weights(classes - 1, vectors), weights(pairs) / 4
    attributes = {
        "support_vectors": v.ravel().tolist(),
        "coefficients": w.ravel().tolist(),
        "vectors_per_class": counts,
        "rho": rho.tolist(),
        "kernel_type": kernel,
        **PARAMETERS,
    }
    return (v, w, rho), attributes


@numbers
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", LABELS)
def test_svm_classifier(dtype, kernel, kind):
    name, labels, label_type = LABELS[kind]
    x, counts = random((9, 4), dtype), [3, 2, 4]
    (v, w, rho), attributes = svm_attributes(counts, kernel)
    scores, won = svm_scores(x, v, w, rho, counts, kernel)
    want = [np.array(labels, label_type)[won], scores.astype(f32)]
    peers = ORT if dtype == f32 else NEITHER
    check_ml("SVMClassifier", x, want, "y,z", 1, peers, (1e-4, 1e-4), **{name: labels}, **attributes)


@transforms
def test_svm_classifier_of_two_classes(transform):
    x, counts = random((9, 4)), [3, 2]
    (v, w, rho), attributes = svm_attributes(counts, "RBF")
    scores, won = svm_scores(x, v, w, rho, counts, "RBF")
    two = np.concatenate([-scores, scores], 1)
    want = [np.array([4, 6], i64)[won], TRANSFORMS[transform](two).astype(f32)]
    peers = {"NONE": ("reference", "onnxruntime"), "LOGISTIC": ORT, "SOFTMAX": REFERENCE}.get(transform, NEITHER)
    check_ml("SVMClassifier", x, want, "y,z", 1, peers, (1e-4, 1e-4), classlabels_ints=[4, 6], post_transform=transform, **attributes)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_svm_classifier_with_probabilities(classes):
    x, counts = random((9, 4)), [2, 3, 1, 2][:classes]
    _, attributes = svm_attributes(counts, "RBF")
    pairs = classes * (classes - 1) // 2
    attributes |= {"prob_a": (weights(pairs) - 1.5).tolist(), "prob_b": weights(pairs).tolist()}
    labels = {"classlabels_ints": [3, 1, 2, 9][:classes]}
    check_ml("SVMClassifier", x, None, "y,z", 1, ORT, (1e-4, 1e-5), **labels, **attributes)
    [y, z] = run(ml_model("SVMClassifier", {"x": x}, "y,z", 1, **labels, **attributes), {"x": x}).values()
    assert np.allclose(z.sum(1), 1, atol=1e-5) and z.shape == (9, classes) and y.shape == (9,)


@pytest.mark.parametrize("classes", [2, 3])
def test_svm_classifier_spreads_nan_to_probabilities(classes):
    x = random((3, 4))
    x[1, 2] = nan
    _, attributes = svm_attributes([2, 3, 1][:classes], "LINEAR")
    pairs = classes * (classes - 1) // 2
    attributes |= {"prob_a": [-1.5] * pairs, "prob_b": [0.5] * pairs, "classlabels_ints": [3, 1, 2][:classes]}
    for level in (0, 3):
        z = run(ml_model("SVMClassifier", {"x": x}, "y,z", 1, **attributes), {"x": x}, level)["z"]
        assert np.isnan(z[1]).all() and np.allclose(z[[0, 2]].sum(1), 1)


def test_probit_near_one_half_keeps_its_digits():
    want = TRANSFORMS["PROBIT"](np.array([0.5 + 2.0**-12, 0.5 - 2.0**-9, 0.5 + 2.0**-6]))
    x = np.array([[0.5 + 2.0**-12], [0.5 - 2.0**-9], [0.5 + 2.0**-6]], f32)
    check_ml("LinearRegressor", x, want[:, None].astype(f32), "y", 1, NEITHER, (1e-5, 0), coefficients=[1.0], post_transform="PROBIT")


def test_svm_classifier_without_vectors():
    x, w = random((9, 4)), weights(3, 4)
    scores = (x @ w.T + 0.25).astype(f32)
    want = [np.array([4, 6, 5], i64)[scores.argmax(1)], scores]
    check_ml("SVMClassifier", x, want, "y,z", 1, NEITHER, classlabels_ints=[4, 6, 5], coefficients=w.ravel().tolist(), rho=[0.25])


@pytest.mark.parametrize(
    "changes",
    [
        {"coefficients": [1.0] * 3},
        {"coefficients": None},
        {"rho": None},
        {"rho": [0.0]},
        {"prob_a": [1.0]},
        {"prob_a": [1.0] * 3},
        {"vectors_per_class": [3, 2]},
        {"vectors_per_class": [3, -2, 4]},
        {"vectors_per_class": [1 << 62, 1 << 62, 1]},
        {"support_vectors": [1.0] * 35},
        {"support_vectors": None},
        {"kernel_type": "COSINE"},
        {"kernel_params": [1.0]},
        {"classlabels_ints": [1]},
    ],
    ids=str,
)
def test_svm_classifier_refuses(changes):
    _, attributes = svm_attributes([3, 2, 4], "RBF")
    x = random((2, 4))
    model = ml_model("SVMClassifier", {"x": x}, "y,z", 1, **{"classlabels_ints": [1, 2, 3], **attributes, **changes})
    assert_load_refused(model, code="E5003")


# ---- trees ----


@numbers
@pytest.mark.parametrize("mode", [*MODES, "all"])
def test_tree_regressor_modes(dtype, mode):
    trees = Trees(mode, modes=MODES if mode == "all" else (mode,))
    x = trees.rows(37, dtype, missing=False)
    want = trees.aggregate(x).astype(f32)
    peers = ORT if mode != "all" else NEITHER
    check_ml("TreeEnsembleRegressor", x, want, "y", 3, peers, n_targets=1, **trees.numbered("target"))


@pytest.mark.parametrize("mode", [*MODES, "all"])
def test_tree_regressor_missing(mode):
    trees = Trees(mode, modes=MODES if mode == "all" else (mode,), missing=True, trees=9)
    x = trees.rows(37)
    # ONNX Runtime compares a NaN where the node does not say that it goes to the true side, so != is true.
    peers = ORT if mode not in ("BRANCH_NEQ", "all") else NEITHER
    check_ml("TreeEnsembleRegressor", x, trees.aggregate(x).astype(f32), "y", 3, peers, n_targets=1, **trees.numbered("target"))
    attributes = trees.numbered("target", nodes_missing_value_tracks_true=None)
    for nodes in trees.trees:
        for n in nodes:
            n["missing"] = False
    check_ml("TreeEnsembleRegressor", x, trees.aggregate(x).astype(f32), "y", 3, peers, n_targets=1, **attributes)


@pytest.mark.parametrize("how", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets, per_leaf", [(1, 1), (3, 1), (3, 3)])
@pytest.mark.parametrize("base", [False, True])
def test_tree_regressor_aggregates(how, targets, per_leaf, base):
    trees = Trees(how, targets, trees=12, targets=targets, per_leaf=per_leaf, modes=("BRANCH_LEQ",))
    x = trees.rows(21)
    base = weights(targets).tolist() if base else None
    want = trees.aggregate(x, how, base).astype(f32)
    # ONNX Runtime gives no base value to targets that no leaf adds to.
    peers = ORT if targets == per_leaf else NEITHER
    check_ml("TreeEnsembleRegressor", x, want, "y", 3, peers, n_targets=targets, aggregate_function=how, base_values=base, **trees.numbered("target"))


@transforms
def test_tree_regressor_transforms(transform):
    trees = Trees("transform", targets=3, per_leaf=3, trees=2, low=0.0, modes=("BRANCH_LT",))
    x = trees.rows(21)
    sums = trees.aggregate(x, "AVERAGE")
    attributes = trees.numbered("target", aggregate_function="AVERAGE", post_transform=transform)
    check_ml("TreeEnsembleRegressor", x, TRANSFORMS[transform](sums).astype(f32), "y", 3, ORT, (1e-4, 1e-5), n_targets=3, **attributes)


def test_tree_regressor_with_one_target_is_transformed_too():
    trees = Trees("lone", modes=("BRANCH_LT",))
    x = trees.rows(21)
    check_ml("TreeEnsembleRegressor", x, logistic(trees.aggregate(x)).astype(f32), "y", 3, NEITHER, n_targets=1, **trees.numbered("target", post_transform="LOGISTIC"))


@pytest.mark.parametrize("count", [0, 1, 2, 5, 8, 9, 200])
@pytest.mark.parametrize("depth, number", [(0, 3), (3, 1), (6, 40), (10, 30)])
def test_tree_regressor_sizes(count, depth, number):
    trees = Trees("sizes", depth, depth=depth, trees=number, modes=("BRANCH_LEQ",))
    x = trees.rows(count)
    want = trees.aggregate(x).astype(f32)
    peers = ORT if count else NEITHER
    check_ml("TreeEnsembleRegressor", x, want, "y", 1, peers, (1e-4, 1e-5), n_targets=1, **trees.numbered("target"))
    if count == 1:
        check_ml("TreeEnsembleRegressor", x[0], want, "y", 1, NEITHER, (1e-4, 1e-5), n_targets=1, **trees.numbered("target"))


def test_tree_regressor_of_float64():
    trees = Trees("double")
    x = trees.rows(30, np.float64)
    found = trees.numbered("target")
    # A threshold between two float32 numbers, met exactly.
    exact = 1 + 2.0**-40
    values = [exact if m != "LEAF" else 0.0 for m in found["nodes_modes"]]
    for nodes in trees.trees:
        for n in nodes:
            if "leaf" not in n:
                n["split"] = exact
    x[::2] = np.where(x[::2] > 0, exact, x[::2])
    found.pop("nodes_values")
    w = found.pop("target_weights")
    check_ml(
        "TreeEnsembleRegressor",
        x,
        trees.aggregate(x).astype(f32),
        "y",
        3,
        NEITHER,
        n_targets=1,
        nodes_values_as_tensor=tensor("v", np.array(values)),
        target_weights_as_tensor=tensor("w", np.array(w)),
        **found,
    )


@numbers
@transforms
@pytest.mark.parametrize("kind", LABELS)
def test_tree_classifier(dtype, transform, kind):
    name, labels, label_type = LABELS[kind]
    name = name.replace("ints", "int64s")
    trees = Trees("classes", targets=3, per_leaf=3, trees=2, low=0.0, modes=("BRANCH_LEQ", "BRANCH_GT"))
    x = trees.rows(21, dtype, missing=False)
    base = [0.02, 0.01, 0.03]
    scores = trees.aggregate(x) / 3 + base
    attributes = trees.numbered("class", post_transform=transform, base_values=base)
    attributes["class_weights"] = [w / 3 for w in attributes["class_weights"]]
    want = [np.array(labels, label_type)[scores.argmax(1)], TRANSFORMS[transform](scores).astype(f32)]
    check_ml("TreeEnsembleClassifier", x, want, "y,z", 3, ORT, (1e-4, 1e-5), **{name: labels}, **attributes)


@pytest.mark.parametrize("low", [0.0, -1.0])
@pytest.mark.parametrize("base", [None, [0.05]])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("labels", [{"classlabels_int64s": [5, 7]}, {"classlabels_strings": ["n", "p"]}])
def test_tree_classifier_with_one_score(low, base, transform, labels):
    trees = Trees("binary", low, trees=2, low=low, modes=("BRANCH_LT",))
    x = trees.rows(40)
    score = trees.aggregate(x, base=base)[:, 0] / 2 if low == 0 else trees.aggregate(x, base=base)[:, 0]
    attributes = trees.numbered("class", post_transform=transform, base_values=base)
    if low == 0:
        attributes["class_weights"] = [w / 2 for w in attributes["class_weights"]]
        attributes["base_values"] = base and [base[0] / 2]
    if transform == "LOGISTIC":
        scores, positive = logistic(np.stack([-score, score], 1)), score > 0
    else:
        scores, positive = (np.stack([1 - score, score], 1), score > 0.5) if low == 0 else (np.stack([-score, score], 1), score > 0)
    [names] = labels.values()
    want = [np.array(names, object if isinstance(names[0], str) else i64)[positive.astype(int)], scores.astype(f32)]
    # Where all weights are positive, ONNX Runtime's labels contradict its own LOGISTIC scores.
    peers = NEITHER if low == 0 and transform == "LOGISTIC" else ORT
    check_ml("TreeEnsembleClassifier", x, want, "y,z", 3, peers, (1e-4, 1e-5), **labels, **attributes)


def test_tree_classifier_with_both_scores_of_two_classes():
    trees = Trees("both", targets=2, per_leaf=2, modes=("BRANCH_LEQ",), missing=False)
    x = trees.rows(20, missing=False)
    scores = trees.aggregate(x, base=[0.1, 0.2])
    want = [np.array([5, 7], i64)[scores.argmax(1)], scores.astype(f32)]
    check_ml("TreeEnsembleClassifier", x, want, "y,z", 3, REFERENCE, classlabels_int64s=[5, 7], base_values=[0.1, 0.2], **trees.numbered("class"))


def test_tree_classifier_with_one_label():
    trees = Trees("label", modes=("BRANCH_LEQ",))
    x = trees.rows(20)
    scores = trees.aggregate(x).astype(f32)
    check_ml("TreeEnsembleClassifier", x, [(scores[:, 0] > 0).astype(i64), scores], "y,z", 3, ORT, classlabels_int64s=[1], **trees.numbered("class"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("how", range(4))
@pytest.mark.parametrize("targets", [1, 3])
def test_tree_ensemble(dtype, how, targets):
    trees = Trees("indexed", targets, trees=11, targets=targets)
    x = trees.rows(33, dtype)
    name = ("AVERAGE", "SUM", "MIN", "MAX")[how]
    attributes = trees.indexed(dtype)
    for nodes in trees.trees:  # weights as the type holds them
        for n in nodes:
            if "leaf" in n:
                n["leaf"] = [(t, dtype(w)) for t, w in n["leaf"]]
    tolerance = (2e-3, 2e-3) if dtype == np.float16 else (1e-5, 1e-6)
    check_ml("TreeEnsemble", x, trees.aggregate(x, name).astype(dtype), "y", 5, NEITHER, tolerance, aggregate_function=how, **attributes)
    check_ml("TreeEnsemble", x[:0], np.zeros((0, targets), dtype), "y", 5, NEITHER, aggregate_function=how, **attributes)


@pytest.mark.parametrize("number, transform", enumerate(TRANSFORMS))
def test_tree_ensemble_against_peers(number, transform):
    order = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
    trees = Trees("peers", targets=2, trees=6, low=0.1, missing=False, modes=("BRANCH_LEQ", "BRANCH_GTE"))
    x = trees.rows(33, missing=False)
    sums = trees.aggregate(x, "MAX")
    want = TRANSFORMS[transform](sums).astype(f32)
    keep = sums.min(1) > 0  # ONNX Runtime leaves targets that no leaf adds to as they are
    # ONNX Runtime changes the numbers of SOFTMAX and LOGISTIC over.
    peers = NEITHER if transform in ("SOFTMAX", "LOGISTIC") else ORT
    check_ml("TreeEnsemble", x[keep], want[keep], "y", 5, peers, (1e-4, 1e-5), aggregate_function=3, post_transform=order.index(transform), **trees.indexed())


def test_tree_ensemble_members():
    # 0: x0 in {1, 2.5, -3}? leaf 0 : node 1;  1: x1 in {0}? leaf 1 : leaf 2;  a NaN goes to the false side, then to the true one.
    attributes = {
        "n_targets": 1,
        "tree_roots": [0],
        "nodes_featureids": [0, 1],
        "nodes_modes": tensor("m", np.array([6, 6], np.uint8)),
        "nodes_splits": tensor("s", np.zeros(2, f32)),
        "nodes_truenodeids": [0, 1],
        "nodes_trueleafs": [1, 1],
        "nodes_falsenodeids": [1, 2],
        "nodes_falseleafs": [0, 1],
        "nodes_missing_value_tracks_true": [0, 1],
        "leaf_targetids": [0, 0, 0],
        "leaf_weights": tensor("w", np.array([1, 2, 4], f32)),
        "membership_values": tensor("v", np.array([1, 2.5, -3, nan, 0, nan], f32)),
    }
    x = np.array([[1, 0], [2.5, 5], [-3, 0], [2, 0], [2, 1], [nan, -0.0], [0, nan]], f32)
    want = np.array([1, 1, 1, 2, 4, 2, 2], f32)[:, None]
    check_ml("TreeEnsemble", x, want, "y", 5, NEITHER, **attributes)
    keep = ~np.isnan(x).any(1)
    check_ml("TreeEnsemble", x[keep], want[keep], "y", 5, ORT, **attributes)
    attributes["membership_values"] = tensor("v", np.array([1, nan], f32))
    assert_load_refused(ml_model("TreeEnsemble", {"x": x}, version=5, **attributes), code="E5003")


def test_trees_may_share_nodes():
    # LightGBM's sets become chains of == whose true sides are one node.
    attributes = {
        "nodes_treeids": [0] * 6,
        "nodes_nodeids": [0, 1, 2, 3, 4, 5],
        "nodes_modes": ["BRANCH_EQ", "BRANCH_EQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
        "nodes_featureids": [0, 0, 1, 0, 0, 0],
        "nodes_values": [1.0, 2.0, 0.5, 0.0, 0.0, 0.0],
        "nodes_truenodeids": [2, 2, 3, 0, 0, 0],
        "nodes_falsenodeids": [1, 5, 4, 0, 0, 0],
        "target_treeids": [0] * 3,
        "target_nodeids": [3, 4, 5],
        "target_ids": [0] * 3,
        "target_weights": [1.0, 2.0, 4.0],
        "n_targets": 1,
    }
    x = np.array([[1, 0], [1, 1], [2, 0], [2, 1], [3, 0], [3, 1]], f32)
    check_ml("TreeEnsembleRegressor", x, np.array([1, 2, 1, 2, 4, 4], f32)[:, None], "y", 3, ORT, **attributes)


HOSTILE = {
    "a shorter list": {"nodes_values": [0.0]},
    "an unknown mode": {"nodes_modes": ["BRANCH_LEQ", "BRANCH_ISH", "LEAF", "LEAF", "LEAF"]},
    "a negative feature": {"nodes_featureids": [0, -1, 0, 0, 0]},
    "a huge feature": {"nodes_featureids": [0, 1 << 40, 0, 0, 0]},
    "a node that is not there": {"nodes_truenodeids": [1, 77, 0, 0, 0]},
    "a node far away": {"nodes_truenodeids": [1, -(1 << 63), 0, 0, 0]},
    "a cycle": {"nodes_truenodeids": [1, 1, 0, 0, 0]},
    "a cycle through the root": {"nodes_truenodeids": [1, 0, 0, 0, 0]},
    "two nodes of one number": {"nodes_nodeids": [0, 1, 1, 3, 4]},
    "a node that nothing leads to": {"nodes_truenodeids": [2, 2, 0, 0, 0]},
    "a weight of no node": {"target_nodeids": [2, 3, 9]},
    "a weight of no tree": {"target_treeids": [0, 0, 1]},
    "a target out of range": {"target_ids": [0, 0, 1]},
    "a negative target": {"target_ids": [0, 0, -1]},
    "fewer weights": {"target_weights": [1.0]},
    "no targets": {"n_targets": 0},
    "too many targets": {"n_targets": 1 << 60},
    "base values of another length": {"n_targets": 3, "base_values": [1.0, 2.0]},
    "an unknown aggregate": {"aggregate_function": "MEDIAN"},
    "an unknown transform": {"post_transform": "TANH"},
    "no nodes": {name: None for name in ("nodes_treeids", "nodes_nodeids")},
    "thresholds twice": {"nodes_values_as_tensor": tensor("v", np.zeros(5))},
    "fewer missing": {"nodes_missing_value_tracks_true": [1]},
}


@pytest.mark.parametrize("what", HOSTILE)
def test_tree_regressor_refuses(what):
    base = {
        "nodes_treeids": [0] * 5,
        "nodes_nodeids": [0, 1, 2, 3, 4],
        "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
        "nodes_featureids": [0, 1, 0, 0, 0],
        "nodes_values": [1.0, 2.0, 0.0, 0.0, 0.0],
        "nodes_truenodeids": [1, 2, 0, 0, 0],
        "nodes_falsenodeids": [4, 3, 0, 0, 0],
        "target_treeids": [0] * 3,
        "target_nodeids": [2, 3, 4],
        "target_ids": [0] * 3,
        "target_weights": [1.0, 2.0, 4.0],
        "n_targets": 1,
    }
    x = random((3, 2))
    run(ml_model("TreeEnsembleRegressor", {"x": x}, **base), {"x": x})
    assert_load_refused(ml_model("TreeEnsembleRegressor", {"x": x}, **{**base, **HOSTILE[what]}), code="E5003")
    narrow = random((3, 1))
    assert_load_refused(ml_model("TreeEnsembleRegressor", {"x": narrow}, **base), code="E5001")


@pytest.mark.parametrize(
    "changes",
    [
        {"nodes_truenodeids": [9, 1]},
        {"nodes_truenodeids": [-1, 1]},
        {"nodes_falsenodeids": [0, 2]},
        {"nodes_falsenodeids": [1, 7]},
        {"nodes_modes": tensor("m", np.array([0, 7], np.uint8))},
        {"nodes_modes": tensor("m", np.array([0, 6], np.uint8))},
        {"nodes_modes": tensor("m", np.array([0], np.uint8))},
        {"nodes_splits": tensor("s", np.zeros(3, f32))},
        {"leaf_targetids": [0, 0, 1]},
        {"leaf_weights": tensor("w", np.zeros(2, f32))},
        {"tree_roots": [2]},
        {"tree_roots": None},
        {"n_targets": -1},
        {"aggregate_function": 4},
        {"post_transform": 5},
    ],
    ids=str,
)
def test_tree_ensemble_refuses(changes):
    base = {
        "n_targets": 1,
        "tree_roots": [0],
        "nodes_featureids": [0, 1],
        "nodes_modes": tensor("m", np.array([0, 0], np.uint8)),
        "nodes_splits": tensor("s", np.zeros(2, f32)),
        "nodes_truenodeids": [0, 1],
        "nodes_trueleafs": [1, 1],
        "nodes_falsenodeids": [1, 2],
        "nodes_falseleafs": [0, 1],
        "leaf_targetids": [0, 0, 0],
        "leaf_weights": tensor("w", np.array([1, 2, 4], f32)),
    }
    x = random((3, 2))
    run(ml_model("TreeEnsemble", {"x": x}, version=5, **base), {"x": x})
    assert_load_refused(ml_model("TreeEnsemble", {"x": x}, version=5, **{**base, **changes}))
