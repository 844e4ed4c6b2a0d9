/* The C ABI in Go's terms. A handle is a uintptr. What C gives through a pointer goes through a Go
 * pointer. A status that is not NULL is an *Error. Elements of tensors are given by address: who
 * calls pins them. */

%go_import("runtime")

/* ---- status ---- */
%typemap(gotype) asc_status* "error"
%typemap(imtype) asc_status* "uintptr"
%typemap(out) asc_status* %{ $result = $1; %}
%typemap(goout) asc_status* %{ $result = failure($1) %}

/* ---- handles ---- */
%define ASC_GO_POINTER(TYPE...)
%typemap(gotype) TYPE "uintptr"
%typemap(imtype) TYPE "uintptr"
%typemap(in) TYPE %{ $1 = ($1_ltype)$input; %}
%typemap(out) TYPE %{ $result = (void*)$1; %}
%typemap(goin) TYPE ""
%typemap(goout) TYPE ""
%enddef
ASC_GO_POINTER(asc_status* status)
ASC_GO_POINTER(const asc_status*)
ASC_GO_POINTER(void* data)
ASC_GO_POINTER(const void* data)

%define ASC_GO_OUT(TYPE, GOTYPE)
%typemap(gotype) TYPE "*GOTYPE"
%typemap(in) TYPE %{ $1 = ($1_ltype)$input; %}
%typemap(argout) TYPE ""
%enddef

%define ASC_GO_HANDLE(NAME)
ASC_GO_POINTER(NAME*)
ASC_GO_POINTER(const NAME*)
ASC_GO_OUT(NAME**, uintptr)
ASC_GO_OUT(const NAME**, uintptr)
%enddef
ASC_FOR_EACH_HANDLE(ASC_GO_HANDLE)

/* ---- numbers ---- */
%typemap(gotype) size_t "int"
%typemap(in) size_t %{ $1 = (size_t)$input; %}
%typemap(out) size_t %{ $result = (intgo)$1; %}
ASC_GO_OUT(size_t*, int)
ASC_GO_OUT(int64_t*, int64)
ASC_GO_OUT(int32_t*, int32)
ASC_GO_OUT(const void** data, uintptr)
ASC_GO_OUT(void** data, uintptr)

/* ---- strings ---- */
%typemap(gotype) asc_string, const asc_string "string"
%typemap(in) asc_string %{
  $1.data = $input.p;
  $1.size = (size_t)$input.n;
%}
%typemap(out, fragment="AllocateString") asc_string %{
  $result = Swig_AllocateString($1.data, $1.size);
%}
%typemap(goout, fragment="CopyString") asc_string %{ $result = swigCopyString($1) %}

/* C writes a lent text, which is copied. */
%typemap(gotype) asc_string* "*string"
%typemap(imtype) asc_string* "*lentText"
%typemap(goin) asc_string* %{ $result = &lentText{size: -1} %}
%typemap(in) asc_string* %{ $1 = ($1_ltype)$input; %}
%typemap(argout) asc_string* ""
%typemap(goargout) asc_string* %{ $input.copyTo($1) %}

/* Text that the caller owns. */
%typemap(gotype) asc_bytes** out "*string"
%typemap(imtype) asc_bytes** out "*lentText"
%typemap(goin) asc_bytes** out %{ $result = &lentText{size: -1} %}
%typemap(in) asc_bytes** out (asc_bytes* value = NULL, asc_string* text) %{
  text = (asc_string*)$input;
  $1 = &value;
%}
%typemap(argout, fragment="AllocateString") asc_bytes** out %{
  if (value$argnum != NULL) {
    const asc_string lent = asc_bytes_get(value$argnum);
    const _gostring_ copy = Swig_AllocateString(lent.data, lent.size);
    text$argnum->data = copy.p;
    text$argnum->size = lent.size;
    asc_bytes_release(value$argnum);
  }
%}
%typemap(goargout) asc_bytes** out %{ $input.moveTo($1) %}

/* ---- arrays; their length is the number that goes with them ---- */
%define ASC_GO_ARRAY(CARGS, GOTYPE)
%typemap(gotype) CARGS "[]GOTYPE"
%typemap(in) CARGS %{
  $1 = ($1_ltype)$input.array;
  $2 = (size_t)$input.len;
%}
%typemap(argout) CARGS ""
%typemap(goargout) CARGS ""
%enddef
ASC_GO_ARRAY((const int64_t* dims, size_t rank), int64)
ASC_GO_ARRAY((const int64_t* values, size_t count), int64)
ASC_GO_ARRAY((const asc_value_id* captures, size_t count), int64)
ASC_GO_ARRAY((const asc_value_id* inputs, size_t input_count), int64)
ASC_GO_ARRAY((const double* values, size_t count), float64)
ASC_GO_ARRAY((const asc_value* const* inputs, size_t input_count), uintptr)
ASC_GO_ARRAY((const asc_value* const* items, size_t count), uintptr)
ASC_GO_ARRAY((const asc_value* const* values, size_t count), uintptr)
ASC_GO_ARRAY((const asc_type* const* types, size_t count), uintptr)
ASC_GO_ARRAY((asc_value** outputs, size_t output_count), uintptr)

%typemap(gotype) (size_t output_count, asc_value_id* outputs) "[]int64"
%typemap(in) (size_t output_count, asc_value_id* outputs) %{
  $1 = (size_t)$input.len;
  $2 = ($2_ltype)$input.array;
%}
%typemap(argout) (size_t output_count, asc_value_id* outputs) ""

/* A Go string has the layout of an asc_string; cgo wants what it points to pinned. */
%define ASC_GO_STRINGS(CARGS)
ASC_GO_ARRAY(CARGS, string)
%typemap(imtype) CARGS "[]string"
%typemap(goin) CARGS %{
	var $result_pinner runtime.Pinner
	defer $result_pinner.Unpin()
	pinTexts(&$result_pinner, $input)
	$result = $input
%}
%enddef
ASC_GO_STRINGS((const asc_string* values, size_t count))
ASC_GO_STRINGS((const asc_string* strings, size_t count))
ASC_GO_STRINGS((const asc_string* extents, size_t rank))

/* The extents of a tensor, lent. */
ASC_GO_OUT(const int64_t** dims, uintptr)
ASC_GO_OUT(size_t* rank, int)

/* Who borrows keeps the memory pinned for as long as the value is. */
%typemap(in, numinputs=0) (asc_release_function release, void* user_data) %{
  $1 = NULL;
  $2 = NULL;
%}

/* ---- maps: keys and values are slices of their own, of the same length ---- */
%apply (const int64_t* values, size_t count) { (const int64_t* keys, size_t key_count) };
ASC_GO_STRINGS((const asc_string* keys, size_t key_count))
