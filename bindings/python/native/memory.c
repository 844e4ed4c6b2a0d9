/* Memory without copies, in both directions, and the lean way to run. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "native/native.h"

/* ---- memory that is borrowed from Python ---- */

typedef struct borrowed {
  Py_buffer view;
  struct borrowed* next;
} borrowed;

/* Released, and waiting for the GIL. */
static _Atomic(borrowed*) returned = NULL;
static atomic_int closed = 0;
static _Thread_local int attended = 0;

static void give_back(void) {
  borrowed* each = atomic_exchange(&returned, NULL);
  while (each != NULL) {
    borrowed* next = each->next;
    PyBuffer_Release(&each->view);
    free(each);
    each = next;
  }
}

static int give_back_pending(void* unused) {
  (void)unused;
  give_back();
  return 0;
}

/* On any thread, with or without the GIL. */
static void release_borrowed(void* user_data) {
  borrowed* memory = (borrowed*)user_data;
  memory->next = atomic_load(&returned);
  while (!atomic_compare_exchange_weak(&returned, &memory->next, memory)) {
  }
  /* When the interpreter's list is full, the next call that ends here empties ours. */
  if (attended == 0 && !atomic_load(&closed)) Py_AddPendingCall(give_back_pending, NULL);
}

void pyasc_attend(void) { ++attended; }

void pyasc_dismiss(void) {
  if (--attended == 0 && atomic_load(&returned) != NULL) give_back();
}

void pyasc_close(void) { atomic_store(&closed, 1); }

/* Hands the view over to a tensor; on failure it is released. */
static asc_status* borrow_view(borrowed* memory, asc_data_type dtype, const int64_t* dims,
                               size_t rank, asc_value** out) {
  asc_status* status = asc_value_create_tensor_borrowed(
      dtype, dims, rank, memory->view.buf, (size_t)memory->view.len, memory->view.readonly,
      release_borrowed, memory, out);
  if (status != NULL) {
    PyBuffer_Release(&memory->view);
    free(memory);
  }
  return status;
}

