/* The C ABI in Java's terms. A handle is a long. What C gives through a pointer goes into element 0
 * of an array. A status that is not NULL is thrown as a PyascException. Strings cross the border as
 * bytes, since JNI's own "modified UTF-8" is not UTF-8. */

%{
#include <stdint.h>

_Static_assert(sizeof(void*) <= sizeof(jlong), "a handle is a long");

static jbyteArray asc_java_bytes(JNIEnv* env, const char* data, size_t size) {
  jbyteArray bytes = (*env)->NewByteArray(env, (jsize)size);
  if (bytes != NULL) (*env)->SetByteArrayRegion(env, bytes, 0, (jsize)size, (const jbyte*)data);
  return bytes;
}

static int asc_java_null(JNIEnv* env, jobject object) {
  if (object != NULL) return 0;
  SWIG_JavaThrowException(env, SWIG_JavaNullPointerException, "array is null");
  return 1;
}

/* Copies `count` handles or reads them back; both sides may differ in size. */
static void** asc_java_handles(JNIEnv* env, jlongArray array, jsize count) {
  void** handles = calloc((size_t)count + 1, sizeof(void*));
  for (jsize i = 0; handles != NULL && i < count; ++i) {
    jlong handle = 0;
    (*env)->GetLongArrayRegion(env, array, i, 1, &handle);
    handles[i] = (void*)(intptr_t)handle;
  }
  if (handles == NULL) SWIG_JavaThrowException(env, SWIG_JavaOutOfMemoryError, "handles");
  return handles;
}
static void asc_java_put(JNIEnv* env, jlongArray array, void* const* handles, jsize count) {
  for (jsize i = 0; i < count; ++i) {
    const jlong handle = (jlong)(intptr_t)handles[i];
    (*env)->SetLongArrayRegion(env, array, i, 1, &handle);
  }
}

/* `array` is byte[][]. */
static void asc_java_free_strings(JNIEnv* env, jobjectArray array, asc_string* strings) {
  const jsize count = (*env)->GetArrayLength(env, array);
  for (jsize i = 0; i < count && strings[i].data != NULL; ++i) {
    jobject bytes = (*env)->GetObjectArrayElement(env, array, i);
    (*env)->ReleaseByteArrayElements(env, bytes, (jbyte*)strings[i].data, JNI_ABORT);
    (*env)->DeleteLocalRef(env, bytes);
  }
  free(strings);
}
static asc_string* asc_java_strings(JNIEnv* env, jobjectArray array) {
  const jsize count = (*env)->GetArrayLength(env, array);
  asc_string* strings = calloc((size_t)count + 1, sizeof(asc_string));
  for (jsize i = 0; strings != NULL && i < count; ++i) {
    jobject bytes = (*env)->GetObjectArrayElement(env, array, i);
    strings[i].size = (size_t)(*env)->GetArrayLength(env, bytes);
    strings[i].data = (const char*)(*env)->GetByteArrayElements(env, bytes, NULL);
    (*env)->DeleteLocalRef(env, bytes);
    if (strings[i].data == NULL) {
      asc_java_free_strings(env, array, strings);
      strings = NULL;
    }
  }
  if (strings == NULL) SWIG_JavaThrowException(env, SWIG_JavaOutOfMemoryError, "strings");
  return strings;
}
%}

/* ---- status ---- */
%typemap(jni) asc_status* "jlong"
%typemap(jtype) asc_status* "long"
%typemap(jstype) asc_status* "void"
%typemap(out) asc_status* %{ $result = (jlong)(intptr_t)$1; %}
%typemap(javaout) asc_status* { Failure.check($jnicall); }

/* ---- handles ---- */
%define ASC_JAVA_POINTER(TYPE...)
%typemap(jni) TYPE "jlong"
%typemap(jtype) TYPE "long"
%typemap(jstype) TYPE "long"
%typemap(in) TYPE %{ $1 = ($1_ltype)(intptr_t)$input; %}
%typemap(out) TYPE %{ $result = (jlong)(intptr_t)$1; %}
%typemap(javain) TYPE "$javainput"
%typemap(javaout) TYPE { return $jnicall; }
%enddef
ASC_JAVA_POINTER(asc_status* status)
ASC_JAVA_POINTER(const asc_status*)

