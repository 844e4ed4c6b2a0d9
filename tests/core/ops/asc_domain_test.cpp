// asc.Assign and asc.TransData. The kernels see storage extents, so they are called directly.
#include <cstring>

#include "core/ops/registry.h"
#include "core/tensor/element.h"
#include "core/tensor/format.h"
#include "tests/core/ops/op_test.h"

namespace asc::testing {
namespace {

// The output of a TransData of `in`, which is stored as `src`; `origin` are the origin extents.
Result<Tensor> Convert(const Tensor& in, const std::string& src, const std::string& dst,
                       const Dims& origin) {
  const OpSchema& schema = *OpRegistry::Global().Find("asc", "TransData");
  AttributeMap attributes;
  attributes.Set("src", src);
  attributes.Set("dst", dst);
  const auto layout = Layout::Parse(dst);
  ASC_ASSIGN_OR_RETURN(const Dims dims, StorageDims(layout.value_or(Layout()), Layout(), origin));
  ASC_ASSIGN_OR_RETURN(Tensor storage, Tensor::Allocate(in.dtype(), dims));
  std::memset(storage.raw(), 0x5a, storage.bytes());
  const AnyValue input(in);
  AnyValue output(std::move(storage));
  const AnyValue* inputs[] = {&input};
  AnyValue* outputs[] = {&output};
  RunState run;
  run.allocator = HostAllocator();
  KernelContext context(schema, attributes, inputs, 1, outputs, 1, run, 0);
  ASC_RETURN_IF_ERROR(schema.reference(context));
  return output.tensor();
}

TEST(TransData, BlocksChannels) {
  const Dims origin = {2, 5, 3, 2};
  const Tensor x = Pseudo(origin);
  const auto blocked = Convert(x, "NCHW", "NC1HWC0(4)", origin);
  ASSERT_TRUE(blocked.ok()) << blocked.status().ToString();
  EXPECT_EQ(blocked->TypeString(), "float32[2, 2, 3, 2, 4]");
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t c = 0; c < 8; ++c) {
      for (int64_t p = 0; p < 6; ++p) {
        const float want = c < 5 ? x.data<float>()[(n * 5 + c) * 6 + p] : 0.0f;
        EXPECT_EQ(blocked->data<float>()[((n * 2 + c / 4) * 6 + p) * 4 + c % 4], want)
            << n << " " << c << " " << p;
      }
    }
  }
}

TEST(TransData, BlocksWeightsAsFractalZ) {
  const Dims origin = {18, 5, 1, 2};  // N, C, H, W
  const Tensor x = Pseudo(origin);
  const auto z = Convert(x, "NCHW", "FRACTAL_Z(4)", origin);
  ASSERT_TRUE(z.ok()) << z.status().ToString();
  EXPECT_EQ(z->TypeString(), "float32[4, 2, 16, 4]");
  for (int64_t n = 0; n < 32; ++n) {
    for (int64_t c = 0; c < 8; ++c) {
      for (int64_t w = 0; w < 2; ++w) {
        const float want = n < 18 && c < 5 ? x.data<float>()[(n * 5 + c) * 2 + w] : 0.0f;
        EXPECT_EQ(z->data<float>()[(((c / 4 * 2 + w) * 2 + n / 16) * 16 + n % 16) * 4 + c % 4],
                  want);
      }
    }
  }
}

TEST(TransData, BlocksMatricesAsFractalNz) {
  const Dims origin = {2, 17, 5};
  const Tensor x = Pseudo(origin);
  const auto nz = Convert(x, "ND", "FRACTAL_NZ(4)", origin);
  ASSERT_TRUE(nz.ok()) << nz.status().ToString();
  EXPECT_EQ(nz->TypeString(), "float32[2, 2, 2, 16, 4]");
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t m = 0; m < 32; ++m) {
      for (int64_t n = 0; n < 8; ++n) {
        const float want = m < 17 && n < 5 ? x.data<float>()[(b * 17 + m) * 5 + n] : 0.0f;
        EXPECT_EQ(nz->data<float>()[(((b * 2 + n / 4) * 2 + m / 16) * 16 + m % 16) * 4 + n % 4],
                  want);
      }
    }
  }
}

