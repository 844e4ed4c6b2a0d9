#include "core/ops/row_copy.h"

namespace asc {

Result<IndexView> IndexView::Make(const Tensor& indices, int64_t extent, std::string_view op) {
  IndexView view;
  if (indices.dtype() == DataType::kInt64) {
    view.wide_ = indices.data<int64_t>();
  } else if (indices.dtype() == DataType::kInt32) {
    view.narrow_ = indices.data<int32_t>();
  } else {
    return TypeError(op, " takes indices of int32 or int64, given ", indices.TypeString());
  }
  view.size_ = indices.size();
  view.extent_ = extent;
  for (int64_t i = 0; i < view.size_; ++i) {
    const int64_t index = view.wide_ != nullptr ? view.wide_[i] : view.narrow_[i];
    if (index < -extent || index >= extent) return CheckIndex(index, extent, op).status();
  }
  return view;
}

}  // namespace asc
