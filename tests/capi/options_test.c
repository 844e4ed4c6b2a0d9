/* Compile options, devices and logs. */
#include "graphs.h"

static void options_have_documented_defaults(void** state) {
  (void)state;
  static const struct {
    const char* key;
    int64_t value;
  } defaults[] = {
      {"graph_opt_level", 3},       {"enable_const_fold", 1}, {"enable_mem_reuse", 1},
      {"buffer_optimize_level", 2}, {"assume_finite", 0},     {"threads", 0},
      {"winograd", 1},
      {"plan_cache_size", 32},      {"verify_passes", 0},     {"rewrite_limit", -1},
  };
  asc_compile_options* options = NULL;
  OK(asc_compile_options_create(&options));
  for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); ++i) {
    int64_t value = 99;
    OK(asc_compile_options_get_int(options, asc_text(defaults[i].key), &value));
    assert_int_equal(value, defaults[i].value);
    OK(asc_compile_options_set_int(options, asc_text(defaults[i].key), value));
  }
  asc_string text;
  OK(asc_compile_options_get_text(options, asc_text("dump_path"), &text));
  assert_int_equal(text.size, 0);
  OK(asc_compile_options_get_text(options, asc_text("precision_mode"), &text));
  assert_true(text_is(text, "must_keep_origin_dtype"));
  asc_compile_options_release(options);
}

static void options_are_set_and_copied(void** state) {
  (void)state;
  asc_compile_options *options = NULL, *copy = NULL;
  int64_t value = 0;
  asc_string text;
  OK(asc_compile_options_create(&options));
  OK(asc_compile_options_set_int(options, asc_text("graph_opt_level"), 1));
  OK(asc_compile_options_set_int(options, asc_text("threads"), 1000000000000)); /* capped */
  OK(asc_compile_options_set_text(options, asc_text("precision_mode"), asc_text("origin")));
  OK(asc_compile_options_set_text(options, asc_text("dump_path"), asc_text("dump")));
  OK(asc_compile_options_set_fusion_mode(options, 0, ASC_FUSION_OFF));
  OK(asc_compile_options_disable_fusion(options, 3, asc_text("ALL")));
  OK(asc_compile_options_copy(options, &copy));
  OK(asc_compile_options_set_int(options, asc_text("graph_opt_level"), 0));
  OK(asc_compile_options_get_int(copy, asc_text("graph_opt_level"), &value));
  assert_int_equal(value, 1);
  OK(asc_compile_options_get_text(copy, asc_text("dump_path"), &text));
  assert_true(text_is(text, "dump"));
  asc_compile_options_release(copy);
  asc_compile_options_release(options);
}

