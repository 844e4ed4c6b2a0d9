/* Compiling, running, inspecting. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "graphs.h"

static void a_session_says_what_it_takes_and_gives(void** state) {
  (void)state;
  asc_session* session = compiled(relu_graph("N"));
  size_t count = 0;
  asc_string name, text;
  const asc_type* type = NULL;
  OK(asc_session_get_input_count(session, &count));
  assert_int_equal(count, 1);
  OK(asc_session_get_output_count(session, &count));
  assert_int_equal(count, 1);
  OK(asc_session_get_input(session, 0, &name, &type));
  assert_true(text_is(name, "x"));
  OK(asc_type_get_text(type, &text));
  assert_true(text_is(text, "float32[N, 3]"));
  OK(asc_session_get_output(session, 0, &name, &type));
  assert_true(text_is(name, "y"));
  FAILS(ASC_OUT_OF_RANGE, "input 1", asc_session_get_input(session, 1, &name, &type));
  FAILS(ASC_OUT_OF_RANGE, "output 1", asc_session_get_output(session, 1, &name, &type));
  asc_session_release(session);
}

static void runs_take_values_of_any_fitting_shape(void** state) {
  (void)state;
  asc_session* session = compiled(relu_graph("N"));
  for (int64_t rows = 1; rows <= 4; ++rows) {
    asc_value *x = rows_of_floats(rows), *y = NULL;
    OK(asc_session_run(session, (const asc_value* const[]){x}, 1, NULL, &y, 1));
    assert_relu_of_rows(y, rows);
    asc_value_release(y);
    asc_value_release(x);
  }
  int64_t plans = 0;
  OK(asc_session_get_counter(session, asc_text("plans_made"), &plans));
  assert_int_equal(plans, 4);
  FAILS(ASC_INVALID_ARGUMENT, "did you mean 'plans_made'",
        asc_session_get_counter(session, asc_text("plans_mad"), &plans));
  asc_session_release(session);
}

static void inputs_that_do_not_fit_are_refused_by_name(void** state) {
  (void)state;
  asc_session* session = compiled(relu_graph("2"));
  asc_value *wrong_rows = rows_of_floats(3), *ints = NULL, *none = NULL, *y = NULL,
            *good = rows_of_floats(2);
  OK(asc_value_create_tensor(ASC_INT32, (int64_t[]){2, 3}, 2, &ints));
  OK(asc_value_create_optional(NULL, &none));
  FAILS(ASC_SHAPE_MISMATCH, "'x'",
        asc_session_run(session, (const asc_value* const[]){wrong_rows}, 1, NULL, &y, 1));
  FAILS(ASC_TYPE_MISMATCH, "'x'",
        asc_session_run(session, (const asc_value* const[]){ints}, 1, NULL, &y, 1));
  FAILS(ASC_TYPE_MISMATCH, "'x'",
        asc_session_run(session, (const asc_value* const[]){none}, 1, NULL, &y, 1));
  FAILS(ASC_TYPE_MISMATCH, "'x'",
        asc_session_run(session, (const asc_value* const[]){NULL}, 1, NULL, &y, 1));
  FAILS(ASC_INVALID_ARGUMENT, "given 0", asc_session_run(session, NULL, 0, NULL, &y, 1));
  FAILS(ASC_INVALID_ARGUMENT, "room for 2",
        asc_session_run(session, (const asc_value* const[]){good}, 1, NULL,
                        (asc_value* [2]){NULL, NULL}, 2));
  assert_null(y);
  OK(asc_session_run(session, (const asc_value* const[]){good}, 1, NULL, &y,
                     1)); /* it still works */
  assert_relu_of_rows(y, 2);
  asc_value_release(y);
  asc_value_release(good);
  asc_value_release(none);
  asc_value_release(ints);
  asc_value_release(wrong_rows);
  asc_session_release(session);
}

static void count_call(void* user_data) { ++*(int*)user_data; }

