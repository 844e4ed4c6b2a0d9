#ifndef ASC_VALUE_H_
#define ASC_VALUE_H_

/* What runs take and give: tensors, sequences, optionals and maps.
 *
 * Values are handles to shared contents; sequences, optionals and maps are immutable. The elements
 * of a tensor may be written through asc_value_get_mutable_data by its only user. Reading is free
 * from many threads. */

#include "asc/type.h"

ASC_EXTERN_C_BEGIN

typedef struct asc_value asc_value;

/* Called once, when the last reference to borrowed memory goes, from whichever thread that happens
 * on: it must be quick, must not block, and must not call back into the library. */
typedef void (*asc_release_function)(void* user_data);

/* ---- tensors: dense, row-major; `dims` are `rank` extents in elements ---- */

/* Uninitialised elements (strings: empty), in memory aligned to 64 bytes. E5003 when an extent is
 * negative or the size does not fit, E5012 when memory is refused. */
ASC_API asc_status* asc_value_create_tensor(asc_data_type dtype, const int64_t* dims, size_t rank,
                                            asc_value** out);
/* A copy of `bytes` bytes at `data`, which must be what the shape takes. Not for strings. */
ASC_API asc_status* asc_value_create_tensor_copy(asc_data_type dtype, const int64_t* dims,
                                                 size_t rank, const void* data, size_t bytes,
                                                 asc_value** out);
/* The caller's own memory, not copied: it must stay as it is until `release` is called (which may
 * be NULL) with `user_data`. Memory that is not aligned to its element type is refused (E5003), and
 * so are strings. `read_only`: the elements must not be written through the value. On failure
 * `release` is not called. */
ASC_API asc_status* asc_value_create_tensor_borrowed(asc_data_type dtype, const int64_t* dims,
                                                     size_t rank, void* data, size_t bytes,
                                                     int32_t read_only,
                                                     asc_release_function release, void* user_data,
                                                     asc_value** out);
/* A tensor of strings: `count` copies, in row-major order. */
ASC_API asc_status* asc_value_create_strings(const int64_t* dims, size_t rank,
                                             const asc_string* strings, size_t count,
                                             asc_value** out);

/* ---- other kinds; they share the contents of their parts ---- */

/* `element` is the element type of a sequence of tensors: what an empty one needs to be told. Give
 * ASC_UNDEFINED to take that of the first item. */
ASC_API asc_status* asc_value_create_sequence(const asc_value* const* items, size_t count,
                                              asc_data_type element, asc_value** out);
/* An optional that holds a value; NULL makes the one that holds nothing. */
ASC_API asc_status* asc_value_create_optional(const asc_value* value, asc_value** out);
/* Keys must differ (E5003). */
ASC_API asc_status* asc_value_create_int_map(const int64_t* keys, const asc_value* const* values,
                                             size_t count, asc_value** out);
ASC_API asc_status* asc_value_create_string_map(const asc_string* keys,
                                                const asc_value* const* values, size_t count,
                                                asc_value** out);

/* ---- reading ---- */

ASC_API asc_status* asc_value_get_kind(const asc_value* value, asc_value_kind* out);
/* Tensors: the element type. Sequences: that of their tensors. Maps: that of the keys. */
ASC_API asc_status* asc_value_get_dtype(const asc_value* value, asc_data_type* out);
/* The extents of a tensor, lent; `dims` is never NULL. */
ASC_API asc_status* asc_value_get_dims(const asc_value* value, const int64_t** dims, size_t* rank);
/* Elements of a tensor, items of a sequence (0 or 1 of an optional), entries of a map. */
ASC_API asc_status* asc_value_get_count(const asc_value* value, size_t* out);
/* The elements of a tensor that holds no strings, and their size in bytes. */
ASC_API asc_status* asc_value_get_data(const asc_value* value, const void** data, size_t* bytes);
/* The same for writing; E5003 for memory that is marked read-only. */
ASC_API asc_status* asc_value_get_mutable_data(asc_value* value, void** data, size_t* bytes);
/* Element number `index`, in row-major order, of a tensor of strings; lent. */
ASC_API asc_status* asc_value_get_string(const asc_value* value, size_t index, asc_string* out);
/* Item number `index` of a sequence or optional, or the value of a map's entry, in order of keys.
 */
ASC_API asc_status* asc_value_create_item(const asc_value* value, size_t index, asc_value** out);
ASC_API asc_status* asc_value_get_int_key(const asc_value* value, size_t index, int64_t* out);
ASC_API asc_status* asc_value_get_string_key(const asc_value* value, size_t index, asc_string* out);
/* The type of this very value: "float32[1, 3]". */
ASC_API asc_status* asc_value_create_type(const asc_value* value, asc_type** out);

ASC_API void asc_value_retain(asc_value* value);
ASC_API void asc_value_release(asc_value* value);

ASC_EXTERN_C_END

#endif /* ASC_VALUE_H_ */
