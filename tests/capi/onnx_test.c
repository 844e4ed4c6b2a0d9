/* Graphs as ONNX models. */
#include "support.h"

static asc_graph* relu_graph(void) {
  const asc_string extents[] = {asc_text("N"), asc_text("3")};
  asc_graph* graph = NULL;
  asc_type* type = NULL;
  asc_value_id x = ASC_ABSENT, y = ASC_ABSENT;
  OK(asc_graph_create(asc_text("test"), &graph));
  OK(asc_type_create_tensor(ASC_FLOAT32, extents, 2, &type));
  OK(asc_graph_add_input(graph, asc_text("x"), type, &x));
  asc_type_release(type);
  OK(asc_graph_add_operator(graph, asc_text("relu"), &x, 1, NULL, NULL, asc_text("y"), 1, &y));
  OK(asc_graph_add_output(graph, y, asc_text("y")));
  return graph;
}

static void bytes_come_back_as_the_same_graph(void** state) {
  (void)state;
  asc_graph* graph = relu_graph();
  asc_value* model = NULL;
  OK(asc_graph_export_bytes(graph, NULL, &model));
  asc_graph* again = NULL;
  OK(asc_graph_import_bytes(model, &again));
  size_t count = 0;
  OK(asc_graph_get_node_count(again, &count));
  assert_int_equal(count, 1);
  asc_string name;
  asc_value_id value = ASC_ABSENT;
  OK(asc_graph_get_output(again, 0, &name, &value));
  assert_true(text_is(name, "y"));
  asc_graph_release(again);
  asc_value_release(model);
  asc_graph_release(graph);
}

static void sessions_keep_the_graph_that_they_were_given(void** state) {
  (void)state;
  asc_graph* graph = relu_graph();
  asc_session* session = NULL;
  OK(asc_session_create(graph, asc_text("cpu"), NULL, &session));
  asc_graph_release(graph);
  asc_graph* source = NULL;
  OK(asc_session_create_source_graph(session, &source));
  size_t count = 0;
  OK(asc_graph_get_node_count(source, &count));
  assert_int_equal(count, 1);
  asc_graph_release(source);
  asc_session_release(session);
}

static void options_and_paths_are_checked(void** state) {
  (void)state;
  asc_graph* graph = relu_graph();
  asc_export_options* options = NULL;
  OK(asc_export_options_create(&options));
  OK(asc_export_options_set_int(options, asc_text("opset"), 21));
  FAILS(ASC_INVALID_ARGUMENT, "opset", asc_export_options_set_int(options, asc_text("opsets"), 21));
  FAILS(ASC_INVALID_ARGUMENT, "0 or 1",
        asc_export_options_set_int(options, asc_text("value_info"), 2));
  FAILS(ASC_INVALID_ARGUMENT, "options", asc_export_options_set_int(NULL, asc_text("opset"), 21));
  FAILS(ASC_IO, "/no/such/folder",
        asc_graph_export_file(graph, asc_text("/no/such/folder/y.onnx"), options));
  FAILS(ASC_INVALID_ARGUMENT, "graph", asc_graph_export_file(NULL, asc_text("y.onnx"), NULL));
  FAILS(ASC_INVALID_ARGUMENT, "out", asc_graph_export_bytes(graph, options, NULL));
  asc_export_options_release(options);
  asc_export_options_release(NULL);
  asc_graph_release(graph);
}

static void failing_memory_is_a_status(void** state) {
  (void)state;
  asc_graph* graph = relu_graph();
  asc_value* model = NULL;
  FAILS_AT_EACH_ALLOCATION(asc_graph_export_bytes(graph, NULL, &model));
  asc_value_release(model);
  asc_graph_release(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(bytes_come_back_as_the_same_graph),
      TEST(sessions_keep_the_graph_that_they_were_given),
      TEST(options_and_paths_are_checked),
      TEST(failing_memory_is_a_status),
  };
  return cmocka_run_group_tests_name("onnx", tests, NULL, NULL);
}
