/* Graphs, attributes, regions and the registry. */
#include "support.h"

static asc_graph* new_graph(void) {
  asc_graph* graph = NULL;
  OK(asc_graph_create(asc_text("test"), &graph));
  return graph;
}

/* An input of type float32[N, 3]. */
static asc_value_id add_input(asc_graph* graph, const char* name) {
  const asc_string extents[] = {asc_text("N"), asc_text("3")};
  asc_type* type = NULL;
  asc_value_id id = ASC_ABSENT;
  OK(asc_type_create_tensor(ASC_FLOAT32, extents, 2, &type));
  OK(asc_graph_add_input(graph, asc_text(name), type, &id));
  asc_type_release(type);
  return id;
}

static asc_status* add_unary(asc_graph* graph, const char* operation, asc_value_id input,
                             const char* name, asc_value_id* out) {
  return asc_graph_add_operator(graph, asc_text(operation), &input, 1, NULL, NULL, asc_text(name),
                                1, out);
}

static void graphs_grow_by_method_or_onnx_name(void** state) {
  (void)state;
  asc_graph* graph = new_graph();
  const asc_value_id x = add_input(graph, "x");
  asc_value_id a = ASC_ABSENT, b = ASC_ABSENT, c = ASC_ABSENT, found = ASC_ABSENT;
  OK(add_unary(graph, "relu", x, "", &a));
  OK(add_unary(graph, "Relu", a, "", &b));
  OK(add_unary(graph, "exp", b, "result", &c));
  asc_string name;
  OK(asc_graph_get_value_name(graph, a, &name));
  assert_true(text_is(name, "relu_out"));
  OK(asc_graph_get_value_name(graph, b, &name));
  assert_true(text_is(name, "relu_out_1"));
  OK(asc_graph_get_value_name(graph, c, &name));
  assert_true(text_is(name, "result"));
  OK(asc_graph_find_value(graph, asc_text("relu_out_1"), &found));
  assert_int_equal(found, b);
  asc_type* type = NULL;
  OK(asc_graph_create_value_type(graph, c, &type));
  OK(asc_type_get_text(type, &name));
  assert_true(text_is(name, "float32[N, 3]"));
  asc_type_release(type);
  size_t count = 0;
  OK(asc_graph_get_node_count(graph, &count));
  assert_int_equal(count, 3);
  asc_graph_release(graph);
}

static void a_refused_operator_leaves_the_graph_as_it_was(void** state) {
  (void)state;
  asc_graph* graph = new_graph();
  const asc_value_id x = add_input(graph, "x");
  asc_value_id out = ASC_ABSENT;
  FAILS(ASC_UNSUPPORTED_OPERATOR, "did you mean 'relu'", add_unary(graph, "rellu", x, "", &out));
  FAILS(ASC_UNSUPPORTED_OPERATOR, "'com.example.Nothing'",
        add_unary(graph, "com.example.Nothing", x, "", &out));
  FAILS(
      ASC_INVALID_ARGUMENT, "given 0",
      asc_graph_add_operator(graph, asc_text("relu"), NULL, 0, NULL, NULL, asc_text(""), 1, &out));
  FAILS(ASC_INVALID_ARGUMENT, "absent", add_unary(graph, "relu", ASC_ABSENT, "", &out));
  FAILS(ASC_INVALID_ARGUMENT, "at node 'here'",
        asc_graph_add_operator(graph, asc_text("relu"), &x, 1, NULL, NULL, asc_text("here"), 2,
                               (asc_value_id[2]){0}));
  asc_value* flags = NULL;
  asc_value_id constant = ASC_ABSENT;
  OK(asc_value_create_tensor(ASC_BOOL, NULL, 0, &flags));
  OK(asc_graph_add_constant(graph, asc_text("flags"), flags, &constant));
  FAILS(ASC_TYPE_MISMATCH, "does not take bool", add_unary(graph, "relu", constant, "", &out));
  assert_int_equal(out, ASC_ABSENT);
  size_t count = 9;
  OK(asc_graph_get_node_count(graph, &count));
  assert_int_equal(count, 0);
  OK(add_unary(graph, "relu", x, "", &out));
  asc_string name;
  OK(asc_graph_get_value_name(graph, out, &name));
  assert_true(text_is(name, "relu_out"));
  asc_value_release(flags);
  asc_graph_release(graph);
}

