#ifndef ASC_SESSION_H_
#define ASC_SESSION_H_

/* Compiled graphs and their runs. */

#include "asc/graph.h"
#include "asc/options.h"

ASC_EXTERN_C_BEGIN

/* A compiled graph with the state of its variables. Many threads may use one; runs of a graph that
 * has variables take turns. Released while a run is going on, it lives until the run is done. */
typedef struct asc_session asc_session;

/* `device`: see device.h; empty text is "cpu". `options` may be NULL: all defaults. Where all
 * shapes are known, memory is planned here and what does not fit is refused here (E5012). Nothing
 * is left half-made on failure. */

/* The graph is copied; it needs at least one output (E5003). */
ASC_API asc_status* asc_session_create(const asc_graph* graph, asc_string device,
                                       const asc_compile_options* options, asc_session** out);
/* An ONNX file, whose external data may not leave its folder, or a compiled model (.om), which the
 * file's contents tell. Of a compiled model, options that concern optimisation stay as they were
 * when it was saved. E5006 for what is no model, E5010 for files that cannot be read. */
ASC_API asc_status* asc_session_load_file(asc_string path, asc_string device,
                                          const asc_compile_options* options, asc_session** out);
/* The same from memory: a uint8 tensor, shared and not to be written any more. ONNX models with
 * external data are refused. */
ASC_API asc_status* asc_session_load_bytes(const asc_value* model, asc_string device,
                                           const asc_compile_options* options, asc_session** out);
/* Writes a compiled model (.om), with the packed weights that were made so far. E5010 when the file
 * cannot be written, which leaves what was there. */
ASC_API asc_status* asc_session_save_file(const asc_session* session, asc_string path);
ASC_API void asc_session_retain(asc_session* session);
ASC_API void asc_session_release(asc_session* session);

/* ---- inputs and outputs, by position; what is lent lives as long as the session ---- */

ASC_API asc_status* asc_session_get_input_count(const asc_session* session, size_t* out);
ASC_API asc_status* asc_session_get_input(const asc_session* session, size_t index,
                                          asc_string* name, const asc_type** type);
ASC_API asc_status* asc_session_get_output_count(const asc_session* session, size_t* out);
ASC_API asc_status* asc_session_get_output(const asc_session* session, size_t index,
                                           asc_string* name, const asc_type** type);

/* Inputs with a default, which runs may leave out: initializers that an ONNX model of IR version 4
 * or later lists as inputs too. A model without such has none, and so has a compiled model (.om), in
 * which the defaults are fixed. */
ASC_API asc_status* asc_session_get_overridable_count(const asc_session* session, size_t* out);
ASC_API asc_status* asc_session_get_overridable(const asc_session* session, size_t index,
                                                asc_string* name, const asc_type** type);

/* ---- running ---- */

/* Stops the runs that it is given to before their next step, with E5013. Thread-safe. */
typedef struct asc_cancel_token asc_cancel_token;
ASC_API asc_status* asc_cancel_token_create(asc_cancel_token** out);
ASC_API asc_status* asc_cancel_token_cancel(asc_cancel_token* token);
ASC_API void asc_cancel_token_retain(asc_cancel_token* token);
ASC_API void asc_cancel_token_release(asc_cancel_token* token);

/* For one thread at a time; runs copy it. */
typedef struct asc_run_options asc_run_options;
ASC_API asc_status* asc_run_options_create(asc_run_options** out);
/* NULL: the run cannot be cancelled. */
ASC_API asc_status* asc_run_options_set_cancel_token(asc_run_options* options,
                                                     asc_cancel_token* token);
/* The seed of the run's random numbers; without one each run of a session has another. */
ASC_API asc_status* asc_run_options_set_seed(asc_run_options* options, uint64_t seed);
/* A tensor that output `index` is written into; type and shape must fit (E5002, E5001). NULL: the
 * output gets memory of its own. */
ASC_API asc_status* asc_run_options_set_output(asc_run_options* options, size_t index,
                                               asc_value* tensor);
