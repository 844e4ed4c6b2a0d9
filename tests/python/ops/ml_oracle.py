"""For the operators of ai.onnx.ml: models of one node, random trees, and how NumPy computes them."""

import numpy as np
import onnx
from onnx import helper

from oracle import check, make_graph, node, seeded

DOMAIN = "ai.onnx.ml"
NUMBERS = (np.float32, np.float64, np.int64, np.int32)
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
COMPARE = (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)


def ml_model(op, feeds, outputs="y", version=3, free=False, **attributes):
    """`free`: extents of the inputs are not in the model. Outputs are left to the engine's inference."""
    specs = {name: (x.dtype, [None] * x.ndim if free else x.shape) for name, x in feeds.items()}
    n = node(op, ",".join(feeds), outputs, domain=DOMAIN, **attributes)
    graph = make_graph([n], specs, {name: None for name in outputs.split(",")})
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def check_ml(op, x, want=None, outputs="y", version=3, peers=("reference", "onnxruntime"), tolerance=(1e-5, 1e-6), **attributes):
    """At levels 0 and 3, with extents that the model gives and that it leaves free."""
    feeds = x if isinstance(x, dict) else {"x": x}
    for free, level in ((False, 0), (True, 3)):
        model = ml_model(op, feeds, outputs, version, free, **attributes)
        check(model, feeds, want, level, peers, *tolerance)


# ---- scores ----


def softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax_zero(scores):
    top = scores.max(-1, keepdims=True)
    zero = np.abs(scores) <= 1e-7
    e = np.where(zero, scores * np.exp(-top), np.exp(scores - top))
    total = e.sum(-1, keepdims=True)
    return np.where(total == 0, 0.5, e / np.where(total == 0, 1, total))


def logistic(scores):
    return 1 / (1 + np.exp(-scores))


def probit(p):
    with np.errstate(all="ignore"):
        x = 2 * p - 1
        log = np.log((1 - x) * (1 + x))
        v = 2 / (np.pi * 0.147) + log / 2
        return np.sqrt(2) * np.copysign(np.sqrt(np.sqrt(v * v - log / 0.147) - v), x)


TRANSFORMS = {"NONE": lambda s: s, "SOFTMAX": softmax, "LOGISTIC": logistic, "SOFTMAX_ZERO": softmax_zero, "PROBIT": probit}


# ---- trees ----


