"""Cases of ai.onnx.ml that are models: linear ones, support vector machines, trees; NumPy computes what their definitions say."""

import numpy as np
import onnx

from tests.conformance.edge_elementwise import case
from tests.conformance.edge_kit import f32, f64, i64
from tests.conformance.edge_ml import TRANSFORMS, numbers, quiet, rows
from tests.conformance.edge_paths import ml_oracle, oracle


def _labels(kit, count, ints):
    """An attribute with labels, and the labels."""
    if kit.flag():
        labels = list(kit.draw_permutation([7, -2, 5, 2**40, 0]))[:count]
        return {ints: labels}, np.array(labels, i64)
    labels = list(kit.draw_permutation(["b", "", "ä", "A b", "0"]))[:count]
    return {"classlabels_strings": labels}, np.array(labels, object)


def _transformed(scores, transform):
    if not scores.size:
        return scores.astype(f32)
    return quiet(ml_oracle.TRANSFORMS[transform or "NONE"], scores.astype(np.float64)).astype(f32)


def _best(scores):
    """The first of the largest in each row; NaN is less than every number."""
    keys = [[(v == v, v if v == v else 0) for v in row] for row in np.asarray(scores, f32).tolist()]
    return np.array([row.index(max(row)) for row in keys], int)


@case("LinearRegressor")
def linear_regressor(kit):
    targets, features = kit.integer(1, 3), kit.integer(1, 11)
    x, transform = rows(kit, features), kit.one_of(*TRANSFORMS)
    w, b = numbers(kit, targets * features), kit.one_of(None, numbers(kit, targets))
    scores = quiet(np.matmul, np.atleast_2d(x).astype(f64), np.array(w).reshape(targets, features).T) + (b or 0)
    attributes = dict(coefficients=w, intercepts=b, targets=kit.one_of(None, 1) if targets == 1 else targets)
    return kit.case(x, **attributes, post_transform=transform, expected=[_transformed(scores, transform)])


@case("LinearClassifier")
def linear_classifier(kit):
    classes, features = kit.integer(1, 4), kit.integer(1, 11)
    x, transform = rows(kit, features), kit.one_of(*TRANSFORMS)
    w, b = numbers(kit, classes * features), numbers(kit, classes)
    if classes > 1 and kit.one_of(False, False, True):
        b = None  # the number of scores is that of the labels then
    names, labels = _labels(kit, max(classes, 2), "classlabels_ints")
    scores = quiet(np.matmul, np.atleast_2d(x).astype(f64), np.array(w).reshape(classes, features).T) + (b or 0)
    first = (1 if transform in (None, "NONE", "PROBIT") else 0) - scores
    at = _best(scores) if classes > 1 else (scores[:, 0] > 0).astype(int)
    want = [labels[at], _transformed(scores if classes > 1 else np.concatenate([first, scores], 1), transform)]
    attributes = dict(coefficients=w, intercepts=b, multi_class=kit.one_of(None, 0, 1))
    return kit.case(x, outputs=2, **names, **attributes, post_transform=transform, expected=want)


def _kernel(kit):
    kind = kit.one_of("LINEAR", "POLY", "RBF", "SIGMOID")
    gamma, offset, degree = kit.one_of(0.25, 1.0), kit.one_of(0.0, 0.5), kit.one_of(1.0, 2.0, 3.0)
    compute = {
        "LINEAR": lambda x, v: x @ v.T,
        "POLY": lambda x, v: (gamma * (x @ v.T) + offset) ** degree,
        "RBF": lambda x, v: np.exp(-gamma * ((x[:, None] - v[None]) ** 2).sum(2)),
        "SIGMOID": lambda x, v: np.tanh(gamma * (x @ v.T) + offset),
    }[kind]
    return dict(kernel_type=kind, kernel_params=[gamma, offset, degree]), compute


@case("SVMRegressor")
def svm_regressor(kit):
    features, supports = kit.integer(1, 5), kit.integer(0, 5)
    x, one = rows(kit, features), kit.one_of(None, 0, 1)
    kernel, compute = _kernel(kit)
    rho = kit.one_of([0.0], [0.25])
    wide = np.atleast_2d(x).astype(f64)
    if supports:
        v, w = numbers(kit, supports * features), numbers(kit, supports)
        sums = quiet(lambda: compute(wide, np.array(v).reshape(supports, features)) @ np.array(w)) + rho[0]
        attributes = dict(support_vectors=v, coefficients=w, n_supports=supports)
    else:
        w = numbers(kit, features)
        kernel["kernel_type"] = "LINEAR"
        sums, attributes = quiet(lambda: wide @ np.array(w)) + rho[0], dict(coefficients=w)
    sums = np.where(sums > 0, 1, -1) if one else sums
    want = [sums[:, None].astype(f32)] if np.isfinite(sums).all() else None
    return kit.case(x, **attributes, **kernel, rho=rho, one_class=one, expected=want)


@case("SVMClassifier")
def svm_classifier(kit):
    features, classes = kit.integer(1, 4), kit.integer(2, 4)
    x, transform = rows(kit, features), kit.one_of(*TRANSFORMS)
    names, labels = _labels(kit, classes, "classlabels_ints")
    want = None
    if kit.one_of(False, False, True):
        attributes = dict(coefficients=numbers(kit, classes * features), rho=numbers(kit, 1), kernel_type="LINEAR")
        weights = np.array(attributes["coefficients"]).reshape(classes, features)
        scores = quiet(np.matmul, np.atleast_2d(x).astype(f64), weights.T) + attributes["rho"][0]
        want = [labels[_best(scores)], _transformed(scores, transform)]
    else:
        counts = [kit.integer(1, 3) for _ in range(classes)]
        pairs = classes * (classes - 1) // 2
        attributes = dict(
            support_vectors=numbers(kit, sum(counts) * features), coefficients=numbers(kit, (classes - 1) * sum(counts)),
            vectors_per_class=counts, rho=numbers(kit, pairs), **_kernel(kit)[0],
        )  # fmt: skip
        if kit.flag():
            attributes.update(prob_a=[-abs(v) - 0.5 for v in numbers(kit, pairs)], prob_b=numbers(kit, pairs))
    return kit.case(x, outputs=2, **names, **attributes, post_transform=transform, expected=want)


