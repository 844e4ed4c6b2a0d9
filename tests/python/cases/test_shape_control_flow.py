"""Loop, If and Scan at their edges: no trips, early stops, shapes that grow, captured values, and what has no elements."""

import numpy as np
import pytest

import engines
from oracle import (
    assert_load_or_run_refused,
    assert_refused,
    assert_same,
    boolean,
    check,
    f32,
    i32,
    i64,
    levels,
    make_graph,
    make_model,
    node,
    parse_nodes,
    random,
    run,
)

TRUE, FALSE = np.array(True), np.array(False)
trips = lambda n: np.array(n, i64)


def graph(text, inputs, outputs, initializers=None, name="body"):
    return make_graph(parse_nodes(text), inputs, outputs, initializers, name)


def loop_body(text, carried=(), scans=()):
    """Body (i, cond, carried...) -> (keep, carried_out..., scans...); `scans`: names, or dict name -> spec."""
    inputs = {"i": (i64, ()), "cond": (boolean, ())} | {c: (f32, None) for c in carried}
    scans = scans if isinstance(scans, dict) else dict.fromkeys(scans)
    return graph(text, inputs, {"keep": (boolean, ())} | {f"{c}_out": None for c in carried} | scans)


def branch(text, output, dtype=None, initializers=None):
    return graph(text, {}, {output: dtype}, initializers, name=output)


def if_model(then_text, else_text, inputs, weights=None, dtype=f32, outputs="y"):
    """y = If(c): the branches' outputs are `t` and `e`."""
    nodes = [
        node("If", "c", outputs, then_branch=branch(then_text, "t", dtype), else_branch=branch(else_text, "e", dtype))
    ]
    return make_model(nodes, {"c": (boolean, ())} | inputs, {outputs: dtype}, weights)


# ---- Loop ------------------------------------------------------------------------------------------------------------------

COUNT = "keep = Identity(cond); a_out = Add(a, one); s = Identity(a)"


def counting_loop(m, shape=(2,), inputs=None):
    """a starts at zero, goes up by one each trip; s collects it."""
    body = loop_body(COUNT, ["a"], {"s": (f32, shape)})
    weights = {"one": np.ones(shape, f32), "a0": np.zeros(shape, f32), "go": TRUE} | (
        {} if m is None else {"m": trips(m)}
    )
    return make_model(
        [node("Loop", "m,go,a0", "a_last,stack", body=body)], inputs or {}, {"a_last": f32, "stack": f32}, weights
    )


@levels
@pytest.mark.parametrize("shape", [(2,), (), (0,), (3, 1), (2, 0, 2)], ids=str)
@pytest.mark.parametrize("m", [0, 1, 4, -1])
def test_onnxruntime_1272_8080(m, shape, level):
    """No trips give a scan output of shape [0, *body shape]; -1 trips are none."""
    n = max(m, 0)
    stack = np.zeros((n, *shape), f32) + np.arange(n, dtype=f32).reshape(n, *[1] * len(shape))
    want = {"a_last": np.full(shape, n, f32), "stack": stack}
    check(counting_loop(m, shape), {}, want, level, peers=())
    check(counting_loop(None, shape, {"m": (i64, ())}), {"m": trips(m)}, want, level, peers=())


@levels
def test_trip_count_of_one_element(level):
    """M may be a scalar or a tensor of one element."""
    body = loop_body(COUNT, ["a"], ["s"])
    weights = {"one": np.ones(2, f32), "a0": np.zeros(2, f32), "go": TRUE}
    model = make_model(
        [node("Loop", "m,go,a0", "a_last,stack", body=body)], {"m": (i64, (1,))}, {"a_last": f32, "stack": f32}, weights
    )
    check(
        model,
        {"m": np.array([3])},
        {"a_last": np.full(2, 3, f32), "stack": np.repeat(np.arange(3, dtype=f32), 2).reshape(3, 2)},
        level,
        peers=(),
    )