static void borrowed_inputs_are_given_back_after_the_run(void** state) {
  (void)state;
  asc_session* session = compiled(relu_graph("1"));
  float memory[3] = {-1, 0, 1};
  int calls = 0;
  asc_value *x = NULL, *y = NULL;
  OK(asc_value_create_tensor_borrowed(ASC_FLOAT32, (int64_t[]){1, 3}, 2, memory, sizeof(memory), 1,
                                      count_call, &calls, &x));
  OK(asc_session_run(session, (const asc_value* const[]){x}, 1, NULL, &y, 1));
  assert_int_equal(calls, 0);
  asc_value_release(x);
  assert_int_equal(calls, 1);
  assert_relu_of_rows(y, 1);
  asc_value_release(y);
  asc_session_release(session);
}

static void outputs_go_into_given_tensors(void** state) {
  (void)state;
  asc_session* session = compiled(relu_graph("N"));
  asc_run_options* options = NULL;
  asc_value *x = rows_of_floats(2), *target = NULL, *y = NULL, *small = NULL, *ints = NULL;
  OK(asc_value_create_tensor(ASC_FLOAT32, (int64_t[]){2, 3}, 2, &target));
  OK(asc_value_create_tensor(ASC_FLOAT32, (int64_t[]){1, 3}, 2, &small));
  OK(asc_value_create_tensor(ASC_INT32, (int64_t[]){2, 3}, 2, &ints));
  OK(asc_run_options_create(&options));
  OK(asc_run_options_set_output(options, 0, target));
  OK(asc_session_run(session, (const asc_value* const[]){x}, 1, options, &y, 1));
  const void *got = NULL, *expected = NULL;
  size_t bytes = 0;
  OK(asc_value_get_data(y, &got, &bytes));
  OK(asc_value_get_data(target, &expected, &bytes));
  assert_ptr_equal(got, expected);
  assert_relu_of_rows(target, 2);
  asc_value_release(y);
  y = NULL;
  OK(asc_run_options_set_output(options, 0, small));
  FAILS(ASC_SHAPE_MISMATCH, "'y'",
        asc_session_run(session, (const asc_value* const[]){x}, 1, options, &y, 1));
  OK(asc_run_options_set_output(options, 0, ints));
  FAILS(ASC_TYPE_MISMATCH, "'y'",
        asc_session_run(session, (const asc_value* const[]){x}, 1, options, &y, 1));
  OK(asc_run_options_set_output(options, 0, NULL));
  OK(asc_run_options_set_output(options, 1, target));
  FAILS(ASC_INVALID_ARGUMENT, "arrays for 2",
        asc_session_run(session, (const asc_value* const[]){x}, 1, options, &y, 1));
  FAILS(ASC_OUT_OF_RANGE, "no output", asc_run_options_set_output(options, (size_t)-1, target));
  assert_null(y);
  asc_run_options_release(options);
  asc_value_release(ints);
  asc_value_release(small);
  asc_value_release(target);
  asc_value_release(x);
  asc_session_release(session);
}

static void asynchronous_runs_come_with_a_future(void** state) {
  (void)state;
  asc_session* session = compiled(relu_graph("N"));
  asc_future* futures[8];
  for (int64_t i = 0; i < 8; ++i) {
    asc_value* x = rows_of_floats(i + 1);
    OK(asc_session_run_async(session, (const asc_value* const[]){x}, 1, NULL, &futures[i]));
    asc_value_release(x); /* the run has its own share */
  }
  asc_session_release(session); /* and keeps the session */
  for (int64_t i = 0; i < 8; ++i) {
    asc_value *y = NULL, *again = NULL;
    FAILS(ASC_INVALID_ARGUMENT, "room for 0", asc_future_wait(futures[i], NULL, 0));
    OK(asc_future_wait(futures[i], &y, 1));
    OK(asc_future_wait(futures[i], &again, 1));
    assert_relu_of_rows(y, i + 1);
    assert_relu_of_rows(again, i + 1);
    int32_t done = 0;
    OK(asc_future_wait_for(futures[i], 0, &done));
    assert_int_equal(done, 1);
    OK(asc_future_wait_for(futures[i], 1000, &done));
    assert_int_equal(done, 1);
    asc_value_release(again);
    asc_value_release(y);
    asc_future_release(futures[i]);
  }
}

