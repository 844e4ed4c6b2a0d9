"""Running one model many times: shapes that vary, many threads, memory that stays flat, failures that leave no trace."""

import threading

import numpy as np
import pytest

import engines
from cases.memory_runs import MODELS, growth, mlp
from oracle import (
    assert_refused,
    assert_same,
    f32,
    i32,
    i64,
    levels,
    make_graph,
    make_model,
    node,
    onnx_type,
    parse_nodes,
    random,
)

F16 = onnx_type(np.float16)


@levels
def test_onnxruntime_28359(level):
    """Dynamic [1,N,8] -> Cast -> Add with N = 32, 1, 32: each run right, none on the other's buffers."""
    model = make_model(
        f"c = Cast<to={F16}>(x); d = Cast<to=1>(c); y = Add(d, k)",
        {"x": (f32, [1, "N", 8])},
        {"y": f32},
        {"k": f32.type(1)},
    )
    loaded, kept = engines.load(model, level), []
    for n in (32, 1, 32, 1, 7, 32):
        x = random((1, n, 8), f32, n, len(kept))
        got = loaded.run({"x": x})["y"]
        assert_same(got, x.astype(np.float16).astype(f32) + 1)
        kept.append((got, got.copy()))
    for got, copy in kept:  # later runs did not write into earlier results
        assert_same(got, copy)


@levels
@pytest.mark.parametrize("name", MODELS)
def test_shapes_that_come_and_go(name, level):
    """Each shape gives the same bits whenever it comes, whatever was run before."""
    build, feed = MODELS[name]
    loaded = engines.load(build(), level)
    first = {}
    for n in (5, 1, 64, 5, 33, 1, 64, 2, 5):
        got = loaded.run({"x": feed(n)})["y"]
        if n in first:
            assert got.tobytes() == first[n].tobytes(), n
        first.setdefault(n, got)
    fresh = {n: engines.load(build(), level).run({"x": feed(n)})["y"] for n in first}
    for n, value in first.items():
        assert value.tobytes() == fresh[n].tobytes(), n


MEBIBYTE = 1 << 20


@pytest.mark.parametrize("name", MODELS)
def test_onnxruntime_5796_11118(name):
    """500 shapes, three times over: flat after the first tenth; the cache of plans has a cap."""
    assert growth("shapes_vary", name) <= 2 * MEBIBYTE


@pytest.mark.parametrize(
    "what, limit",
    [("same_shape", 1), ("load_over_and_over", 4), ("refused_over_and_over", 2)],
    ids=["same-shape", "loads", "refusals"],
)
def test_what_is_repeated_does_not_grow(what, limit):
    assert growth(what) <= limit * MEBIBYTE


# ---- threads ---------------------------------------------------------------------------------------------------------------


def in_threads(count, work):
    """Runs work(i) in `count` threads that start together; the first exception is raised here."""
    barrier, errors = threading.Barrier(count), []

    def body(i):
        try:
            barrier.wait()
            work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@levels
@pytest.mark.parametrize("vary", [False, True], ids=["one-shape", "shapes-vary"])
@pytest.mark.parametrize("name", MODELS)
def test_onnxruntime_13571_11951(name, vary, level):
    """8 threads x 200 runs of one model: bit for bit what one thread gives."""
    build, feed = MODELS[name]
    loaded = engines.load(build(), level)
    inputs = [feed(1 + 3 * i) if vary else feed(12) + f32.type(i) for i in range(16)]
    want = [loaded.run({"x": x})["y"].tobytes() for x in inputs]

    def work(thread):
        for i in range(200):
            k = (7 * thread + i) % len(inputs)
            assert loaded.run({"x": inputs[k]})["y"].tobytes() == want[k], f"thread {thread}, run {i}, input {k}"

    in_threads(8, work)


def test_threads_that_load_and_run():
    """Loading is as thread-safe as running."""
    data = {name: build().SerializeToString() for name, (build, _) in MODELS.items()}
    want = {name: engines.load(data[name]).run({"x": feed(9)})["y"].tobytes() for name, (_, feed) in MODELS.items()}

    def work(thread):
        for i in range(10):
            name = list(MODELS)[(thread + i) % 2]
            assert engines.load(data[name]).run({"x": MODELS[name][1](9)})["y"].tobytes() == want[name]

    in_threads(6, work)


def test_threads_some_of_which_fail():
    """Refused runs beside good ones on the same model."""
    loaded = engines.load(mlp())
    x = random((6, 16), f32, "ok")
    want = loaded.run({"x": x})["y"].tobytes()

    def work(thread):
        for _ in range(100):
            if thread % 2:
                assert_refused(lambda: loaded.run({"x": random((6, 15))}))
            else:
                assert loaded.run({"x": x})["y"].tobytes() == want

    in_threads(6, work)