TEST(TransData, ComesBack) {
  struct Case {
    std::string plain, blocked;
    Dims origin;
  };
  const std::vector<Case> cases = {
      {"NCHW", "NC1HWC0(16)", {1, 3, 5, 7}},     {"NCHW", "NC1HWC0(8)", {2, 32, 4, 4}},
      {"NCDHW", "NDC1HWC0(4)", {2, 6, 3, 2, 5}}, {"NCHW", "FRACTAL_Z(16)", {20, 17, 3, 3}},
      {"ND", "FRACTAL_NZ(16)", {20, 33}},        {"NCHW", "NC1HWC0(4)", {1, 0, 2, 2}}};
  for (const Case& c : cases) {
    for (const DataType type :
         {DataType::kFloat32, DataType::kFloat16, DataType::kInt8, DataType::kInt4}) {
      Tensor x = Tensor::Allocate(type, c.origin).value();
      for (int64_t i = 0; i < x.size() && IsSubByte(type); ++i)
        WritePacked(type, x.raw(), i, static_cast<uint8_t>(i * 7 % 16));
      for (size_t i = 0; i < x.bytes() && !IsSubByte(type); ++i)
        static_cast<uint8_t*>(x.raw())[i] = static_cast<uint8_t>(i * 7);
      const auto blocked = Convert(x, c.plain, c.blocked, c.origin);
      ASSERT_TRUE(blocked.ok()) << c.blocked << blocked.status().ToString();
      const auto back = Convert(*blocked, c.blocked, c.plain, c.origin);
      ASSERT_TRUE(back.ok()) << c.blocked << back.status().ToString();
      if (!IsSubByte(type)) {
        EXPECT_TRUE(back->ContentEquals(x)) << c.blocked;
        continue;
      }
      for (int64_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(ReadPacked(type, back->raw(), i), ReadPacked(type, x.raw(), i))
            << c.blocked << " element " << i;
      }
    }
  }
}

TEST(TransData, ChangesBlockSizes) {
  const Dims origin = {1, 10, 2, 2};
  const Tensor x = Pseudo(origin);
  const auto by8 = Convert(x, "NCHW", "NC1HWC0(8)", origin);
  ASSERT_TRUE(by8.ok());
  const auto by4 = Convert(*by8, "NC1HWC0(8)", "NC1HWC0(4)", origin);
  ASSERT_TRUE(by4.ok()) << by4.status().ToString();
  EXPECT_TRUE(by4->ContentEquals(*Convert(x, "NCHW", "NC1HWC0(4)", origin)));
}

TEST(TransData, RefusesWhatIsNoLayoutChange) {
  const Tensor x = Pseudo({1, 2, 3, 4});
  EXPECT_EQ(Convert(x, "NCHW", "NHWC", {1, 2, 3, 4}).status().code(), Code::kLayout);
  EXPECT_EQ(Convert(x, "NCHW", "NC1HWC0(0)", {1, 2, 3, 4}).status().code(), Code::kLayout);
  EXPECT_EQ(Convert(x, "NC1HWC0(4)", "NCHW", {1, 2, 3, 4}).status().code(), Code::kLayout);
  EXPECT_EQ(InferText("TransData", {TypedInput(DataType::kFloat32, "[N, 5, H, W]")},
                      {{"src", std::string("NCHW")}, {"dst", std::string("NC1HWC0(8)")}}, 0, "asc"),
            "float32[N, 5, H, W]");
}

TEST(Assign, CopiesTheValue) {
  ExpectTensor(RunOp1("Assign", {F32({2}, {1, 2}), F32({2}, {3, 4})}, {}, "asc"), {2}, {3, 4});
  EXPECT_EQ(RunOp("Assign", {F32({2}, {1, 2}), F32({3}, {3, 4, 5})}, {}, 1, "asc").status().code(),
            Code::kShapeMismatch);
  EXPECT_EQ(RunOp("Assign", {F32({2}, {1, 2}), I64({2}, {3, 4})}, {}, 1, "asc").status().code(),
            Code::kTypeMismatch);
}

}  // namespace
}  // namespace asc::testing
