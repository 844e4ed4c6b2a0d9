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
MACRO(asc_future)
MACRO(asc_log_records)
%enddef

/* Statuses become exceptions or errors, and texts strings. */
%ignore asc_string;
%ignore asc_status_code;
%ignore asc_status_get_message;
%ignore asc_status_get_node;
%ignore asc_status_get_hint;
%ignore asc_status_get_text;
%ignore asc_status_release;
%ignore asc_bytes_get;
%ignore asc_bytes_retain;
%ignore asc_bytes_release;

#if defined(SWIGPYTHON)
%include "typemaps/python.i"
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
