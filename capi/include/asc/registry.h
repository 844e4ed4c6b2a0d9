#ifndef ASC_REGISTRY_H_
#define ASC_REGISTRY_H_

/* The operators that the engine knows: what bindings make their methods from. From any thread. */

#include "asc/handle.h"

ASC_EXTERN_C_BEGIN

/* A JSON array with an object for each operator, ordered by domain and name:
 *   domain, name, method, fusion, since_version, doc
 *   inputs, outputs   [{name, python_name, type, kind: single|optional|variadic, homogeneous, doc}]
 *   types             {type variable: [element types]}
 *   attributes        [{name, python_name, type: int|float|string|ints|floats|strings|tensor|type,
 *                       required, default (absent where there is none), doc}]
 *   regions           [names]
 *   class             elementwise, reduction, ...
 *   differentiable    whether gradients pass the operator (docs/gradients.md) */
ASC_API asc_status* asc_registry_create_operators(asc_bytes** out);
/* The method name behind a method or ONNX name ("Conv" -> "conv2d"), lent for ever; E5033 naming
 * the nearest where there is none. */
ASC_API asc_status* asc_registry_get_method(asc_string name, asc_string* out);
/* A JSON array of the fusions, ordered by name: [{name, pass, mode: conservative|default|aggressive
 * (the least one that has it on), doc}]. */
ASC_API asc_status* asc_registry_create_fusions(asc_bytes** out);

ASC_EXTERN_C_END

#endif /* ASC_REGISTRY_H_ */
