#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>

#include <sorrel/result.hpp>

namespace sorrel {
namespace {

Result<std::string> name_of(int number) {
  if (number < 0) return Error{"a negative number; 0 and more are allowed"};
  return "number " + std::to_string(number);
}

Result<void> check(int number) {
  if (number < 0) return Error{"a negative number; 0 and more are allowed"};
  return {};
}

TEST(Result, HasAValueOrAnError) {
  const Result<std::string> good = name_of(3);
  ASSERT_TRUE(good);
  EXPECT_TRUE(good.has_value());
  EXPECT_EQ(*good, "number 3");
  EXPECT_EQ(good->size(), 8U);
  EXPECT_EQ(good.value(), *good);
  EXPECT_EQ(good.error(), "");
  const Result<std::string> bad = name_of(-1);
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error(), "a negative number; 0 and more are allowed");
  EXPECT_EQ(bad.value_or("none"), "none");
  EXPECT_EQ(good.value_or("none"), "number 3");
}

TEST(Result, AValueMovesOut) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(5);
  **made = 6;
  const std::unique_ptr<int> taken = *std::move(made);
  EXPECT_EQ(*taken, 6);
}

TEST(Result, SuccessMayHaveNoValue) {
  EXPECT_TRUE(check(0));
  EXPECT_EQ(check(0).error(), "");
  EXPECT_FALSE(check(-1));
  EXPECT_EQ(check(-1).error(), "a negative number; 0 and more are allowed");
}

}  // namespace
}  // namespace sorrel