@levels
def test_onnx_8135(level):
    """M=5 but the body stops after its first trip: the first dimension is not M."""
    body = loop_body("keep = Identity(no); s = Identity(v)", scans=["s"])
    weights = {"m": trips(5), "go": TRUE, "no": FALSE, "v": np.array([7, 8], f32)}
    model = make_model([node("Loop", "m,go", "stack", body=body)], {}, {"stack": f32}, weights)
    loaded = engines.load(model, level)
    assert_same(loaded.run({})["stack"], np.array([[7, 8]], f32))
    if engines.ENGINE == "pyasc":
        (output,) = loaded.outputs
        assert output.shape is None or output.shape[0] != 5


@levels
def test_no_trips_and_a_branch_that_is_decided(level):
    """The shape of a scan output of no trips comes from the branch that a constant condition takes, before any pass does."""
    texts = ["r = Expand(a, s)", "r = Concat<axis=0>(a, a)"]
    branches = [make_graph(parse_nodes(t), {}, {"r": None}, name=f"b{i}") for i, t in enumerate(texts)]
    nodes = parse_nodes("keep = Identity(cond); a_out = Identity(a)")
    nodes.append(node("If", "no", "s_out", then_branch=branches[0], else_branch=branches[1]))
    body = make_graph(
        nodes,
        {"i": (i64, ()), "cond": (boolean, ()), "a": (f32, (3,))},
        {"keep": (boolean, ()), "a_out": None, "s_out": None},
        name="body",
    )
    weights = {"go": TRUE, "no": FALSE, "s": np.array([2, 5, 3], i64)}
    model = make_model([node("Loop", "m,go,x", "y,stack", body=body)], {"m": (i64, ()), "x": (f32, (3,))}, {"y": f32, "stack": f32}, weights)
    x = random((3,))
    assert_same(run(model, {"m": trips(0), "x": x}, level), {"y": x, "stack": np.zeros((0, 6), f32)})
    assert_same(run(model, {"m": trips(1), "x": x}, level), {"y": x, "stack": np.tile(x, 2)[None]})


STOPS = {
    "condition-false-at-start": (trips(5), FALSE, 0),
    "no-trip-count": (None, TRUE, 3),
    "no-condition": (trips(2), None, 2),
    "limit-first": (trips(2), TRUE, 2),
    "condition-first": (trips(9), TRUE, 3),
    "int64-max": (trips(2**63 - 1), TRUE, 3),
}


@levels
@pytest.mark.parametrize("row", STOPS)
def test_what_stops_a_loop(row, level):
    """The body asks to go on while a < 3."""
    m, go, n = STOPS[row]
    body = loop_body("a_out = Add(a, one); keep = Less(a_out, three); s = Mul(a, a)", ["a"], ["s"])
    weights = {"one": np.float32(1), "three": np.float32(3), "a0": np.float32(0)}
    weights |= {k: v for k, v in {"m": m, "go": go}.items() if v is not None}
    names = f"{'m' if m is not None else ''},{'go' if go is not None else ''},a0"
    model = make_model([node("Loop", names, "a_last,stack", body=body)], {}, {"a_last": f32, "stack": f32}, weights)
    check(model, {}, {"a_last": np.float32(n), "stack": np.arange(n, dtype=f32) ** 2}, level, peers=())


@levels
def test_carried_value_that_grows(level):
    """A carried value changes shape from trip to trip."""
    body = loop_body("keep = Identity(cond); a_out = Concat<axis=0>(a, x)", ["a"])
    model = make_model(
        [node("Loop", "m,go,a0", "y", body=body)],
        {"x": (f32, ["n"]), "m": (i64, ())},
        {"y": f32},
        {"go": TRUE, "a0": np.zeros(0, f32)},
    )
    x = random((3,))
    for n in (3, 0, 1):
        check(model, {"x": x, "m": trips(n)}, np.tile(x, n), level, peers=())


