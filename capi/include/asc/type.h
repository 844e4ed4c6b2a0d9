#ifndef ASC_TYPE_H_
#define ASC_TYPE_H_

/* Element types, kinds of values, and the static types of graph values. */

#include "asc/handle.h"

ASC_EXTERN_C_BEGIN

/* Element types; the numbers are ONNX's. 4- and 2-bit types are packed densely, low bits first;
 * the 6-bit floats take a byte each. */
typedef int32_t asc_data_type;
enum {
  ASC_UNDEFINED = 0,
  ASC_FLOAT32 = 1,
  ASC_UINT8 = 2,
  ASC_INT8 = 3,
  ASC_UINT16 = 4,
  ASC_INT16 = 5,
  ASC_INT32 = 6,
  ASC_INT64 = 7,
  ASC_STRING = 8,
  ASC_BOOL = 9,
  ASC_FLOAT16 = 10,
  ASC_FLOAT64 = 11,
  ASC_UINT32 = 12,
  ASC_UINT64 = 13,
  ASC_COMPLEX64 = 14,
  ASC_COMPLEX128 = 15,
  ASC_BFLOAT16 = 16,
  ASC_FLOAT8E4M3FN = 17,
  ASC_FLOAT8E4M3FNUZ = 18,
  ASC_FLOAT8E5M2 = 19,
  ASC_FLOAT8E5M2FNUZ = 20,
  ASC_UINT4 = 21,
  ASC_INT4 = 22,
  ASC_FLOAT4E2M1 = 23,
  ASC_FLOAT8E8M0 = 24,
  ASC_UINT2 = 25,
  ASC_INT2 = 26,
  ASC_FLOAT6E2M3 = 27,
  ASC_FLOAT6E3M2 = 28
};

/* NumPy's or ml_dtypes' name: "float32", "bfloat16", "int4", "string"; "undefined" for other
 * numbers. Static. */
ASC_API asc_string asc_data_type_name(asc_data_type type);
/* Reads such a name; E5002 naming the nearest for others. */
ASC_API asc_status* asc_data_type_parse(asc_string name, asc_data_type* out);
/* Bits that one element takes in a dense tensor; 0 for strings and unknown numbers. */
ASC_API int32_t asc_data_type_bits(asc_data_type type);

typedef int32_t asc_value_kind;
enum { ASC_TENSOR = 0, ASC_SEQUENCE = 1, ASC_OPTIONAL = 2, ASC_MAP = 3 };

/* The static type of a value: its kind and, for tensors, element type and shape, whose extents may
 * be symbols. Immutable, hence free to use from many threads. */
typedef struct asc_type asc_type;

/* A tensor type. Each extent is a text: a number ("3"), a name ("N"), an expression of names
 * ("2*H"), or "?" for one that nothing is known of. Equal names mean equal extents. */
ASC_API asc_status* asc_type_create_tensor(asc_data_type dtype, const asc_string* extents,
                                           size_t rank, asc_type** out);
/* A tensor type of unknown rank. */
ASC_API asc_status* asc_type_create_unranked(asc_data_type dtype, asc_type** out);
ASC_API asc_status* asc_type_create_sequence(const asc_type* element, asc_type** out);
ASC_API asc_status* asc_type_create_optional(const asc_type* element, asc_type** out);
/* `key` is an integer type or ASC_STRING. */
ASC_API asc_status* asc_type_create_map(asc_data_type key, const asc_type* element, asc_type** out);

ASC_API asc_status* asc_type_get_kind(const asc_type* type, asc_value_kind* out);
/* Tensors: the element type; maps: that of the keys; others: ASC_UNDEFINED. */
ASC_API asc_status* asc_type_get_dtype(const asc_type* type, asc_data_type* out);
/* -1: the rank is not known. E5003 for what is no tensor. */
ASC_API asc_status* asc_type_get_rank(const asc_type* type, int64_t* out);
/* The extent of an axis where it is a plain number, else -1. */
ASC_API asc_status* asc_type_get_extent(const asc_type* type, size_t axis, int64_t* out);
/* The extent as text, lent: "3", "N", "?7". */
ASC_API asc_status* asc_type_get_extent_text(const asc_type* type, size_t axis, asc_string* out);
/* The type of the elements of a sequence, an optional or a map. */
ASC_API asc_status* asc_type_create_element(const asc_type* type, asc_type** out);
/* All of it as text, lent: "float32[N, 3]", "sequence(float32[*])". */
ASC_API asc_status* asc_type_get_text(const asc_type* type, asc_string* out);
ASC_API void asc_type_retain(asc_type* type);
ASC_API void asc_type_release(asc_type* type);

ASC_EXTERN_C_END

#endif /* ASC_TYPE_H_ */