static void values_belong_to_their_graph(void** state) {
  (void)state;
  asc_graph *graph = new_graph(), *other = new_graph();
  const asc_value_id x = add_input(graph, "x");
  asc_value_id out = ASC_ABSENT;
  add_input(other, "y");
  FAILS(ASC_INVALID_ARGUMENT, "same graph", add_unary(other, "relu", x, "", &out));
  FAILS(ASC_INVALID_ARGUMENT, "no value of graph", asc_graph_add_output(other, x, asc_text("")));
  FAILS(ASC_INVALID_ARGUMENT, "lacks", add_unary(graph, "relu", x + 1000, "", &out));
  FAILS(ASC_INVALID_ARGUMENT, "no value of graph", add_unary(graph, "relu", 12345, "", &out));
  FAILS(ASC_INVALID_ARGUMENT, "no value of graph",
        asc_graph_get_value_name(graph, ASC_ABSENT, &(asc_string){0}));
  asc_graph_release(other);
  asc_graph_release(graph);
}

static void outputs_are_marked_or_found(void** state) {
  (void)state;
  asc_graph* graph = new_graph();
  const asc_value_id x = add_input(graph, "x");
  asc_value_id a = ASC_ABSENT, b = ASC_ABSENT, id = ASC_ABSENT;
  asc_string name;
  size_t count = 0;
  OK(add_unary(graph, "relu", x, "", &a));
  OK(add_unary(graph, "exp", a, "", &b));
  OK(asc_graph_add_output(graph, a, asc_text("middle")));
  asc_graph* copy = NULL;
  OK(asc_graph_copy(graph, &copy));
  OK(asc_graph_add_leaf_outputs(copy));
  OK(asc_graph_add_leaf_outputs(copy)); /* nothing is left to mark */
  OK(asc_graph_get_output_count(copy, &count));
  assert_int_equal(count, 2);
  OK(asc_graph_get_output(copy, 0, &name, &id));
  assert_true(text_is(name, "middle"));
  assert_int_equal(id, a);
  OK(asc_graph_get_output(copy, 1, &name, &id));
  assert_true(text_is(name, "exp_out"));
  assert_int_equal(id, b);
  OK(asc_graph_get_output_count(graph, &count)); /* the copy is on its own */
  assert_int_equal(count, 1);
  FAILS(ASC_INVALID_ARGUMENT, "already", asc_graph_add_output(graph, b, asc_text("middle")));
  FAILS(ASC_OUT_OF_RANGE, "output 1", asc_graph_get_output(graph, 1, &name, &id));
  OK(asc_graph_get_input_count(graph, &count));
  assert_int_equal(count, 1);
  OK(asc_graph_get_input(graph, 0, &id));
  assert_int_equal(id, x);
  FAILS(ASC_OUT_OF_RANGE, "input 1", asc_graph_get_input(graph, 1, &id));
  FAILS(ASC_NOT_FOUND, "did you mean 'relu_out'",
        asc_graph_find_value(graph, asc_text("relu_uot"), &id));
  asc_graph_release(copy);
  asc_graph_release(graph);
}

static void constants_without_a_use_can_be_taken_out(void** state) {
  (void)state;
  asc_graph* graph = NULL;
  asc_value* one = NULL;
  asc_value_id first = ASC_ABSENT, second = ASC_ABSENT, out = ASC_ABSENT;
  OK(asc_graph_create(asc_text("g"), &graph));
  OK(asc_value_create_tensor_copy(ASC_FLOAT32, NULL, 0, &(float){1}, sizeof(float), &one));
  OK(asc_graph_add_constant(graph, asc_text("c"), one, &first));
  OK(asc_graph_remove_constant(graph, first));
  FAILS(ASC_INVALID_ARGUMENT, "lacks", asc_graph_remove_constant(graph, first));
  OK(asc_graph_add_constant(graph, asc_text("c"), one, &second));
  OK(add_unary(graph, "relu", second, "", &out));
  FAILS(ASC_INVALID_ARGUMENT, "'c' is in use", asc_graph_remove_constant(graph, second));
  FAILS(ASC_INVALID_ARGUMENT, "is no constant", asc_graph_remove_constant(graph, out));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_remove_constant(NULL, second));
  asc_value_release(one);
  asc_graph_release(graph);
}