@levels
def test_scan_output_that_changes_shape_is_refused(level):
    """Slices of different shapes cannot be stacked."""
    body = loop_body("keep = Identity(cond); a_out = Concat<axis=0>(a, a); s = Identity(a)", ["a"], ["s"])
    nodes = [node("Loop", "m,go,a0", "a_last,stack", name="the_loop", body=body)]
    model = make_model(nodes, {}, {"a_last": f32, "stack": f32}, {"m": trips(3), "go": TRUE, "a0": np.ones(1, f32)})
    assert_load_or_run_refused(model, {}, level)


@levels
def test_carried_values_swap(level):
    """Fibonacci: (a, b) -> (b, a + b); writing in place would lose one."""
    body = loop_body("keep = Identity(cond); a_out = Identity(b); b_out = Add(a, b)", ["a", "b"])
    weights = {"m": trips(10), "go": TRUE, "zero": np.zeros(1, f32), "one": np.ones(1, f32)}
    model = make_model([node("Loop", "m,go,zero,one", "p,q", body=body)], {}, {"p": f32, "q": f32}, weights)
    check(model, {}, {"p": np.array([55], f32), "q": np.array([89], f32)}, level)


@levels
def test_nested_loops_with_captures(level):
    """The inner body reads the outer iteration number, an outer carried value, and a graph input."""
    inner = graph(
        "k2 = Identity(jc); f = Cast<to=1>(i); t = Mul(f, x); b_out = Add(b, t)",
        {"j": (i64, ()), "jc": (boolean, ()), "b": (f32, None)},
        {"k2": (boolean, ()), "b_out": None},
        name="inner",
    )
    outer_nodes = [node("Loop", "two,go,a", "a_out", body=inner)] + parse_nodes("keep = Identity(cond)")
    outer = make_graph(
        outer_nodes,
        {"i": (i64, ()), "cond": (boolean, ()), "a": (f32, None)},
        {"keep": (boolean, ()), "a_out": None},
        name="outer",
    )
    weights = {"m": trips(4), "two": trips(2), "go": TRUE, "a0": np.zeros(2, f32)}
    x = np.array([1, 10], f32)
    model = make_model([node("Loop", "m,go,a0", "y", body=outer)], {"x": x}, {"y": f32}, weights)
    check(model, {"x": x}, x * 2 * (0 + 1 + 2 + 3), level)


@levels
def test_body_that_passes_its_inputs_through(level):
    """Outputs of the body that are its inputs, outer values and constants."""
    body = make_graph(
        [],
        {"i": (i64, ()), "cond": (boolean, ()), "a": (f32, None)},
        {"cond": (boolean, ()), "a": f32, "i": (i64, ()), "k": f32},
        {"k": np.array([5], f32)},
        name="body",
    )
    model = make_model(
        [node("Loop", "m,go,a0", "a_last,numbers,ks", body=body)],
        {"a0": (f32, (2,))},
        {"a_last": f32, "numbers": i64, "ks": f32},
        {"m": trips(3), "go": TRUE},
    )
    x = random((2,))
    check(model, {"a0": x}, {"a_last": x, "numbers": np.arange(3), "ks": np.full((3, 1), 5, f32)}, level, peers=())


@levels
def test_failure_in_a_trip_names_the_node(level):
    """Integer division by zero in the third trip; the model runs again."""
    body = loop_body("keep = Identity(cond); d = Sub(x, i); s = Div(x, d)", scans=["s"])
    model = make_model(
        [node("Loop", "m,go", "stack", body=body)], {"m": (i64, ()), "x": (i64, ())}, {"stack": i64}, {"go": TRUE}
    )
    loaded = engines.load(model, level)
    assert_refused(lambda: loaded.run({"m": trips(4), "x": trips(2)}), node="div_s")
    assert_same(loaded.run({"m": trips(2), "x": trips(2)})["stack"], np.array([1, 2]))


