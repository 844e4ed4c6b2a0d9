/* Tensors, sequences, optionals and maps. */
#include "support.h"

static void tensors_are_made_read_and_written(void** state) {
  (void)state;
  const int64_t dims[] = {2, 3};
  asc_value* value = NULL;
  OK(asc_value_create_tensor(ASC_FLOAT32, dims, 2, &value));
  asc_value_kind kind = -1;
  OK(asc_value_get_kind(value, &kind));
  assert_int_equal(kind, ASC_TENSOR);
  asc_data_type dtype = ASC_UNDEFINED;
  OK(asc_value_get_dtype(value, &dtype));
  assert_int_equal(dtype, ASC_FLOAT32);
  const int64_t* got = NULL;
  size_t rank = 0, count = 0, bytes = 0;
  OK(asc_value_get_dims(value, &got, &rank));
  assert_int_equal(rank, 2);
  assert_memory_equal(got, dims, sizeof(dims));
  OK(asc_value_get_count(value, &count));
  assert_int_equal(count, 6);
  void* data = NULL;
  OK(asc_value_get_mutable_data(value, &data, &bytes));
  assert_int_equal(bytes, 24);
  assert_int_equal((uintptr_t)data % 64, 0);
  ((float*)data)[5] = 2.5f;
  const void* read = NULL;
  OK(asc_value_get_data(value, &read, &bytes));
  assert_ptr_equal(read, data);
  asc_type* type = NULL;
  asc_string text;
  OK(asc_value_create_type(value, &type));
  OK(asc_type_get_text(type, &text));
  assert_true(text_is(text, "float32[2, 3]"));
  asc_type_release(type);
  asc_value_release(value);
}

static void scalars_and_empty_tensors_have_shapes(void** state) {
  (void)state;
  asc_value* value = NULL;
  const int64_t* dims = NULL;
  size_t rank = 9, count = 9, bytes = 9;
  const void* data = NULL;
  OK(asc_value_create_tensor(ASC_INT64, NULL, 0, &value));
  OK(asc_value_get_dims(value, &dims, &rank));
  assert_non_null(dims);
  assert_int_equal(rank, 0);
  OK(asc_value_get_count(value, &count));
  assert_int_equal(count, 1);
  asc_value_release(value);
  OK(asc_value_create_tensor_copy(ASC_INT64, (int64_t[]){0, 4}, 2, NULL, 0, &value));
  OK(asc_value_get_count(value, &count));
  assert_int_equal(count, 0);
  OK(asc_value_get_data(value, &data, &bytes));
  assert_int_equal(bytes, 0);
  asc_value_release(value);
}

static void packed_types_take_part_of_a_byte(void** state) {
  (void)state;
  const uint8_t packed[] = {0x21, 0x03};
  asc_value* value = NULL;
  OK(asc_value_create_tensor_copy(ASC_INT4, (int64_t[]){3}, 1, packed, 2, &value));
  const void* data = NULL;
  size_t bytes = 0, count = 0;
  OK(asc_value_get_data(value, &data, &bytes));
  assert_int_equal(bytes, 2);
  assert_memory_equal(data, packed, 2);
  OK(asc_value_get_count(value, &count));
  assert_int_equal(count, 3);
  asc_value_release(value);
  OK(asc_value_create_tensor_copy(ASC_UINT2, (int64_t[]){5}, 1, packed, 2, &value));
  asc_value_release(value);
  FAILS(ASC_INVALID_ARGUMENT, "takes 1 bytes, given 2",
        asc_value_create_tensor_copy(ASC_UINT2, (int64_t[]){4}, 1, packed, 2, &value));
}

