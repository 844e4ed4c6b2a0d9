// Gather, GatherElements, GatherND: reading by index. Indices out of range are refused at run
// (E5007).
#include <algorithm>
#include <atomic>

#include "core/base/parallel.h"
#include "core/ops/families.h"
#include "core/ops/infer_rules.h"
#include "core/ops/row_copy.h"
#include "core/ops/shape_facts.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr TypeSet kUnpacked = types::kAll - types::kNarrowIntegers - TypeSet{DataType::kFloat4E2M1};

// ---- Gather ----

Status InferGather(InferContext& context) {
  const Shape &data = context.shape(0), &indices = context.shape(1);
  context.SetOutput(0, context.dtype(0));
  if (!data.has_rank()) return Ok();
  if (data.rank() == 0) return ShapeError("Gather needs data of rank 1 or more, given a scalar");
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(data.rank())));
  if (!indices.has_rank()) return Ok();
  const auto axis = static_cast<ptrdiff_t>(attribute);
  std::vector<Dim> dims(data.dims().begin(), data.dims().begin() + axis);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), data.dims().begin() + axis + 1, data.dims().end());
  context.SetOutput(0, context.dtype(0), Shape(std::move(dims)));
  const auto flow = KnownElements(context, 0);
  const auto at = flow && KnownElements(context, 1) ? context.Ints(1) : std::nullopt;
  if (flow && at) {
    std::vector<Dim> picked;
    for (const int64_t index : *at) {
      const auto position = CheckIndex(index, static_cast<int64_t>(flow->size()), "Gather");
      if (!position.ok()) return Ok();  // the run will say so, if it ever gets here
      picked.push_back((*flow)[static_cast<size_t>(*position)]);
    }
    SetKnownElements(context, 0, std::move(picked));
  }
  return Ok();
}

Status Gather(KernelContext& context) {
  const Tensor& data = context.input(0);
  Tensor& out = context.output(0);
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(data.rank())));
  const auto axis = static_cast<size_t>(attribute);
  const int64_t extent = data.dim(axis);
  ASC_ASSIGN_OR_RETURN(const IndexView indices,
                       IndexView::Make(context.input(1), extent, "Gather"));
  const int64_t count = indices.size();
  const RowCopier rows(data.dtype(), ElementCount(data.dims(), axis + 1, data.rank()));
  ParallelFor(ElementCount(data.dims(), 0, axis) * count, rows.grain(),
              [&](int64_t begin, int64_t end) {
                int64_t outer = begin / std::max<int64_t>(1, count), i = begin - outer * count;
                for (int64_t row = begin; row < end; ++row) {
                  rows.Copy(out.raw(), row, data.raw(), outer * extent + indices[i]);
                  if (++i == count) i = 0, ++outer;
                }
              });
  return Ok();
}

// ---- GatherElements ----

Status InferGatherElements(InferContext& context) {
  const Shape &data = context.shape(0), &indices = context.shape(1);
  if (data.has_rank()) {
    if (data.rank() == 0)
      return ShapeError("GatherElements needs data of rank 1 or more, given a scalar");
    ASC_RETURN_IF_ERROR(AxisAttribute(context, "axis", static_cast<int64_t>(data.rank())).status());
  }
  if (data.has_rank() && indices.has_rank() && data.rank() != indices.rank()) {
    return ShapeError("GatherElements needs data and indices of one rank, given shapes ", data,
                      " and ", indices);
  }
  context.SetOutput(0, context.dtype(0), indices);
  return Ok();
}

// Elements whose bytes move as one integer; false for those that do not.
template <typename F>
bool VisitWord(DataType type, F&& body) {
  if (type == DataType::kString) return false;
  switch (ElementSize(type)) {
    case 1:
      body(uint8_t{});
      return true;
    case 2:
      body(uint16_t{});
      return true;
    case 4:
      body(uint32_t{});
      return true;
    case 8:
      body(uint64_t{});
      return true;
    default:
      return false;
  }
}

