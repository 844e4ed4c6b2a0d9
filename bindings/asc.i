/* The one interface from which SWIG makes the raw layers of Python, Java and Go. Each host's
 * hand-written layer stands on top of it; users do not see this one. What a language does with the
 * ABI's conventions (statuses, text, handles, arrays, out-parameters) is in typemaps/. */
%module asc

%{
#include "asc/asc.h"
%}

%include <stdint.i>

/* MACRO(type) for each type of handle that hosts hold. Texts that a caller owns (asc_bytes) become
 * strings at once. */
%define ASC_FOR_EACH_HANDLE(MACRO)
MACRO(asc_type)
MACRO(asc_value)
MACRO(asc_attributes)
MACRO(asc_graph)
MACRO(asc_regions)
MACRO(asc_compile_options)
MACRO(asc_session)
MACRO(asc_cancel_token)
MACRO(asc_run_options)
MACRO(asc_export_options)
MACRO(asc_future)
MACRO(asc_log_records)
MACRO(asc_profiler)
%enddef

/* Statuses become exceptions or errors, and texts strings. */
%ignore asc_string;
%ignore asc_status_get_text;
%ignore asc_bytes_get;
%ignore asc_bytes_retain;
%ignore asc_bytes_release;

#if defined(SWIGPYTHON)
%ignore asc_status_code;
%ignore asc_status_get_message;
%ignore asc_status_get_node;
%ignore asc_status_get_hint;
%ignore asc_status_release;
%include "typemaps/python.i"
#elif defined(SWIGJAVA)
%include "typemaps/java.i"
#elif defined(SWIGGO)
%include "typemaps/go.i"
#endif

#if defined(SWIGJAVA) || defined(SWIGGO)
/* Arrays of these hosts carry their own length: keys need one beside that of the values. */
%ignore asc_value_create_int_map;
%ignore asc_value_create_string_map;
%rename(asc_value_create_int_map) asc_host_int_map;
%rename(asc_value_create_string_map) asc_host_string_map;
#endif

%include "asc/export.h"
%include "asc/status.h"
%include "asc/handle.h"
%include "asc/version.h"
%include "asc/type.h"
%include "asc/value.h"
%include "asc/attributes.h"
%include "asc/graph.h"
%include "asc/registry.h"
%include "asc/options.h"
%include "asc/session.h"
%include "asc/device.h"
%include "asc/log.h"
%include "asc/onnx.h"
%include "asc/profiler.h"

#if defined(SWIGJAVA) || defined(SWIGGO)
%inline %{
static asc_status* asc_host_int_map(const int64_t* keys, size_t key_count,
                                    const asc_value* const* values, size_t count,
                                    asc_value** out) {
  return asc_value_create_int_map(keys, values, key_count < count ? key_count : count, out);
}
static asc_status* asc_host_string_map(const asc_string* keys, size_t key_count,
                                       const asc_value* const* values, size_t count,
                                       asc_value** out) {
  return asc_value_create_string_map(keys, values, key_count < count ? key_count : count, out);
}
%}
#endif
