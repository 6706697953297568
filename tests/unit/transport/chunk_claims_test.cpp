#include "transport/shm/chunk_claims.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace sorrel::transport {
namespace {

/// As in zeroed shared memory.
struct Claims {
  alignas(ChunkClaims) std::byte memory[sizeof(ChunkClaims)] = {};

  ChunkClaims& operator*() { return *reinterpret_cast<ChunkClaims*>(memory); }

  ChunkClaims* operator->() { return &**this; }
};

TEST(ChunkClaims, GivesEachChunkOnceFromBothEnds) {
  Claims claims;
  const std::uint32_t round = claims->open(3);
  EXPECT_EQ(claims->claim_front(), 0U);
  EXPECT_EQ(claims->claim_back(round), 2U);
  EXPECT_EQ(claims->claim_back(round), 1U);
  EXPECT_FALSE(claims->claim_front());
  EXPECT_FALSE(claims->claim_back(round));
  EXPECT_EQ(claims->first_of_helper(), 1U);
  EXPECT_FALSE(claims->are_done(2));
  claims->finish_back(true);
  claims->finish_back(true);
  EXPECT_TRUE(claims->are_done(2));
  EXPECT_FALSE(claims->has_failed());
}

TEST(ChunkClaims, ARoundBeginsWhenTheLastIsClaimed) {
  if (SORREL_ASSERT_LEVEL == 0) GTEST_SKIP();
  Claims claims;
  claims->open(2);
  EXPECT_EQ(claims->claim_front(), 0U);
  EXPECT_DEATH(claims->open(2), "the last round has chunks");
}

TEST(ChunkClaims, AHelperOfAnEarlierRoundGetsNothing) {
  Claims claims;
  EXPECT_FALSE(claims->claim_back(0));
  const std::uint32_t early = claims->open(4);
  while (claims->claim_front()) {
  }
  EXPECT_NE(claims->open(4), early);
  EXPECT_FALSE(claims->claim_back(early));
}

TEST(ChunkClaims, RemembersAFailureForItsRoundOnly) {
  Claims claims;
  const std::uint32_t round = claims->open(1);
  EXPECT_TRUE(claims->claim_back(round));
  claims->finish_back(false);
  EXPECT_TRUE(claims->are_done(1) && claims->has_failed());
  claims->open(1);
  EXPECT_FALSE(claims->has_failed());
}

TEST(ChunkClaims, TwoThreadsShareEveryRoundWithoutGapOrOverlap) {
  Claims claims;
  std::atomic<std::uint32_t> round{0};
  std::vector<int> copied(50);
  std::thread helper([&] {
    for (std::uint32_t seen = 0; seen != UINT32_MAX; seen = round.load(std::memory_order_acquire)) {
      while (const auto index = claims->claim_back(seen)) {
        ++copied[*index];
        claims->finish_back(true);
      }
    }
  });
  for (int i = 1; i <= 2000; ++i) {
    round.store(claims->open(50), std::memory_order_release);
    while (const auto index = claims->claim_front())
      ++copied[*index];
    while (!claims->are_done(50 - claims->first_of_helper()))
      std::this_thread::yield();
    for (const int times : copied)
      ASSERT_EQ(times, i);
  }
  round.store(UINT32_MAX, std::memory_order_release);
  helper.join();
}

}  // namespace
}  // namespace sorrel::transport
