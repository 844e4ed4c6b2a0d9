#include "tests/core/kernels/kernel_test.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "core/base/parallel.h"
#include "core/device/device.h"
#include "core/kernels/registry.h"
#include "core/ops/evaluate.h"
#include "core/ops/registry.h"

namespace asc::testing {
namespace {
// Packs every time it is asked for a new form, without a cap.
class TestConstants : public PackedConstants {
 public:
  Result<std::shared_ptr<Buffer>> GetOrMake(
      const Tensor& constant, std::string_view form, size_t,
      const std::function<Result<std::shared_ptr<Buffer>>(const std::shared_ptr<Allocator>&)>& make) override {
    std::shared_ptr<Buffer>& entry = forms_[{constant.raw(), std::string(form)}];
    if (!entry) {
      ASC_ASSIGN_OR_RETURN(entry, make(HostAllocator()));
    }
    return entry;
  }
  std::vector<std::string> Forms(const Tensor&) const override { return {}; }

 private:
  std::map<std::pair<const void*, std::string>, std::shared_ptr<Buffer>> forms_;
};

// Moves a rank-4 float tensor between NCHW and NC1HWC0.
Tensor Block(const Tensor& plain, int c0) {
  const Dims& d = plain.dims();
  const int64_t blocks = (d[1] + c0 - 1) / c0, area = d[2] * d[3];
  Tensor out = Tensor::Allocate(DataType::kFloat32, {d[0], blocks, d[2], d[3], c0}).value();
  std::fill_n(out.data<float>(), out.size(), 0.0f);
  for (int64_t n = 0; n < d[0]; ++n) {
    for (int64_t c = 0; c < d[1]; ++c) {
      for (int64_t i = 0; i < area; ++i) {
        out.data<float>()[((n * blocks + c / c0) * area + i) * c0 + c % c0] = plain.data<float>()[(n * d[1] + c) * area + i];
      }
    }
  }
  return out;
}

Tensor Unblock(const Tensor& blocked, const Dims& d, int c0) {
  const int64_t blocks = (d[1] + c0 - 1) / c0, area = d[2] * d[3];
  Tensor out = Tensor::Allocate(DataType::kFloat32, d).value();
  for (int64_t n = 0; n < d[0]; ++n) {
    for (int64_t c = 0; c < d[1]; ++c) {
      for (int64_t i = 0; i < area; ++i) {
        out.data<float>()[(n * d[1] + c) * area + i] = blocked.data<float>()[((n * blocks + c / c0) * area + i) * c0 + c % c0];
      }
    }
  }
  return out;
}

// The lanes past the last channel hold zeros.
void ExpectZeroPadding(const Tensor& blocked, int64_t channels, int c0, std::string_view kernel) {
  const Dims& d = blocked.dims();
  const int64_t area = d[2] * d[3];
  for (int64_t n = 0; n < d[0]; ++n) {
    for (int64_t c = channels; c < d[1] * c0; ++c) {
      for (int64_t i = 0; i < area; ++i) {
        ASSERT_EQ(blocked.data<float>()[((n * d[1] + c / c0) * area + i) * c0 + c % c0], 0.0f) << kernel << ": padding lane " << c;
      }
    }
  }
}

template <typename T>
void ExpectCloseAs(const Tensor& got, const Tensor& want, double tolerance, std::string_view kernel) {
  double largest = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    const auto x = static_cast<double>(want.data<T>()[i]);
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  }
  for (int64_t i = 0; i < want.size(); ++i) {
    const auto g = static_cast<double>(got.data<T>()[i]), w = static_cast<double>(want.data<T>()[i]);
    const bool same = (std::isnan(g) && std::isnan(w)) || g == w || std::fabs(g - w) <= tolerance * (std::fabs(w) + largest);
    ASSERT_TRUE(same) << kernel << ": element " << i << " is " << g << ", expected " << w;
  }
}

void ExpectClose(const Tensor& got, const Tensor& want, double tolerance, std::string_view kernel) {
  ASSERT_EQ(got.dtype(), want.dtype()) << kernel;
  ASSERT_EQ(got.dims(), want.dims()) << kernel;
  if (want.dtype() == DataType::kFloat32) return ExpectCloseAs<float>(got, want, tolerance, kernel);
  if (want.dtype() == DataType::kFloat64) return ExpectCloseAs<double>(got, want, tolerance, kernel);
  if (want.dtype() == DataType::kFloat16) return ExpectCloseAs<Half>(got, want, tolerance, kernel);
  if (want.dtype() == DataType::kBFloat16) return ExpectCloseAs<BFloat16>(got, want, tolerance, kernel);
  EXPECT_TRUE(got.ContentEquals(want)) << kernel;
}
}  // namespace

Tensor Noise(const Dims& dims, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor out = Tensor::Allocate(DataType::kFloat32, dims).value();
  for (int64_t i = 0; i < out.size(); ++i) out.data<float>()[i] = static_cast<float>(random() % 20001) / 10000.0f - 1.0f;
  return out;
}