static void impossible_tensors_are_refused(void** state) {
  (void)state;
  asc_value* value = NULL;
  float data[6] = {0};
  FAILS(ASC_INVALID_ARGUMENT, "negative",
        asc_value_create_tensor(ASC_FLOAT32, (int64_t[]){-1}, 1, &value));
  FAILS(ASC_INVALID_ARGUMENT, "too large",
        asc_value_create_tensor(ASC_FLOAT32, (int64_t[]){INT64_MAX / 2, 8}, 2, &value));
  FAILS(ASC_TYPE_MISMATCH, "number 77", asc_value_create_tensor(77, NULL, 0, &value));
  FAILS(ASC_INVALID_ARGUMENT, "takes 24 bytes, given 20",
        asc_value_create_tensor_copy(ASC_FLOAT32, (int64_t[]){6}, 1, data, 20, &value));
  FAILS(ASC_INVALID_ARGUMENT, "'data' is NULL",
        asc_value_create_tensor_copy(ASC_FLOAT32, (int64_t[]){6}, 1, NULL, 24, &value));
  FAILS(ASC_INVALID_ARGUMENT, "'dims' is NULL",
        asc_value_create_tensor(ASC_FLOAT32, NULL, 1, &value));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_value_create_tensor(ASC_FLOAT32, NULL, 0, NULL));
  FAILS(ASC_TYPE_MISMATCH, "have no bytes",
        asc_value_create_tensor_copy(ASC_STRING, (int64_t[]){6}, 1, data, 24, &value));
  assert_null(value);
}

static void count_call(void* user_data) { ++*(int*)user_data; }

static void borrowed_memory_is_given_back_once(void** state) {
  (void)state;
  int calls = 0;
  float memory[4] = {1, 2, 3, 4};
  asc_value* value = NULL;
  OK(asc_value_create_tensor_borrowed(ASC_FLOAT32, (int64_t[]){2, 2}, 2, memory, sizeof(memory), 0,
                                      count_call, &calls, &value));
  const void* data = NULL;
  size_t bytes = 0;
  OK(asc_value_get_data(value, &data, &bytes));
  assert_ptr_equal(data, memory);
  asc_value* sequence = NULL;
  OK(asc_value_create_sequence((const asc_value* const[]){value}, 1, ASC_UNDEFINED, &sequence));
  asc_value_release(value);
  assert_int_equal(calls, 0); /* the sequence shares it */
  asc_value_release(sequence);
  assert_int_equal(calls, 1);

  OK(asc_value_create_tensor_borrowed(ASC_FLOAT32, (int64_t[]){4}, 1, memory, sizeof(memory), 1,
                                      NULL, NULL, &value));
  void* writable = NULL;
  FAILS(ASC_INVALID_ARGUMENT, "read-only", asc_value_get_mutable_data(value, &writable, &bytes));
  asc_value_release(value);

  /* A refusal leaves the memory with the caller. */
  value = NULL;
  FAILS(ASC_INVALID_ARGUMENT, "aligned",
        asc_value_create_tensor_borrowed(ASC_FLOAT32, (int64_t[]){2}, 1, (char*)memory + 1, 8, 0,
                                         count_call, &calls, &value));
  FAILS(ASC_INVALID_ARGUMENT, "takes 12 bytes",
        asc_value_create_tensor_borrowed(ASC_FLOAT32, (int64_t[]){3}, 1, memory, 16, 0, count_call,
                                         &calls, &value));
  FAILS(ASC_INVALID_ARGUMENT, "'data' is NULL",
        asc_value_create_tensor_borrowed(ASC_FLOAT32, (int64_t[]){3}, 1, NULL, 12, 0, count_call,
                                         &calls, &value));
  FAILS_AT_EACH_ALLOCATION(asc_value_create_tensor_borrowed(ASC_FLOAT32, (int64_t[]){4}, 1, memory,
                                                            16, 0, count_call, &calls, &value));
  assert_int_equal(calls, 1);
  asc_value_release(value);
  assert_int_equal(calls, 2);
}

