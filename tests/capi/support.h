/* What all C tests share: cmocka in the order of inclusion that it needs, and checks of statuses.
 */
#ifndef ASC_TESTS_CAPI_SUPPORT_H_
#define ASC_TESTS_CAPI_SUPPORT_H_

/* cmocka.h needs the first four. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <string.h>

#include "asc/asc.h"

/* The call succeeds. */
#define OK(call)                                                            \
  do {                                                                      \
    asc_status* status_ = (call);                                           \
    if (status_ != NULL) print_error("%s\n", asc_status_get_text(status_)); \
    assert_null(status_);                                                   \
  } while (0)

/* The call fails with this code, and its message has `part` in it. */
#define FAILS(expected, part, call)                              \
  do {                                                           \
    asc_status* status_ = (call);                                \
    assert_non_null(status_);                                    \
    if (asc_status_code(status_) != (expected) ||                \
        strstr(asc_status_get_text(status_), part) == NULL) {    \
      print_error("got: %s\n", asc_status_get_text(status_));    \
    }                                                            \
    assert_int_equal(asc_status_code(status_), expected);        \
    assert_non_null(strstr(asc_status_get_text(status_), part)); \
    asc_status_release(status_);                                 \
  } while (0)

/* Repeats a call with its first, second, third, ... allocation by `operator new` failing, until
 * none of them does. Each failure is E5012, or the call gets over it. */
#define FAILS_AT_EACH_ALLOCATION(call)                                 \
  do {                                                                 \
    long allocation_ = 0;                                              \
    for (;; ++allocation_) {                                           \
      fail_new_at(allocation_);                                        \
      asc_status* status_ = (call);                                    \
      const int failed_ = fail_new_stop();                             \
      if (status_ == NULL && !failed_) break;                          \
      if (status_ != NULL) {                                           \
        assert_int_equal(asc_status_code(status_), ASC_OUT_OF_MEMORY); \
      }                                                                \
      asc_status_release(status_);                                     \
      assert_in_range(allocation_, 0, 10000);                          \
    }                                                                  \
    assert_in_range(allocation_, 1, 10000);                            \
  } while (0)

/* The allocation by `operator new` number `nth` from now on fails, counted from 0, once. */
void fail_new_at(long nth);
/* Ends that; true when it has failed one. */
int fail_new_stop(void);

static inline int text_is(asc_string text, const char* expected) {
  return text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

/* Fixture for groups: every handle of a test is released at its end. */
static inline int remember_handles(void** state) {
  *state = (void*)(intptr_t)asc_handle_count();
  return 0;
}
static inline int handles_are_gone(void** state) {
  const int64_t left = asc_handle_count() - (int64_t)(intptr_t)*state;
  if (left != 0) print_error("%lld handles were not released\n", (long long)left);
  return left != 0;
}
#define TEST(name) cmocka_unit_test_setup_teardown(name, remember_handles, handles_are_gone)

#endif /* ASC_TESTS_CAPI_SUPPORT_H_ */