class Trees:
    """Random trees over `features`; thresholds are on a grid of quarters, so that values meet them exactly."""

    def __init__(self, *what, trees=5, depth=4, features=4, targets=1, modes=MODES, per_leaf=1, missing=True, low=-1.0):
        self.rng, self.targets, self.trees = seeded("trees", *what), targets, []
        self._depth, self._features, self._modes = depth, features, modes
        self._per_leaf, self._missing, self._low = per_leaf, missing, low
        for _ in range(trees):
            nodes = []
            self._grow(nodes, 0)
            self.trees.append(nodes)

    def _grow(self, nodes, depth):
        at = len(nodes)
        if depth == self._depth or (depth and self.rng.random() < 0.2):
            ids = self.rng.choice(self.targets, min(self._per_leaf, self.targets), replace=False)
            nodes.append({"leaf": [(int(t), np.float32(self.rng.uniform(self._low, 1))) for t in ids]})
            return at
        branch = {
            "feature": int(self.rng.integers(self._features)),
            "mode": MODES.index(self._modes[self.rng.integers(len(self._modes))]),
            "split": float(self.rng.integers(-8, 9)) / 4,
            "missing": bool(self._missing and self.rng.integers(2)),
        }
        nodes.append(branch)
        branch["true"] = self._grow(nodes, depth + 1)
        branch["false"] = self._grow(nodes, depth + 1)
        return at

    def rows(self, count, dtype=np.float32, missing=True):
        x = self.rng.integers(-9, 10, (count, self._features)) / 4
        if np.issubdtype(dtype, np.integer):
            return np.asarray(x).astype(dtype)
        if missing:
            x[self.rng.random(x.shape) < 0.1] = np.nan
        return x.astype(dtype)

    def leaves(self, row):
        """What each tree gives for a row: [(target, weight)]."""
        for nodes in self.trees:
            at = nodes[0]
            while "leaf" not in at:
                value = row[at["feature"]]
                is_true = at["missing"] if np.isnan(value) else COMPARE[at["mode"]](value, at["split"])
                at = nodes[at["true" if is_true else "false"]]
            yield at["leaf"]

    def aggregate(self, x, how="SUM", base=None):
        out = np.zeros((len(x), self.targets))
        start = {"MIN": np.inf, "MAX": -np.inf}.get(how, 0.0)
        join = {"MIN": min, "MAX": max}.get(how, lambda a, b: a + b)
        for r, row in enumerate(np.asarray(x, np.float64)):
            sums = [start] * self.targets
            for leaf in self.leaves(row):
                for target, weight in leaf:
                    sums[target] = join(sums[target], float(weight))
            out[r] = [0.0 if np.isinf(s) else s for s in sums]
        if how == "AVERAGE":
            out /= len(self.trees)
        return out if base is None else out + np.asarray(base)

    def numbered(self, prefix, **changes):
        """Attributes of TreeEnsembleRegressor (`target`) or TreeEnsembleClassifier (`class`)."""
        rows, leaves = [], []
        for tree, nodes in enumerate(self.trees):
            for number, n in enumerate(nodes):
                if "leaf" in n:
                    rows.append((tree, number, "LEAF", 0, 0.0, 0, 0, 0))
                    leaves += [(tree, number, t, float(w)) for t, w in n["leaf"]]
                else:
                    rows.append((tree, number, MODES[n["mode"]], n["feature"], n["split"], n["true"], n["false"], int(n["missing"])))
        names = "treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true"
        found = {f"nodes_{name}": list(column) for name, column in zip(names, zip(*rows))}
        for name, column in zip(("treeids", "nodeids", "ids", "weights"), zip(*leaves)):
            found[f"{prefix}_{name}"] = list(column)
        return {**found, **changes}

    def indexed(self, dtype=np.float32, **changes):
        """Attributes of TreeEnsemble."""
        branches, leaves, roots = [], [], []
        for nodes in self.trees:
            positions = {}
            for number, n in enumerate(nodes):
                group = leaves if "leaf" in n else branches
                positions[number] = len(group)
                group.append(n)
            for n in nodes:
                if "leaf" not in n:
                    for side in ("true", "false"):
                        n[side + "_leaf"], n[side + "_at"] = int("leaf" in nodes[n[side]]), positions[n[side]]
            if "leaf" in nodes[0]:
                only = {"feature": 0, "mode": 0, "split": 0.0, "missing": False}
                only.update(true_leaf=1, false_leaf=1, true_at=positions[0], false_at=positions[0])
                positions[0] = len(branches)
                branches.append(only)
            roots.append(positions[0])
        weights = np.array([n["leaf"][0][1] for n in leaves], dtype)
        found = {
            "n_targets": self.targets,
            "tree_roots": roots,
            "nodes_featureids": [n["feature"] for n in branches],
            "nodes_modes": tensor("modes", np.array([n["mode"] for n in branches], np.uint8)),
            "nodes_splits": tensor("splits", np.array([n["split"] for n in branches], dtype)),
            "nodes_truenodeids": [n["true_at"] for n in branches],
            "nodes_falsenodeids": [n["false_at"] for n in branches],
            "nodes_trueleafs": [n["true_leaf"] for n in branches],
            "nodes_falseleafs": [n["false_leaf"] for n in branches],
            "nodes_missing_value_tracks_true": [int(n["missing"]) for n in branches],
            "leaf_targetids": [n["leaf"][0][0] for n in leaves],
            "leaf_weights": tensor("weights", weights),
        }
        return {**found, **changes}


def tensor(name, array):
    return onnx.numpy_helper.from_array(array, name)