%define ASC_JAVA_OUT_POINTER(TYPE...)
%typemap(jni) TYPE "jlongArray"
%typemap(jtype) TYPE "long[]"
%typemap(jstype) TYPE "long[]"
%typemap(in) TYPE ($*1_ltype value = NULL) %{
  if (asc_java_null(jenv, $input)) return $null;
  $1 = &value;
%}
%typemap(argout) TYPE %{
  if (result == NULL) asc_java_put(jenv, $input, (void* const*)&value$argnum, 1);
%}
%typemap(javain) TYPE "$javainput"
%enddef

%define ASC_JAVA_HANDLE(NAME)
ASC_JAVA_POINTER(NAME*)
ASC_JAVA_POINTER(const NAME*)
ASC_JAVA_OUT_POINTER(NAME**)
ASC_JAVA_OUT_POINTER(const NAME**)
%enddef
ASC_FOR_EACH_HANDLE(ASC_JAVA_HANDLE)

/* ---- numbers ---- */
%apply long long { int64_t, uint64_t };

%define ASC_JAVA_OUT_NUMBER(CTYPE, JTYPE, JARRAY, JAVA, SET)
%typemap(jni) CTYPE "JARRAY"
%typemap(jtype) CTYPE "JAVA[]"
%typemap(jstype) CTYPE "JAVA[]"
%typemap(in) CTYPE ($*1_ltype value = 0) %{
  if (asc_java_null(jenv, $input)) return $null;
  $1 = &value;
%}
%typemap(argout) CTYPE {
  const JTYPE number = (JTYPE)value$argnum;
  if (result == NULL) (*jenv)->SET(jenv, $input, 0, 1, &number);
}
%typemap(javain) CTYPE "$javainput"
%enddef
ASC_JAVA_OUT_NUMBER(size_t*, jlong, jlongArray, long, SetLongArrayRegion)
ASC_JAVA_OUT_NUMBER(int64_t*, jlong, jlongArray, long, SetLongArrayRegion)
ASC_JAVA_OUT_NUMBER(int32_t*, jint, jintArray, int, SetIntArrayRegion)

/* ---- strings ---- */
%typemap(jni) asc_string, const char* "jbyteArray"
%typemap(jtype) asc_string, const char* "byte[]"
%typemap(jstype) asc_string, const char* "String"
%typemap(in) asc_string %{
  if (asc_java_null(jenv, $input)) return $null;
  $1.size = (size_t)(*jenv)->GetArrayLength(jenv, $input);
  $1.data = (const char*)(*jenv)->GetByteArrayElements(jenv, $input, NULL);
  if ($1.data == NULL) return $null;
%}
%typemap(freearg) asc_string %{
  (*jenv)->ReleaseByteArrayElements(jenv, $input, (jbyte*)$1.data, JNI_ABORT);
%}
%typemap(out) asc_string %{ $result = asc_java_bytes(jenv, $1.data, $1.size); %}
%typemap(out) const char* %{ $result = asc_java_bytes(jenv, $1, strlen($1)); %}
%typemap(javain) asc_string "Utf8.encode($javainput)"
%typemap(javaout) asc_string, const char* { return Utf8.decode($jnicall); }

%typemap(jni) asc_string* "jobjectArray"
%typemap(jtype) asc_string* "byte[][]"
%typemap(jstype) asc_string* "String[]"
%typemap(in) asc_string* (asc_string value = {NULL, 0}) %{
  if (asc_java_null(jenv, $input)) return $null;
  $1 = &value;
%}
%typemap(argout) asc_string* %{
  if (result == NULL) {
    (*jenv)->SetObjectArrayElement(jenv, $input, 0,
                                   asc_java_bytes(jenv, value$argnum.data, value$argnum.size));
  }
%}
%typemap(javain, pre="    byte[][] bytes$javainput = new byte[1][];",
         post="      Utf8.decode(bytes$javainput, $javainput);") asc_string* "bytes$javainput"

/* Text that the caller owns. */
%typemap(jni) asc_bytes** out "jobjectArray"
%typemap(jtype) asc_bytes** out "byte[][]"
%typemap(jstype) asc_bytes** out "String[]"
%typemap(in) asc_bytes** out (asc_bytes* value = NULL) %{
  if (asc_java_null(jenv, $input)) return $null;
  $1 = &value;
%}
%typemap(argout) asc_bytes** out %{
  if (result == NULL) {
    const asc_string text = asc_bytes_get(value$argnum);
    (*jenv)->SetObjectArrayElement(jenv, $input, 0, asc_java_bytes(jenv, text.data, text.size));
    asc_bytes_release(value$argnum);
  }
%}
%typemap(javain, pre="    byte[][] bytes$javainput = new byte[1][];",
         post="      Utf8.decode(bytes$javainput, $javainput);") asc_bytes** out "bytes$javainput"

