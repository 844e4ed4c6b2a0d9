#ifndef ASC_ATTRIBUTES_H_
#define ASC_ATTRIBUTES_H_

/* The attributes of an operator that is being added to a graph. */

#include "asc/value.h"

ASC_EXTERN_C_BEGIN

/* For one thread at a time. Names are ONNX's ("kernel_shape") or those of methods ("kernel_size");
 * which ones an operator has is checked when it is added. Setting a name again replaces its value.
 */
typedef struct asc_attributes asc_attributes;

ASC_API asc_status* asc_attributes_create(asc_attributes** out);
ASC_API asc_status* asc_attributes_set_int(asc_attributes* attributes, asc_string name,
                                           int64_t value);
ASC_API asc_status* asc_attributes_set_float(asc_attributes* attributes, asc_string name,
                                             double value);
ASC_API asc_status* asc_attributes_set_string(asc_attributes* attributes, asc_string name,
                                              asc_string value);
ASC_API asc_status* asc_attributes_set_ints(asc_attributes* attributes, asc_string name,
                                            const int64_t* values, size_t count);
ASC_API asc_status* asc_attributes_set_floats(asc_attributes* attributes, asc_string name,
                                              const double* values, size_t count);
ASC_API asc_status* asc_attributes_set_strings(asc_attributes* attributes, asc_string name,
                                               const asc_string* values, size_t count);
/* Shares the tensor's contents, which must not be written any more. */
ASC_API asc_status* asc_attributes_set_tensor(asc_attributes* attributes, asc_string name,
                                              const asc_value* tensor);
ASC_API asc_status* asc_attributes_set_type(asc_attributes* attributes, asc_string name,
                                            const asc_type* type);
ASC_API void asc_attributes_retain(asc_attributes* attributes);
ASC_API void asc_attributes_release(asc_attributes* attributes);

ASC_EXTERN_C_END

#endif /* ASC_ATTRIBUTES_H_ */
