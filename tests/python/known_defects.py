"""Where the peers are known to be wrong, so that they can stand in for pyasc when the tests check themselves.

Each entry: a pattern that is searched in the test id, and what the peer does.
"""

import re

# The peer's process would die or hang.
CRASHES = {
    "onnxruntime": [
        (r"hostile_models.py.*einsum-two-ellipses", "never comes back"),
        (r"hostile_requests.py::test_functions_that_double", "never comes back"),
        (r"test_decisions.py::test_integer_minimum", "SIGFPE at INT_MIN / -1"),
        (r"integers.py::test_pytorch_190042", "SIGFPE at INT_MIN / -1"),
        (r"integers.py::test_signs_of_quotient.*-int", "SIGFPE at INT_MIN / -1"),
    ],
}

# The peer answers wrongly, or refuses what is right, or accepts what is wrong.
WRONG = {
    "onnxruntime": [
        (r"small_types_in_the_middle\[u?int4", "rounds to nearest where the fraction is to be dropped"),
        (r"onnxruntime_10936.*\[(float64|int32|int64)-3\]", "its Relu+Clip fusion knows float32 and float16 only"),
        (
            r"test_shape_slice.py::test_grid",
            "takes an end of INT64_MAX or INT32_MAX for the far end when the step is negative",
        ),
        (r"test_shape_pad.py::test_shapes_and_axes\[rank-0", "refuses rank 0"),
        (r"Compress-too-long", "ignores the rest"),
        (r"test_mean_of_nothing", "gives 0"),
        (r"test_body_that_passes_its_inputs", "its scan output shares memory with the iteration number"),
        (r"test_constant_failure_in_the_branch", "computes an integer division by zero at load"),
        (r"test_scan\[.*-0-[03]\]", "refuses a scan over no elements"),
        (r"pooling.py::test_nan\[max|test_global_nan\[GlobalMaxPool", "drops NaN"),
        (r"pooling.py::test_auto_pad\[.*SAME.*-[56]-", "refuses strides beyond the kernel"),
        (r"nan.py::test_reductions.*Reduce(Max|Min|LogSumExp)", "drops NaN unless it comes first"),
        (r"nan.py::test_(arg_of|fused_activations\[conv-maxpool|elementwise\[sign-b?float16)", "drops NaN"),
        (r"nan.py::test_elementwise\[relu6-float64-3", "its Relu+Clip fusion knows float32 and float16 only"),
        (r"integers.py::test_division_by_zero_is", "looks for zeros in the divisor even if nothing is divided"),
        (r"integers.py::test_integer_reductions_wrap\[Reduce", "saturates"),
        (r"resize.py::test_(interpolation\[1-.*cubic|which_axes.*linear-batch-too)", "does not support these ranks"),
        (r"resize.py::test_what.*crop-without-roi", "takes the whole image"),
        (
            r"hostile_models.py::.*(input-without-name|initializer-twice|opset-twice-and|attribute-refers-out|constant-with-two)",
            "accepts it",
        ),
        (r"hostile_tensors.py::.*(both-raw-and-floats|elsewhere\[unused|\[\[(3|1), 1\]-\[5\]-False)", "accepts it"),
        (r"hostile_external.py::.*unknown-key", "refuses unknown keys"),
        (r"hostile_external.py::test_onnxruntime_8422\[.*-0\]", "without a folder it looks in the working folder"),
        (r"running.py::.*big-endian", "reads the bytes in the wrong order"),
        (r"test_decisions.py::test_(relu_then_clip.*\[3\]|reduce_max)", "its decision is another one"),
        (r"test_prelu\[PRelu-float(16|32)", "broadcasts x to the slope"),
        (r"test_double_to_half_rounds_once", "goes through float32"),
        (r"test_matmul\[MatMul-uint|ReduceLogSum-uint|ReduceLogSumExp-int", "has no right kernel for the type"),
        (r"test_op_reduce.py::test_bad_axes", "takes an axis twice"),
        (r"test_large_sum_is_accurate", "loses four digits"),
        (r"test_move\[Gather-string", "gives empty strings when it gathers rows"),
        (r"test_op_conv.py::test_auto_pad\[2-.*SAME", "has no SAME with dilation"),
        (r"test_lrn\[[24]-", "refuses even sizes"),
        (r"test_op_rnn.py::test_(forms\[.*layout|types\[(GRU|LSTM)-float64)", "has no layout 1 and no float64"),
        (r"test_sparse_constant", "gives a sparse tensor"),
        (r"generate.py::test_nonzero", "gives one row for a scalar"),
        (r"test_dead_nodes_do_no_harm", "computes a dead integer division by zero at load"),
    ],
}


def _find(table, engine, test_id):
    return next((why for pattern, why in table.get(engine, []) if re.search(pattern, test_id)), None)


def crash(engine, test_id):
    return _find(CRASHES, engine, test_id)


def wrong(engine, test_id):
    return _find(WRONG, engine, test_id)
