/* Small graphs that several test programs run. */
#ifndef ASC_TESTS_CAPI_GRAPHS_H_
#define ASC_TESTS_CAPI_GRAPHS_H_

#include "support.h"

/* A graph `x: float32[extent, 3] -> relu -> "y"`. */
static inline asc_graph* relu_graph(const char* extent) {
  const asc_string extents[] = {asc_text(extent), asc_text("3")};
  asc_graph* graph = NULL;
  asc_type* type = NULL;
  asc_value_id x = ASC_ABSENT, y = ASC_ABSENT;
  OK(asc_graph_create(asc_text("relu"), &graph));
  OK(asc_type_create_tensor(ASC_FLOAT32, extents, 2, &type));
  OK(asc_graph_add_input(graph, asc_text("x"), type, &x));
  asc_type_release(type);
  OK(asc_graph_add_operator(graph, asc_text("relu"), &x, 1, NULL, NULL, asc_text("y"), 1, &y));
  OK(asc_graph_add_output(graph, y, asc_text("")));
  return graph;
}

static inline asc_session* compiled(asc_graph* graph) {
  asc_session* session = NULL;
  OK(asc_session_create(graph, asc_text(""), NULL, &session));
  asc_graph_release(graph);
  return session;
}

/* A float32[rows, 3] tensor that holds -1, 0, 1, 2, ... */
static inline asc_value* rows_of_floats(int64_t rows) {
  asc_value* value = NULL;
  void* data = NULL;
  size_t bytes = 0;
  OK(asc_value_create_tensor(ASC_FLOAT32, (int64_t[]){rows, 3}, 2, &value));
  OK(asc_value_get_mutable_data(value, &data, &bytes));
  for (size_t i = 0; i < bytes / sizeof(float); ++i) ((float*)data)[i] = (float)i - 1;
  return value;
}

/* `value` is what relu makes of rows_of_floats(rows). */
static inline void assert_relu_of_rows(const asc_value* value, int64_t rows) {
  const int64_t* dims = NULL;
  size_t rank = 0, bytes = 0;
  const void* data = NULL;
  OK(asc_value_get_dims(value, &dims, &rank));
  assert_int_equal(rank, 2);
  assert_int_equal(dims[0], rows);
  OK(asc_value_get_data(value, &data, &bytes));
  assert_int_equal(bytes, (size_t)rows * 12);
  for (int64_t i = 0; i < rows * 3; ++i)
    assert_true(((const float*)data)[i] == (i == 0 ? 0 : (float)i - 1));
}

#endif /* ASC_TESTS_CAPI_GRAPHS_H_ */
