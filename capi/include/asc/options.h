#ifndef ASC_OPTIONS_H_
#define ASC_OPTIONS_H_

/* What is asked of a compilation. */

#include "asc/handle.h"

ASC_EXTERN_C_BEGIN

/* For one thread at a time; compilations copy it. */
typedef struct asc_compile_options asc_compile_options;

/* All at their defaults. */
ASC_API asc_status* asc_compile_options_create(asc_compile_options** out);
ASC_API asc_status* asc_compile_options_copy(const asc_compile_options* options,
                                             asc_compile_options** out);
ASC_API void asc_compile_options_retain(asc_compile_options* options);
ASC_API void asc_compile_options_release(asc_compile_options* options);

/* Numbers and flags (0 or 1), with their defaults:
 *   graph_opt_level        3   0 none, 1 safe clean-ups, 2 fusion, 3 all with layout
 *   enable_const_fold      1   compute at compile time what never changes
 *   enable_mem_reuse       1   0: every intermediate value has memory of its own
 *   buffer_optimize_level  2   0 none, 1 reuse, 2 in-place and views as well
 *   assume_finite          0   1: NaN and infinity need not be handled
 *   winograd               1   fewer multiplications where that is faster: 3x3 convolutions by
 *                              Winograd's algorithm (errors up to 3e-5 of the largest output), large
 *                              products with weights by Strassen's in Winograd's form (3e-6)
 *   tune                   0   1: measure the kernels that could do a step when its shapes are first
 *                              met, and keep the fastest in tune_cache; 0: by estimates, which give
 *                              the same kernels each time
 *   threads                0   cores used at most; 0: all that the process may use; more are capped
 *   plan_cache_size       32   plans kept for distinct input shapes
 *   verify_passes          0   run the graph verifier after every pass
 *   rewrite_limit         -1   stop after this many rewrites; -1: no limit
 * E5003 for numbers out of range and, naming the nearest, for unknown keys; E5009 for keys that are
 * documented and not built yet. */
ASC_API asc_status* asc_compile_options_set_int(asc_compile_options* options, asc_string key,
                                                int64_t value);
ASC_API asc_status* asc_compile_options_get_int(const asc_compile_options* options, asc_string key,
                                                int64_t* out);
/* Texts:
 *   dump_path        ""   folder for graphs before and after each pass, as text, DOT and, where the
 *                         weights take no more than 64 MiB, ONNX
 *   tune_cache       ""   folder for what tuning finds, by CPU, libraries, operator and shapes; "" is
 *                         `pyasc` in XDG_CACHE_HOME or ~/.cache
 *   precision_mode   "must_keep_origin_dtype" (the others: E5009, not built yet) */
ASC_API asc_status* asc_compile_options_set_text(asc_compile_options* options, asc_string key,
                                                 asc_string value);
ASC_API asc_status* asc_compile_options_get_text(const asc_compile_options* options, asc_string key,
                                                 asc_string* out);

/* How much is fused in a scope. Scope 0 is every node without one (asc_graph_set_scope). */
typedef int32_t asc_fusion_mode;
enum {
  ASC_FUSION_OFF = 0,
  ASC_FUSION_CONSERVATIVE = 1,
  ASC_FUSION_DEFAULT = 2,
  ASC_FUSION_AGGRESSIVE = 3
};
ASC_API asc_status* asc_compile_options_set_fusion_mode(asc_compile_options* options, int32_t scope,
                                                        asc_fusion_mode mode);
/* Switches a fusion off in a scope; "ALL": every one. E5004 naming the nearest for unknown ones. */
ASC_API asc_status* asc_compile_options_disable_fusion(asc_compile_options* options, int32_t scope,
                                                       asc_string name);

ASC_EXTERN_C_END

#endif /* ASC_OPTIONS_H_ */
