#include "os/tls_donor.hpp"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>

#include "os/thread_locals.hpp"

namespace sorrel::os {
namespace {

thread_local char large[100'000];

void touch(void* seen) {
  large[sizeof large - 1] = 1;
  *static_cast<bool*>(seen) = true;
}

TEST(TlsDonorTest, HasTheStackThatWasAskedForBesideItsThreadLocals) {
  constexpr std::size_t asked_bytes = 64 * 1024;
  EXPECT_GE(thread_local_bytes(), sizeof large);
  bool has_run = false;
  TlsDonor donor;
  ASSERT_TRUE(donor.start(asked_bytes, touch, &has_run));
  EXPECT_TRUE(has_run);
  EXPECT_GE(donor.stack_bytes(), asked_bytes);
  EXPECT_EQ(large[sizeof large - 1], 0) << "it has thread-locals of its own";
}

TEST(TlsDonorTest, IsMadeInGivenMemoryAndEndsWithItsObject) {
  const std::size_t bytes = (thread_local_bytes() + 64 * 1024 + 4095) / 4096 * 4096;
  void* memory = std::aligned_alloc(4096, bytes);
  const auto* begin = static_cast<const std::byte*>(memory);
  static std::atomic<bool> has_ended;

  struct AtEnd {
    ~AtEnd() { has_ended = true; }
  };

  bool has_run = false;
  {
    TlsDonor donor;
    const auto prepare = [](void* seen) {
      static thread_local const AtEnd at_end;
      touch(seen);
    };
    ASSERT_TRUE(donor.start_in(memory, bytes, prepare, &has_run));
    EXPECT_TRUE(has_run);
    const auto* pointer = reinterpret_cast<const std::byte*>(donor.thread_pointer());
    EXPECT_TRUE(pointer > begin && pointer < begin + bytes);
    EXPECT_EQ(donor.stack_bottom(), begin);
    EXPECT_FALSE(has_ended);
  }
  EXPECT_TRUE(has_ended);
  std::free(memory);
}

}  // namespace
}  // namespace sorrel::os