static void strings_are_copied(void** state) {
  (void)state;
  char first[] = "one";
  const asc_string strings[] = {{first, 3}, {NULL, 0}, {"a\0b", 3}};
  asc_value* value = NULL;
  OK(asc_value_create_strings((int64_t[]){3}, 1, strings, 3, &value));
  first[0] = 'X';
  asc_string text;
  OK(asc_value_get_string(value, 0, &text));
  assert_true(text_is(text, "one"));
  OK(asc_value_get_string(value, 1, &text));
  assert_int_equal(text.size, 0);
  OK(asc_value_get_string(value, 2, &text));
  assert_int_equal(text.size, 3);
  assert_memory_equal(text.data, "a\0b", 3);
  FAILS(ASC_OUT_OF_RANGE, "index 3", asc_value_get_string(value, 3, &text));
  const void* data = NULL;
  void* writable = NULL;
  size_t bytes = 0;
  FAILS(ASC_TYPE_MISMATCH, "no bytes", asc_value_get_data(value, &data, &bytes));
  FAILS(ASC_TYPE_MISMATCH, "no bytes", asc_value_get_mutable_data(value, &writable, &bytes));
  asc_value* other = NULL;
  FAILS(ASC_INVALID_ARGUMENT, "of 3 strings",
        asc_value_create_strings((int64_t[]){2}, 1, strings, 3, &other));
  OK(asc_value_create_tensor(ASC_INT8, NULL, 0, &other));
  FAILS(ASC_TYPE_MISMATCH, "int8", asc_value_get_string(other, 0, &text));
  asc_value_release(other);
  asc_value_release(value);
}

static void sequences_hold_items_of_one_type(void** state) {
  (void)state;
  asc_value *floats = NULL, *ints = NULL, *sequence = NULL, *item = NULL, *empty = NULL,
            *nested = NULL;
  OK(asc_value_create_tensor(ASC_FLOAT32, (int64_t[]){2}, 1, &floats));
  OK(asc_value_create_tensor(ASC_INT32, (int64_t[]){2}, 1, &ints));
  OK(asc_value_create_sequence((const asc_value* const[]){floats, floats}, 2, ASC_UNDEFINED,
                               &sequence));
  size_t count = 0;
  OK(asc_value_get_count(sequence, &count));
  assert_int_equal(count, 2);
  OK(asc_value_create_item(sequence, 1, &item));
  const void *data = NULL, *original = NULL;
  size_t bytes = 0;
  OK(asc_value_get_data(item, &data, &bytes));
  OK(asc_value_get_data(floats, &original, &bytes));
  assert_ptr_equal(data, original);
  OK(asc_value_create_sequence(NULL, 0, ASC_FLOAT16, &empty));
  asc_data_type dtype = ASC_UNDEFINED;
  OK(asc_value_get_dtype(empty, &dtype));
  assert_int_equal(dtype, ASC_FLOAT16);
  OK(asc_value_create_sequence((const asc_value* const[]){sequence, empty}, 2, ASC_UNDEFINED,
                               &nested));
  asc_value* refused = NULL;
  FAILS(ASC_OUT_OF_RANGE, "index 2", asc_value_create_item(sequence, 2, &refused));
  FAILS(ASC_INVALID_ARGUMENT, "elements, not items", asc_value_create_item(floats, 0, &refused));
  FAILS(ASC_TYPE_MISMATCH, "item 1 is int32[2]",
        asc_value_create_sequence((const asc_value* const[]){floats, ints}, 2, ASC_UNDEFINED,
                                  &refused));
  FAILS(ASC_TYPE_MISMATCH, "expected int32",
        asc_value_create_sequence((const asc_value* const[]){floats}, 1, ASC_INT32, &refused));
  FAILS(ASC_TYPE_MISMATCH, "of one kind",
        asc_value_create_sequence((const asc_value* const[]){floats, sequence}, 2, ASC_UNDEFINED,
                                  &refused));
  FAILS(ASC_INVALID_ARGUMENT, "'items' is NULL",
        asc_value_create_sequence((const asc_value* const[]){NULL}, 1, ASC_UNDEFINED, &refused));
  FAILS(ASC_INVALID_ARGUMENT, "'items' is NULL",
        asc_value_create_sequence(NULL, 1, ASC_UNDEFINED, &refused));
  FAILS(ASC_INVALID_ARGUMENT, "must be a tensor", asc_value_get_data(sequence, &data, &bytes));
  asc_value_release(nested);
  asc_value_release(empty);
  asc_value_release(item);
  asc_value_release(sequence);
  asc_value_release(ints);
  asc_value_release(floats);
}

