#include "core/base/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace asc {
namespace {

template <typename T>
std::string Written(const T& value) {
  JsonWriter json;
  json.Value(value);
  return std::move(json).Take();
}

TEST(JsonWriter, WritesEachKindOfValue) {
  EXPECT_EQ(Written(true), "true");
  EXPECT_EQ(Written(-5), "-5");
  EXPECT_EQ(Written(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(Written(0.1f), "0.1");
  EXPECT_EQ(Written(0.1), "0.1");
  EXPECT_EQ(Written(std::nan("")), "null");
  EXPECT_EQ(Written(-std::numeric_limits<float>::infinity()), "null");
  EXPECT_EQ(Written("text"), "\"text\"");
  EXPECT_EQ(Written(std::vector<std::vector<int>>{{1, 2}, {}}), "[[1,2],[]]");
  EXPECT_EQ(Written(std::map<std::string, std::vector<bool>>{{"a", {true}}, {"b", {}}}),
            "{\"a\":[true],\"b\":[]}");
}

TEST(JsonWriter, KeepsTheOrderOfFields) {
  JsonWriter json;
  json.BeginObject()
      .Field("z", 1)
      .Key("a")
      .BeginArray()
      .BeginObject()
      .EndObject()
      .Value("x")
      .EndArray()
      .Field("m", 2.5)
      .EndObject();
  EXPECT_EQ(std::move(json).Take(), R"({"z":1,"a":[{},"x"],"m":2.5})");
}

TEST(JsonWriter, IndentsWhenAsked) {
  JsonWriter json(2);
  json.BeginObject()
      .Field("a", std::vector<int>{1, 2})
      .Key("b")
      .BeginArray()
      .EndArray()
      .EndObject();
  EXPECT_EQ(std::move(json).Take(), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": []\n}");
}

TEST(JsonWriter, WhateverATextHoldsIsReadBack) {
  std::string text = "quote \" backslash \\ line\n tab\t zero";
  text += '\0';
  text += "\x7f é 漢 \xf0\x9f\x98\x80";
  EXPECT_EQ(nlohmann::json::parse(Written(text)).get<std::string>(), text);
  // Broken, overlong and surrogate forms: a replacement character for each byte.
  const std::string bad = "\xff \xc3 \xe2\x82 \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80";
  const std::string sign = "\xef\xbf\xbd";
  EXPECT_EQ(nlohmann::json::parse(Written(bad)).get<std::string>(),
            sign + " " + sign + " " + sign + sign + " " + sign + sign + " " + sign + sign + sign +
                " " + sign + sign + sign + sign);
}

}  // namespace
}  // namespace asc
