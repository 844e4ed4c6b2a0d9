"""Models that are run many times, and how much a process grows by that. Each measurement has a process of its own."""

import gc
import multiprocessing

import numpy as np

import engines
from oracle import assert_refused, f32, make_model, random


def mlp():
    """Dynamic rows: product, bias, activation, softmax, with a residual sum and shape arithmetic."""
    text = (
        "h = MatMul(x, w); b = Add(h, c); r = Relu(b); m = MatMul(r, v); s = Add(m, x); p = Softmax<axis=-1>(s);"
        "n = Shape(x); k = Gather<axis=0>(n, zero); u = Unsqueeze(k, first); q = Concat<axis=0>(u, minus); y = Reshape(p, q)"
    )
    weights = {
        "w": random((16, 32)),
        "c": random((32,)),
        "v": random((32, 16)),
        "zero": np.array(0),
        "first": np.array([0]),
        "minus": np.array([4, -1]),
    }
    return make_model(text, {"x": (f32, ["n", 16])}, {"y": f32}, weights)


def small_cnn():
    text = (
        "c = Conv<pads=[1, 1, 1, 1]>(x, w); r = Relu(c); d = Conv<pads=[1, 1, 1, 1], group=8>(r, u); a = Add(d, r);"
        "p = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(a); g = GlobalAveragePool(p); f = Flatten(g); y = Gemm(f, k, b)"
    )
    weights = {"w": random((8, 3, 3, 3)), "u": random((8, 1, 3, 3)), "k": random((8, 5)), "b": random((5,))}
    return make_model(text, {"x": (f32, ["n", 3, "h", "w_"])}, {"y": f32}, weights)


MODELS = {
    "mlp": (mlp, lambda n: random((n, 16), f32, "run")),
    "cnn": (small_cnn, lambda n: random((1 + n % 3, 3, 4 + n % 29, 4 + n // 29), f32, "run")),
}


def resident():
    """Resident memory of this process in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def grown(count, step):
    """Runs step(0) to step(count - 1); bytes between the end of the first tenth and that of the last."""
    for n in range(count):
        step(n)
        if n == count // 10:
            gc.collect()
            start = resident()
    gc.collect()
    return resident() - start


def shapes_vary(name):
    """500 shapes in a mixed order, three times over: bytes between the end of the first tenth and that of the first round, or
    between the first round and a later one, whichever is more."""
    build, feed = MODELS[name]
    loaded = engines.load(build())
    inputs = [feed(n * 197 % 500 + 1) for n in range(500)]
    sizes = []
    for _ in range(3):
        for n, x in enumerate(inputs):
            loaded.run({"x": x})
            if not sizes and n == 50:
                gc.collect()
                start = resident()
        gc.collect()
        sizes.append(resident())
    return max(sizes[0] - start, max(sizes[1:]) - sizes[0])


def same_shape():
    loaded, x = engines.load(small_cnn()), random((2, 3, 16, 16))
    return grown(2000, lambda n: loaded.run({"x": x}))


def load_over_and_over():
    data, x = small_cnn().SerializeToString(), random((1, 3, 8, 8))
    return grown(200, lambda n: engines.load(data).run({"x": x}))


def refused_over_and_over():
    bad = make_model("y = MatMul(x, k)", {"x": (f32, (2, 3))}, {"y": f32}, {"k": random((2, 3))}).SerializeToString()
    loaded = engines.load(small_cnn())

    def step(n):
        assert_refused(lambda: engines.load(bad))
        assert_refused(lambda: loaded.run({"x": random((1, 2, 8, 8))}))

    return grown(600, step)


def growth(what, *arguments):
    """The result of one of the functions above, measured in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(globals()[what], arguments)