@levels
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("inputs", ["n", "n,c", ",c", ""])
def test_loop_without_carried_values(inputs, known, level):
    """Trip count and condition may both be left out; the body stops the loop then."""
    body = loop_body("keep = Less(i, two); s = Add(i, two)", scans={"s": (i64, ())})
    model = make_model(
        [node("Loop", inputs, "y", body=body)],
        {} if known else {k: v for k, v in {"n": (i64, ()), "c": (boolean, ())}.items() if k in inputs},
        {"y": i64},
        {"two": np.array(2, i64)} | ({k: v for k, v in {"n": trips(2), "c": TRUE}.items() if k in inputs} if known else {}),
    )
    feeds = {} if known else {k: v for k, v in {"n": trips(2), "c": TRUE}.items() if k in inputs}
    assert_same(run(model, feeds, level)["y"], np.array([2, 3] if "n" in inputs else [2, 3, 4], i64))


# ---- If --------------------------------------------------------------------------------------------------------------------


@levels
@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("how", ["input", "constant", "one-element"])
def test_if(how, taken, level):
    model = if_model("t = Neg(x)", "e = Add(x, x)", {"x": (f32, ["n"])})
    feeds, x = {"c": np.array(taken)}, random((3,))
    if how == "one-element":
        model.graph.input[0].CopyFrom(make_model([], {"c": (boolean, (1,))}, {}).graph.input[0])
        feeds = {"c": np.array([taken])}
    elif how == "constant":
        model = make_model(list(model.graph.node), {"x": (f32, ["n"])}, {"y": f32}, {"c": np.array(taken)})
        feeds = {}
    check(model, feeds | {"x": x}, -x if taken else x + x, level)


@levels
def test_branches_of_different_shapes_and_ranks(level):
    model = if_model("t = ReduceSum<keepdims=0>(x)", "e = Concat<axis=0>(x, x)", {"x": (f32, ["n"])})
    loaded, x = engines.load(model, level), random((3,))
    for _ in range(2):
        assert_same(loaded.run({"c": TRUE, "x": x})["y"], x.sum())
        assert_same(loaded.run({"c": FALSE, "x": x})["y"], np.concatenate([x, x]))


@levels
@pytest.mark.parametrize("text", ["", "t = Identity(x)"], ids=["capture-is-the-output", "identity"])
def test_branch_that_returns_a_captured_value(text, level):
    if text:
        model = if_model(text, "e = Neg(x)", {"x": (f32, (2,))})
    else:
        then_branch = make_graph([], {}, {"k": None}, {"k": np.array([1, 2], f32)}, name="then")
        nodes = [node("If", "c", "y", then_branch=then_branch, else_branch=branch("e = Neg(x)", "e", f32))]
        model = make_model(nodes, {"c": (boolean, ()), "x": (f32, (2,))}, {"y": f32})
    x = np.array([1, 2], f32)
    check(model, {"c": TRUE, "x": x}, x, level, peers=())
    check(model, {"c": FALSE, "x": x}, -x, level, peers=())


@levels
def test_constant_failure_in_the_branch_not_taken(level):
    """1/0 in a branch that never runs: a folder leaves it, the load succeeds."""
    model = if_model(
        "t = Div(k, z)", "e = Identity(k)", {}, {"k": np.array([4], i32), "z": np.array([0], i32)}, dtype=i32
    )
    loaded = engines.load(model, level)
    assert_same(loaded.run({"c": FALSE})["y"], np.array([4], i32))
    assert_refused(lambda: loaded.run({"c": TRUE}), node="div_t")
    assert_same(loaded.run({"c": FALSE})["y"], np.array([4], i32))