std::vector<std::string> ExpectKernelsAgree(const KernelCase& test, double tolerance) {
  InstallHostKernels();
  const Device& device = **FindDevice("cpu");
  const OpSchema* schema = OpRegistry::Global().Find(test.domain, test.op);
  if (schema == nullptr) {
    ADD_FAILURE() << "no operator " << test.op;
    return {};
  }
  std::vector<AnyValue> values;
  std::vector<const AnyValue*> pointers;
  for (const auto& input : test.inputs) values.push_back(input ? AnyValue(*input) : AnyValue());
  for (size_t i = 0; i < values.size(); ++i) pointers.push_back(test.inputs[i] ? &values[i] : nullptr);
  RunState run{HostAllocator()};
  const auto want = Evaluate(*schema, test.attributes, pointers, test.outputs, run);
  if (!want.ok()) {
    ADD_FAILURE() << want.status().ToString();
    return {};
  }
  Node node;
  node.schema = schema;
  node.name = test.op;
  node.attributes = test.attributes;
  for (const AttributeSpec& spec : schema->attributes) {
    if (spec.default_value && !node.attributes.Has(spec.name)) node.attributes.Set(spec.name, *spec.default_value);
  }
  TestConstants constants;
  KernelRequest request{node, {}, {}, constants, HostAllocator(), test.threads, test.assume_finite, false, test.winograd};
  const auto listed = [](const std::vector<size_t>& list, size_t i) { return std::find(list.begin(), list.end(), i) != list.end(); };
  const Layout blocked{Format::kNC1HWC0, test.c0};
  std::vector<AnyValue> stored = values;
  for (size_t i = 0; i < values.size(); ++i) {
    OperandDesc desc;
    if (test.inputs[i]) {
      const Tensor& tensor = *test.inputs[i];
      desc = {tensor.dtype(), tensor.dims(), {}, listed(test.constants, i) ? &values[i].tensor() : nullptr, true};
      if (test.c0 != 0 && tensor.rank() == 4 && !listed(test.plain_inputs, i)) {
        desc.layout = blocked;
        stored[i] = Block(tensor, test.c0);
      }
    }
    request.inputs.push_back(desc);
  }
  for (const AnyValue& value : *want) {
    OperandDesc desc{value.tensor().dtype(), value.tensor().dims(), {}, nullptr, true};
    if (test.c0 != 0 && value.tensor().rank() == 4 && !test.plain_outputs) desc.layout = blocked;
    request.outputs.push_back(desc);
  }
  for (size_t i = 0; i < stored.size(); ++i) pointers[i] = test.inputs[i] ? &stored[i] : nullptr;
  const ScopedThreads team(test.threads);
  std::vector<std::string> ran;
  for (const KernelEntry& entry : device.Kernels(*schema)) {
    if (!entry.supports(request)) continue;
    auto kernel = entry.create(request);
    if (!kernel.ok()) {
      EXPECT_EQ(kernel.status().code(), Code::kUnavailable) << kernel.status().ToString();
      continue;
    }
    ran.emplace_back(entry.name);
    const std::unique_ptr<KernelState> state = (*kernel)->MakeState();
    std::vector<std::vector<AnyValue>> kept;  // so that each round has memory of its own
    for (int round = 0; round < 3; ++round) {
      std::vector<AnyValue> outputs;
      std::vector<AnyValue*> output_pointers;
      for (const OperandDesc& desc : request.outputs) {
        Dims dims = desc.dims;
        if (desc.layout.is_blocked()) dims = *StorageDims(desc.layout, {Format::kNCHW, 0}, dims);
        outputs.emplace_back(Tensor::Allocate(desc.dtype, dims).value());
        Tensor& tensor = outputs.back().tensor();
        if (desc.dtype == DataType::kFloat32) std::fill_n(tensor.data<float>(), tensor.size(), std::nanf(""));
      }
      for (AnyValue& output : outputs) output_pointers.push_back(&output);
      KernelContext context(*schema, node.attributes, pointers.data(), pointers.size(), output_pointers.data(),
                            output_pointers.size(), run, 1);
      std::shared_ptr<Buffer> scratch;
      if ((*kernel)->scratch_bytes() > 0) {
        scratch = Buffer::Allocate(HostAllocator(), MemoryUse::kScratch, (*kernel)->scratch_bytes()).value();
        context.set_planned_scratch(scratch->data());
      }
      if (round > 0) context.set_state(state.get());
      const Status status = (*kernel)->Run(context);
      EXPECT_TRUE(status.ok()) << status.ToString();
      if (!status.ok()) break;
      for (size_t i = 0; i < outputs.size(); ++i) {
        const Tensor& got = outputs[i].tensor();
        const Tensor& expected = (*want)[i].tensor();
        if (request.outputs[i].layout.is_blocked()) ExpectZeroPadding(got, expected.dim(1), test.c0, entry.name);
        ExpectClose(request.outputs[i].layout.is_blocked() ? Unblock(got, expected.dims(), test.c0) : got, expected, tolerance,
                    Cat(entry.name, " (", (*kernel)->name(), ")"));
      }
      kept.push_back(std::move(outputs));
    }
  }
  return ran;
}

}  // namespace asc::testing
