#include "core/kernels/onednn/common.h"

#include <algorithm>
#include <mutex>

#include "core/base/parallel.h"
#include "core/kernels/lazy_weight.h"
#include "core/kernels/onednn/small_weights.h"
#include "core/kernels/vector/unary.h"

namespace asc::onednn {
namespace {
constexpr std::string_view kFormPrefix = "onednn:";
// Primitives that oneDNN keeps, so that what repeats within a plan, or in another session of the same model, is generated once. Plans hold
// most of them anyway; those that nobody holds any more have tens of kilobytes of code each, few of them hundreds.
constexpr int kPrimitiveCache = 64;
constexpr size_t kMostReorders = 16;
}  // namespace

const dnnl::engine& Engine() {
  static const auto* engine = [] {
    dnnl::set_primitive_cache_capacity(kPrimitiveCache);
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *engine;
}

dnnl::stream& ThreadStream() {
  thread_local dnnl::stream stream(Engine());
  return stream;
}

dnnl::memory::dims ToDnnl(const Dims& dims) { return dnnl::memory::dims(dims.begin(), dims.end()); }

dnnl::memory::desc PlainDesc(const Dims& dims) {
  return {ToDnnl(dims), dnnl::memory::data_type::f32, ToDnnl(ContiguousStrides(dims))};
}

dnnl::memory::desc TransposedDesc(const Dims& dims) {
  Dims stored = dims;
  std::swap(stored[stored.size() - 1], stored[stored.size() - 2]);
  Dims strides = ContiguousStrides(stored);
  std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return {ToDnnl(dims), dnnl::memory::data_type::f32, ToDnnl(strides)};
}

std::optional<dnnl::memory::desc> StorageDesc(const OperandDesc& operand) {
  if (operand.dtype != DataType::kFloat32) return std::nullopt;
  if (!operand.layout.is_blocked()) return PlainDesc(operand.dims);
  if (operand.layout.format != Format::kNC1HWC0 || operand.dims.size() != 4) return std::nullopt;
  const auto tag = operand.layout.c0 == 8    ? dnnl::memory::format_tag::nChw8c
                   : operand.layout.c0 == 16 ? dnnl::memory::format_tag::nChw16c
                                             : dnnl::memory::format_tag::undef;
  if (tag == dnnl::memory::format_tag::undef) return std::nullopt;
  return dnnl::memory::desc(ToDnnl(operand.dims), dnnl::memory::data_type::f32, tag);
}

Status Guard(Code code, std::string_view what, const std::function<void()>& f) {
  try {
    f();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) return Error(Code::kOutOfMemory, what, ": oneDNN is out of memory");
    return Error(code, what, ": oneDNN says ", error.what());
  }
  return Ok();
}

void PrimitiveCalls::Execute(const dnnl::primitive& primitive, std::span<const Argument> arguments) {
  if (next_ == calls_.size()) {
    Call call;
    for (const Argument& argument : arguments) {
      call.memories.emplace_back(*argument.desc, Engine(), argument.data);
      call.arguments.push_back({argument.index, call.memories.back().get()});
      call.data.push_back(argument.data);
    }
    calls_.push_back(std::move(call));
  }
  Call& call = calls_[next_++];
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (call.data[i] == arguments[i].data) continue;
    call.memories[i].set_data_handle(arguments[i].data);
    call.data[i] = arguments[i].data;
  }
  dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive.get(), ThreadStream().get(), static_cast<int>(call.arguments.size()),
                                                 call.arguments.data()),
                          "could not execute a primitive");
}

Status WithCalls(KernelContext& context, std::string_view what, const std::function<void(PrimitiveCalls&)>& f) {
  PrimitiveCalls own;
  auto* kept = static_cast<PrimitiveCalls*>(context.state());
  PrimitiveCalls& calls = kept != nullptr ? *kept : own;
  calls.Start();
  return Guard(Code::kInternal, what, [&] { f(calls); });
}

size_t ScratchLayout::Add(size_t bytes) {
  const size_t offset = total_;
  total_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return offset;
}

