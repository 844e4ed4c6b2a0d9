// What is believed of the types that a file declares.
#ifndef ASC_CORE_ONNX_DECLARED_TYPES_H_
#define ASC_CORE_ONNX_DECLARED_TYPES_H_

#include <set>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/onnx/imported_model.h"

namespace asc::onnx {

// Declared facts fill in what inference does not know. Files are full of stale shapes (a batch made
// dynamic at the inputs only), and passes trust a graph's shapes: so extents are believed only
// where they are inferred. A contradicted shape is reported; a contradicted element type is an
// error. `input_symbols`: names of extents that the model's inputs bind.
Status FillFromDeclared(const ValueType& declared, const std::set<std::string>& input_symbols,
                        Value& value);

// What can be said of a body's inputs before the node is inferred: element types, and ranks that
// stay from one iteration to the next. (The shapes that files declare there are those of the first
// iteration at best.)
std::vector<ValueType> BodyInputTypes(const ImportedNode& node,
                                      const std::vector<const ValueType*>& inputs);

}  // namespace asc::onnx

#endif  // ASC_CORE_ONNX_DECLARED_TYPES_H_
