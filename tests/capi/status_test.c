/* Statuses, handles and types. */
#include "support.h"

static void null_is_success(void** state) {
  (void)state;
  assert_int_equal(asc_status_code(NULL), ASC_OK);
  assert_string_equal(asc_status_get_text(NULL), "OK");
  assert_string_equal(asc_status_get_message(NULL), "");
  assert_string_equal(asc_status_get_node(NULL), "");
  assert_string_equal(asc_status_get_hint(NULL), "");
  asc_status_release(NULL);
}

static void a_failure_says_what_and_how_to_mend_it(void** state) {
  (void)state;
  asc_data_type type = ASC_UNDEFINED;
  asc_status* status = asc_data_type_parse(asc_text("flaot32"), &type);
  assert_int_equal(asc_status_code(status), ASC_TYPE_MISMATCH);
  assert_non_null(strstr(asc_status_get_message(status), "'flaot32'"));
  assert_string_equal(asc_status_get_hint(status), "did you mean 'float32'?");
  assert_string_equal(asc_status_get_node(status), "");
  assert_memory_equal(asc_status_get_text(status), "E5002: ", 7);
  assert_int_equal(type, ASC_UNDEFINED);
  asc_status_release(status);
}

static void releasing_null_does_nothing(void** state) {
  (void)state;
  asc_bytes_release(NULL);
  asc_type_release(NULL);
  asc_value_release(NULL);
  asc_attributes_release(NULL);
  asc_regions_release(NULL);
  asc_graph_release(NULL);
  asc_bytes_retain(NULL);
  asc_type_retain(NULL);
  asc_value_retain(NULL);
  asc_attributes_retain(NULL);
  asc_regions_retain(NULL);
  asc_graph_retain(NULL);
  assert_int_equal(asc_bytes_get(NULL).size, 0);
}

static void a_released_handle_is_told(void** state) {
  (void)state;
  asc_value* value = NULL;
  OK(asc_value_create_tensor(ASC_FLOAT32, NULL, 0, &value));
  asc_value_retain(value);
  asc_value_release(value);
  size_t count = 7;
  OK(asc_value_get_count(value, &count)); /* one reference is left */
  assert_int_equal(count, 1);
  asc_value_release(value);
  FAILS(ASC_DESTROYED, "released already", asc_value_get_count(value, &count));
  const int64_t handles = asc_handle_count();
  asc_value_release(value); /* a second time: no effect */
  asc_value_retain(value);
  assert_int_equal(asc_handle_count(), handles);

  asc_status* status = asc_value_get_count(NULL, &count);
  asc_status_release(status);
  assert_int_equal(asc_status_code(status), ASC_DESTROYED);
  asc_status_release(status);
}

static void a_handle_of_another_type_is_told(void** state) {
  (void)state;
  asc_value* value = NULL;
  OK(asc_value_create_tensor(ASC_FLOAT32, NULL, 0, &value));
  asc_value_kind kind = -1;
  FAILS(ASC_INVALID_ARGUMENT, "is no type", asc_type_get_kind((const asc_type*)value, &kind));
  assert_int_equal(kind, -1);
  asc_value_release(value);
}

static void data_types_have_names_and_widths(void** state) {
  (void)state;
  for (asc_data_type type = ASC_FLOAT32; type <= ASC_FLOAT6E3M2; ++type) {
    asc_data_type parsed = ASC_UNDEFINED;
    OK(asc_data_type_parse(asc_data_type_name(type), &parsed));
    assert_int_equal(parsed, type);
  }
  assert_true(text_is(asc_data_type_name(ASC_BFLOAT16), "bfloat16"));
  assert_true(text_is(asc_data_type_name(12345), "undefined"));
  assert_int_equal(asc_data_type_bits(ASC_INT2), 2);
  assert_int_equal(asc_data_type_bits(ASC_UINT4), 4);
  assert_int_equal(asc_data_type_bits(ASC_FLOAT64), 64);
  assert_int_equal(asc_data_type_bits(ASC_STRING), 0);
  assert_int_equal(asc_data_type_bits(-3), 0);
  FAILS(ASC_TYPE_MISMATCH, "undefined",
        asc_data_type_parse(asc_text("undefined"), &(asc_data_type){0}));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_data_type_parse(asc_text("int8"), NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'name' is NULL",
        asc_data_type_parse((asc_string){NULL, 3}, &(asc_data_type){0}));
}