namespace {
// Layers that repeat within a plan reorder alike, and oneDNN takes a while to find what it has made before.
dnnl::reorder ReorderBetween(const dnnl::memory::desc& from, const dnnl::memory::desc& to) {
  struct Made {
    dnnl::memory::desc from, to;
    dnnl::reorder reorder;
  };
  static std::mutex mutex;
  static auto* const latest = new std::vector<Made>;  // the last one used comes first
  const std::lock_guard lock(mutex);
  const auto it = std::ranges::find_if(*latest, [&](const Made& made) { return made.from == from && made.to == to; });
  if (it != latest->end()) {
    std::rotate(latest->begin(), it, it + 1);
    return latest->front().reorder;
  }
  dnnl::reorder reorder(dnnl::reorder::primitive_desc(Engine(), from, Engine(), to));
  if (latest->size() == kMostReorders) latest->pop_back();
  latest->insert(latest->begin(), {from, to, reorder});
  return reorder;
}
}  // namespace

Adapter::Adapter(const dnnl::memory::desc& user, const dnnl::memory::desc& wanted, bool to_user, ScratchLayout& scratch)
    : user_(user), wanted_(wanted), needed_(user != wanted), to_user_(to_user) {
  if (!needed_) return;
  offset_ = scratch.Add(wanted.get_size());
  const dnnl::memory::desc& from = to_user ? wanted : user;
  const dnnl::memory::desc& to = to_user ? user : wanted;
  reorder_ = ReorderBetween(from, to);
}

Argument Adapter::Working(int index, void* user, std::byte* scratch) const {
  return needed_ ? Argument{index, &wanted_, scratch + offset_} : Argument{index, &user_, user};
}

void Adapter::Run(PrimitiveCalls& calls, void* user, std::byte* scratch) const {
  if (!needed_) return;
  Argument from{DNNL_ARG_FROM, &user_, user}, to{DNNL_ARG_TO, &wanted_, scratch + offset_};
  if (to_user_) {
    std::swap(from.desc, to.desc);
    std::swap(from.data, to.data);
  }
  const Argument arguments[] = {from, to};
  calls.Execute(reorder_, arguments);
}

namespace {
Status Reorder(const dnnl::memory::desc& from_desc, const void* from, const dnnl::memory::desc& to_desc, void* to) {
  if (from_desc.get_size() <= kMostSmallElements * sizeof(float) &&
      ReorderSmall(from_desc, static_cast<const float*>(from), to_desc, static_cast<float*>(to)))
    return Ok();
  return Guard(Code::kUnavailable, "packing a weight", [&] {
    dnnl::memory source(from_desc, Engine(), const_cast<void*>(from)), target(to_desc, Engine(), to);
    dnnl::reorder(source, target).execute(ThreadStream(), source, target);
    ThreadStream().wait();
  });
}

// How many elements of axis `axis` stand in one block of a layout.
int64_t BlockOf(const dnnl::memory::desc& layout, int64_t axis) {
  int64_t block = 1;
  const auto sizes = layout.get_inner_blks(), axes = layout.get_inner_idxs();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (axes[i] == axis) block *= sizes[i];
  }
  return block;
}

// Packs a lazy weight in slices along the axis that is outermost in memory, so that no more than a slice is there plain; as a whole
// where the packed layout cannot be cut there.
Status PackInSlices(const std::shared_ptr<Allocator>& allocator, const Tensor& weight, const dnnl::memory::desc& user,
                    const dnnl::memory::desc& wanted, void* packed) {
  const dnnl::memory::dims dims = user.get_dims(), strides = user.get_strides();
  size_t axis = 0;
  for (size_t i = 1; i < dims.size(); ++i) {
    if (strides[i] > strides[axis]) axis = i;
  }
  const auto row_bytes = static_cast<int64_t>(weight.bytes()) / dims[axis];
  const int64_t block = BlockOf(wanted, static_cast<int64_t>(axis));
  int64_t rows = std::max<int64_t>(1, kLargeSliceBytes / row_bytes / block) * block;
  if (rows < dims[axis]) {
    dnnl::memory::dims part = dims;
    part[axis] = rows;
    const bool divides = wanted.submemory_desc(part, dnnl::memory::dims(dims.size(), 0), true).get_size() != 0;
    if (!divides) rows = dims[axis];
  }
  ASC_ASSIGN_OR_RETURN(const std::shared_ptr<Buffer> plain,
                       AllocateSlice(allocator, static_cast<size_t>(std::min(rows, dims[axis]) * row_bytes)));
  for (int64_t row = 0; row < dims[axis]; row += rows) {
    dnnl::memory::dims part = dims, offsets(dims.size(), 0);
    part[axis] = std::min(rows, dims[axis] - row);
    offsets[axis] = row;
    CopyOnTeam(weight, static_cast<size_t>(row * row_bytes), static_cast<size_t>(part[axis] * row_bytes), plain->data());
    const dnnl::memory::desc slice(part, user.get_data_type(), strides);
    // Reordered whole where one slice is all: that is the faster kernel.
    ASC_RETURN_IF_ERROR(Reorder(slice, plain->data(), part[axis] == dims[axis] ? wanted : wanted.submemory_desc(part, offsets), packed));
  }
  return Ok();
}
}  // namespace

