/* The part of the raw layer that SWIG cannot make: memory without copies, the lean way to run, and
 * what the typemaps need. All functions want the GIL to be held. */
#ifndef PYASC_NATIVE_H_
#define PYASC_NATIVE_H_

#if !defined(SWIG)
#include <Python.h>

#include "asc/asc.h"

/* ---- for the typemaps; where one fails, an exception is set ---- */

/* Raises what the status says, by the factory given to pyasc_setup, and releases it. */
void pyasc_raise(asc_status* status);

/* Of a str, or of bytes (which a path is); lent by the object. 0 on failure. */
int pyasc_text(PyObject* object, asc_string* out);
PyObject* pyasc_str(asc_string text);
PyObject* pyasc_tuple(const int64_t* numbers, size_t count);
int pyasc_count(PyObject* object, size_t* out); /* from 0 to 2^20 */

/* A malloc'ed array from a sequence; `convert` fills in one element. Never NULL on success. */
typedef int (*pyasc_converter)(PyObject* object, void* element);
void* pyasc_array(PyObject* sequence, size_t element_size, pyasc_converter convert, size_t* count);
int pyasc_to_int64(PyObject* object, void* element);
int pyasc_to_double(PyObject* object, void* element);
int pyasc_to_text(PyObject* object, void* element);
int pyasc_to_str(PyObject* object, void* element); /* TypeError for bytes too */
int pyasc_to_value(PyObject* object, void* element); /* None: NULL */
int pyasc_to_type(PyObject* object, void* element);

/* Borrowed memory is given back where the GIL is held: what engine threads release waits in a list.
 * Between attend and dismiss the calling thread promises to empty it itself, in dismiss. */
void pyasc_attend(void);
void pyasc_dismiss(void);
#endif

/* `make_error(code, message, node, hint, text)` gives an exception; `ndarray` is NumPy's type. */
void pyasc_setup(PyObject* make_error, PyObject* ndarray);
/* The interpreter is about to end: engine threads must not ask it for anything any more. */
void pyasc_close(void);

/* A tensor over the memory of an object with the buffer protocol, C-contiguous, not copied, which
 * the tensor keeps alive. What is not writable is refused (BufferError) when `writable`. */
asc_status* pyasc_borrow(PyObject* object, asc_data_type dtype, const int64_t* dims, size_t rank,
                         int32_t writable, asc_value** out);
/* The bytes of a tensor as an object with the buffer protocol, which keeps the tensor alive;
 * read-only where the tensor is. */
PyObject* pyasc_buffer(asc_value* value);
/* The `count` elements of a tensor of strings, as a list of str. */
PyObject* pyasc_strings(asc_value* value, size_t count);

/* Runs plain arrays through a session with as little as possible around it.
 *   arrays         sequence of one object with the buffer protocol for each input, in order
 *   input_dtypes   bytes: the element type that each must have
 *   output_dtypes  tuple of NumPy dtypes, one for each output
 * Gives a list of arrays, or None when something about the arrays wants a closer look (another
 * type, not contiguous, ...). */
PyObject* pyasc_run(asc_session* session, PyObject* arrays, PyObject* input_dtypes,
                    PyObject* output_dtypes);

#endif /* PYASC_NATIVE_H_ */
