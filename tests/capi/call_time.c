/* Prints the least time of one call from C in nanoseconds: wrap an array, run a small graph, release the result. tests/bench/call_cost.py
 * compares a call from Python with it. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "asc/asc.h"

static void check(asc_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", asc_status_get_text(status));
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(void) {
  const asc_string extents[] = {asc_text("2"), asc_text("3")};
  const int64_t dims[] = {2, 3};
  float data[6] = {-1, 0, 1, 2, 3, 4};
  asc_type* type = NULL;
  asc_graph* graph = NULL;
  asc_session* session = NULL;
  asc_value_id x = 0, y = 0;
  double best = 1e18;
  check(asc_type_create_tensor(ASC_FLOAT32, extents, 2, &type));
  check(asc_graph_create(asc_text("call"), &graph));
  check(asc_graph_add_input(graph, asc_text("x"), type, &x));
  check(asc_graph_add_operator(graph, asc_text("relu"), &x, 1, NULL, NULL, asc_text("y"), 1, &y));
  check(asc_graph_add_output(graph, y, asc_text("")));
  check(asc_session_create(graph, asc_text("cpu"), NULL, &session));
  for (int round = 0; round < 200; ++round) {
    const int calls = 100;
    const double start = now();
    for (int i = 0; i < calls; ++i) {
      asc_value *in = NULL, *out = NULL;
      check(asc_value_create_tensor_borrowed(ASC_FLOAT32, dims, 2, data, sizeof(data), 1, NULL,
                                             NULL, &in));
      check(asc_session_run(session, (const asc_value* const*)&in, 1, NULL, &out, 1));
      asc_value_release(out);
      asc_value_release(in);
    }
    const double each = (now() - start) / calls;
    if (each < best) best = each;
  }
  printf("%.0f\n", best);
  asc_session_release(session);
  asc_graph_release(graph);
  asc_type_release(type);
  return 0;
}