// A row of elements along the gathered axis, or (kAcross) across it. False when an index is out of
// range: the row ends there.
template <bool kAcross, typename W, typename Index>
bool GatherRow(const W* from, W* to, const Index* index, int64_t count, int64_t extent,
               int64_t stride) {
  for (int64_t j = 0; j < count; ++j) {
    const int64_t raw = index[j];
    const int64_t at = raw + (raw < 0 ? extent : 0);
    if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(extent)) return false;
    to[j] = kAcross ? from[j + at * stride] : from[at];
  }
  return true;
}

Status GatherElements(KernelContext& context) {
  const Tensor &data = context.input(0), &index_tensor = context.input(1);
  Tensor& out = context.output(0);
  const size_t rank = data.rank();
  ASC_ASSIGN_OR_RETURN(const int64_t attribute,
                       AxisAttribute(context, "axis", static_cast<int64_t>(rank)));
  const auto axis = static_cast<size_t>(attribute);
  for (size_t i = 0; i < rank; ++i) {
    if (i != axis && out.size() > 0 && out.dim(i) > data.dim(i)) {
      return ShapeError("GatherElements indices of shape ", out.dims(), " exceed data of shape ",
                        data.dims(), " on axis ", i);
    }
  }
  if (out.size() == 0) return Ok();
  const Dims strides = ContiguousStrides(data.dims());
  const int64_t inner = out.dim(rank - 1), step = rank - 1 == axis ? 0 : 1;
  const int64_t extent = data.dim(axis), stride = strides[axis];
  // Calls read(row, base): `base` is where the row starts in data, the axis left out.
  const auto each_row = [&](const auto& read) {
    ParallelFor(out.size() / inner, std::max<int64_t>(1, (1 << 13) / inner),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) {
                    int64_t base = 0, rest = row;
                    for (size_t i = rank - 1; i-- > 0;) {
                      if (i != axis) base += rest % out.dim(i) * strides[i];
                      rest /= out.dim(i);
                    }
                    read(row, base);
                  }
                });
  };
  if (extent > 0) {
    std::atomic<bool> good = true;
    const bool words = VisitWord(data.dtype(), [&](auto word) {
      using W = decltype(word);
      const auto gather = [&](const auto* all) {
        each_row([&](int64_t row, int64_t base) {
          const W* from = static_cast<const W*>(data.raw()) + base;
          W* to = static_cast<W*>(out.raw()) + row * inner;
          const auto* index = all + row * inner;
          if (!(step == 0 ? GatherRow<false>(from, to, index, inner, extent, stride)
                          : GatherRow<true>(from, to, index, inner, extent, stride))) {
            good.store(false, std::memory_order_relaxed);
          }
        });
      };
      index_tensor.dtype() == DataType::kInt64 ? gather(index_tensor.data<int64_t>())
                                               : gather(index_tensor.data<int32_t>());
    });
    if (words && good) return Ok();
  }
  // Elements that are no words; or an index is out of range, and this names it.
  ASC_ASSIGN_OR_RETURN(const IndexView indices,
                       IndexView::Make(index_tensor, extent, "GatherElements"));
  const RowCopier cells(data.dtype(), 1);
  each_row([&](int64_t row, int64_t base) {
    for (int64_t i = row * inner, j = 0; j < inner; ++i, ++j)
      cells.Copy(out.raw(), i, data.raw(), base + j * step + indices[i] * stride);
  });
  return Ok();
}

// ---- GatherND ----