static void* run_many_times(void* argument) {
  asc_session* session = (asc_session*)argument;
  for (int64_t round = 0; round < 200; ++round) {
    const int64_t rows = round % 3 + 1;
    asc_value *x = rows_of_floats(rows), *y = NULL;
    OK(asc_session_run(session, (const asc_value* const[]){x}, 1, NULL, &y, 1));
    assert_relu_of_rows(y, rows);
    asc_value_release(y);
    asc_value_release(x);
  }
  asc_session_release(session);
  return NULL;
}

static void a_session_serves_many_threads(void** state) {
  (void)state;
  asc_session* session = compiled(relu_graph("N"));
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i) {
    asc_session_retain(session);
    assert_int_equal(pthread_create(&threads[i], NULL, run_many_times, session), 0);
  }
  asc_session_release(session);
  for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
}

static void failures_arrive_in_the_future(void** state) {
  (void)state;
  asc_session* session = compiled(relu_graph("2"));
  asc_value *wrong = rows_of_floats(3), *right = rows_of_floats(2), *y = NULL;
  asc_future* future = NULL;
  OK(asc_session_run_async(session, (const asc_value* const[]){wrong}, 1, NULL, &future));
  FAILS(ASC_SHAPE_MISMATCH, "'x'", asc_future_wait(future, &y, 1));
  asc_future_release(future);
  asc_cancel_token* token = NULL;
  asc_run_options* options = NULL;
  OK(asc_cancel_token_create(&token));
  OK(asc_run_options_create(&options));
  OK(asc_run_options_set_cancel_token(options, token));
  OK(asc_run_options_set_seed(options, 7));
  OK(asc_session_run(session, (const asc_value* const[]){right}, 1, options, &y,
                     1)); /* not cancelled yet */
  asc_value_release(y);
  OK(asc_cancel_token_cancel(token));
  FAILS(ASC_CANCELLED, "cancelled",
        asc_session_run(session, (const asc_value* const[]){right}, 1, options, &y, 1));
  OK(asc_session_run_async(session, (const asc_value* const[]){right}, 1, options, &future));
  FAILS(ASC_CANCELLED, "cancelled", asc_future_wait(future, &y, 1));
  asc_future_release(future);
  OK(asc_run_options_set_cancel_token(options, NULL));
  OK(asc_session_run(session, (const asc_value* const[]){right}, 1, options, &y, 1));
  asc_value_release(y);
  asc_run_options_release(options);
  asc_cancel_token_release(token);
  asc_value_release(right);
  asc_value_release(wrong);
  asc_session_release(session);
}

static void variables_are_read_and_set_by_name(void** state) {
  (void)state;
  asc_graph* graph = NULL;
  asc_value *initial = rows_of_floats(1), *y = NULL, *now = NULL, *other = rows_of_floats(2),
            *zeros = NULL;
  asc_value_id variable = ASC_ABSENT, out = ASC_ABSENT;
  OK(asc_graph_create(asc_text("variables"), &graph));
  OK(asc_graph_add_variable(graph, asc_text("weight"), initial, &variable));
  OK(asc_graph_add_operator(graph, asc_text("relu"), &variable, 1, NULL, NULL, asc_text("y"), 1,
                            &out));
  OK(asc_graph_add_output(graph, out, asc_text("")));
  asc_session* session = compiled(graph);
  OK(asc_session_run(session, NULL, 0, NULL, &y, 1));
  assert_relu_of_rows(y, 1);
  asc_value_release(y);
  OK(asc_session_create_variable(session, asc_text("weight"), &now));
  asc_value_release(now);
  const float zero[3] = {0, 0, 0};
  OK(asc_value_create_tensor_copy(ASC_FLOAT32, (int64_t[]){1, 3}, 2, zero, sizeof(zero), &zeros));
  OK(asc_session_set_variable(session, asc_text("weight"), zeros));
  OK(asc_session_run(session, NULL, 0, NULL, &y, 1));
  const void* data = NULL;
  size_t bytes = 0;
  OK(asc_value_get_data(y, &data, &bytes));
  assert_memory_equal(data, zero, sizeof(zero));
  asc_value_release(y);
  FAILS(ASC_SHAPE_MISMATCH, "'weight'",
        asc_session_set_variable(session, asc_text("weight"), other));
  FAILS(ASC_NOT_FOUND, "did you mean 'weight'",
        asc_session_set_variable(session, asc_text("wieght"), zeros));
  FAILS(ASC_NOT_FOUND, "did you mean 'weight'",
        asc_session_create_variable(session, asc_text("wieght"), &now));
  FAILS(ASC_INVALID_ARGUMENT, "'value' is NULL",
        asc_session_set_variable(session, asc_text("weight"), NULL));
  asc_value_release(zeros);
  asc_value_release(other);
  asc_value_release(initial);
  asc_session_release(session);
}