/* ---- arrays; their length is the number that goes with them ---- */
%define ASC_JAVA_ARRAY(CARGS, ELEMENT, JTYPE, JARRAY, JAVA, GET, RELEASE)
%typemap(jni) CARGS "JARRAY"
%typemap(jtype) CARGS "JAVA[]"
%typemap(jstype) CARGS "JAVA[]"
%typemap(in) CARGS %{
  if (asc_java_null(jenv, $input)) return $null;
  $1 = (ELEMENT*)(*jenv)->GET(jenv, $input, NULL);
  if ($1 == NULL) return $null;
  $2 = (size_t)(*jenv)->GetArrayLength(jenv, $input);
%}
%typemap(argout) CARGS ""
%typemap(freearg) CARGS %{
  (*jenv)->RELEASE(jenv, $input, (JTYPE*)$1, JNI_ABORT);
%}
%typemap(javain) CARGS "$javainput"
%enddef
%define ASC_JAVA_LONGS(CARGS)
ASC_JAVA_ARRAY(CARGS, int64_t, jlong, jlongArray, long, GetLongArrayElements, ReleaseLongArrayElements)
%enddef
ASC_JAVA_LONGS((const int64_t* dims, size_t rank))
ASC_JAVA_LONGS((const int64_t* values, size_t count))
ASC_JAVA_LONGS((const asc_value_id* captures, size_t count))
ASC_JAVA_LONGS((const asc_value_id* inputs, size_t input_count))
ASC_JAVA_ARRAY((const double* values, size_t count), double, jdouble, jdoubleArray,
               double, GetDoubleArrayElements, ReleaseDoubleArrayElements)

%typemap(jni) (size_t output_count, asc_value_id* outputs) "jlongArray"
%typemap(jtype) (size_t output_count, asc_value_id* outputs) "long[]"
%typemap(jstype) (size_t output_count, asc_value_id* outputs) "long[]"
%typemap(in) (size_t output_count, asc_value_id* outputs) %{
  if (asc_java_null(jenv, $input)) return $null;
  $2 = (asc_value_id*)(*jenv)->GetLongArrayElements(jenv, $input, NULL);
  if ($2 == NULL) return $null;
  $1 = (size_t)(*jenv)->GetArrayLength(jenv, $input);
%}
%typemap(argout) (size_t output_count, asc_value_id* outputs) %{
  (*jenv)->ReleaseLongArrayElements(jenv, $input, (jlong*)$2, 0);
%}
%typemap(javain) (size_t output_count, asc_value_id* outputs) "$javainput"

%define ASC_JAVA_HANDLES(CARGS)
%typemap(jni) CARGS "jlongArray"
%typemap(jtype) CARGS "long[]"
%typemap(jstype) CARGS "long[]"
%typemap(in) CARGS %{
  if (asc_java_null(jenv, $input)) return $null;
  $2 = (size_t)(*jenv)->GetArrayLength(jenv, $input);
  $1 = ($1_ltype)asc_java_handles(jenv, $input, (jsize)$2);
  if ($1 == NULL) return $null;
%}
%typemap(argout) CARGS ""
%typemap(freearg) CARGS %{ free((void*)$1); %}
%typemap(javain) CARGS "$javainput"
%enddef
ASC_JAVA_HANDLES((const asc_value* const* inputs, size_t input_count))
ASC_JAVA_HANDLES((const asc_value* const* items, size_t count))
ASC_JAVA_HANDLES((const asc_value* const* values, size_t count))
ASC_JAVA_HANDLES((const asc_type* const* types, size_t count))
ASC_JAVA_HANDLES((asc_value** outputs, size_t output_count))
%typemap(argout) (asc_value** outputs, size_t output_count) %{
  asc_java_put(jenv, $input, (void* const*)$1, (jsize)$2);
%}

