/* Python's side of the ABI's conventions. Handles are capsules, which release them; failures are
 * raised; out-parameters are returned, several of them as a list; arrays are sequences. */

%{
#include "native/native.h"
%}

%define ASC_CAPSULE(TYPE)
%{
static void TYPE##_capsule_destructor(PyObject* capsule) {
  TYPE* handle = (TYPE*)PyCapsule_GetPointer(capsule, #TYPE);
  pyasc_attend();
  TYPE##_release(handle);
  pyasc_dismiss();
}
static PyObject* TYPE##_to_capsule(TYPE* handle) {
  PyObject* capsule;
  if (handle == NULL) Py_RETURN_NONE;
  capsule = PyCapsule_New(handle, #TYPE, TYPE##_capsule_destructor);
  if (capsule == NULL) TYPE##_release(handle);
  return capsule;
}
%}
%ignore TYPE##_retain;
%ignore TYPE##_release;
/* None is NULL, which the ABI refuses where a handle must be there. */
%typemap(in) TYPE*, const TYPE* {
  if ($input == Py_None) {
    $1 = NULL;
  } else if (($1 = ($1_ltype)PyCapsule_GetPointer($input, #TYPE)) == NULL) {
    SWIG_fail;
  }
}
/* By name: a type alone would match arrays of handles too. */
%typemap(in, numinputs=0) TYPE** out (TYPE* made = NULL) "$1 = &made;"
%typemap(argout) TYPE** out {
  PyObject* capsule = TYPE##_to_capsule(*$1);
  if (capsule == NULL) SWIG_fail;
  $result = SWIG_Python_AppendOutput($result, capsule, 1);
}
%enddef
ASC_FOR_EACH_HANDLE(ASC_CAPSULE)

/* ---- failures ---- */

%typemap(out) asc_status* {
  if ($1 != NULL || PyErr_Occurred()) {
    pyasc_raise($1);
    SWIG_fail;
  }
  $result = SWIG_Py_Void();
}

/* ---- text ---- */

%typemap(in) asc_string {
  if (!pyasc_text($input, &$1)) SWIG_fail;
}
%typemap(out) asc_string "$result = pyasc_str($1);"
/* By name: a type alone would match arrays of texts too. */
%define ASC_TEXT_OUT(ARGUMENT)
%typemap(in, numinputs=0) asc_string* ARGUMENT (asc_string lent = {0}) "$1 = &lent;"
%typemap(argout) asc_string* ARGUMENT
    "$result = SWIG_Python_AppendOutput($result, pyasc_str(*$1), 1);"
%enddef
ASC_TEXT_OUT(out)
ASC_TEXT_OUT(name)
ASC_TEXT_OUT(message)
%typemap(in, numinputs=0) asc_bytes** (asc_bytes* made = NULL) "$1 = &made;"
%typemap(argout) asc_bytes** {
  $result = SWIG_Python_AppendOutput($result, pyasc_str(asc_bytes_get(*$1)), 1);
  asc_bytes_release(*$1);
}

/* ---- numbers that come out ---- */

%define ASC_NUMBER_OUT(TYPE, ARGUMENT)
%typemap(in, numinputs=0) TYPE* ARGUMENT (TYPE number = 0) "$1 = &number;"
%typemap(argout) TYPE* ARGUMENT
    "$result = SWIG_Python_AppendOutput($result, PyLong_FromLongLong((long long)*$1), 1);"
%enddef
ASC_NUMBER_OUT(int64_t, out)
ASC_NUMBER_OUT(int64_t, current_bytes)
ASC_NUMBER_OUT(int64_t, peak_bytes)
ASC_NUMBER_OUT(int64_t, limit_bytes)
ASC_NUMBER_OUT(int32_t, done)
ASC_NUMBER_OUT(size_t, out)
ASC_NUMBER_OUT(asc_data_type, out)
ASC_NUMBER_OUT(asc_value_kind, out)
ASC_NUMBER_OUT(asc_value_id, out)
ASC_NUMBER_OUT(asc_value_id, value)
ASC_NUMBER_OUT(asc_log_level, level)

/* ---- arrays that go in: any sequence ---- */

%define ASC_ARRAY_IN(ELEMENT, CONVERT, POINTER, COUNT)
%typemap(in) (const ELEMENT* POINTER, size_t COUNT) {
  $1 = ($1_ltype)pyasc_array($input, sizeof(ELEMENT), CONVERT, &$2);
  if ($1 == NULL) SWIG_fail;
}
%typemap(freearg) (const ELEMENT* POINTER, size_t COUNT) "free((void*)$1);"
%enddef
ASC_ARRAY_IN(int64_t, pyasc_to_int64, dims, rank)
ASC_ARRAY_IN(int64_t, pyasc_to_int64, values, count)
ASC_ARRAY_IN(asc_value_id, pyasc_to_int64, inputs, input_count)
ASC_ARRAY_IN(asc_value_id, pyasc_to_int64, captures, count)
ASC_ARRAY_IN(double, pyasc_to_double, values, count)
ASC_ARRAY_IN(asc_string, pyasc_to_text, extents, rank)
ASC_ARRAY_IN(asc_string, pyasc_to_str, strings, count)
ASC_ARRAY_IN(asc_string, pyasc_to_text, values, count)
ASC_ARRAY_IN(asc_value* const, pyasc_to_value, items, count)
ASC_ARRAY_IN(asc_value* const, pyasc_to_value, inputs, input_count)
ASC_ARRAY_IN(asc_type* const, pyasc_to_type, types, count)

/* A map's keys and values: two sequences of one length. */
%define ASC_MAP_IN(KEY, CONVERT)
%typemap(in) (const KEY* keys, const asc_value* const* values, size_t count) (size_t keys_count) {
  PyObject* keys = PySequence_GetItem($input, 0);
  PyObject* values = keys == NULL ? NULL : PySequence_GetItem($input, 1);
  $1 = values == NULL ? NULL : ($1_ltype)pyasc_array(keys, sizeof(KEY), CONVERT, &keys_count);
  $2 = $1 == NULL ? NULL : ($2_ltype)pyasc_array(values, sizeof(asc_value*), pyasc_to_value, &$3);
  Py_XDECREF(keys);
  Py_XDECREF(values);
  if ($2 == NULL) SWIG_fail;
  if (keys_count != $3) {
    PyErr_SetString(PyExc_ValueError, "keys and values differ in number");
    SWIG_fail;
  }
}
%typemap(freearg) (const KEY* keys, const asc_value* const* values, size_t count) {
  free((void*)$1);
  free((void*)$2);
}
%enddef
ASC_MAP_IN(int64_t, pyasc_to_int64)
ASC_MAP_IN(asc_string, pyasc_to_text)

/* ---- arrays that come out; the caller says how many ---- */

%typemap(in) (asc_value** outputs, size_t output_count) {
  if (!pyasc_count($input, &$2)) SWIG_fail;
  $1 = (asc_value**)calloc($2 + 1, sizeof(asc_value*));
  if ($1 == NULL) {
    PyErr_NoMemory();
    SWIG_fail;
  }
}
%typemap(argout) (asc_value** outputs, size_t output_count) {
  PyObject* list = PyList_New((Py_ssize_t)$2);
  size_t i;
  for (i = 0; i < $2; ++i) {
    PyObject* capsule = asc_value_to_capsule($1[i]);
    if (list == NULL || capsule == NULL || PyList_SetItem(list, (Py_ssize_t)i, capsule) != 0) SWIG_fail;
  }
  $result = SWIG_Python_AppendOutput($result, list, 1);
}
%typemap(freearg) (asc_value** outputs, size_t output_count) "free($1);"

%typemap(in) (size_t output_count, asc_value_id* outputs) {
  if (!pyasc_count($input, &$1)) SWIG_fail;
  $2 = (asc_value_id*)calloc($1 + 1, sizeof(asc_value_id));
  if ($2 == NULL) {
    PyErr_NoMemory();
    SWIG_fail;
  }
}
%typemap(argout) (size_t output_count, asc_value_id* outputs) {
  PyObject* list = PyList_New((Py_ssize_t)$1);
  size_t i;
  for (i = 0; list != NULL && i < $1; ++i) {
    PyList_SetItem(list, (Py_ssize_t)i, PyLong_FromLongLong($2[i]));
  }
  $result = SWIG_Python_AppendOutput($result, list, 1);
}
%typemap(freearg) (size_t output_count, asc_value_id* outputs) "free($2);"

/* ---- what is lent ---- */

%typemap(in, numinputs=0) const asc_type** (const asc_type* lent = NULL) "$1 = ($1_ltype)&lent;"
%typemap(argout) const asc_type** {
  asc_type_retain((asc_type*)*$1);
  $result = SWIG_Python_AppendOutput($result, asc_type_to_capsule((asc_type*)*$1), 1);
}
%typemap(in, numinputs=0) (const int64_t** dims, size_t* rank) (const int64_t* lent = NULL, size_t rank = 0) {
  $1 = ($1_ltype)&lent;
  $2 = &rank;
}
%typemap(argout) (const int64_t** dims, size_t* rank)
    "$result = SWIG_Python_AppendOutput($result, pyasc_tuple(*$1, *$2), 1);"

/* Memory comes in and goes out by the buffer protocol: native/native.h. */
%ignore asc_value_create_tensor;
%ignore asc_value_create_tensor_copy;
%ignore asc_value_create_tensor_borrowed;
%ignore asc_value_get_data;
%ignore asc_value_get_mutable_data;
%ignore asc_release_function;

/* What takes long lets other threads run. */
%nothread;
%thread asc_graph_import_file;
%thread asc_graph_import_bytes;
%thread asc_session_create;
%thread asc_session_load_file;
%thread asc_session_load_bytes;
%thread asc_session_save_file;
%thread asc_session_create_summary;
%thread asc_session_create_memory_plan;
%thread asc_session_run;
%thread asc_future_wait;
%thread asc_future_wait_for;

/* Objects pass as they are. */
%typemap(in) PyObject* "$1 = $input;"
%typemap(out) PyObject* "$result = $1;"
%include "native/native.h"
