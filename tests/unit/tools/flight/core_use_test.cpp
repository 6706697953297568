#include "tools/sorrel/flight/core_use.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

TEST(CoreUse, is_idle_if_less_than_half_of_the_cores_was_used) {
  EXPECT_TRUE((CoreUse{.seconds = 10, .processor_seconds = 9, .cores = 2, .cpus = 2}.is_idle()));
  EXPECT_FALSE((CoreUse{.seconds = 10, .processor_seconds = 11, .cores = 2, .cpus = 2}.is_idle()));
  EXPECT_TRUE((CoreUse{.seconds = 10, .processor_seconds = 4, .cores = 1, .cpus = 2}.is_idle()));
}

TEST(CoreUse, is_not_idle_where_other_programs_had_the_cores) {
  const CoreUse use{
      .seconds = 10, .processor_seconds = 2, .cores = 2, .cpus = 2, .other_work = 0.6};
  EXPECT_DOUBLE_EQ(use.busy(), 0.1);
  EXPECT_DOUBLE_EQ(use.other(), 0.6);
  EXPECT_FALSE(use.is_idle());
  // Wherever they ran.
  EXPECT_DOUBLE_EQ((CoreUse{.seconds = 10, .cores = 1, .cpus = 4, .other_work = 0.5}.other()), 1);
}

TEST(CoreUse, is_not_idle_in_a_short_time) {
  EXPECT_FALSE((CoreUse{.seconds = 4, .cores = 2, .cpus = 2}.is_idle()));
}

}  // namespace
}  // namespace sorrel::tool