static void a_session_describes_itself(void** state) {
  (void)state;
  asc_session* fixed = compiled(relu_graph("2"));
  asc_session* dynamic = compiled(relu_graph("N"));
  asc_bytes* text = NULL;
  asc_graph* graph = NULL;
  OK(asc_session_create_summary(fixed, &text));
  assert_non_null(strstr(asc_bytes_get(text).data, "\"operator\":\"Relu\""));
  assert_non_null(strstr(asc_bytes_get(text).data, "\"device\":\"cpu\""));
  asc_bytes_release(text);
  OK(asc_session_create_summary(dynamic, &text));
  assert_non_null(strstr(asc_bytes_get(text).data, "float32[N, 3]"));
  asc_bytes_release(text);
  OK(asc_session_create_memory_plan(fixed, NULL, 0, &text));
  assert_non_null(strstr(asc_bytes_get(text).data, "\"kind\":\"output\""));
  asc_bytes_release(text);
  FAILS(ASC_INVALID_ARGUMENT, "not fixed", asc_session_create_memory_plan(dynamic, NULL, 0, &text));
  const asc_string extents[] = {asc_text("5"), asc_text("3")};
  asc_type *five = NULL, *unknown = NULL;
  OK(asc_type_create_tensor(ASC_FLOAT32, extents, 2, &five));
  OK(asc_type_create_unranked(ASC_FLOAT32, &unknown));
  OK(asc_session_create_memory_plan(dynamic, (const asc_type* const[]){five}, 1, &text));
  assert_non_null(strstr(asc_bytes_get(text).data, "float32[5, 3]"));
  asc_bytes_release(text);
  FAILS(ASC_INVALID_ARGUMENT, "fixed shape",
        asc_session_create_memory_plan(dynamic, (const asc_type* const[]){unknown}, 1, &text));
  FAILS(ASC_SHAPE_MISMATCH, "'x'",
        asc_session_create_memory_plan(fixed, (const asc_type* const[]){five}, 1, &text));
  OK(asc_session_create_metadata(fixed, &text));
  assert_true(text_is(asc_bytes_get(text), "{}"));
  asc_bytes_release(text);
  OK(asc_session_create_pass_report(fixed, &text));
  asc_bytes_release(text);
  OK(asc_session_create_graph(fixed, &graph));
  OK(asc_graph_create_text(graph, &text));
  assert_non_null(strstr(asc_bytes_get(text).data, "= Relu"));
  asc_bytes_release(text);
  OK(asc_graph_create_dot(graph, &text));
  assert_memory_equal(asc_bytes_get(text).data, "digraph", 7);
  asc_bytes_release(text);
  asc_graph_release(graph);
  asc_type_release(unknown);
  asc_type_release(five);
  asc_session_release(dynamic);
  asc_session_release(fixed);
}

