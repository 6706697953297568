#include "runtime/base/job_view.hpp"

#include <gtest/gtest.h>

namespace sorrel::runtime {
namespace {

/// Code of each rank lies in a page of its own.
class PagedBody final : public BodyView {
 public:
  static constexpr std::uintptr_t page_bytes = 4096;

  [[nodiscard]] int index_of_code(const void* address) const override {
    const auto page = reinterpret_cast<std::uintptr_t>(address) / page_bytes;
    return page < 4 ? static_cast<int>(page) : -1;
  }
};

/// A report needs no job: a process that has addresses for ranks 8 to 11, and none of them yet.
class JobViewTest : public ::testing::Test {
 protected:
  JobView::Worlds worlds;
  PagedBody body;
  os::StackSlab stacks{0, 65536, os::StackSlab::Guards::later};
};

TEST_F(JobViewTest, ARankAloneOwnsAllCode) {
  const JobView view(worlds, body, stacks, {.first = 8, .count = 1, .is_process_mode = true});
  EXPECT_EQ(view.rank_of_code(&body), 8);
  EXPECT_TRUE(view.is_process_mode());
}

TEST_F(JobViewTest, IndicesCountFromTheFirstPlace) {
  const JobView view(worlds, body, stacks, {.first = 8, .count = 4});
  EXPECT_EQ(view.index_of(8), 0U);
  EXPECT_EQ(view.index_of(11), 3U);
  EXPECT_EQ(view.place_count(), 4);
  EXPECT_FALSE(view.is_process_mode());
}

TEST_F(JobViewTest, CodeOutsideOfTheImagesIsOfNoRank) {
  const JobView view(worlds, body, stacks, {.first = 8, .count = 4});
  EXPECT_FALSE(view.rank_of_code(reinterpret_cast<const void*>(4 * PagedBody::page_bytes)));
}

TEST_F(JobViewTest, NoRankLiesInNoWorld) {
  const JobView view(worlds, body, stacks, {.first = 8, .count = 4});
  EXPECT_FALSE(view.rank_at(reinterpret_cast<std::uintptr_t>(&view)));
}

TEST(JobViewDeathTest, RefusesPlacesThatNoProcessHas) {
  const JobView::Worlds worlds;
  const BodyView body;
  const os::StackSlab stacks{0, 65536, os::StackSlab::Guards::later};
  EXPECT_DEATH(JobView(worlds, body, stacks, {.first = 0, .count = 0}), "0 ranks from 0 on");
  EXPECT_DEATH(JobView(worlds, body, stacks, {.first = 0, .count = 2, .is_process_mode = true}),
               "2 ranks of a process that is one");
}

}  // namespace
}  // namespace sorrel::runtime
