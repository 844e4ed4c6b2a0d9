#ifndef ASC_GRAPH_H_
#define ASC_GRAPH_H_

/* Building graphs, one operator at a time, checked as they grow. */

#include "asc/attributes.h"

ASC_EXTERN_C_BEGIN

/* For one thread at a time; a graph that nobody changes may be read from many. */
typedef struct asc_graph asc_graph;

/* A value of one graph; other graphs refuse it (E5003). ASC_ABSENT stands for an optional operand
 * that is left out. */
typedef int64_t asc_value_id;
enum { ASC_ABSENT = 0 };

ASC_API asc_status* asc_graph_create(asc_string name, asc_graph** out);
/* A graph of its own with the same contents; constants are shared, and values keep their ids for
 * the copy too. */
ASC_API asc_status* asc_graph_copy(const asc_graph* graph, asc_graph** out);
/* An ONNX file; see asc_session_load_file. Inputs that have a default are constants (and such inputs
 * again where the graph is exported). */
ASC_API asc_status* asc_graph_import_file(asc_string path, asc_graph** out);
/* An ONNX model in memory: a uint8 tensor, shared and not to be written any more. */
ASC_API asc_status* asc_graph_import_bytes(const asc_value* model, asc_graph** out);
ASC_API void asc_graph_retain(asc_graph* graph);
ASC_API void asc_graph_release(asc_graph* graph);

/* ---- building. Names are made unique by a number at their end where they are taken. ---- */

ASC_API asc_status* asc_graph_add_input(asc_graph* graph, asc_string name, const asc_type* type,
                                        asc_value_id* out);
/* Shares the tensor's contents, which must not be written any more. */
ASC_API asc_status* asc_graph_add_constant(asc_graph* graph, asc_string name,
                                           const asc_value* tensor, asc_value_id* out);
/* Takes a constant out again, for which nothing has a use yet (E5003). */
ASC_API asc_status* asc_graph_remove_constant(asc_graph* graph, asc_value_id constant);
/* A value that keeps what Assign writes to it from run to run; gives its initial version. */
ASC_API asc_status* asc_graph_add_variable(asc_graph* graph, asc_string name,
                                           const asc_value* initial, asc_value_id* out);

/* The bodies of an operator that has regions (If, Loop, Scan). For one thread at a time. */
typedef struct asc_regions asc_regions;
ASC_API asc_status* asc_regions_create(asc_regions** out);
/* `name` is the operator's name for it ("then_branch", "body"). The body is copied. Its last
 * `count` inputs stand for the `captures`, values of the graph that the operator is added to. */
ASC_API asc_status* asc_regions_add(asc_regions* regions, asc_string name, const asc_graph* body,
                                    const asc_value_id* captures, size_t count);
ASC_API void asc_regions_retain(asc_regions* regions);
ASC_API void asc_regions_release(asc_regions* regions);

/* Adds an operator and gives the ids of its first `output_count` results.
 *   operation    method name ("conv2d") or ONNX name ("Conv", "com.example.MyOp"); E5033 naming the
 *                nearest where there is none
 *   inputs       in the operator's order; ASC_ABSENT for optional ones that are left out
 *   attributes   may be NULL. Integers serve for float attributes. An attribute with one number for
 *                each spatial axis takes a single one for all; pads take one for each axis too,
 *                instead of one for each end
 *   regions      may be NULL; for operators that have some
 *   name         of the node and its result; empty: `<method>_out`
 * E5001, E5002, E5003 when operands do not fit.
 *
 * The attribute "expected_format" pins any operator to a layout of its first operand ("NHWC"): an
 * operand in another one is E5008, naming both and the transpose that would mend it, unless a
 * TransData meets it (a blocked form of the operand's own layout). */
ASC_API asc_status* asc_graph_add_operator(asc_graph* graph, asc_string operation,
                                           const asc_value_id* inputs, size_t input_count,
                                           const asc_attributes* attributes,
                                           const asc_regions* regions, asc_string name,
                                           size_t output_count, asc_value_id* outputs);
/* Marks a value as an output. An empty name takes the value's; E5003 when another output has it. */
ASC_API asc_status* asc_graph_add_output(asc_graph* graph, asc_value_id value, asc_string name);
/* Marks each result of a node that nothing consumes and that is no output yet. */
ASC_API asc_status* asc_graph_add_leaf_outputs(asc_graph* graph);

/* Where the operators that are added from now on come from ("model.py:12"; empty: unknown). */
ASC_API asc_status* asc_graph_set_source(asc_graph* graph, asc_string source);
/* The fusion scope of the operators that are added from now on (options.h); 0: none. */
ASC_API asc_status* asc_graph_set_scope(asc_graph* graph, int32_t scope);
/* The layout in which the user thinks of a value ("NCHW", "NHWC", ...): its origin format. Where nothing
 * was said, NCHW for rank 4, NCDHW for rank 5, else ND; transposes permute it. E5003 naming the nearest
 * for unknown ones. */
ASC_API asc_status* asc_graph_set_format(asc_graph* graph, asc_value_id value, asc_string format);
ASC_API asc_status* asc_graph_get_format(const asc_graph* graph, asc_value_id value,
                                         asc_string* out);

/* ---- reading. Lent texts live until the graph is changed. ---- */

ASC_API asc_status* asc_graph_get_node_count(const asc_graph* graph, size_t* out);
ASC_API asc_status* asc_graph_get_input_count(const asc_graph* graph, size_t* out);
ASC_API asc_status* asc_graph_get_input(const asc_graph* graph, size_t index, asc_value_id* out);
ASC_API asc_status* asc_graph_get_output_count(const asc_graph* graph, size_t* out);
ASC_API asc_status* asc_graph_get_output(const asc_graph* graph, size_t index, asc_string* name,
                                         asc_value_id* value);
/* E5004 naming the nearest when no value is called `name`. */
ASC_API asc_status* asc_graph_find_value(const asc_graph* graph, asc_string name,
                                         asc_value_id* out);
ASC_API asc_status* asc_graph_get_value_name(const asc_graph* graph, asc_value_id value,
                                             asc_string* out);
ASC_API asc_status* asc_graph_create_value_type(const asc_graph* graph, asc_value_id value,
                                                asc_type** out);
/* The tensor behind a constant or a variable's initial version; E5004 for other values. */
ASC_API asc_status* asc_graph_create_value_constant(const asc_graph* graph, asc_value_id value,
                                                    asc_value** out);

/* The readable form: one line a value, constants of more than 32 elements by their hash. */
ASC_API asc_status* asc_graph_create_text(const asc_graph* graph, asc_bytes** out);
/* Graphviz DOT. */
ASC_API asc_status* asc_graph_create_dot(const asc_graph* graph, asc_bytes** out);

ASC_EXTERN_C_END

#endif /* ASC_GRAPH_H_ */