# ---- trees ----


def _trees(kit, targets, per_leaf, low=-1.0):
    modes = kit.one_of(("BRANCH_LEQ",), ("BRANCH_LT", "BRANCH_GTE"), ml_oracle.MODES, ("BRANCH_EQ", "BRANCH_NEQ"))
    return ml_oracle.Trees(
        kit.integer(0, 2**16), trees=kit.one_of(1, 2, 5, 9), depth=kit.integer(0, 5), features=kit.integer(1, 4), targets=targets,
        modes=modes, per_leaf=per_leaf, missing=kit.flag(), low=low,
    )  # fmt: skip


def _tree_rows(kit, trees, dtype):
    x = trees.rows(kit.one_of(3, 1, 0, 8, 9, 17), dtype, missing=kit.flag())
    if len(x) and oracle.is_float(x.dtype) and kit.flag():
        x[0] = np.array([np.inf, -np.inf, -0.0, 0.0], x.dtype)[: x.shape[1]]
    return x[0] if len(x) == 1 and kit.flag() else x


def _untracked(kit, trees, attributes):
    """Perhaps nothing is said of missing values."""
    if kit.flag():
        attributes["nodes_missing_value_tracks_true"] = None
        for node in (n for nodes in trees.trees for n in nodes if "leaf" not in n):
            node["missing"] = False


def _as_tensors(kit, attributes, names):
    """From version 3 on lists may be tensors of float64."""
    if kit.opset < 3 or not kit.flag():
        return
    for name in names:
        values = attributes.pop(name, None)
        if values is not None:
            attributes[f"{name}_as_tensor"] = ml_oracle.tensor(name, np.array(values, f64))


def _base(kit, targets):
    return kit.one_of(None, None, numbers(kit, targets))


@case("TreeEnsembleRegressor")
def tree_regressor(kit):
    targets = kit.integer(1, 3)
    trees = _trees(kit, targets, kit.one_of(1, targets))
    x = _tree_rows(kit, trees, kit.dtype(0))
    how, transform, base = kit.one_of(None, "SUM", "AVERAGE", "MIN", "MAX"), kit.one_of(*TRANSFORMS), _base(kit, targets)
    attributes = trees.numbered("target", n_targets=targets, base_values=base)
    _untracked(kit, trees, attributes)
    if x.dtype == f64:
        _as_tensors(kit, attributes, ("nodes_values", "target_weights", "base_values"))
    want = _transformed(trees.aggregate(np.atleast_2d(x), how or "SUM", base), transform)
    return kit.case(x, **attributes, aggregate_function=how, post_transform=transform, expected=[want])


@case("TreeEnsembleClassifier")
def tree_classifier(kit):
    classes = kit.integer(1, 4)
    targets = kit.one_of(1, 2) if classes <= 2 else classes
    targets = min(targets, classes)
    trees = _trees(kit, targets, kit.one_of(1, targets), kit.one_of(-1.0, 0.0))
    x = _tree_rows(kit, trees, kit.dtype(0))
    transform, base = kit.one_of(*TRANSFORMS), _base(kit, targets)
    names, labels = _labels(kit, classes, "classlabels_int64s")
    attributes = trees.numbered("class", base_values=base)
    _untracked(kit, trees, attributes)
    if x.dtype == f64:
        _as_tensors(kit, attributes, ("nodes_values", "class_weights", "base_values"))
    scores = trees.aggregate(np.atleast_2d(x), "SUM", base)
    if classes == 1:
        want = [np.where(scores[:, 0] > 0, labels[0], "" if labels.dtype == object else 0).astype(labels.dtype), scores]
    elif targets == 2 or classes > 2:
        want = [labels[_best(scores)], scores]
    else:
        weights = attributes.get("class_weights") or onnx.numpy_helper.to_array(attributes["class_weights_as_tensor"])
        likely = np.min(weights) >= 0 and transform in (None, "NONE", "PROBIT")
        want = [labels[(scores[:, 0] > (0.5 if likely else 0)).astype(int)], np.concatenate([likely - scores, scores], 1)]
    want[1] = _transformed(want[1], transform)
    return kit.case(x, outputs=2, **names, **attributes, post_transform=transform, expected=want)


@case("TreeEnsemble")
def tree_ensemble(kit):
    targets = kit.integer(1, 3)
    trees = _trees(kit, targets, 1)
    x = _tree_rows(kit, trees, kit.dtype(0))
    how, transform = kit.one_of(None, 0, 1, 2, 3), kit.integer(0, 4)
    attributes = trees.indexed(x.dtype)
    _untracked(kit, trees, attributes)
    for leaf in (n for nodes in trees.trees for n in nodes if "leaf" in n):
        leaf["leaf"] = [(target, x.dtype.type(weight)) for target, weight in leaf["leaf"]]
    sums = trees.aggregate(np.atleast_2d(x), ("AVERAGE", "SUM", "MIN", "MAX")[1 if how is None else how])
    name = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")[transform]
    want = quiet(ml_oracle.TRANSFORMS[name], sums).astype(x.dtype) if len(sums) else sums.astype(x.dtype)
    return kit.case(x, **attributes, aggregate_function=how, post_transform=transform, expected=[want])
