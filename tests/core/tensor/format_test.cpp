#include "core/tensor/format.h"

#include <gtest/gtest.h>

namespace asc {
namespace {
TEST(Format, BlockedFormatsAreFormsOfPlainOnes) {
  EXPECT_EQ(PlainFormat(Format::kNC1HWC0), Format::kNCHW);
  EXPECT_EQ(PlainFormat(Format::kNDC1HWC0), Format::kNCDHW);
  EXPECT_EQ(PlainFormat(Format::kFractalZ), Format::kNCHW);
  for (const Format format : {Format::kND, Format::kNCHW, Format::kNHWC, Format::kNCDHW,
                              Format::kNDHWC, Format::kFractalNz}) {
    EXPECT_EQ(PlainFormat(format), format) << FormatName(format);
  }
}
}  // namespace
}  // namespace asc