static void constants_and_variables_keep_their_tensor(void** state) {
  (void)state;
  asc_graph* graph = new_graph();
  asc_value *tensor = NULL, *back = NULL;
  const float data[] = {1, 2};
  OK(asc_value_create_tensor_copy(ASC_FLOAT32, (int64_t[]){2}, 1, data, sizeof(data), &tensor));
  asc_value_id constant = ASC_ABSENT, variable = ASC_ABSENT, written = ASC_ABSENT;
  OK(asc_graph_add_constant(graph, asc_text(""), tensor, &constant));
  OK(asc_graph_add_variable(graph, asc_text("weight"), tensor, &variable));
  asc_value_release(tensor);
  OK(asc_graph_create_value_constant(graph, constant, &back));
  const void* bytes = NULL;
  size_t size = 0;
  OK(asc_value_get_data(back, &bytes, &size));
  assert_memory_equal(bytes, data, sizeof(data));
  asc_value_release(back);
  OK(asc_graph_create_value_constant(graph, variable, &back));
  OK(add_unary(graph, "relu", variable, "", &written));
  asc_value* refused = NULL;
  FAILS(ASC_NOT_FOUND, "no constant", asc_graph_create_value_constant(graph, written, &refused));
  asc_value* none = NULL;
  OK(asc_value_create_optional(NULL, &none));
  FAILS(ASC_INVALID_ARGUMENT, "must be a tensor",
        asc_graph_add_constant(graph, asc_text("n"), none, &constant));
  FAILS(ASC_INVALID_ARGUMENT, "must be a tensor",
        asc_graph_add_variable(graph, asc_text("n"), none, &variable));
  asc_value_release(none);
  asc_value_release(back);
  asc_graph_release(graph);
}

static void formats_are_kept(void** state) {
  (void)state;
  asc_graph* graph = new_graph();
  const asc_value_id x = add_input(graph, "x");
  asc_string name;
  OK(asc_graph_get_format(graph, x, &name));
  assert_true(text_is(name, "ND"));
  OK(asc_graph_set_format(graph, x, asc_text("NHWC")));
  OK(asc_graph_get_format(graph, x, &name));
  assert_true(text_is(name, "NHWC"));
  FAILS(ASC_INVALID_ARGUMENT, "did you mean 'NHWC'",
        asc_graph_set_format(graph, x, asc_text("NHWCC")));
  asc_graph_release(graph);
}