static void types_say_what_they_are(void** state) {
  (void)state;
  const asc_string extents[] = {asc_text("N"), asc_text("3"), asc_text("2*H"), asc_text("?")};
  asc_type* type = NULL;
  OK(asc_type_create_tensor(ASC_FLOAT32, extents, 4, &type));
  int64_t rank = 0, extent = 0;
  asc_string text;
  OK(asc_type_get_rank(type, &rank));
  assert_int_equal(rank, 4);
  OK(asc_type_get_extent(type, 1, &extent));
  assert_int_equal(extent, 3);
  OK(asc_type_get_extent(type, 0, &extent));
  assert_int_equal(extent, -1);
  OK(asc_type_get_extent_text(type, 0, &text));
  assert_true(text_is(text, "N"));
  OK(asc_type_get_extent_text(type, 2, &text));
  assert_true(text_is(text, "2*H"));
  FAILS(ASC_OUT_OF_RANGE, "axis 4", asc_type_get_extent(type, 4, &extent));
  FAILS(ASC_OUT_OF_RANGE, "axis 4", asc_type_get_extent_text(type, 4, &text));
  asc_data_type dtype;
  OK(asc_type_get_dtype(type, &dtype));
  assert_int_equal(dtype, ASC_FLOAT32);

  asc_type *sequence = NULL, *optional = NULL, *map = NULL, *element = NULL, *unranked = NULL;
  asc_value_kind kind;
  OK(asc_type_create_sequence(type, &sequence));
  OK(asc_type_get_kind(sequence, &kind));
  assert_int_equal(kind, ASC_SEQUENCE);
  OK(asc_type_create_optional(sequence, &optional));
  OK(asc_type_get_kind(optional, &kind));
  assert_int_equal(kind, ASC_OPTIONAL);
  OK(asc_type_create_unranked(ASC_INT64, &unranked));
  OK(asc_type_get_rank(unranked, &rank));
  assert_int_equal(rank, -1);
  OK(asc_type_create_map(ASC_STRING, unranked, &map));
  OK(asc_type_get_text(map, &text));
  assert_true(text_is(text, "map(string, int64[*])"));
  OK(asc_type_create_element(optional, &element));
  asc_type_release(element);
  FAILS(ASC_INVALID_ARGUMENT, "no elements", asc_type_create_element(type, &element));
  FAILS(ASC_INVALID_ARGUMENT, "has no rank", asc_type_get_rank(map, &rank));
  FAILS(ASC_TYPE_MISMATCH, "integers or strings", asc_type_create_map(ASC_FLOAT32, type, &element));
  FAILS(ASC_INVALID_ARGUMENT, "'-3'",
        asc_type_create_tensor(ASC_INT8, (asc_string[]){asc_text("-3")}, 1, &element));
  FAILS(ASC_INVALID_ARGUMENT, "'2*'",
        asc_type_create_tensor(ASC_INT8, (asc_string[]){asc_text("2*")}, 1, &element));
  FAILS(ASC_TYPE_MISMATCH, "number 99", asc_type_create_unranked(99, &element));
  FAILS(ASC_TYPE_MISMATCH, "number 0", asc_type_create_unranked(ASC_UNDEFINED, &element));
  asc_type_release(type);
  asc_type_release(sequence);
  asc_type_release(optional);
  asc_type_release(map);
  asc_type_release(unranked);
}

static void null_arguments_are_refused(void** state) {
  (void)state;
  asc_type* type = NULL;
  asc_data_type dtype = 0;
  OK(asc_type_create_unranked(ASC_INT64, &type));
  FAILS(ASC_INVALID_ARGUMENT, "'extents' is NULL",
        asc_type_create_tensor(ASC_INT64, NULL, 2, &type));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_type_create_tensor(ASC_INT64, NULL, 0, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_type_create_unranked(ASC_INT64, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'element' is NULL", asc_type_create_sequence(NULL, &type));
  FAILS(ASC_INVALID_ARGUMENT, "'element' is NULL", asc_type_create_optional(NULL, &type));
  FAILS(ASC_INVALID_ARGUMENT, "'element' is NULL", asc_type_create_map(ASC_STRING, NULL, &type));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_type_create_sequence(type, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_type_create_optional(type, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_type_create_map(ASC_STRING, type, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'type' is NULL", asc_type_get_dtype(NULL, &dtype));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_type_get_dtype(type, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'type' is NULL", asc_type_get_kind(NULL, &dtype));
  FAILS(ASC_INVALID_ARGUMENT, "'type' is NULL", asc_type_get_rank(NULL, &(int64_t){0}));
  FAILS(ASC_INVALID_ARGUMENT, "'type' is NULL", asc_type_get_extent(NULL, 0, &(int64_t){0}));
  FAILS(ASC_INVALID_ARGUMENT, "'type' is NULL", asc_type_get_text(NULL, &(asc_string){0}));
  FAILS(ASC_INVALID_ARGUMENT, "'type' is NULL", asc_type_create_element(NULL, &type));
  asc_type_release(type);
}

static void failing_memory_is_a_status(void** state) {
  (void)state;
  const asc_string extents[] = {asc_text("a_name_that_is_longer_than_fits_inside"), asc_text("3")};
  asc_type* type = NULL;
  FAILS_AT_EACH_ALLOCATION(asc_type_create_tensor(ASC_FLOAT32, extents, 2, &type));
  asc_type_release(type);
  /* Where there is no memory for the status either, it is the one that needs none. */
  fail_new_at(0);
  asc_status* status = asc_type_create_unranked(ASC_FLOAT32, NULL);
  assert_true(fail_new_stop());
  assert_int_equal(asc_status_code(status), ASC_OUT_OF_MEMORY);
  assert_non_null(strstr(asc_status_get_text(status), "E5012"));
  assert_non_null(strstr(asc_status_get_message(status), "memory"));
  assert_string_equal(asc_status_get_node(status), "");
  assert_string_equal(asc_status_get_hint(status), "");
  asc_status_release(status);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(null_is_success),
      TEST(a_failure_says_what_and_how_to_mend_it),
      TEST(releasing_null_does_nothing),
      TEST(a_released_handle_is_told),
      TEST(a_handle_of_another_type_is_told),
      TEST(data_types_have_names_and_widths),
      TEST(types_say_what_they_are),
      TEST(null_arguments_are_refused),
      TEST(failing_memory_is_a_status),
  };
  return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
