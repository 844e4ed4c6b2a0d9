"""Makes the small models that the fuzz test mutates; together they use most families of operators.

    python tests/fuzz/make_seeds.py
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

HERE = pathlib.Path(__file__).parent / "seeds"
HEADER = '<ir_version: 10, opset_import: ["" : 21{}]>\n'


def save(name, text, domains=""):
    model = parser.parse_model(HEADER.format(domains) + text)
    onnx.checker.check_model(model)
    (HERE / f"{name}.onnx").write_bytes(model.SerializeToString())


def main():
    HERE.mkdir(exist_ok=True)
    save("convolution", """
        network (float[N, 2, 6, 6] x) => (float[N, 3] y)
        <float[3, 2, 3, 3] w = {%s}, float[3] b = {1, 2, 3}, float[3] s = {1, 1, 2}, float[3] m = {0, 0, 1},
         float[3] v = {1, 2, 1}, float[3, 3] g = {1, 2, 3, 4, 5, 6, 7, 8, 9}>
        {
            c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 1> (x, w, b)
            n = BatchNormalization <epsilon = 0.001> (c, s, b, m, v)
            r = Relu (n)
            p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r)
            a = AveragePool <kernel_shape = [2, 2], auto_pad = "SAME_UPPER"> (p)
            q = GlobalAveragePool (a)
            f = Flatten (q)
            h = Gemm <alpha = 0.5, transB = 1> (f, g, b)
            y = Softmax <axis = -1> (h)
        }""" % ", ".join(str(i % 5 - 2) for i in range(54)))
    save("training", """
        step (float[N, 1, 4, 4] x, int64[N] l, float[2, 1, 3, 3] w, float[2, 3] u, float rate) => (float y, float[2, 1, 3, 3] v, float[2, 3] du, float[2, 3] duu)
        {
            axes = Constant <value_ints = [2, 3]> ()
            c = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)
            r = Gelu (c)
            m = ReduceMean <keepdims = 0> (r, axes)
            h = MatMul (m, u)
            y = SoftmaxCrossEntropyLoss (h, l)
            dw, du = ai.onnx.preview.training.Gradient <xs = ["w", "u"], zs = ["x", "l"], y = "y"> (w, u, x, l)
            duu = ai.onnx.preview.training.Gradient <xs = ["u"], y = "du"> (u)
            s = Mul (dw, rate)
            v = Sub (w, s)
        }""", ', "ai.onnx.preview.training" : 1')
    save("control_flow", """
        network (bool cond, int64 trips, float[3] x) => (float[3] chosen, float[3] last, float[T, 3] all, float[A, B] walked)
        {
            chosen = If (cond) <
                then_branch = t () => (float[3] a) { a = Neg (x) },
                else_branch = e () => (float[3] a) { a = Mul (x, x) }>
            go = Constant <value = bool {1}> ()
            last, all = Loop (trips, go, x) <body = b (int64 i, bool c, float[3] s) => (bool d, float[3] n, float[3] o) {
                d = Identity (c)
                f = Cast <to = 1> (i)
                n = Add (s, f)
                o = Mul (n, x)
            }>
            end, walked = Scan <num_scan_inputs = 1, body = w (float[3] s, float[3] i) => (float[3] n, float[3] o) {
                n = Add (s, i)
                o = Identity (n)
            }> (x, all)
        }""")
    save("recurrent", """
        network (float[T, 2, 3] x) => (float[T, 1, 2, 2] l, float[1, 2, 2] g)
        <float[1, 8, 3] w = {%s}, float[1, 8, 2] r = {%s}, float[1, 6, 3] gw = {%s}, float[1, 6, 2] gr = {%s}>
        {
            l, h, c = LSTM <hidden_size = 2, direction = "reverse"> (x, w, r)
            o, g = GRU <hidden_size = 2, linear_before_reset = 1> (x, gw, gr)
        }""" % tuple(", ".join(f"0.{i % 7}" for i in range(n)) for n in (24, 16, 18, 12)))
    save("shapes", """
        network (float[N, 4] x, int64[2] k) => (float[A, B] y, float[C, D] z, int64[E, F] i, float[G] u)
        {
            s = Shape (x)
            zero = Constant <value = int64[1] {0}> ()
            one = Constant <value = int64[1] {1}> ()
            m1 = Constant <value = int64[1] {-1}> ()
            two = Constant <value = int64[2] {2, 2}> ()
            n = Gather <axis = 0> (s, zero)
            t = Concat <axis = 0> (one, n, m1)
            r = Reshape (x, t)
            e = Expand (r, s)
            sl = Slice (x, zero, one, m1)
            pads = Constant <value = int64[4] {0, 1, 1, 0}> ()
            p = Pad <mode = "reflect"> (x, pads)
            tr = Transpose <perm = [1, 0]> (p)
            y = Tile (tr, two)
            sp, sq = Split <axis = 1, num_outputs = 2> (x)
            at = Constant <value = int64[1, 1] {0}> ()
            row = Slice (sq, zero, one)
            z = ScatterND (sp, at, row)
            i = NonZero (x)
            lo = Constant <value = float {0}> ()
            hi = Constant <value = float {5}> ()
            st = Constant <value = float {1}> ()
            u = Range (lo, hi, st)
        }""")
    save("sequences", """
        network (float[N, 2] x, seq(float[M]) s, optional(float[K]) o)
            => (seq(float[M]) longer, float[A] item, int64 count, float[B, C] joined, bool has, seq(float[D]) mapped)
        {
            one = Constant <value = int64 {1}> ()
            item = SequenceAt (s, one)
            longer = SequenceInsert (s, item, one)
            pair = SequenceConstruct (item, item)
            shorter = SequenceErase (longer, one)
            count = SequenceLength (shorter)
            parts = SplitToSequence <axis = 0> (x, one)
            joined = ConcatFromSequence <axis = 1> (parts)
            has = OptionalHasElement (o)
            mapped = SequenceMap (pair) <body = b (float[M] i) => (float[M] j) { j = Neg (i) }>
        }""")
    save("quantized", """
        network (float[N, 4] x, uint8[1, 1, 4, 4] image) => (float[N, 4] y, uint8[1, 1, 3, 3] c, int32[N, 2] p, float[5] d)
        <float s = {0.1}, uint8 z = {3}, uint8[1, 1, 2, 2] w = {1, 2, 3, 4}, int8[4, 2] k = {1, 2, 3, 4, 5, 6, 7, 8}, float[5] f = {1, -2, 3, -4, 5}>
        {
            q = QuantizeLinear (x, s, z)
            y = DequantizeLinear (q, s, z)
            c = QLinearConv (image, s, z, w, s, z, s, z)
            p = MatMulInteger (q, k, z)
            n = Cast <to = 22> (f)
            d = DequantizeLinear (n, s)
        }""")
    save("functions", """
        network (float[N] x) => (float[N] y) { a = local.twice <by = 3.0> (x)  y = local.outer (a) }
        <domain: "local", opset_import: ["" : 21]>
        twice <by: float = 2.0> (x) => (y) { c = Constant <value_float: float = @by> ()  y = Mul (x, c) }
        <domain: "local", opset_import: ["" : 21, "local" : 1]>
        outer (x) => (y) { b = local.twice (x)  y = Elu <alpha = 0.5> (b) }
        """, ', "local" : 1')
    save("strings", """
        network (string[N] s, float[M] f) => (bool[N] m, string[N, K] parts, int64[N] counts, string[M] t, string[P] n, float[3] r)
        <string[3] numbers = {"1.5", "-2", "1e3"}>
        {
            m = RegexFullMatch <pattern = "[a-z]+[0-9]*"> (s)
            parts, counts = StringSplit <delimiter = ",", maxsplit = 3> (s)
            t = Cast <to = 8> (f)
            n = StringNormalizer <case_change_action = "UPPER", stopwords = ["a"]> (s)
            r = Cast <to = 1> (numbers)
        }""")
    save("images", """
        network (float[1, 2, 4, 4] x, float[1, 3, 3, 2] grid, float[1, 6, 4] boxes, float[1, 2, 6] scores)
            => (float[A, B, C, D] r, float[1, 2, 3, 3] g, float[E, F, G, H] d, int64[S, 3] kept, float[2, 2, 2, 2] roi, float[1, 2, I, J] u)
        <float[4] scales = {1, 1, 1.5, 2}, float[2, 1, 2, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}, int64 most = {3},
         float iou = {0.5}, float[2, 4] rois = {0, 0, 2, 2, 1, 1, 3, 3}, int64[2] batch = {0, 0}>
        {
            r = Resize <mode = "linear", coordinate_transformation_mode = "half_pixel"> (x, , scales)
            g = GridSample <mode = "linear", padding_mode = "border"> (x, grid)
            d = ConvTranspose <strides = [2, 2], group = 2> (x, w)
            kept = NonMaxSuppression (boxes, scores, most, iou)
            roi = RoiAlign <output_height = 2, output_width = 2, sampling_ratio = 2> (x, rois, batch)
            p, i = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
            u = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (p, i)
        }""")
    save("reductions", """
        network (float[N, 3, 4] x, float[4] g) => (float[N, 3] s, float[A, B, C] v, int64[A, B, C] i, float[N, 3, 4] l,
            float[N, 3, 3] e, float[N, 3, 4] c, int64[N, 3] a, float[N, 3, 4] h)
        {
            axes = Constant <value = int64[1] {-1}> ()
            one = Constant <value = int64[1] {1}> ()
            axis = Constant <value = int64 {1}> ()
            s = ReduceLogSumExp <keepdims = 0> (x, axes)
            v, i = TopK <axis = 1> (x, one)
            l = LayerNormalization <axis = -1> (x, g, g)
            e = Einsum <equation = "nij,nkj->nik"> (x, x)
            c = CumSum <exclusive = 1> (x, axis)
            a = ArgMax <axis = -1, keepdims = 0> (x)
            t = Constant <value = int64[1, 1, 4] {0, 1, 2, 0}> ()
            zero = Constant <value = float {0}> ()
            w = Greater (x, zero)
            sel = Where (w, x, g)
            h = Clip (sel, zero)
        }""")
    matrix = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "typed")
    typed = helper.make_tensor("ints", TensorProto.INT32, [2], [4, 5])
    values = helper.make_tensor("sparse", TensorProto.FLOAT, [2], [1.0, 2.0])
    indices = helper.make_tensor("indices", TensorProto.INT64, [2], [1, 5])
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["typed", "sparse"], ["y"]),
            helper.make_node("Cast", ["ints"], ["z"], to=TensorProto.BFLOAT16),
        ],
        "constants",
        [],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3]),
            helper.make_tensor_value_info("z", TensorProto.BFLOAT16, [2]),
        ],
        [matrix, typed],
    )
    graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 3]))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 7)], ir_version=8)
    (HERE / "constants.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
