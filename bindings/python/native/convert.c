/* Errors, text, numbers and sequences. */
#include <stdlib.h>
#include <string.h>

#include "native/native.h"

static PyObject* error_factory = NULL;

/* In memory.c. */
void pyasc_set_ndarray(PyObject* ndarray);

void pyasc_setup(PyObject* make_error, PyObject* ndarray) {
  PyObject* old = error_factory;
  Py_INCREF(make_error);
  error_factory = make_error;
  Py_XDECREF(old);
  pyasc_set_ndarray(ndarray);
}

void pyasc_raise(asc_status* status) {
  PyObject *error, *arguments;
  if (status == NULL) return; /* an exception is set already */
  PyErr_Clear();
  if (error_factory == NULL) {
    PyErr_SetString(PyExc_RuntimeError, asc_status_get_text(status));
    asc_status_release(status);
    return;
  }
  arguments = PyTuple_New(5);
  if (arguments != NULL) {
    const char* texts[] = {asc_status_get_message(status), asc_status_get_node(status),
                           asc_status_get_hint(status), asc_status_get_text(status)};
    Py_ssize_t i;
    PyTuple_SetItem(arguments, 0, PyLong_FromLong(asc_status_code(status)));
    for (i = 0; i < 4; ++i) {
      PyTuple_SetItem(arguments, i + 1,
                      PyUnicode_DecodeUTF8(texts[i], (Py_ssize_t)strlen(texts[i]), "replace"));
    }
  }
  asc_status_release(status);
  error = arguments == NULL ? NULL : PyObject_CallObject(error_factory, arguments);
  Py_XDECREF(arguments);
  if (error == NULL) return;
  PyErr_SetObject((PyObject*)Py_TYPE(error), error);
  Py_DECREF(error);
}

int pyasc_text(PyObject* object, asc_string* out) {
  Py_ssize_t size = 0;
  if (PyBytes_Check(object)) { /* a path: the system's file names need not be UTF-8 */
    char* data = NULL;
    if (PyBytes_AsStringAndSize(object, &data, &size) != 0) return 0;
    out->data = data;
    out->size = (size_t)size;
    return 1;
  }
  out->data = PyUnicode_AsUTF8AndSize(object, &size);
  out->size = (size_t)size;
  return out->data != NULL;
}

PyObject* pyasc_str(asc_string text) {
  return PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.size, "surrogateescape");
}

PyObject* pyasc_tuple(const int64_t* numbers, size_t count) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  size_t i;
  for (i = 0; tuple != NULL && i < count; ++i) {
    PyTuple_SetItem(tuple, (Py_ssize_t)i, PyLong_FromLongLong(numbers[i]));
  }
  return tuple;
}

int pyasc_count(PyObject* object, size_t* out) {
  const long count = PyLong_AsLong(object);
  if (count == -1 && PyErr_Occurred()) return 0;
  if (count < 0 || count > 1 << 20) {
    PyErr_Format(PyExc_ValueError, "a count must be from 0 to %d, given %ld", 1 << 20, count);
    return 0;
  }
  *out = (size_t)count;
  return 1;
}

void* pyasc_array(PyObject* sequence, size_t element_size, pyasc_converter convert, size_t* count) {
  const Py_ssize_t size = PySequence_Size(sequence);
  char* array;
  Py_ssize_t i;
  if (size < 0) return NULL;
  array = (char*)calloc((size_t)size + 1, element_size);
  if (array == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  for (i = 0; i < size; ++i) {
    /* Lent elements (texts, handles) live on in the sequence, which the caller holds. */
    PyObject* item = PySequence_GetItem(sequence, i);
    const int converted = item != NULL && convert(item, array + (size_t)i * element_size);
    Py_XDECREF(item);
    if (!converted) {
      free(array);
      return NULL;
    }
  }
  *count = (size_t)size;
  return array;
}

int pyasc_to_int64(PyObject* object, void* element) {
  PyObject* index = PyNumber_Index(object); /* takes NumPy's integers, refuses floats */
  if (index == NULL) return 0;
  *(int64_t*)element = PyLong_AsLongLong(index);
  Py_DECREF(index);
  return !PyErr_Occurred();
}

int pyasc_to_double(PyObject* object, void* element) {
  *(double*)element = PyFloat_AsDouble(object);
  return !PyErr_Occurred();
}

int pyasc_to_text(PyObject* object, void* element) {
  return pyasc_text(object, (asc_string*)element);
}

int pyasc_to_str(PyObject* object, void* element) {
  if (PyUnicode_Check(object)) return pyasc_text(object, (asc_string*)element);
  PyErr_SetString(PyExc_TypeError, "an element must be a str");
  return 0;
}

int pyasc_to_value(PyObject* object, void* element) {
  if (object == Py_None) return 1;
  *(void**)element = PyCapsule_GetPointer(object, "asc_value");
  return *(void**)element != NULL;
}

int pyasc_to_type(PyObject* object, void* element) {
  *(void**)element = PyCapsule_GetPointer(object, "asc_type");
  return *(void**)element != NULL;
}