%define ASC_JAVA_STRINGS(CARGS)
%typemap(jni) CARGS "jobjectArray"
%typemap(jtype) CARGS "byte[][]"
%typemap(jstype) CARGS "String[]"
%typemap(in) CARGS %{
  if (asc_java_null(jenv, $input)) return $null;
  $1 = asc_java_strings(jenv, $input);
  if ($1 == NULL) return $null;
  $2 = (size_t)(*jenv)->GetArrayLength(jenv, $input);
%}
%typemap(argout) CARGS ""
%typemap(freearg) CARGS %{ asc_java_free_strings(jenv, $input, (asc_string*)$1); %}
%typemap(javain) CARGS "Utf8.encode($javainput)"
%enddef
ASC_JAVA_STRINGS((const asc_string* values, size_t count))
ASC_JAVA_STRINGS((const asc_string* strings, size_t count))
ASC_JAVA_STRINGS((const asc_string* extents, size_t rank))

/* ---- maps: keys and values are arrays of their own, of the same length ---- */
%apply (const int64_t* values, size_t count) { (const int64_t* keys, size_t key_count) };
%apply (const asc_string* values, size_t count) { (const asc_string* keys, size_t key_count) };

/* ---- memory: direct buffers, never copied ---- */
%define ASC_JAVA_BUFFER(CARGS)
%typemap(jni) CARGS "jobject"
%typemap(jtype) CARGS "java.nio.ByteBuffer"
%typemap(jstype) CARGS "java.nio.ByteBuffer"
%typemap(in) CARGS %{
  if (asc_java_null(jenv, $input)) return $null;
  $1 = (*jenv)->GetDirectBufferAddress(jenv, $input);
  if ($1 == NULL && (*jenv)->GetDirectBufferCapacity(jenv, $input) != 0) {
    SWIG_JavaThrowException(jenv, SWIG_JavaIllegalArgumentException, "the buffer is not direct");
    return $null;
  }
  $2 = (size_t)(*jenv)->GetDirectBufferCapacity(jenv, $input);
%}
%typemap(javain) CARGS "$javainput"
%enddef
ASC_JAVA_BUFFER((const void* data, size_t bytes))
ASC_JAVA_BUFFER((void* data, size_t bytes))

/* Who borrows keeps the buffer alive for as long as the value is. */
%typemap(in, numinputs=0) (asc_release_function release, void* user_data) %{
  $1 = NULL;
  $2 = NULL;
%}

%define ASC_JAVA_OUT_BUFFER(CARGS)
%typemap(jni) CARGS "jobjectArray"
%typemap(jtype) CARGS "java.nio.ByteBuffer[]"
%typemap(jstype) CARGS "java.nio.ByteBuffer[]"
%typemap(in) CARGS (void* data = NULL, size_t bytes = 0) %{
  if (asc_java_null(jenv, $input)) return $null;
  $1 = ($1_ltype)&data;
  $2 = &bytes;
%}
%typemap(argout) CARGS %{
  if (result != NULL) {
    /* Left as it was. */
  } else if (bytes$argnum > INT32_MAX) {
    SWIG_JavaThrowException(jenv, SWIG_JavaIndexOutOfBoundsException,
                            "a Java buffer cannot hold a tensor of 2 GiB or more");
  } else {
    (*jenv)->SetObjectArrayElement(jenv, $input, 0,
           (*jenv)->NewDirectByteBuffer(jenv, data$argnum, (jlong)bytes$argnum));
  }
%}
%typemap(javain) CARGS "$javainput"
%enddef
ASC_JAVA_OUT_BUFFER((const void** data, size_t* bytes))
ASC_JAVA_OUT_BUFFER((void** data, size_t* bytes))

%typemap(jni) (const int64_t** dims, size_t* rank) "jobjectArray"
%typemap(jtype) (const int64_t** dims, size_t* rank) "long[][]"
%typemap(jstype) (const int64_t** dims, size_t* rank) "long[][]"
%typemap(in) (const int64_t** dims, size_t* rank) (const int64_t* dims = NULL, size_t rank = 0) %{
  if (asc_java_null(jenv, $input)) return $null;
  $1 = ($1_ltype)&dims;
  $2 = &rank;
%}
%typemap(argout) (const int64_t** dims, size_t* rank) %{
  if (result == NULL) {
    jlongArray copy = (*jenv)->NewLongArray(jenv, (jsize)rank$argnum);
    if (copy == NULL) return $null;
    (*jenv)->SetLongArrayRegion(jenv, copy, 0, (jsize)rank$argnum, (const jlong*)dims$argnum);
    (*jenv)->SetObjectArrayElement(jenv, $input, 0, copy);
  }
%}
%typemap(javain) (const int64_t** dims, size_t* rank) "$javainput"

%javaconst(1);
