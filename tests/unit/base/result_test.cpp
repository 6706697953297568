#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sorrel/result.hpp>

namespace sorrel {
namespace {

constexpr const char* negative = "a negative number; 0 and more are allowed";

Result<std::string> name_of(int number) {
  if (number < 0) return Error{negative};
  return "number " + std::to_string(number);
}

Result<void> check(int number) {
  if (number < 0) return Error{negative};
  return {};
}

TEST(Result, HasAValueOrAnError) {
  const Result<std::string> good = name_of(3);
  ASSERT_TRUE(good);
  EXPECT_TRUE(good.has_value());
  EXPECT_EQ(*good, "number 3");
  EXPECT_EQ(good->size(), 8U);
  EXPECT_EQ(good.value(), *good);
  const Result<std::string> bad = name_of(-1);
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error(), negative);
  EXPECT_EQ(bad.value_or("none"), "none");
  EXPECT_EQ(good.value_or("none"), "number 3");
  EXPECT_EQ(good.error_or("none"), "none");
  EXPECT_EQ(bad.error_or("none"), negative);
}

TEST(Result, ValueWithoutAValueThrowsTheLine) {
  try {
    static_cast<void>(name_of(-1).value());
    FAIL() << "nothing was thrown";
  } catch (const BadResultAccess& access) {
    EXPECT_EQ(access.error(), negative);
    EXPECT_STREQ(access.what(), negative);
  }
  EXPECT_THROW(check(-1).value(), BadResultAccess);
  EXPECT_NO_THROW(check(0).value());
}

TEST(Result, AValueMovesOut) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(5);
  **made = 6;
  const std::unique_ptr<int> taken = *std::move(made);
  EXPECT_EQ(*taken, 6);
  EXPECT_EQ(*Result<std::unique_ptr<int>>(std::make_unique<int>(7)).value_or(nullptr), 7);
}

TEST(Result, SuccessMayHaveNoValue) {
  EXPECT_TRUE(check(0));
  EXPECT_FALSE(check(-1));
  EXPECT_EQ(check(-1).error(), negative);
}

TEST(Result, WithoutArgumentsItHasTheDefaultValue) {
  EXPECT_EQ(*Result<std::vector<int>>(), std::vector<int>());
}

TEST(Result, AndThenCallsTheNextOneOnlyAfterSuccess) {
  const auto length = [](const std::string& name) -> Result<std::size_t> {
    if (name.size() > 8) return Error{"a long name"};
    return name.size();
  };
  EXPECT_EQ(name_of(3).and_then(length).value(), 8U);
  EXPECT_EQ(name_of(33).and_then(length).error(), "a long name");
  EXPECT_EQ(name_of(-1).and_then(length).error(), negative);
  const Result<std::string> named = check(0).and_then([] { return name_of(1); });
  EXPECT_EQ(*named, "number 1");
  EXPECT_EQ(check(-1).and_then([] { return name_of(1); }).error(), negative);
}

TEST(Result, TransformChangesAValueAndTransformErrorALine) {
  const auto size = [](const std::string& name) { return name.size(); };
  EXPECT_EQ(name_of(3).transform(size).value(), 8U);
  EXPECT_EQ(name_of(-1).transform(size).error(), negative);
  EXPECT_EQ(check(0).transform([] { return 5; }).value(), 5);
  std::string seen;
  const auto keep = [&](std::string name) { seen = std::move(name); };
  EXPECT_TRUE(name_of(3).transform(keep).has_value());
  EXPECT_EQ(seen, "number 3");
  const auto with_path = [](const std::string& line) { return "machine.json: " + line; };
  EXPECT_EQ(name_of(-1).transform_error(with_path).error(),
            std::string("machine.json: ") + negative);
  EXPECT_EQ(name_of(3).transform_error(with_path).value(), "number 3");
}

TEST(Result, OrElseReplacesAnError) {
  const auto zero = [](const std::string&) { return name_of(0); };
  EXPECT_EQ(name_of(-1).or_else(zero).value(), "number 0");
  EXPECT_EQ(name_of(3).or_else(zero).value(), "number 3");
}

TEST(Result, EqualValuesAndEqualErrorsAreEqual) {
  EXPECT_EQ(name_of(3), Result<std::string>("number 3"));
  EXPECT_EQ(name_of(-1), name_of(-2));
  EXPECT_NE(name_of(-1), Result<std::string>(negative)) << "an error is no value";
}

// What takes the place of a value must be told apart from what makes one.
static_assert(!std::is_convertible_v<int, Result<std::vector<int>>>, "only explicit");
static_assert(std::is_constructible_v<Result<std::vector<int>>, int>);
static_assert(!std::is_constructible_v<Result<int>, std::string>);
static_assert(!std::is_constructible_v<Result<void>, int>);

}  // namespace
}  // namespace sorrel
