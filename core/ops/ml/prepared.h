// Operators that make something of their attributes before they can run: trees laid out for the
// processor, tables to look labels up. The reference kernel makes it for one call; a device's kernel
// (kernels/prepared.cpp) makes it once and keeps it.
#ifndef ASC_CORE_OPS_ML_PREPARED_H_
#define ASC_CORE_OPS_ML_PREPARED_H_

#include <memory>
#include <span>

#include "core/graph/op_schema.h"

namespace asc {

// Immutable; runs may be concurrent.
class Prepared {
 public:
  virtual ~Prepared() = default;
  virtual Status Run(KernelContext& context) const = 0;
};

// `type`: the element type of input 0. Refuses attributes that make no sense.
using PrepareFn = Result<std::unique_ptr<Prepared>> (*)(const AttributeMap& attributes,
                                                        DataType type);

// Null when the operator has none.
PrepareFn FindPrepare(const OpSchema& schema);

// The reference kernel of such operators.
Status RunPrepared(KernelContext& context);

Result<std::unique_ptr<Prepared>> PrepareLabelEncoder(const AttributeMap& attributes,
                                                      DataType type);
Result<std::unique_ptr<Prepared>> PrepareCategoryMapper(const AttributeMap& attributes,
                                                        DataType type);
Result<std::unique_ptr<Prepared>> PrepareOneHotEncoder(const AttributeMap& attributes,
                                                       DataType type);
Result<std::unique_ptr<Prepared>> PrepareTreeEnsemble(const AttributeMap& attributes,
                                                      DataType type);
Result<std::unique_ptr<Prepared>> PrepareTreeEnsembleClassifier(const AttributeMap& attributes,
                                                                DataType type);
Result<std::unique_ptr<Prepared>> PrepareTreeEnsembleRegressor(const AttributeMap& attributes,
                                                               DataType type);

}  // namespace asc

#endif  // ASC_CORE_OPS_ML_PREPARED_H_