# Branches that no x of shape [2, 3] can run: text, the node that cannot.
CONTRADICTIONS = {
    "broadcast": ("t = Add(x, w5)", "add_t"),
    "matmul": ("t = MatMul(x, w23)", "matmul_t"),
    "reshape": ("t = Reshape(x, s7)", "reshape_t"),
    "rank": ("t = Conv(x, w23)", "conv_t"),
    "axis": ("t = Softmax<axis=3>(x)", "softmax_t"),
    "squeeze": ("t = Squeeze(x, zero)", "squeeze_t"),
    "split": ("t, u = Split<axis=1>(x, s23)", "split_t"),
    "concat": ("t = Concat<axis=0>(x, w5)", "concat_t"),
    "gather": ("t = Gather<axis=5>(x, zero)", "gather_t"),
    "expand": ("t = Expand(x, s7)", "expand_t"),
    "pool": ("t = MaxPool<kernel_shape=[2]>(x)", "maxpool_t"),
    "goes-on": ("a = Reshape(x, s7); b = Add(a, w5); s = Shape(b); t = Reshape(w23, s)", "reshape_a"),
}
CONTRADICTION_WEIGHTS = {
    "w5": random((5,)),
    "w23": random((2, 3)),
    "s7": np.array([7], i64),
    "s23": np.array([2, 3], i64),
    "zero": np.array([0], i64),
}


def contradiction(why, inputs, else_text="e = Neg(x)", constants=None):
    text, _ = CONTRADICTIONS[why]
    weights = {k: v for k, v in CONTRADICTION_WEIGHTS.items() if k in text}
    model = if_model(text, else_text, inputs, weights | (constants or {}))
    for name in constants or {}:
        model.graph.input.remove(next(i for i in model.graph.input if i.name == name))
    return model


@levels
@pytest.mark.parametrize("shape", [(2, 3), ("n", "m"), (2, "m"), None], ids=str)
@pytest.mark.parametrize("why", CONTRADICTIONS)
def test_branch_whose_shapes_contradict_is_refused_when_it_is_taken(why, shape, level):
    loaded, x = engines.load(contradiction(why, {"x": (f32, shape)}), level), random((2, 3))
    assert_same(loaded.run({"c": FALSE, "x": x})["y"], -x)
    assert_refused(lambda: loaded.run({"c": TRUE, "x": x}), node=CONTRADICTIONS[why][1])
    assert_same(loaded.run({"c": FALSE, "x": x})["y"], -x)


@levels
@pytest.mark.parametrize("why", ["broadcast", "rank", "goes-on"])
def test_constant_condition_decides_at_load(why, level):
    inputs, x = {"x": (f32, (2, 3))}, random((2, 3))
    never = contradiction(why, inputs, constants={"c": FALSE})
    assert_same(engines.load(never, level).run({"x": x})["y"], -x)
    always = contradiction(why, inputs, constants={"c": TRUE})
    assert_refused(lambda: engines.load(always, level), node=CONTRADICTIONS[why][1])


@levels
def test_types_that_contradict_are_refused_at_load(level):
    model = if_model("t = Add(x, k)", "e = Neg(x)", {"x": (f32, (2, 3))}, {"k": np.array([1], i64)})
    assert_refused(lambda: engines.load(model, level), node="add_t")


