#include "support.h"

static void version_is_that_of_the_build(void** state) {
  (void)state;
  assert_string_equal(asc_version(), EXPECTED_VERSION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(version_is_that_of_the_build),
  };
  return cmocka_run_group_tests_name("version", tests, NULL, NULL);
}