static void compiled_models_are_saved_and_loaded(void** state) {
  (void)state;
  char path[] = "/tmp/asc_session_test_XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  asc_session *session = compiled(relu_graph("N")), *loaded = NULL;
  asc_value *x = rows_of_floats(2), *y = NULL, *bytes = NULL;
  OK(asc_session_save_file(session, asc_text(path)));
  OK(asc_session_load_file(asc_text(path), asc_text(""), NULL, &loaded));
  OK(asc_session_run(loaded, (const asc_value* const[]){x}, 1, NULL, &y, 1));
  assert_relu_of_rows(y, 2);
  asc_value_release(y);
  asc_session_release(loaded);
  char content[1 << 16];
  const int saved = open(path, O_RDONLY);
  const ssize_t saved_size = read(saved, content, sizeof(content));
  assert_in_range(saved_size, 1, sizeof(content) - 1);
  OK(asc_value_create_tensor_copy(ASC_UINT8, (int64_t[]){saved_size}, 1, content,
                                  (size_t)saved_size, &bytes));
  OK(asc_session_load_bytes(bytes, asc_text(""), NULL, &loaded));
  OK(asc_session_run(loaded, (const asc_value* const[]){x}, 1, NULL, &y, 1));
  assert_relu_of_rows(y, 2);
  asc_value_release(y);
  asc_session_release(loaded);
  asc_value_release(bytes);
  close(saved);
  unlink(path);
  FAILS(ASC_IO, "no_such_folder",
        asc_session_save_file(session, asc_text("no_such_folder/model.om")));
  FAILS(ASC_INVALID_ARGUMENT, "empty", asc_session_save_file(session, asc_text("")));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL",
        asc_session_save_file(NULL, asc_text("model.om")));
  asc_value_release(x);
  asc_session_release(session);
}

/* scaled.onnx: y = x * scale, reshaped to target; scale (2) and target ([2, -1]) have defaults. */
static void inputs_with_a_default_may_follow_the_others(void** state) {
  (void)state;
  asc_session* session = NULL;
  OK(asc_session_load_file(asc_text(TEST_DATA "/scaled.onnx"), asc_text(""), NULL, &session));
  size_t count = 0;
  OK(asc_session_get_input_count(session, &count));
  assert_int_equal(count, 1);
  OK(asc_session_get_overridable_count(session, &count));
  assert_int_equal(count, 2);
  asc_string name = {NULL, 0};
  const asc_type* type = NULL;
  OK(asc_session_get_overridable(session, 1, &name, &type));
  assert_true(text_is(name, "target"));
  FAILS(ASC_OUT_OF_RANGE, "overridable input 2",
        asc_session_get_overridable(session, 2, &name, &type));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL", asc_session_get_overridable_count(NULL, &count));

  const float elements[] = {1, 2, 3, 4}, half = 0.5f;
  const int64_t four_one[] = {4, 1};
  asc_value *x = NULL, *scale = NULL, *target = NULL;
  OK(asc_value_create_tensor_copy(ASC_FLOAT32, (int64_t[]){4}, 1, elements, sizeof elements, &x));
  OK(asc_value_create_tensor_copy(ASC_FLOAT32, NULL, 0, &half, sizeof half, &scale));
  OK(asc_value_create_tensor_copy(ASC_INT64, (int64_t[]){2}, 1, four_one, sizeof four_one,
                                  &target));
  const struct {
    const asc_value* inputs[3];
    size_t count;
    int64_t rows;
    float last;
  } runs[] = {
      {{x}, 1, 2, 8},
      {{x, NULL}, 2, 2, 8},
      {{x, NULL, NULL}, 3, 2, 8},
      {{x, scale}, 2, 2, 2},
      {{x, scale, NULL}, 3, 2, 2},
      {{x, NULL, target}, 3, 4, 8},
      {{x, scale, target}, 3, 4, 2},
  };
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; ++i) {
    asc_value* y = NULL;
    const int64_t* dims = NULL;
    const void* data = NULL;
    size_t rank = 0, bytes = 0;
    OK(asc_session_run(session, runs[i].inputs, runs[i].count, NULL, &y, 1));
    OK(asc_value_get_dims(y, &dims, &rank));
    assert_int_equal(dims[0], runs[i].rows);
    OK(asc_value_get_data(y, &data, &bytes));
    assert_float_equal(((const float*)data)[3], runs[i].last, 0);
    asc_value_release(y);
  }
  asc_value* y = NULL;
  const asc_value* const too_many[] = {x, scale, target, x};
  FAILS(ASC_INVALID_ARGUMENT, "given 4", asc_session_run(session, too_many, 4, NULL, &y, 1));
  FAILS(ASC_INVALID_ARGUMENT, "1 inputs", asc_session_run(session, NULL, 0, NULL, &y, 1));
  FAILS(ASC_TYPE_MISMATCH, "'scale'",
        asc_session_run(session, (const asc_value* const[]){x, target}, 2, NULL, &y, 1));
  asc_value_release(target);
  asc_value_release(scale);
  asc_value_release(x);
  asc_session_release(session);
}