@levels
@pytest.mark.parametrize("depth", [1, 3])
def test_nested_branches_by_rank(depth, level):
    """What a traced `if x.dim() == ...` gives: each branch fits the rank that selects it, and no other."""
    inner, weights = parse_nodes("m1 = Softmax<axis=5>(x)"), {"zero": np.array(0, i64)}
    name = "m1"
    for rank in [2 + i for i in range(depth)][::-1]:
        weights[f"r{rank}"] = np.array(rank, i64)
        text = f"s{rank} = Shape(x); q{rank} = Size(s{rank}); c{rank} = Equal(q{rank}, r{rank})"
        fits = graph(f"f{rank} = ReduceSum<keepdims=0>(x, axis{rank})", {}, {f"f{rank}": f32}, name=f"then{rank}")
        weights[f"axis{rank}"] = np.array([rank - 1], i64)
        other = make_graph(inner, {}, {name: f32}, name=f"else{rank}")
        inner = parse_nodes(text) + [node("If", f"c{rank}", f"y{rank}", then_branch=fits, else_branch=other)]
        name = f"y{rank}"
    for shape in [None, (2, 3)]:
        model = make_model(inner, {"x": (f32, shape)}, {name: f32}, weights)
        loaded, x = engines.load(model, level), random((2, 3))
        assert_same(loaded.run({"x": x})[name], x.sum(1))
        if shape is None and depth == 3:
            cube = random((2, 3, 4))
            assert_same(loaded.run({"x": cube})[name], cube.sum(2))
            assert_refused(lambda: loaded.run({"x": random((2,))}), node="softmax_m1")


@levels
def test_loop_in_a_branch_that_is_not_taken(level):
    body = loop_body("keep = Identity(cond); a_out = Add(a, w5)", ["a"])
    then_branch = make_graph([node("Loop", "n,,x", "t", body=body)], {}, {"t": f32}, name="then")
    nodes = [node("If", "c", "y", then_branch=then_branch, else_branch=branch("e = Neg(x)", "e", f32))]
    model = make_model(
        nodes, {"c": (boolean, ()), "x": (f32, (2, 3))}, {"y": f32}, {"n": trips(2), "w5": random((5,))}
    )
    loaded, x = engines.load(model, level), random((2, 3))
    assert_same(loaded.run({"c": FALSE, "x": x})["y"], -x)
    assert_refused(lambda: loaded.run({"c": TRUE, "x": x}), node="add_a_out")


@levels
def test_branch_whose_shapes_contradict_survives_saving(level, tmp_path):
    loaded, x = engines.load(contradiction("goes-on", {"x": (f32, (2, 3))}), level), random((2, 3))
    if not hasattr(loaded, "save"):
        pytest.skip("only pyasc saves")
    loaded.save(tmp_path / "m.om")
    again = engines.load(tmp_path / "m.om", level)
    assert_same(again.run({"c": FALSE, "x": x})["y"], -x)
    assert_refused(lambda: again.run({"c": TRUE, "x": x}), node="reshape_a")


@levels
def test_same_inner_names_in_both_branches(level):
    """Names are local to a branch."""
    texts = ["m = Neg(x); r = Exp(m)", "m = Abs(x); r = Sqrt(m)"]
    branches = [make_graph(parse_nodes(t), {}, {"r": f32}, name=f"b{i}") for i, t in enumerate(texts)]
    nodes = [node("If", "c", "y", then_branch=branches[0], else_branch=branches[1]), node("Neg", "x", "z")]
    model = make_model(nodes, {"c": (boolean, ()), "x": (f32, (3,))}, {"y": f32, "z": f32})
    x = random((3,))
    check(model, {"c": TRUE, "x": x}, {"y": np.exp(-x), "z": -x}, level, peers=())
    check(model, {"c": FALSE, "x": x}, {"y": np.sqrt(np.abs(x)), "z": -x}, level, peers=())


@levels
def test_branches_that_disagree_are_refused(level):
    then_branch = branch("t = Neg(x)", "t", f32)
    two = make_graph(parse_nodes("e = Neg(x); e2 = Abs(x)"), {}, {"e": f32, "e2": f32}, name="else")
    model = make_model(
        [node("If", "c", "y", name="the_if", then_branch=then_branch, else_branch=two)],
        {"c": (boolean, ()), "x": (f32, (2,))},
        {"y": f32},
    )
    assert_load_or_run_refused(model, {"c": FALSE, "x": np.ones(2, f32)}, level, node="the_if")
    other_type = branch("e = Shape(x)", "e", i64)
    model = make_model(
        [node("If", "c", "y", name="the_if", then_branch=then_branch, else_branch=other_type)],
        {"c": (boolean, ()), "x": (f32, (2,))},
        {"y": f32},
    )
    assert_load_or_run_refused(model, {"c": FALSE, "x": np.ones(2, f32)}, level, node="the_if")