static void attributes_are_checked_against_the_operator(void** state) {
  (void)state;
  asc_graph* graph = new_graph();
  const asc_value_id x = add_input(graph, "x");
  asc_value_id out = ASC_ABSENT;
  asc_attributes* attributes = NULL;
  OK(asc_attributes_create(&attributes));
  OK(asc_attributes_set_int(attributes, asc_text("alpha"), 1));
  FAILS(ASC_INVALID_ARGUMENT, "no parameter 'alpha'",
        asc_graph_add_operator(graph, asc_text("relu"), &x, 1, attributes, NULL, asc_text(""), 1,
                               &out));
  FAILS(ASC_INVALID_ARGUMENT, "needs a name", asc_attributes_set_int(attributes, asc_text(""), 1));
  OK(asc_attributes_set_float(attributes, asc_text("a"), 1.5));
  OK(asc_attributes_set_string(attributes, asc_text("b"), asc_text("text")));
  OK(asc_attributes_set_ints(attributes, asc_text("c"), (int64_t[]){1, 2}, 2));
  OK(asc_attributes_set_floats(attributes, asc_text("d"), (double[]){1, 2}, 2));
  OK(asc_attributes_set_strings(attributes, asc_text("e"), (asc_string[]){{"x", 1}}, 1));
  FAILS(ASC_INVALID_ARGUMENT, "'values' is NULL",
        asc_attributes_set_ints(attributes, asc_text("c"), NULL, 1));
  FAILS(ASC_INVALID_ARGUMENT, "'tensor' is NULL",
        asc_attributes_set_tensor(attributes, asc_text("f"), NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'type' is NULL",
        asc_attributes_set_type(attributes, asc_text("g"), NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'attributes' is NULL",
        asc_attributes_set_int(NULL, asc_text("h"), 1));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_attributes_create(NULL));
  asc_attributes_release(attributes);
  FAILS(ASC_DESTROYED, "released", asc_attributes_set_int(attributes, asc_text("h"), 1));
  FAILS(ASC_DESTROYED, "released",
        asc_graph_add_operator(graph, asc_text("relu"), &x, 1, attributes, NULL, asc_text(""), 1,
                               &out));
  asc_graph_release(graph);
}

static asc_value_id add_image(asc_graph* graph, const char* name, const char* const* extents) {
  asc_string texts[4];
  for (int i = 0; i < 4; ++i) texts[i] = asc_text(extents[i]);
  asc_type* type = NULL;
  asc_value_id id = ASC_ABSENT;
  OK(asc_type_create_tensor(ASC_FLOAT32, texts, 4, &type));
  OK(asc_graph_add_input(graph, asc_text(name), type, &id));
  asc_type_release(type);
  return id;
}

/* Adds conv2d of an image and a 3x3 weight. */
static asc_status* add_conv(asc_graph* graph, asc_value_id x, asc_value_id w,
                            const asc_attributes* attributes, asc_value_id* out) {
  return asc_graph_add_operator(graph, asc_text("conv2d"), (asc_value_id[]){x, w}, 2, attributes,
                                NULL, asc_text(""), 1, out);
}

static int has_type(asc_graph* graph, asc_value_id value, const char* expected) {
  asc_type* type = NULL;
  asc_string text;
  OK(asc_graph_create_value_type(graph, value, &type));
  OK(asc_type_get_text(type, &text));
  const int same = text_is(text, expected);
  if (!same) print_error("got: %.*s\n", (int)text.size, text.data);
  asc_type_release(type);
  return same;
}

static void methods_take_what_users_write(void** state) {
  (void)state;
  asc_graph* graph = new_graph();
  const asc_value_id x = add_image(graph, "x", (const char* const[]){"1", "3", "9", "9"});
  const asc_value_id w = add_image(graph, "w", (const char* const[]){"4", "3", "3", "3"});
  asc_attributes* attributes = NULL;
  asc_value_id out = ASC_ABSENT;
  OK(asc_attributes_create(&attributes));
  OK(asc_attributes_set_int(attributes, asc_text("kernel_size"), 3));
  OK(asc_attributes_set_int(attributes, asc_text("padding"), 1));
  OK(asc_attributes_set_ints(attributes, asc_text("stride"), (int64_t[]){2, 1}, 2));
  OK(add_conv(graph, x, w, attributes, &out));
  assert_true(has_type(graph, out, "float32[1, 4, 5, 9]"));
  OK(asc_attributes_set_string(attributes, asc_text("padding"), asc_text("same")));
  OK(add_conv(graph, x, w, attributes, &out));
  assert_true(has_type(graph, out, "float32[1, 4, 5, 9]"));
  OK(asc_attributes_set_ints(attributes, asc_text("padding"), (int64_t[]){0, 0, 1, 1}, 4));
  OK(add_conv(graph, x, w, attributes, &out));
  assert_true(has_type(graph, out, "float32[1, 4, 4, 8]"));
  OK(asc_attributes_set_int(attributes, asc_text("strides"), 1));
  FAILS(ASC_INVALID_ARGUMENT, "the same parameter", add_conv(graph, x, w, attributes, &out));
  asc_attributes_release(attributes);
  OK(asc_attributes_create(&attributes));
  OK(asc_attributes_set_string(attributes, asc_text("dtype"), asc_text("float16")));
  OK(asc_graph_add_operator(graph, asc_text("cast"), &x, 1, attributes, NULL, asc_text(""), 1,
                            &out));
  assert_true(has_type(graph, out, "float16[1, 3, 9, 9]"));
  asc_attributes_release(attributes);
  asc_graph_release(graph);
}

static void a_pinned_layout_is_met_or_refused(void** state) {
  (void)state;
  asc_graph* graph = new_graph();
  const asc_value_id x = add_image(graph, "x", (const char* const[]){"1", "3", "9", "9"});
  const asc_value_id w = add_image(graph, "w", (const char* const[]){"4", "3", "3", "3"});
  const asc_value_id wrong = add_image(graph, "wrong", (const char* const[]){"4", "5", "3", "3"});
  asc_attributes *pinned = NULL, *perm = NULL;
  asc_value_id last = ASC_ABSENT, out = ASC_ABSENT;
  size_t count = 9;
  asc_string format;
  OK(asc_attributes_create(&pinned));
  OK(asc_attributes_set_string(pinned, asc_text("expected_format"), asc_text("NHWC")));
  FAILS(ASC_LAYOUT, "ctx.transpose(x, perm=[0, 2, 3, 1])", add_conv(graph, x, w, pinned, &out));
  OK(asc_graph_get_node_count(graph, &count));
  assert_int_equal(count, 0);
  OK(asc_attributes_create(&perm));
  OK(asc_attributes_set_ints(perm, asc_text("perm"), (int64_t[]){0, 2, 3, 1}, 4));
  OK(asc_graph_add_operator(graph, asc_text("transpose"), &x, 1, perm, NULL, asc_text(""), 1,
                            &last));
  OK(asc_graph_get_format(graph, last, &format));
  assert_true(text_is(format, "NHWC"));
  OK(add_conv(graph, last, w, pinned, &out));
  assert_true(has_type(graph, out, "float32[1, 7, 7, 4]"));
  asc_string name;
  OK(asc_graph_get_value_name(graph, out, &name));
  assert_true(text_is(name, "conv2d_out"));
  OK(asc_graph_get_node_count(graph, &count));
  /* What does not fit leaves nothing of itself. */
  FAILS(ASC_SHAPE_MISMATCH, "conv2d", add_conv(graph, last, wrong, pinned, &out));
  size_t after = 0;
  OK(asc_graph_get_node_count(graph, &after));
  assert_int_equal(after, count);
  OK(asc_attributes_set_string(pinned, asc_text("expected_format"), asc_text("NC1HWC0")));
  OK(add_conv(graph, x, w, pinned, &out));
  assert_true(has_type(graph, out, "float32[1, 4, 7, 7]"));
  OK(asc_attributes_set_string(pinned, asc_text("expected_format"), asc_text("NHCW")));
  FAILS(ASC_INVALID_ARGUMENT, "there is no format 'NHCW'", add_conv(graph, x, w, pinned, &out));
  asc_attributes_release(perm);
  asc_attributes_release(pinned);
  asc_graph_release(graph);
}

static void failing_memory_leaves_the_graph_usable(void** state) {
  (void)state;
  asc_graph* graph = NULL;
  asc_bytes* text = NULL;
  asc_value_id x = ASC_ABSENT, out = ASC_ABSENT;
  FAILS_AT_EACH_ALLOCATION(
      asc_graph_create(asc_text("a name that is longer than fits inside"), &graph));
  x = add_input(graph, "x");
  FAILS_AT_EACH_ALLOCATION(
      add_unary(graph, "relu", x, "a name that is longer than fits inside", &out));
  size_t count = 9;
  OK(asc_graph_get_node_count(graph, &count));
  assert_int_equal(count, 1);
  asc_string name;
  OK(asc_graph_get_value_name(graph, out, &name));
  assert_true(text_is(name, "a name that is longer than fits inside"));
  FAILS_AT_EACH_ALLOCATION(
      asc_graph_add_output(graph, out, asc_text("another name that is longer than fits")));
  FAILS_AT_EACH_ALLOCATION(asc_graph_create_text(graph, &text));
  asc_bytes_release(text);
  FAILS_AT_EACH_ALLOCATION(asc_registry_create_operators(&text));
  asc_bytes_release(text);
  asc_graph_release(graph);
}

static void regions_take_copies_of_bodies(void** state) {
  (void)state;
  asc_graph *graph = new_graph(), *body = new_graph();
  const asc_value_id x = add_input(graph, "x"), inner = add_input(body, "inner");
  asc_value_id out = ASC_ABSENT;
  OK(add_unary(body, "relu", inner, "", &out));
  OK(asc_graph_add_output(body, out, asc_text("")));
  asc_regions* regions = NULL;
  OK(asc_regions_create(&regions));
  OK(asc_regions_add(regions, asc_text("body"), body, &x, 1));
  FAILS(ASC_INVALID_ARGUMENT, "too few for 2 captures",
        asc_regions_add(regions, asc_text("body"), body, (asc_value_id[]){x, x}, 2));
  FAILS(ASC_INVALID_ARGUMENT, "'body' is NULL",
        asc_regions_add(regions, asc_text("body"), NULL, NULL, 0));
  FAILS(ASC_INVALID_ARGUMENT, "'captures' is NULL",
        asc_regions_add(regions, asc_text("body"), body, NULL, 1));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_regions_create(NULL));
  asc_regions_release(regions);
  asc_graph_release(body);
  asc_graph_release(graph);
}