static void models_that_are_none_are_refused(void** state) {
  (void)state;
  asc_session* session = NULL;
  asc_graph* graph = NULL;
  asc_value *garbage = NULL, *floats = rows_of_floats(1);
  OK(asc_value_create_tensor_copy(ASC_UINT8, (int64_t[]){7}, 1, "garbage", 7, &garbage));
  FAILS(ASC_IO, "no_such_file",
        asc_session_load_file(asc_text("no_such_file.onnx"), asc_text(""), NULL, &session));
  FAILS(ASC_IO, "model.om",
        asc_session_load_file(asc_text("model.om"), asc_text(""), NULL, &session));
  FAILS(ASC_INVALID_ARGUMENT, "empty",
        asc_session_load_file(asc_text(""), asc_text(""), NULL, &session));
  FAILS(ASC_INVALID_ARGUMENT, "zero byte",
        asc_session_load_file((asc_string){"a\0b", 3}, asc_text(""), NULL, &session));
  FAILS(ASC_INVALID_MODEL, "", asc_session_load_bytes(garbage, asc_text(""), NULL, &session));
  FAILS(ASC_TYPE_MISMATCH, "uint8", asc_session_load_bytes(floats, asc_text(""), NULL, &session));
  FAILS(ASC_INVALID_ARGUMENT, "'model' is NULL",
        asc_session_load_bytes(NULL, asc_text(""), NULL, &session));
  FAILS(ASC_INVALID_MODEL, "", asc_graph_import_bytes(garbage, &graph));
  FAILS(ASC_IO, "no_such_file", asc_graph_import_file(asc_text("no_such_file.onnx"), &graph));
  OK(asc_graph_create(asc_text("empty"), &graph));
  FAILS(ASC_INVALID_ARGUMENT, "no outputs",
        asc_session_create(graph, asc_text(""), NULL, &session));
  asc_graph_release(graph);
  graph = relu_graph("1");
  FAILS(ASC_DEVICE, "npu:9", asc_session_create(graph, asc_text("npu:9"), NULL, &session));
  OK(asc_session_create(graph, asc_text("npu:0"), NULL, &session));
  asc_session_release(session);
  asc_graph_release(graph);
  asc_value_release(floats);
  asc_value_release(garbage);
}

