#include "os/tls_donor.hpp"

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
  ASSERT_TRUE(make_tls_donor(asked_bytes, touch, &has_run, donor));
  EXPECT_TRUE(has_run);
  EXPECT_GE(donor.stack_bytes, asked_bytes);
  EXPECT_EQ(large[sizeof large - 1], 0) << "it has thread-locals of its own";
}

}  // namespace
}  // namespace sorrel::os