Status InferGatherNd(InferContext& context) {
  const Shape &data = context.shape(0), &indices = context.shape(1);
  context.SetOutput(0, context.dtype(0));
  if (!data.has_rank() || !indices.has_rank()) return Ok();
  if (data.rank() == 0 || indices.rank() == 0) {
    return ShapeError("GatherND needs data and indices of rank 1 or more, given shapes ", data,
                      " and ", indices);
  }
  const int64_t batch = context.attributes().Int("batch_dims", 0);
  if (batch < 0 || batch >= static_cast<int64_t>(std::min(data.rank(), indices.rank()))) {
    return InvalidArgument("GatherND batch_dims ", batch,
                           " must be below both ranks, given shapes ", data, " and ", indices);
  }
  for (size_t i = 0; i < static_cast<size_t>(batch); ++i) {
    if (data[i].is_constant() && indices[i].is_constant() && !(data[i] == indices[i])) {
      return ShapeError("GatherND batch axis ", i, " differs: data ", data, ", indices ", indices);
    }
  }
  const Dim& width = indices[indices.rank() - 1];
  if (!width.is_constant()) return Ok();
  if (width.value() < 1 || width.value() > static_cast<int64_t>(data.rank()) - batch) {
    return ShapeError("GatherND indices of shape ", indices, " name ", width,
                      " axes, data of shape ", data, " has ",
                      static_cast<int64_t>(data.rank()) - batch, " after batch_dims");
  }
  std::vector<Dim> dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), data.dims().begin() + batch + width.value(), data.dims().end());
  context.SetOutput(0, context.dtype(0), Shape(std::move(dims)));
  return Ok();
}

Status GatherNd(KernelContext& context) {
  const Tensor &data = context.input(0), &index_tensor = context.input(1);
  Tensor& out = context.output(0);
  const auto batch = static_cast<size_t>(context.attributes().Int("batch_dims", 0));
  const int64_t width = index_tensor.dim(index_tensor.rank() - 1);
  const size_t indexed_end = batch + static_cast<size_t>(width);
  const int64_t batches = ElementCount(data.dims(), 0, batch),
                window = ElementCount(data.dims(), batch, indexed_end);
  const RowCopier rows(data.dtype(), ElementCount(data.dims(), indexed_end, data.rank()));
  const int64_t count = index_tensor.size() / width,
                per_batch = count / std::max<int64_t>(1, batches);
  const int64_t* indices = index_tensor.data<int64_t>();
  std::vector<int64_t> from(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (int64_t k = 0; k < width; ++k) {
      const int64_t extent = data.dim(batch + static_cast<size_t>(k));
      ASC_ASSIGN_OR_RETURN(const int64_t index,
                           CheckIndex(indices[i * width + k], extent, "GatherND"));
      at = at * extent + index;
    }
    from[static_cast<size_t>(i)] = i / per_batch * window + at;
  }
  ParallelFor(count, rows.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      rows.Copy(out.raw(), i, data.raw(), from[static_cast<size_t>(i)]);
  });
  return Ok();
}
}  // namespace

void AddGatherOps(OpTable& table) {
  table.Add("Gather", 13)
      .Doc("rows of data along an axis, picked by index; negative indices count from the end")
      .Input("data", "T")
      .Input("indices", "Tind")
      .Output("output", "T")
      .Types("T", kUnpacked)
      .Types("Tind", types::kIndex)
      .Attr("axis", int64_t{0}, "axis")
      .Class(OpClass::kDataMovement)
      .Infer(InferGather)
      .Kernel(Gather);
  table.Add("GatherElements", 13)
      .Doc("one element for each index: out[i][j] = data[indices[i][j]][j] for axis 0")
      .Input("data", "T")
      .Input("indices", "Tind")
      .Output("output", "T")
      .Types("T", kUnpacked)
      .Types("Tind", types::kIndex)
      .Attr("axis", int64_t{0}, "axis")
      .Class(OpClass::kDataMovement)
      .Infer(InferGatherElements)
      .Kernel(GatherElements);
  table.Add("GatherND", 13)
      .Doc("slices of data named by the index vectors along the last axis of indices")
      .Input("data", "T")
      .Input("indices", "tensor(int64)")
      .Output("output", "T")
      .Types("T", kUnpacked)
      .Types("tensor(int64)", types::kInt64)
      .Attr("batch_dims", int64_t{0})
      .Class(OpClass::kDataMovement)
      .Infer(InferGatherNd)
      .Kernel(GatherNd);
}

}  // namespace asc