def test_control_flow_in_threads():
    """Sub-graphs have their own scratch in each run."""
    body = make_graph(
        parse_nodes("keep = Identity(cond); a_out = Add(a, x)"),
        {"i": (i64, ()), "cond": (np.dtype(bool), ()), "a": (f32, None)},
        {"keep": (np.dtype(bool), ()), "a_out": None},
        name="body",
    )
    model = make_model(
        [node("Loop", "m,go,x", "y", body=body)],
        {"x": (f32, ["n"]), "m": (i64, ())},
        {"y": f32},
        {"go": np.array(True)},
    )
    loaded = engines.load(model)

    def work(thread):
        x = random((thread + 1,), f32, thread)
        for trips in range(60):
            assert_same(loaded.run({"x": x, "m": np.array(trips)})["y"], x * (trips + 1), rtol=1e-4, atol=1e-4)

    in_threads(6, work)


# ---- failures --------------------------------------------------------------------------------------------------------------


@levels
def test_onnxruntime_16305(level):
    """A failed run leaves the handle as it was: wrong name, type, rank, size, a division by zero, an index out of range, sizes beyond memory."""
    text = "d = Div(a, b); g = Gather<axis=0>(d, i); r = Expand(g, s); y = Identity(r)"
    inputs = {"a": (i32, ["n"]), "b": (i32, ["n"]), "i": (i64, ["k"]), "s": (i64, (2,))}
    loaded = engines.load(make_model(text, inputs, {"y": i32}), level)
    good = {"a": np.array([8, 9], i32), "b": np.array([2, 3], i32), "i": np.array([1, 0, 1]), "s": np.array([2, 3])}
    want = np.array([[3, 4, 3]] * 2, i32)
    bad = {
        "division": {"b": np.array([2, 0], i32)},
        "index": {"i": np.array([0, 2])},
        "memory": {"s": np.array([2**58, 3])},
        "broadcast": {"s": np.array([2, 4])},
        "type": {"a": np.array([8, 9], i64)},
        "rank": {"a": np.array([[8, 9]], i32)},
        "size": {"b": np.array([1, 2, 3], i32)},
        "unknown-name": {"nobody": np.array([1], i32)},
    }
    assert_same(loaded.run(good)["y"], want)
    for change in bad.values():
        assert_refused(lambda: loaded.run({**good, **change}))
        assert_same(loaded.run(good)["y"], want)
    assert_refused(lambda: loaded.run({k: v for k, v in good.items() if k != "a"}), words=["a"])
    assert_same(loaded.run(good)["y"], want)


@levels
@pytest.mark.parametrize(
    "layout", ["transposed", "strided", "reversed", "fortran", "read-only", "big-endian", "broadcast", "unaligned"]
)
def test_inputs_in_any_memory_layout(layout, level):
    """What NumPy hands over is read right, or refused with a hint; never misread."""
    base = random((4, 6), f32, "layout")
    x = {
        "transposed": lambda: np.ascontiguousarray(base.T).T,
        "strided": lambda: np.repeat(base, 2, axis=1)[:, ::2],
        "reversed": lambda: np.ascontiguousarray(base[::-1, ::-1])[::-1, ::-1],
        "fortran": lambda: np.asfortranarray(base),
        "read-only": lambda: np.frombuffer(base.tobytes(), f32).reshape(4, 6),
        "big-endian": lambda: base.astype(">f4"),
        "broadcast": lambda: np.broadcast_to(base[:1], (4, 6)),
        "unaligned": lambda: np.frombuffer(b"\0" + base.tobytes(), np.uint8)[1:].view(f32).reshape(4, 6),
    }[layout]()
    want = -np.asarray(x, f32)
    loaded = engines.load(make_model("y = Neg(x)", {"x": (f32, ["a", "b"])}, {"y": f32}), level)
    try:
        got = loaded.run({"x": x})["y"]
    except engines.refusals():
        assert layout == "big-endian"
    else:
        assert_same(got, want)


@levels
def test_inputs_are_not_written_to(level):
    """In-place kernels keep off the caller's arrays and off the constants."""
    x, k = random((8, 8)), random((8, 8), f32, "k")
    text = "a = Relu(x); b = Add(a, k); c = Neg(k); d = Transpose(x); e = Mul(d, c); y = Add(b, e)"
    loaded = engines.load(make_model(text, {"x": x}, {"y": f32}, {"k": k}), level)
    before, first = x.copy(), loaded.run({"x": x})["y"]
    for _ in range(3):
        assert_same(loaded.run({"x": x})["y"], first)
    assert_same(x, before)
    assert_same(first, np.maximum(before, 0) + k + before.T * -k)


@levels
def test_extents_of_one_broadcast_in_a_later_run(level):
    """Constants of four channels meet four channels in one run and one in the next: the result has four each time."""
    k, t = random((4, 1)), random((1, 4, 1), f32, "t")
    model = make_model("a = Mul(x, k); b = Add(t, a); y = Tanh(b)", {"x": (f32, ["N", "C", 16])}, "y", {"k": k, "t": t})
    loaded = engines.load(model, level)
    for shape in ((2, 4, 16), (2, 1, 16), (1, 1, 16), (2, 4, 16)):
        x = random(shape)
        assert_same(loaded.run({"x": x})["y"], np.tanh(x * k + t))