static void the_registry_lists_operators(void** state) {
  (void)state;
  asc_bytes* operators = NULL;
  OK(asc_registry_create_operators(&operators));
  const asc_string text = asc_bytes_get(operators);
  assert_int_equal(text.data[0], '[');
  assert_int_equal(text.data[text.size], '\0');
  assert_non_null(strstr(text.data, "\"name\":\"Relu\",\"method\":\"relu\""));
  asc_bytes_retain(operators);
  asc_bytes_release(operators);
  asc_bytes_release(operators);
  assert_int_equal(asc_bytes_get(operators).size, 0);
  asc_bytes* fusions = NULL;
  OK(asc_registry_create_fusions(&fusions));
  assert_non_null(strstr(asc_bytes_get(fusions).data, "\"name\":"));
  asc_bytes_release(fusions);
  asc_string name;
  OK(asc_registry_get_method(asc_text("Relu"), &name));
  assert_true(text_is(name, "relu"));
  OK(asc_registry_get_method(asc_text("relu"), &name));
  assert_true(text_is(name, "relu"));
  FAILS(ASC_UNSUPPORTED_OPERATOR, "did you mean 'Relu'",
        asc_registry_get_method(asc_text("Rellu"), &name));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_registry_get_method(asc_text("relu"), NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_registry_create_operators(NULL));
}

