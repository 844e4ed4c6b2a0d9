/* The profiler from C: collecting, reports, what is refused. */
#include <string.h>

#include "graphs.h"

static void run_relu(asc_session* session) {
  asc_value *x = rows_of_floats(2), *y = NULL;
  OK(asc_session_run(session, (const asc_value* const[]){x}, 1, NULL, &y, 1));
  asc_value_release(y);
  asc_value_release(x);
}

/* asc_string need not end with a zero. */
static int mentions(const asc_bytes* bytes, const char* what) {
  const asc_string text = asc_bytes_get(bytes);
  const size_t size = strlen(what);
  for (size_t i = 0; i + size <= text.size; ++i) {
    if (memcmp(text.data + i, what, size) == 0) return 1;
  }
  return 0;
}

static void a_profiler_sees_runs_while_it_collects(void** state) {
  (void)state;
  asc_session* session = compiled(relu_graph("N"));
  asc_profiler* profiler = NULL;
  asc_bytes *report = NULL, *trace = NULL;
  OK(asc_profiler_create(&profiler));
  OK(asc_profiler_create_report(profiler, &report));
  assert_true(mentions(report, "\"runs\":0"));
  asc_bytes_release(report);

  OK(asc_profiler_set_peaks(profiler, 1e11, 0));
  run_relu(session); /* before */
  OK(asc_profiler_start(profiler));
  for (int i = 0; i < 3; ++i) run_relu(session);
  OK(asc_profiler_stop(profiler));
  run_relu(session); /* after */

  OK(asc_profiler_create_report(profiler, &report));
  assert_true(mentions(report, "\"runs\":3"));
  assert_true(mentions(report, "\"source\":\"given\""));
  assert_true(mentions(report, "\"operator\":\"Relu\""));
  assert_true(mentions(report, "float32[2, 3]"));
  OK(asc_profiler_create_trace(profiler, &trace));
  assert_true(mentions(trace, "\"traceEvents\":[{\"name\":\"relu\""));
  asc_bytes_release(trace);
  asc_bytes_release(report);
  asc_profiler_release(profiler);
  asc_session_release(session);
}

static void one_profiler_collects_at_a_time(void** state) {
  (void)state;
  asc_profiler *first = NULL, *second = NULL;
  OK(asc_profiler_create(&first));
  OK(asc_profiler_create(&second));
  FAILS(ASC_INVALID_ARGUMENT, "does not collect", asc_profiler_stop(first));
  OK(asc_profiler_start(first));
  FAILS(ASC_INVALID_ARGUMENT, "collects already", asc_profiler_start(first));
  FAILS(ASC_INVALID_ARGUMENT, "another profiler", asc_profiler_start(second));
  asc_profiler_release(first); /* ends it */
  OK(asc_profiler_start(second));
  OK(asc_profiler_stop(second));
  asc_profiler_release(second);
}

static void wrong_peaks_are_refused(void** state) {
  (void)state;
  asc_profiler* profiler = NULL;
  OK(asc_profiler_create(&profiler));
  FAILS(ASC_INVALID_ARGUMENT, "flops_per_second", asc_profiler_set_peaks(profiler, -1, 1));
  FAILS(ASC_INVALID_ARGUMENT, "bytes_per_second", asc_profiler_set_peaks(profiler, 1, 1.0 / 0.0));
  FAILS(ASC_INVALID_ARGUMENT, "threads", asc_profiler_measure_peaks(profiler, -1));
  asc_profiler_release(profiler);
}

static void peaks_can_be_measured(void** state) {
  (void)state;
  asc_profiler* profiler = NULL;
  asc_bytes* report = NULL;
  OK(asc_profiler_create(&profiler));
  OK(asc_profiler_measure_peaks(profiler, 1));
  OK(asc_profiler_create_report(profiler, &report));
  assert_true(mentions(report, "\"source\":\"measured\""));
  asc_bytes_release(report);
  asc_profiler_release(profiler);
}

static void null_and_released_handles_are_refused(void** state) {
  (void)state;
  asc_profiler* profiler = NULL;
  asc_bytes* text = NULL;
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_profiler_create(NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'profiler' is NULL", asc_profiler_start(NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'profiler' is NULL", asc_profiler_stop(NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'profiler' is NULL", asc_profiler_set_peaks(NULL, 1, 1));
  FAILS(ASC_INVALID_ARGUMENT, "'profiler' is NULL", asc_profiler_measure_peaks(NULL, 1));
  FAILS(ASC_INVALID_ARGUMENT, "'profiler' is NULL", asc_profiler_create_report(NULL, &text));
  FAILS(ASC_INVALID_ARGUMENT, "'profiler' is NULL", asc_profiler_create_trace(NULL, &text));
  OK(asc_profiler_create(&profiler));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_profiler_create_report(profiler, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_profiler_create_trace(profiler, NULL));
  asc_profiler_retain(profiler);
  asc_profiler_release(profiler);
  asc_profiler_release(profiler);
  asc_profiler_release(NULL);
  FAILS(ASC_DESTROYED, "released", asc_profiler_start(profiler));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_profiler_sees_runs_while_it_collects),
      cmocka_unit_test(one_profiler_collects_at_a_time),
      cmocka_unit_test(wrong_peaks_are_refused),
      cmocka_unit_test(peaks_can_be_measured),
      cmocka_unit_test(null_and_released_handles_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
