#ifndef ASC_ONNX_H_
#define ASC_ONNX_H_

/* Graphs as ONNX models. (asc_graph_import_file reads them; so does asc_session_load_file.) */

#include "asc/graph.h"

ASC_EXTERN_C_BEGIN

/* What is asked of a model file. For one thread at a time. */
typedef struct asc_export_options asc_export_options;

/* All at their defaults. */
ASC_API asc_status* asc_export_options_create(asc_export_options** out);
ASC_API void asc_export_options_retain(asc_export_options* options);
ASC_API void asc_export_options_release(asc_export_options* options);

/* Numbers and flags (0 or 1), with their defaults:
 *   opset                0           version of ai.onnx; 0: the oldest (13 or later) in which all of the
 *                                    graph's operators mean what they do here, which most engines read
 *   external_data_over   2080374784  files only: weights that take more bytes together are kept in
 *                                    `<path>.data` beside the model; 0: all but the smallest are.
 *                                    Messages of ONNX end at 2^31 bytes
 *   value_info           1           types of intermediate values too
 * E5003 for numbers out of range and, naming the nearest, for unknown keys. */
ASC_API asc_status* asc_export_options_set_int(asc_export_options* options, asc_string key,
                                               int64_t value);

/* Both write the graph as a model that any engine for ONNX reads. Names of inputs, outputs and nodes
 * stay. The compiler's own operators (domain asc) become ONNX's. A variable becomes an input with a
 * default and, where it is assigned, an output `<variable>_next`; operators of domains that are not
 * ONNX's are written as they are. `options` may be NULL: all defaults.
 * E5033 for operators of the compiler that ONNX has no words for; E5003 for an opset that lacks what
 * the graph needs (naming the node), an output that has an input's name, or weights that do not fit;
 * E5009 in builds without ONNX. */

/* E5010 when the file cannot be written, which leaves what was there. */
ASC_API asc_status* asc_graph_export_file(const asc_graph* graph, asc_string path,
                                          const asc_export_options* options);
/* A uint8 tensor. */
ASC_API asc_status* asc_graph_export_bytes(const asc_graph* graph,
                                           const asc_export_options* options, asc_value** out);

ASC_EXTERN_C_END

#endif /* ASC_ONNX_H_ */