asc_status* pyasc_borrow(PyObject* object, asc_data_type dtype, const int64_t* dims, size_t rank,
                         int32_t writable, asc_value** out) {
  borrowed* memory = (borrowed*)malloc(sizeof(borrowed));
  if (memory == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  if (PyObject_GetBuffer(object, &memory->view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) {
    free(memory);
    return NULL; /* the exception is set, which the typemap of statuses sees */
  }
  return borrow_view(memory, dtype, dims, rank, out);
}

/* ---- memory that is lent to Python ---- */

typedef struct tensor_buffer {
  PyObject_HEAD asc_value* value;
} tensor_buffer;

static int tensor_buffer_get(PyObject* self, Py_buffer* view, int flags) {
  asc_value* value = ((tensor_buffer*)self)->value;
  void* writable = NULL;
  const void* data = NULL;
  size_t bytes = 0;
  int readonly = 0;
  asc_status* status = asc_value_get_mutable_data(value, &writable, &bytes);
  if (status != NULL) {
    asc_status_release(status);
    readonly = 1;
    status = asc_value_get_data(value, &data, &bytes);
  }
  if (status != NULL) {
    pyasc_raise(status);
    view->obj = NULL;
    return -1;
  }
  return PyBuffer_FillInfo(view, self, readonly ? (void*)data : writable, (Py_ssize_t)bytes,
                           readonly, flags);
}

static void tensor_buffer_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
  pyasc_attend();
  asc_value_release(((tensor_buffer*)self)->value);
  pyasc_dismiss();
  free_object(self);
  Py_DECREF(type);
}

static PyObject* new_tensor_buffer(asc_value* value) {
  static PyTypeObject* type = NULL;
  tensor_buffer* self;
  if (type == NULL) {
    static PyType_Slot slots[] = {{Py_tp_dealloc, (void*)tensor_buffer_dealloc},
                                  {Py_bf_getbuffer, (void*)tensor_buffer_get},
                                  {Py_tp_doc, (void*)"The bytes of a tensor."},
                                  {0, NULL}};
    static PyType_Spec spec = {"pyasc._asc.TensorBuffer", sizeof(tensor_buffer), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    type = (PyTypeObject*)PyType_FromSpec(&spec);
    if (type == NULL) return NULL;
  }
  self = (tensor_buffer*)PyType_GenericAlloc(type, 0);
  if (self == NULL) return NULL;
  asc_value_retain(value);
  self->value = value;
  return (PyObject*)self;
}

PyObject* pyasc_buffer(asc_value* value) { return new_tensor_buffer(value); }

PyObject* pyasc_strings(asc_value* value, size_t count) {
  PyObject* list = PyList_New((Py_ssize_t)count);
  size_t i;
  for (i = 0; list != NULL && i < count; ++i) {
    asc_string text;
    asc_status* failed = asc_value_get_string(value, i, &text);
    PyObject* item = failed == NULL ? pyasc_str(text) : NULL;
    if (failed != NULL) pyasc_raise(failed);
    if (item == NULL) Py_CLEAR(list);
    else PyList_SetItem(list, (Py_ssize_t)i, item);
  }
  return list;
}

/* ---- running ---- */

static PyObject* ndarray_type = NULL;

void pyasc_set_ndarray(PyObject* ndarray) {
  PyObject* old = ndarray_type;
  Py_INCREF(ndarray);
  ndarray_type = ndarray;
  Py_XDECREF(old);
}

/* Whether elements of this `struct` format are of the type. Only types that NumPy has itself. */
static int format_fits(const char* format, Py_ssize_t item_size, asc_data_type dtype) {
  const char* kinds;
  if (format == NULL) format = "B";
  if (*format == '@' || *format == '=') ++format;
  switch (dtype) {
    case ASC_FLOAT16:
      kinds = "e";
      break;
    case ASC_FLOAT32:
      kinds = "f";
      break;
    case ASC_FLOAT64:
      kinds = "d";
      break;
    case ASC_INT8:
    case ASC_INT16:
    case ASC_INT32:
    case ASC_INT64:
      kinds = "bhilq";
      break;
    case ASC_UINT8:
    case ASC_UINT16:
    case ASC_UINT32:
    case ASC_UINT64:
      kinds = "BHILQ";
      break;
    case ASC_BOOL:
      kinds = "?";
      break;
    default:
      return 0;
  }
  return format[0] != '\0' && format[1] == '\0' && strchr(kinds, format[0]) != NULL &&
         item_size * 8 == asc_data_type_bits(dtype);
}

/* The tensor over an array of this very type; NULL, without an exception, when it needs a closer
 * look. */
static asc_value* plain_input(PyObject* array, asc_data_type dtype) {
  asc_value* value = NULL;
  asc_status* status;
  int64_t dims[64]; /* NumPy's most axes */
  int i;
  borrowed* memory = (borrowed*)malloc(sizeof(borrowed));
  if (memory == NULL) return NULL;
  if (PyObject_GetBuffer(array, &memory->view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();
    free(memory);
    return NULL;
  }
  if (memory->view.ndim > 64 || !format_fits(memory->view.format, memory->view.itemsize, dtype)) {
    PyBuffer_Release(&memory->view);
    free(memory);
    return NULL;
  }
  for (i = 0; i < memory->view.ndim; ++i) dims[i] = memory->view.shape[i];
  status = borrow_view(memory, dtype, dims, (size_t)memory->view.ndim, &value);
  asc_status_release(status); /* the closer look will meet it again */
  return value;
}

/* A NumPy array over the tensor's memory. */
static PyObject* plain_output(asc_value* value, PyObject* dtype) {
  const int64_t* dims = NULL;
  size_t rank = 0;
  PyObject *shape, *buffer = NULL, *array = NULL;
  asc_status* status = asc_value_get_dims(value, &dims, &rank);
  if (status != NULL) {
    pyasc_raise(status);
    return NULL;
  }
  shape = pyasc_tuple(dims, rank);
  if (shape != NULL) buffer = new_tensor_buffer(value);
  if (buffer != NULL)
    array = PyObject_CallFunctionObjArgs(ndarray_type, shape, dtype, buffer, NULL);
  Py_XDECREF(buffer);
  Py_XDECREF(shape);
  return array;
}

static PyObject* output_list(asc_value* const* outputs, Py_ssize_t count, PyObject* dtypes) {
  Py_ssize_t i;
  PyObject* list = PyList_New(count);
  for (i = 0; list != NULL && i < count; ++i) {
    PyObject* dtype = PyTuple_GetItem(dtypes, i);
    PyObject* array = dtype == NULL ? NULL : plain_output(outputs[i], dtype);
    if (array == NULL) {
      Py_DECREF(list);
      return NULL;
    }
    PyList_SetItem(list, i, array);
  }
  return list;
}

/* Fills in the inputs; 0, with or without an exception, when they cannot be. */
static int plain_inputs(PyObject* arrays, PyObject* dtypes, asc_value** inputs, Py_ssize_t count) {
  Py_ssize_t i;
  const char* expected = PyBytes_AsString(dtypes);
  if (expected == NULL) return 0;
  for (i = 0; i < count; ++i) {
    PyObject* array = PySequence_GetItem(arrays, i);
    if (array == NULL) return 0;
    inputs[i] = plain_input(array, (asc_data_type)expected[i]);
    Py_DECREF(array);
    if (inputs[i] == NULL) return 0;
  }
  return 1;
}

PyObject* pyasc_run(asc_session* session, PyObject* arrays, PyObject* input_dtypes,
                    PyObject* output_dtypes) {
  const Py_ssize_t input_count = PyBytes_Size(input_dtypes),
                   output_count = PyTuple_Size(output_dtypes);
  PyObject* result = NULL;
  asc_value** values;
  Py_ssize_t i;
  if (input_count < 0 || output_count < 0) return NULL;
  values = (asc_value**)calloc((size_t)(input_count + output_count) + 1, sizeof(asc_value*));
  if (values == NULL) return PyErr_NoMemory();
  pyasc_attend();
  if (plain_inputs(arrays, input_dtypes, values, input_count)) {
    asc_status* status;
    PyThreadState* thread = PyEval_SaveThread();
    status = asc_session_run(session, (const asc_value* const*)values, (size_t)input_count, NULL,
                             values + input_count, (size_t)output_count);
    PyEval_RestoreThread(thread);
    if (status != NULL) {
      pyasc_raise(status);
    } else {
      result = output_list(values + input_count, output_count, output_dtypes);
    }
  } else if (!PyErr_Occurred()) {
    Py_INCREF(Py_None);
    result = Py_None;
  }
  for (i = 0; i < input_count + output_count; ++i) asc_value_release(values[i]);
  pyasc_dismiss();
  free(values);
  return result;
}