static void null_arguments_are_refused(void** state) {
  (void)state;
  asc_session* session = compiled(relu_graph("1"));
  asc_session* made = NULL;
  asc_graph* graph = relu_graph("1");
  asc_value *x = rows_of_floats(1), *y = NULL;
  asc_future* future = NULL;
  asc_bytes* text = NULL;
  size_t count;
  asc_string name;
  const asc_type* type;
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL",
        asc_session_create(NULL, asc_text(""), NULL, &made));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_session_create(graph, asc_text(""), NULL, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL",
        asc_session_load_file(asc_text("x"), asc_text(""), NULL, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'name' is NULL",
        asc_session_create(graph, (asc_string){NULL, 1}, NULL, &made));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL", asc_session_get_input_count(NULL, &count));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_session_get_output_count(session, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL", asc_session_get_output(NULL, 0, &name, &type));
  FAILS(ASC_INVALID_ARGUMENT, "'name' is NULL", asc_session_get_output(session, 0, NULL, &type));
  FAILS(ASC_INVALID_ARGUMENT, "'type' is NULL", asc_session_get_input(session, 0, &name, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL", asc_session_run(NULL, NULL, 0, NULL, &y, 1));
  FAILS(ASC_INVALID_ARGUMENT, "'inputs' is NULL", asc_session_run(session, NULL, 1, NULL, &y, 1));
  FAILS(ASC_INVALID_ARGUMENT, "'outputs' is NULL",
        asc_session_run(session, (const asc_value* const[]){x}, 1, NULL, NULL, 1));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL",
        asc_session_run_async(NULL, NULL, 0, NULL, &future));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL",
        asc_session_run_async(session, (const asc_value* const[]){x}, 1, NULL, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'future' is NULL", asc_future_wait(NULL, &y, 1));
  FAILS(ASC_INVALID_ARGUMENT, "'future' is NULL", asc_future_wait_for(NULL, 1, &(int32_t){0}));
  FAILS(ASC_INVALID_ARGUMENT, "'token' is NULL", asc_cancel_token_cancel(NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_cancel_token_create(NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_run_options_create(NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'options' is NULL", asc_run_options_set_seed(NULL, 1));
  FAILS(ASC_INVALID_ARGUMENT, "'options' is NULL", asc_run_options_set_output(NULL, 0, x));
  FAILS(ASC_INVALID_ARGUMENT, "'options' is NULL", asc_run_options_set_cancel_token(NULL, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL",
        asc_session_create_variable(NULL, asc_text("v"), &y));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL", asc_session_create_summary(NULL, &text));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_session_create_summary(session, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL",
        asc_session_create_memory_plan(NULL, NULL, 0, &text));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL", asc_session_create_pass_report(NULL, &text));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL", asc_session_create_metadata(NULL, &text));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL", asc_session_create_graph(NULL, &graph));
  FAILS(ASC_INVALID_ARGUMENT, "'session' is NULL",
        asc_session_get_counter(NULL, asc_text("threads"), &(int64_t){0}));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_create_text(NULL, &text));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_create_dot(NULL, &text));
  asc_value_release(x);
  asc_graph_release(graph);
  asc_session_release(session);
  FAILS(ASC_DESTROYED, "the session was released", asc_session_get_input_count(session, &count));
}

/* One run, which must give what it should. */
static asc_status* run_once(asc_session* session, const asc_value* x) {
  asc_value* y = NULL;
  asc_status* status = asc_session_run(session, &x, 1, NULL, &y, 1);
  if (status == NULL) assert_relu_of_rows(y, 2);
  asc_value_release(y);
  return status;
}

static asc_status* run_once_async(asc_session* session, const asc_value* x) {
  asc_value* y = NULL;
  asc_future* future = NULL;
  asc_status* status = asc_session_run_async(session, &x, 1, NULL, &future);
  if (status == NULL) status = asc_future_wait(future, &y, 1);
  if (status == NULL) assert_relu_of_rows(y, 2);
  asc_value_release(y);
  asc_future_release(future);
  return status;
}

static void every_refused_allocation_leaves_the_session_usable(void** state) {
  (void)state;
  asc_graph* graph = relu_graph("N");
  asc_session* session = NULL;
  asc_value* x = rows_of_floats(2);
  FAILS_AT_EACH_ALLOCATION(asc_session_create(graph, asc_text("cpu"), NULL, &session));
  FAILS_AT_EACH_ALLOCATION(run_once(session, x));
  FAILS_AT_EACH_ALLOCATION(run_once(session, x)); /* now with the plan in the cache */
  FAILS_AT_EACH_ALLOCATION(run_once_async(session, x));
  int64_t nth = 0;
  for (;; ++nth) {
    OK(asc_device_inject_allocation_failure(asc_text("cpu"), nth));
    asc_status* status = run_once(session, x);
    if (status == NULL) break;
    assert_int_equal(asc_status_code(status), ASC_OUT_OF_MEMORY);
    asc_status_release(status);
  }
  OK(asc_device_inject_allocation_failure(asc_text("cpu"), -1));
  assert_in_range(nth, 1, 100);
  OK(run_once(session, x));
  asc_value_release(x);
  asc_session_release(session);
  asc_graph_release(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_session_says_what_it_takes_and_gives),
      TEST(runs_take_values_of_any_fitting_shape),
      TEST(inputs_that_do_not_fit_are_refused_by_name),
      TEST(borrowed_inputs_are_given_back_after_the_run),
      TEST(outputs_go_into_given_tensors),
      TEST(asynchronous_runs_come_with_a_future),
      TEST(a_session_serves_many_threads),
      TEST(failures_arrive_in_the_future),
      TEST(variables_are_read_and_set_by_name),
      TEST(a_session_describes_itself),
      TEST(compiled_models_are_saved_and_loaded),
      TEST(inputs_with_a_default_may_follow_the_others),
      TEST(models_that_are_none_are_refused),
      TEST(null_arguments_are_refused),
      TEST(every_refused_allocation_leaves_the_session_usable),
  };
  return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