static void null_arguments_are_refused(void** state) {
  (void)state;
  asc_graph* graph = new_graph();
  const asc_value_id x = add_input(graph, "x");
  asc_value_id id = ASC_ABSENT;
  asc_string text;
  size_t count;
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_graph_create(asc_text(""), NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'name' is NULL", asc_graph_create((asc_string){NULL, 1}, &graph));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_copy(NULL, &graph));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_graph_copy(graph, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL",
        asc_graph_add_input(NULL, asc_text("x"), NULL, &id));
  FAILS(ASC_INVALID_ARGUMENT, "'type' is NULL",
        asc_graph_add_input(graph, asc_text("x"), NULL, &id));
  FAILS(ASC_INVALID_ARGUMENT, "'tensor' is NULL",
        asc_graph_add_constant(graph, asc_text("x"), NULL, &id));
  FAILS(ASC_INVALID_ARGUMENT, "'initial' is NULL",
        asc_graph_add_variable(graph, asc_text("x"), NULL, &id));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", add_unary(NULL, "relu", x, "", &id));
  FAILS(ASC_INVALID_ARGUMENT, "'outputs' is NULL", add_unary(graph, "relu", x, "", NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'inputs' is NULL",
        asc_graph_add_operator(graph, asc_text("relu"), NULL, 1, NULL, NULL, asc_text(""), 1, &id));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_add_output(NULL, x, asc_text("")));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_add_leaf_outputs(NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_set_source(NULL, asc_text("")));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_set_scope(NULL, 1));
  FAILS(ASC_INVALID_ARGUMENT, "given -1", asc_graph_set_scope(graph, -1));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_set_format(NULL, x, asc_text("ND")));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_graph_get_format(graph, x, NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_get_node_count(NULL, &count));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_get_input_count(NULL, &count));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_get_output_count(NULL, &count));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_get_input(NULL, 0, &id));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_get_output(NULL, 0, &text, &id));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_find_value(NULL, asc_text("x"), &id));
  FAILS(ASC_INVALID_ARGUMENT, "'out' is NULL", asc_graph_find_value(graph, asc_text("x"), NULL));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL", asc_graph_get_value_name(NULL, x, &text));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL",
        asc_graph_create_value_type(NULL, x, &(asc_type*){0}));
  FAILS(ASC_INVALID_ARGUMENT, "'graph' is NULL",
        asc_graph_create_value_constant(NULL, x, &(asc_value*){0}));
  asc_graph_release(graph);
  FAILS(ASC_DESTROYED, "the graph was released", asc_graph_get_node_count(graph, &count));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(graphs_grow_by_method_or_onnx_name),
      TEST(a_refused_operator_leaves_the_graph_as_it_was),
      TEST(values_belong_to_their_graph),
      TEST(outputs_are_marked_or_found),
      TEST(constants_without_a_use_can_be_taken_out),
      TEST(constants_and_variables_keep_their_tensor),
      TEST(formats_are_kept),
      TEST(attributes_are_checked_against_the_operator),
      TEST(methods_take_what_users_write),
      TEST(a_pinned_layout_is_met_or_refused),
      TEST(failing_memory_leaves_the_graph_usable),
      TEST(regions_take_copies_of_bodies),
      TEST(the_registry_lists_operators),
      TEST(null_arguments_are_refused),
  };
  return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
