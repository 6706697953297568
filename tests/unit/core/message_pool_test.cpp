#include "core/message_pool.hpp"

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "base/prng.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

using enum MessagePool::WhenFull;

TEST(MessagePoolTest, BuffersAreAlignedAndTheirOwn) {
  MessagePool pool(1 << 20);
  std::set<void*> seen;
  for (const std::size_t bytes : {0, 1, 128, 129, 4096, 32768}) {
    void* buffer = pool.take(bytes, fail);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer) % 16, 0U);
    EXPECT_TRUE(seen.insert(buffer).second);
    std::memset(buffer, 0x77, bytes);
  }
}

TEST(MessagePoolTest, AFreedBufferIsTheNextOneOfItsSize) {
  MessagePool pool(1 << 20);
  void* buffer = pool.take(1000, fail);
  pool.give_back(buffer, 1000);
  EXPECT_EQ(pool.take(600, fail), buffer);
}

TEST(MessagePoolTest, CountsWhatIsInUse) {
  MessagePool pool(1 << 20);
  void* small = pool.take(1, fail);
  void* large = pool.take(32768, fail);
  EXPECT_EQ(pool.bytes_in_use(), 128U + 32768U);
  pool.give_back(small, 1);
  pool.give_back(large, 32768);
  EXPECT_EQ(pool.bytes_in_use(), 0U);
}

TEST(MessagePoolTest, FailsAtItsBoundAndRecovers) {
  MessagePool pool(1024);
  void* first = pool.take(512, fail);
  void* second = pool.take(512, fail);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(pool.take(1, fail), nullptr);
  pool.give_back(first, 512);
  EXPECT_NE(pool.take(1, fail), nullptr);
  pool.give_back(second, 512);
}

TEST(MessagePoolTest, WhatIsUnderWayMayExceedTheBound) {
  MessagePool pool(128);
  ASSERT_NE(pool.take(128, fail), nullptr);
  EXPECT_NE(pool.take(32768, exceed), nullptr);
  EXPECT_EQ(pool.bytes_in_use(), 128U + 32768U);
}

TEST(MessagePoolTest, IsCongestedFromTheBoundOnUntilBelowIt) {
  MessagePool pool(256);
  void* first = pool.take(128, fail);
  EXPECT_FALSE(pool.is_congested());
  void* second = pool.take(128, fail);
  EXPECT_TRUE(pool.is_congested());
  pool.give_back(second, 128);
  EXPECT_FALSE(pool.is_congested());
  pool.give_back(first, 128);
}

TEST(MessagePoolTest, NoBufferOverlapsAnotherWhateverTheOrder) {
  struct Held {
    std::byte* buffer;
    std::size_t bytes;
    std::byte content;
  };

  Prng prng(test_seed());
  MessagePool pool(std::size_t{4} << 20);
  std::vector<Held> held;
  for (int step = 0; step < 5000; ++step) {
    if (held.empty() || prng.below(5) < 3) {
      const auto bytes =
          static_cast<std::size_t>(prng.below(MessagePool::buffer_bytes_max >> prng.below(9)) + 1);
      auto* buffer = static_cast<std::byte*>(pool.take(bytes, fail));
      if (buffer == nullptr) continue;
      const auto content = static_cast<std::byte>(prng.next());
      std::memset(buffer, static_cast<int>(content), bytes);
      held.push_back({buffer, bytes, content});
    } else {
      std::swap(held[prng.below(held.size())], held.back());
      const Held last = held.back();
      held.pop_back();
      for (std::size_t i = 0; i < last.bytes; ++i)
        ASSERT_EQ(last.buffer[i], last.content);
      pool.give_back(last.buffer, last.bytes);
    }
  }
  for (const Held& last : held)
    pool.give_back(last.buffer, last.bytes);
  EXPECT_EQ(pool.bytes_in_use(), 0U);
}

}  // namespace
}  // namespace sorrel::core
