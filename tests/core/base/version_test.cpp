#include "core/base/version.h"

#include <gtest/gtest.h>

#include <string>

namespace asc {
namespace {

TEST(Version, HasThreeNumbers) {
  const std::string version(Version());
  int major = -1, minor = -1, patch = -1;
  char end = '\0';
  ASSERT_EQ(std::sscanf(version.c_str(), "%d.%d.%d%c", &major, &minor, &patch, &end), 3) << version;
  EXPECT_GE(major, 0);
  EXPECT_GE(minor, 0);
  EXPECT_GE(patch, 0);
}

}  // namespace
}  // namespace asc