static void optionals_hold_a_value_or_nothing(void** state) {
  (void)state;
  asc_value *tensor = NULL, *full = NULL, *none = NULL, *held = NULL;
  OK(asc_value_create_tensor(ASC_FLOAT32, NULL, 0, &tensor));
  OK(asc_value_create_optional(tensor, &full));
  OK(asc_value_create_optional(NULL, &none));
  size_t count = 9;
  OK(asc_value_get_count(full, &count));
  assert_int_equal(count, 1);
  OK(asc_value_get_count(none, &count));
  assert_int_equal(count, 0);
  OK(asc_value_create_item(full, 0, &held));
  asc_value_release(held);
  FAILS(ASC_OUT_OF_RANGE, "index 0", asc_value_create_item(none, 0, &held));
  asc_type* type = NULL;
  OK(asc_value_create_type(none, &type));
  asc_type_release(type);
  asc_value_release(none);
  asc_value_release(full);
  asc_value_release(tensor);
}

static void maps_are_ordered_by_key(void** state) {
  (void)state;
  asc_value *a = NULL, *b = NULL, *ints = NULL, *strings = NULL, *item = NULL;
  OK(asc_value_create_tensor(ASC_FLOAT32, NULL, 0, &a));
  OK(asc_value_create_tensor(ASC_FLOAT32, (int64_t[]){1}, 1, &b));
  const asc_value* const values[] = {a, b};
  OK(asc_value_create_int_map((int64_t[]){7, -2}, values, 2, &ints));
  int64_t key = 0;
  OK(asc_value_get_int_key(ints, 0, &key));
  assert_int_equal(key, -2);
  OK(asc_value_create_item(ints, 0, &item));
  const int64_t* dims = NULL;
  size_t rank = 0;
  OK(asc_value_get_dims(item, &dims, &rank));
  assert_int_equal(rank, 1);
  asc_value_release(item);
  const asc_string keys[] = {asc_text("b"), asc_text("a")};
  OK(asc_value_create_string_map(keys, values, 2, &strings));
  asc_string text;
  OK(asc_value_get_string_key(strings, 1, &text));
  assert_true(text_is(text, "b"));
  asc_data_type dtype = ASC_UNDEFINED;
  OK(asc_value_get_dtype(strings, &dtype));
  assert_int_equal(dtype, ASC_STRING);
  FAILS(ASC_INVALID_ARGUMENT, "integer keys", asc_value_get_int_key(strings, 0, &key));
  FAILS(ASC_INVALID_ARGUMENT, "string keys", asc_value_get_string_key(ints, 0, &text));
  FAILS(ASC_INVALID_ARGUMENT, "string keys", asc_value_get_string_key(a, 0, &text));
  FAILS(ASC_OUT_OF_RANGE, "index 2", asc_value_get_int_key(ints, 2, &key));
  asc_value* refused = NULL;
  FAILS(ASC_INVALID_ARGUMENT, "key 1 is there twice",
        asc_value_create_int_map((int64_t[]){1, 1}, values, 2, &refused));
  FAILS(ASC_INVALID_ARGUMENT, "'k' is there twice",
        asc_value_create_string_map((asc_string[]){asc_text("k"), asc_text("k")}, values, 2,
                                    &refused));
  FAILS(ASC_INVALID_ARGUMENT, "'keys' is NULL",
        asc_value_create_int_map(NULL, values, 2, &refused));
  FAILS(ASC_INVALID_ARGUMENT, "'values' is NULL",
        asc_value_create_int_map((int64_t[]){1, 2}, NULL, 2, &refused));
  asc_value_release(strings);
  asc_value_release(ints);
  asc_value_release(b);
  asc_value_release(a);
}