static void what_is_wrong_or_not_built_is_refused_by_name(void** state) {
  (void)state;
  asc_compile_options* options = NULL;
  int64_t value = 0;
  asc_string text;
  OK(asc_compile_options_create(&options));
  FAILS(ASC_INVALID_ARGUMENT, "did you mean 'graph_opt_level'",
        asc_compile_options_set_int(options, asc_text("graph_opt_lvel"), 1));
  FAILS(ASC_INVALID_ARGUMENT, "graph_opt_level must be from 0 to 3, given 4",
        asc_compile_options_set_int(options, asc_text("graph_opt_level"), 4));
  FAILS(ASC_INVALID_ARGUMENT, "must be 0 or 1",
        asc_compile_options_set_int(options, asc_text("assume_finite"), 2));
  FAILS(ASC_INVALID_ARGUMENT, "threads",
        asc_compile_options_set_int(options, asc_text("threads"), -1));
  FAILS(ASC_INVALID_ARGUMENT, "out of range",
        asc_compile_options_set_int(options, asc_text("graph_opt_level"), (int64_t)1 << 33));
  FAILS(ASC_TYPE_MISMATCH, "given a number",
        asc_compile_options_set_int(options, asc_text("dump_path"), 1));
  FAILS(ASC_TYPE_MISMATCH, "given a number",
        asc_compile_options_get_int(options, asc_text("precision_mode"), &value));
  FAILS(ASC_TYPE_MISMATCH, "given a text",
        asc_compile_options_set_text(options, asc_text("threads"), asc_text("2")));
  FAILS(ASC_UNAVAILABLE, "'force_fp16' is not built yet",
        asc_compile_options_set_text(options, asc_text("precision_mode"), asc_text("force_fp16")));
  FAILS(ASC_INVALID_ARGUMENT, "did you mean 'force_fp16'",
        asc_compile_options_set_text(options, asc_text("precision_mode"), asc_text("force_fp61")));
  FAILS(ASC_UNAVAILABLE, "'cache_dir' is not built yet",
        asc_compile_options_set_text(options, asc_text("cache_dir"), asc_text("x")));
  FAILS(ASC_NOT_FOUND, "there is no fusion 'Convv'",
        asc_compile_options_disable_fusion(options, 0, asc_text("Convv")));
  FAILS(ASC_INVALID_ARGUMENT, "given 4", asc_compile_options_set_fusion_mode(options, 0, 4));
  FAILS(ASC_INVALID_ARGUMENT, "given -1", asc_compile_options_set_fusion_mode(options, -1, 0));
  FAILS(ASC_INVALID_ARGUMENT, "given -1",
        asc_compile_options_disable_fusion(options, -1, asc_text("ALL")));
  FAILS(ASC_INVALID_ARGUMENT, "'options' is NULL",
        asc_compile_options_set_int(NULL, asc_text("threads"), 1));
  FAILS(ASC_INVALID_ARGUMENT, "'options' is NULL",
        asc_compile_options_set_text(NULL, asc_text("dump_path"), asc_text("")));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL",
        asc_compile_options_get_int(options, asc_text("threads"), NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL",
        asc_compile_options_get_text(options, asc_text("dump_path"), NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'options' is NULL",
        asc_compile_options_get_text(NULL, asc_text("dump_path"), &text));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_compile_options_create(NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'options' is NULL", asc_compile_options_copy(NULL, &options));
  FAILS(ASC_INVALID_ARGUMENT, "'options' is NULL", asc_compile_options_set_fusion_mode(NULL, 0, 0));
  FAILS(ASC_INVALID_ARGUMENT, "'options' is NULL",
        asc_compile_options_disable_fusion(NULL, 0, asc_text("ALL")));
  asc_compile_options_release(options);
}

static void threads_hold_for_the_session(void** state) {
  (void)state;
  asc_compile_options* options = NULL;
  asc_graph* graph = relu_graph("1");
  asc_session* session = NULL;
  int64_t threads = 0;
  OK(asc_compile_options_create(&options));
  OK(asc_compile_options_set_int(options, asc_text("threads"), 1));
  OK(asc_session_create(graph, asc_text(""), options, &session));
  asc_compile_options_release(options);
  OK(asc_session_get_counter(session, asc_text("threads"), &threads));
  assert_int_equal(threads, 1);
  asc_session_release(session);
  asc_graph_release(graph);
}

static void devices_tell_their_properties(void** state) {
  (void)state;
  asc_bytes* text = NULL;
  OK(asc_device_create_list(&text));
  assert_non_null(strstr(asc_bytes_get(text).data, "\"id\":\"cpu\""));
  assert_non_null(strstr(asc_bytes_get(text).data, "\"id\":\"npu:0\""));
  asc_bytes_release(text);
  OK(asc_device_create_properties(asc_text("0"), &text));
  assert_non_null(strstr(asc_bytes_get(text).data, "\"kind\":\"emulated\""));
  asc_bytes_release(text);
  FAILS(ASC_DEVICE, "'gpu'", asc_device_create_properties(asc_text("gpu"), &text));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_device_create_list(NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_device_create_properties(asc_text("cpu"), NULL));
}

static void memory_is_counted_and_limited(void** state) {
  (void)state;
  int64_t before = 0, now = 0, peak = 0, limit = 0;
  asc_value *value = NULL, *more = NULL;
  OK(asc_device_get_memory(asc_text("cpu"), &before, &peak, &limit));
  assert_int_equal(limit, 0);
  OK(asc_value_create_tensor(ASC_UINT8, (int64_t[]){1 << 20}, 1, &value));
  OK(asc_device_get_memory(asc_text("cpu"), &now, &peak, &limit));
  assert_int_equal(now - before, 1 << 20);
  assert_true(peak >= now);
  OK(asc_device_set_memory_limit(asc_text("cpu"), now + 1000));
  FAILS(ASC_OUT_OF_MEMORY, "the limit is",
        asc_value_create_tensor(ASC_UINT8, (int64_t[]){1 << 20}, 1, &more));
  FAILS(ASC_INVALID_ARGUMENT, "in use", asc_device_set_memory_limit(asc_text("cpu"), 1));
  OK(asc_device_set_memory_limit(asc_text("cpu"), 0));
  asc_value_release(value);
  OK(asc_device_reset_peak(asc_text("cpu")));
  OK(asc_device_get_memory(asc_text("cpu"), &now, &peak, &limit));
  assert_int_equal(now, before);
  assert_int_equal(peak, before);
  OK(asc_device_inject_allocation_failure(asc_text("cpu"), 1));
  OK(asc_value_create_tensor(ASC_UINT8, NULL, 0, &value));
  FAILS(ASC_OUT_OF_MEMORY, "hook", asc_value_create_tensor(ASC_UINT8, NULL, 0, &more));
  OK(asc_value_create_tensor(ASC_UINT8, NULL, 0, &more));
  OK(asc_device_inject_allocation_failure(asc_text("cpu"), -1));
  asc_value_release(more);
  asc_value_release(value);
  FAILS(ASC_INVALID_ARGUMENT, "given -2",
        asc_device_inject_allocation_failure(asc_text("cpu"), -2));
  FAILS(ASC_DEVICE, "npu:7", asc_device_inject_allocation_failure(asc_text("npu:7"), 0));
  FAILS(ASC_DEVICE, "npu:7", asc_device_set_memory_limit(asc_text("npu:7"), 0));
  FAILS(ASC_DEVICE, "npu:7", asc_device_reset_peak(asc_text("npu:7")));
  FAILS(ASC_INVALID_ARGUMENT, "'peak_bytes' is NULL",
        asc_device_get_memory(asc_text("cpu"), &now, NULL, &limit));
}

static void logs_are_taken_from_a_queue(void** state) {
  (void)state;
  asc_log_records* records = NULL;
  size_t count = 9;
  asc_log_level level = 0;
  asc_string message;
  OK(asc_log_take_records(&records)); /* whatever was there */
  asc_log_records_release(records);
  OK(asc_log_take_records(&records));
  OK(asc_log_records_get_count(records, &count));
  assert_int_equal(count, 0);
  FAILS(ASC_OUT_OF_RANGE, "record 0 of 0", asc_log_records_get(records, 0, &level, &message));
  asc_log_records_retain(records);
  asc_log_records_release(records);
  asc_log_records_release(records);
  OK(asc_log_set_level(ASC_LOG_DEBUG));
  OK(asc_log_set_level(ASC_LOG_WARNING));
  FAILS(ASC_INVALID_ARGUMENT, "given 15", asc_log_set_level(15));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_log_take_records(NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'records' is NULL", asc_log_records_get_count(NULL, &count));
  FAILS(ASC_INVALID_ARGUMENT, "'records' is NULL", asc_log_records_get(NULL, 0, &level, &message));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(options_have_documented_defaults),
      TEST(options_are_set_and_copied),
      TEST(what_is_wrong_or_not_built_is_refused_by_name),
      TEST(threads_hold_for_the_session),
      TEST(devices_tell_their_properties),
      TEST(memory_is_counted_and_limited),
      TEST(logs_are_taken_from_a_queue),
  };
  return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