# ---- Scan ------------------------------------------------------------------------------------------------------------------


def scan_model(x, body_text="a_out = Add(a, e); s = Mul(a_out, e)", **attributes):
    body = graph(body_text, {"a": (f32, None), "e": (f32, None)}, {"a_out": None, "s": None})
    nodes = [node("Scan", "a0,x", "a_last,stack", body=body, num_scan_inputs=1, **attributes)]
    return make_model(
        nodes, {"a0": (f32, ()), "x": (f32, [f"n{i}" for i in range(x.ndim)])}, {"a_last": f32, "stack": f32}
    )


@levels
@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("directions", [(0, 0), (1, 0), (0, 1), (1, 1)], ids=str)
def test_scan(directions, n, level):
    """Forwards and backwards, with no elements too."""
    x = random((n,), f32, n)
    model = scan_model(x, scan_input_directions=[directions[0]], scan_output_directions=[directions[1]])
    ordered = x[::-1] if directions[0] else x
    sums = np.cumsum(ordered, dtype=f32)
    stack = (sums * ordered)[:: -1 if directions[1] else 1]
    want = {"a_last": sums[-1] if n else f32.type(0), "stack": stack}
    check(model, {"a0": np.array(0, f32), "x": x}, want, level, peers=())


@levels
@pytest.mark.parametrize("axes", [(0, 0), (1, 0), (-1, 1), (1, -1)], ids=str)
def test_scan_axes(axes, level):
    x = random((3, 4))
    body = graph("s = Neg(e)", {"e": (f32, None)}, {"s": None})
    nodes = [
        node("Scan", "x", "y", body=body, num_scan_inputs=1, scan_input_axes=[axes[0]], scan_output_axes=[axes[1]])
    ]
    model = make_model(nodes, {"x": x}, {"y": f32})
    check(
        model,
        {"x": x},
        np.moveaxis(-x, axes[0], 0) if axes[1] == 0 else np.moveaxis(np.moveaxis(-x, axes[0], 0), 0, axes[1]),
        level,
        peers=(),
    )


@levels
def test_scan_over_inputs_of_different_length_is_refused(level):
    body = graph("s = Add(e, f)", {"e": (f32, None), "f": (f32, None)}, {"s": None})
    model = make_model(
        [node("Scan", "x,z", "y", name="the_scan", body=body, num_scan_inputs=2)],
        {"x": (f32, ["n"]), "z": (f32, ["m"])},
        {"y": f32},
    )
    check(model, {"x": random((3,)), "z": random((3,), f32, 1)}, random((3,)) + random((3,), f32, 1), level, peers=())
    assert_load_or_run_refused(model, {"x": random((3,)), "z": random((2,))}, level, node="the_scan")


# ---- sequences -------------------------------------------------------------------------------------------------------------


@levels
@pytest.mark.parametrize("kind", ["sequence_type", "optional_type"])
def test_declared_type_without_an_element_says_nothing(kind, level):
    """ONNX's own shape inference writes such types for values that it does not understand."""
    text = "s = SequenceConstruct(x, x); y = SequenceLength(s)" if kind == "sequence_type" else "s = Optional(x); y = OptionalHasElement(s)"
    model, x = make_model(text, {"x": (f32, ["n"])}, {"y": None, "s": None}), random((3,))
    model.graph.output[1].type.SetInParent()
    getattr(model.graph.output[1].type, kind).SetInParent()
    model.graph.value_info.add().CopyFrom(model.graph.output[1])
    got = run(model, {"x": x}, level)
    assert_same(got, {"y": np.array(2, i64), "s": [x, x]} if kind == "sequence_type" else {"y": TRUE, "s": x})