static void null_arguments_are_refused(void** state) {
  (void)state;
  asc_value* value = NULL;
  OK(asc_value_create_tensor(ASC_FLOAT32, NULL, 0, &value));
  const int64_t* dims = NULL;
  size_t size = 0;
  const void* data = NULL;
  void* writable = NULL;
  FAILS(ASC_INVALID_ARGUMENT, "'value' is NULL", asc_value_get_kind(NULL, &(asc_value_kind){0}));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_value_get_kind(value, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'value' is NULL", asc_value_get_dtype(NULL, &(asc_data_type){0}));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_value_get_dtype(value, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'value' is NULL", asc_value_get_dims(NULL, &dims, &size));
  FAILS(ASC_INVALID_ARGUMENT, "'dims' is NULL", asc_value_get_dims(value, NULL, &size));
  FAILS(ASC_INVALID_ARGUMENT, "'rank' is NULL", asc_value_get_dims(value, &dims, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'value' is NULL", asc_value_get_count(NULL, &size));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_value_get_count(value, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'value' is NULL", asc_value_get_data(NULL, &data, &size));
  FAILS(ASC_INVALID_ARGUMENT, "'data' is NULL", asc_value_get_data(value, NULL, &size));
  FAILS(ASC_INVALID_ARGUMENT, "'bytes' is NULL", asc_value_get_data(value, &data, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'value' is NULL",
        asc_value_get_mutable_data(NULL, &writable, &size));
  FAILS(ASC_INVALID_ARGUMENT, "'data' is NULL", asc_value_get_mutable_data(value, NULL, &size));
  FAILS(ASC_INVALID_ARGUMENT, "'value' is NULL", asc_value_get_string(NULL, 0, &(asc_string){0}));
  FAILS(ASC_INVALID_ARGUMENT, "'value' is NULL", asc_value_create_item(NULL, 0, &value));
  FAILS(ASC_INVALID_ARGUMENT, "'value' is NULL", asc_value_create_type(NULL, &(asc_type*){0}));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_value_create_type(value, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_value_create_optional(value, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_value_create_sequence(NULL, 0, ASC_INT8, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_value_create_int_map(NULL, NULL, 0, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_value_create_string_map(NULL, NULL, 0, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL",
        asc_value_create_strings(NULL, 0, &(asc_string){"", 0}, 1, NULL));
  asc_value_release(value);
}

static void failing_memory_is_a_status(void** state) {
  (void)state;
  const asc_string strings[] = {asc_text("a text that is longer than fits inside"), asc_text("b")};
  asc_value *tensor = NULL, *value = NULL;
  FAILS_AT_EACH_ALLOCATION(
      asc_value_create_tensor(ASC_FLOAT32, (int64_t[]){2, 3, 4, 5, 6, 7, 8}, 7, &tensor));
  FAILS_AT_EACH_ALLOCATION(asc_value_create_strings((int64_t[]){2}, 1, strings, 2, &value));
  asc_value_release(value);
  const asc_value* const parts[] = {tensor, tensor};
  FAILS_AT_EACH_ALLOCATION(asc_value_create_sequence(parts, 2, ASC_UNDEFINED, &value));
  asc_value_release(value);
  FAILS_AT_EACH_ALLOCATION(asc_value_create_optional(tensor, &value));
  asc_value_release(value);
  FAILS_AT_EACH_ALLOCATION(asc_value_create_string_map(strings, parts, 2, &value));
  asc_value_release(value);
  asc_value_release(tensor);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(tensors_are_made_read_and_written),
      TEST(scalars_and_empty_tensors_have_shapes),
      TEST(packed_types_take_part_of_a_byte),
      TEST(impossible_tensors_are_refused),
      TEST(borrowed_memory_is_given_back_once),
      TEST(strings_are_copied),
      TEST(sequences_hold_items_of_one_type),
      TEST(optionals_hold_a_value_or_nothing),
      TEST(maps_are_ordered_by_key),
      TEST(null_arguments_are_refused),
      TEST(failing_memory_is_a_status),
  };
  return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}