Result<std::shared_ptr<Buffer>> PackWeight(PackedConstants& constants, const Tensor& weight, const dnnl::memory::desc& user,
                                           const dnnl::memory::desc& wanted) {
  // The layout itself is the form's name, so that PackedLayouts can read it back.
  const std::vector<uint8_t> blob = dnnl::memory::desc(wanted).get_blob();
  const std::string form = Cat(kFormPrefix, std::string_view(reinterpret_cast<const char*>(blob.data()), blob.size()));
  const size_t bytes = wanted.get_size();
  return constants.GetOrMake(weight, form, bytes, [&](const std::shared_ptr<Allocator>& allocator) -> Result<std::shared_ptr<Buffer>> {
    ASC_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> packed, Buffer::Allocate(allocator, MemoryUse::kPackedWeight, bytes));
    if (weight.is_lazy()) {
      ASC_RETURN_IF_ERROR(PackInSlices(allocator, weight, user, wanted, packed->data()));
      return packed;
    }
    ASC_RETURN_IF_ERROR(Reorder(user, weight.raw(), wanted, packed->data()));
    return packed;
  });
}

std::vector<dnnl::memory::desc> PackedLayouts(const PackedConstants& constants, const Tensor& weight) {
  std::vector<dnnl::memory::desc> layouts;
  for (const std::string& form : constants.Forms(weight)) {
    if (!form.starts_with(kFormPrefix)) continue;
    layouts.emplace_back(std::vector<uint8_t>(form.begin() + static_cast<ptrdiff_t>(kFormPrefix.size()), form.end()));
  }
  return layouts;
}

std::optional<EltwiseForm> ToEltwise(const Activation& activation) {
  using dnnl::algorithm;
  switch (activation.kind) {
    case ActivationKind::kRelu: return EltwiseForm{algorithm::eltwise_relu, 0, 0};
    case ActivationKind::kLeakyRelu: return EltwiseForm{algorithm::eltwise_relu, activation.a, 0};
    case ActivationKind::kClip:
      if (activation.a > activation.b) return std::nullopt;
      return EltwiseForm{algorithm::eltwise_clip, activation.a, activation.b};
    case ActivationKind::kSigmoid: return EltwiseForm{algorithm::eltwise_logistic, 0, 0};
    case ActivationKind::kHardSigmoid: return EltwiseForm{algorithm::eltwise_hardsigmoid, activation.a, activation.b};
    case ActivationKind::kHardSwish: return EltwiseForm{algorithm::eltwise_hardswish, 1.0f / 6, 0.5f};
    case ActivationKind::kSilu: return EltwiseForm{algorithm::eltwise_swish, 1, 0};
    case ActivationKind::kTanh: return EltwiseForm{algorithm::eltwise_tanh, 0, 0};
    case ActivationKind::kGelu: return EltwiseForm{algorithm::eltwise_gelu_erf, 0, 0};
    case ActivationKind::kGeluTanh: return EltwiseForm{algorithm::eltwise_gelu_tanh, 0, 0};
    default: return std::nullopt;
  }
}

void ApplyActivationOnTeam(const Activation& activation, float* data, int64_t count) {
  const simd::UnaryCall f = simd::FromActivation(activation);
  ParallelFor(count, simd::UnaryGrain(f.op),
              [&](int64_t begin, int64_t end) { simd::ApplyUnary(f, data + begin, data + begin, end - begin); });
}

void ApplyBiasAndActivationOnTeam(const Activation& activation, const float* bias, const OperandDesc& image, float* data) {
  const simd::UnaryCall f = simd::FromActivation(activation);
  const int64_t c0 = image.layout.is_blocked() ? image.layout.c0 : 1, blocks = image.dims[1] / c0;
  const int64_t rows = ElementCount(image.dims, 2, image.dims.size() - 1), row = image.dims.back() * c0;
  const int64_t grain = std::max<int64_t>(1, simd::UnaryGrain(f.op) / row);
  ParallelFor(image.dims[0] * blocks * rows, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t plane = begin / rows, some = std::min(end, (plane + 1) * rows) - begin;
      simd::ApplyBiasAndUnary(f, bias + plane % blocks * c0, c0, data + begin * row, some * row);
      begin += some;
    }
  });
}

}  // namespace asc::onednn