ASC_API void asc_run_options_retain(asc_run_options* options);
ASC_API void asc_run_options_release(asc_run_options* options);

/* Runs and waits. Inputs are in the order of the session's; NULL stands for an optional that holds
 * nothing. Overridable inputs may follow, in their order, NULL for the default; the first run that
 * has any compiles the model for it. `options` may be NULL. Each output is a handle that the caller releases, and shares no
 * memory with inputs or other outputs. E5001, E5002, E5003 name the input that does not fit. */
ASC_API asc_status* asc_session_run(asc_session* session, const asc_value* const* inputs,
                                    size_t input_count, const asc_run_options* options,
                                    asc_value** outputs, size_t output_count);

/* A result that comes later. Thread-safe. */
typedef struct asc_future asc_future;
/* Enqueues a run. It shares the inputs, whose elements must not be written until it is done. What
 * is wrong with the inputs comes with the future. */
ASC_API asc_status* asc_session_run_async(asc_session* session, const asc_value* const* inputs,
                                          size_t input_count, const asc_run_options* options,
                                          asc_future** out);
/* Blocks; gives the outputs, or why there are none, each time. */
ASC_API asc_status* asc_future_wait(const asc_future* future, asc_value** outputs,
                                    size_t output_count);
/* Blocks for at most that long (0: not at all); `done` is 1 when the result is there. */
ASC_API asc_status* asc_future_wait_for(const asc_future* future, int64_t nanoseconds,
                                        int32_t* done);
ASC_API void asc_future_retain(asc_future* future);
ASC_API void asc_future_release(asc_future* future);

/* ---- variables ---- */

/* A copy of what it holds now; E5004 naming the nearest for unknown names. */
ASC_API asc_status* asc_session_create_variable(asc_session* session, asc_string name,
                                                asc_value** out);
ASC_API asc_status* asc_session_set_variable(asc_session* session, asc_string name,
                                             const asc_value* value);

/* ---- inspection; each a JSON text ---- */

/* {device, threads, graph_opt_level, inputs, outputs: [{name, type}], parameter_bytes,
 * packed_bytes, layers: [{name, operator, kernel ("" where it depends on the data), outputs:
 * [types], parameter_bytes}]} */
ASC_API asc_status* asc_session_create_summary(const asc_session* session, asc_bytes** out);
/* {peak_bytes, lower_bound_bytes, buffers: [{name, type, kind, offset, bytes, first_step,
 *  last_step, shares}], steps: [names]}: `kind` is arena, input, constant, output, variable or run;
 * `shares` names the buffer whose memory it is, where it is not its own.
 * `types`: of all inputs, with numbers for extents; NULL takes the inputs' own, which must be fixed
 * (E5003). */
ASC_API asc_status* asc_session_create_memory_plan(const asc_session* session,
                                                   const asc_type* const* types, size_t count,
                                                   asc_bytes** out);
/* What the passes did: {passes, fusions, ...}; empty where none ran. */
ASC_API asc_status* asc_session_create_pass_report(const asc_session* session, asc_bytes** out);
/* What the model file says of itself: {key: text}. */
ASC_API asc_status* asc_session_create_metadata(const asc_session* session, asc_bytes** out);
/* The graph that was loaded or given, before any optimisation, with what its inputs may leave out as
 * constants; of a compiled model (.om), which has no other, the optimised one. An ONNX model is read
 * again for it: external weight files must still be there. */
ASC_API asc_status* asc_session_create_source_graph(const asc_session* session, asc_graph** out);
/* The optimised graph. Its values have ids of their own. */
ASC_API asc_status* asc_session_create_graph(const asc_session* session, asc_graph** out);
/* Counts: plans_made, forms_made (packed forms of constants), packed_bytes, threads. E5003 naming
 * the nearest for other names. */
ASC_API asc_status* asc_session_get_counter(const asc_session* session, asc_string name,
                                            int64_t* out);

ASC_EXTERN_C_END

#endif /* ASC_SESSION_H_ */
