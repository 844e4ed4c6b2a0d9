/* The one interface from which SWIG makes the raw layers of Python, Java and Go. Each host's
 * hand-written layer stands on top of it; users do not see this one. */
%module asc

%{
#include "asc/asc.h"
%}

%include <stdint.i>

%include "asc/export.h"
%include "asc/version.h"
