#include "heap/region_heap.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

#include "base/prng.hpp"

namespace sorrel::heap {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

/// Printed with every failure of a random test.
std::uint64_t test_seed() {
  const char* given = std::getenv("SORREL_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
}

struct Reported {
  Damage damage;
  const void* address;
};

// The hooks have no argument of their own, so the tests' counters are here.
std::size_t committed_bytes = 0;
std::size_t discarded_bytes = 0;
std::size_t commit_limit = 0;

const HeapHooks hooks{
    .commit =
        [](std::byte* begin, std::size_t bytes) {
          if (committed_bytes + bytes > commit_limit) return false;
          committed_bytes += bytes;
          return mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0;
        },
    .discard =
        [](std::byte* begin, std::size_t bytes) {
          discarded_bytes += bytes;
          EXPECT_EQ(madvise(begin, bytes, MADV_DONTNEED), 0);
        },
    .report =
        [](const void*, Damage damage, const void* address) { throw Reported{damage, address}; },
};

class RegionHeapTest : public testing::Test {
 protected:
  explicit RegionHeapTest(std::size_t near_bytes = 256 * kib,
                          std::size_t middle_bytes = 0,
                          std::size_t kept_bytes_max = 1024 * mib,
                          std::size_t far_page_bytes = 4 * kib,
                          std::size_t kept_bytes_least = 1024 * mib)
      : near_bytes_(near_bytes), middle_bytes_(middle_bytes) {
    committed_bytes = discarded_bytes = 0;
    commit_limit = far_bytes;
    near_ = map(near_bytes, PROT_READ | PROT_WRITE);
    if (middle_bytes != 0) middle_ = map(middle_bytes, PROT_READ | PROT_WRITE);
    far_ = map(far_bytes, PROT_NONE);
    heap_ = reinterpret_cast<RegionHeap*>(near_);
    heap_->start({.near_begin = near_,
                  .near_bytes = near_bytes,
                  .middle_begin = middle_,
                  .middle_bytes = middle_bytes,
                  .far_begin = far_,
                  .far_bytes = far_bytes,
                  .far_page_bytes = far_page_bytes,
                  .kept_bytes_max = kept_bytes_max,
                  .kept_bytes_least = kept_bytes_least},
                 hooks);
  }

  ~RegionHeapTest() override {
    munmap(near_, near_bytes_);
    if (middle_ != nullptr) munmap(middle_, middle_bytes_);
    munmap(far_, far_bytes);
  }

  [[nodiscard]] bool is_in_near(const void* payload) const {
    return static_cast<const std::byte*>(payload) - near_ < static_cast<long>(near_bytes_) &&
           payload >= near_;
  }

  [[nodiscard]] bool is_in_middle(const void* payload) const {
    return static_cast<const std::byte*>(payload) - middle_ < static_cast<long>(middle_bytes_) &&
           payload >= middle_;
  }

  void agree_with_a_model();

  void* allocate(std::size_t bytes) {
    void* payload = heap_->allocate_cached(bytes);
    return payload != nullptr ? payload : heap_->allocate(bytes);
  }

  static std::byte* map(std::size_t bytes, int protection) {
    return static_cast<std::byte*>(
        mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }

  template <class Call>
  static std::optional<Reported> report_of(Call&& call) {
    try {
      call();
    } catch (const Reported& reported) {
      return reported;
    }
    return std::nullopt;
  }

  RegionHeap& heap() { return *heap_; }

  [[nodiscard]] std::uintptr_t far_usable_end() const {
    return reinterpret_cast<std::uintptr_t>(far_) + heap_->far_usable_bytes();
  }

 private:
  static constexpr std::size_t far_bytes = 256 * mib;

  std::size_t near_bytes_;
  std::size_t middle_bytes_;
  std::byte* near_;
  std::byte* middle_ = nullptr;
  std::byte* far_;
  RegionHeap* heap_;
};

[[nodiscard]] bool is_filled(const void* payload, std::size_t bytes, unsigned char value) {
  const auto* begin = static_cast<const unsigned char*>(payload);
  return std::all_of(begin, begin + bytes, [value](unsigned char byte) { return byte == value; });
}

/// Whether a payload of `bytes` bytes is aligned as the heap promises.
[[nodiscard]] bool is_aligned(const void* payload, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(payload) % (bytes >= 2048 ? 64 : 16) == 0;
}

TEST_F(RegionHeapTest, EveryRequestIsAlignedAndLargeEnough) {
  std::vector<void*> blocks;
  for (const std::size_t bytes : {0UL, 1UL, 24UL, 25UL, 64UL, 999UL, 1000UL, 1001UL, 1024UL, 2047UL,
                                  2048UL, 4096UL, 32759UL, 32760UL, 32761UL, 100'000UL, 3 * mib}) {
    void* payload = allocate(bytes);
    ASSERT_NE(payload, nullptr) << bytes;
    EXPECT_TRUE(is_aligned(payload, bytes)) << bytes;
    EXPECT_GE(heap().usable_bytes(payload), bytes);
    std::memset(payload, 0x5a, heap().usable_bytes(payload));
    blocks.push_back(payload);
  }
  heap().check_invariants();
  for (void* payload : blocks)
    heap().release(payload);
  heap().check_invariants();
}

// Goal: blocks of 2 KiB and more begin a line, whatever lies before them, wherever they come from.
TEST_F(RegionHeapTest, LongBlocksBeginALine) {
  std::vector<void*> small;
  std::vector<void*> large;
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t bytes : {2048UL, 3000UL, 4096UL, 8192UL, 32768UL, 65536UL, mib}) {
      for (std::size_t i = 0; i < 8; ++i) {
        // All remainders of a line.
        small.push_back(allocate(24 + 16 * i));
        large.push_back(i % 2 == 0 ? allocate(bytes) : heap().allocate_zeroed(bytes));
        ASSERT_TRUE(is_aligned(large.back(), bytes)) << bytes;
        large.push_back(heap().allocate_aligned(32, bytes));
        ASSERT_TRUE(is_aligned(large.back(), bytes)) << bytes;
      }
    }
    heap().check_invariants();
    // The next round finds them in caches, as the held block, and in the index.
    for (std::size_t i = 0; i < large.size(); i += 3) {
      heap().release(large[i]);
      large[i] = nullptr;
    }
    std::erase(large, nullptr);
    if (round == 1) heap().trim();
  }
  for (const auto* list : {&small, &large}) {
    for (void* payload : *list)
      heap().release(payload);
  }
  heap().trim();
  heap().check_invariants();
}

TEST_F(RegionHeapTest, LongBlocksFollowEachOtherWithoutGaps) {
  ASSERT_NE(allocate(200 * kib), nullptr) << "in the near part";
  auto* before = static_cast<std::byte*>(allocate(64 * kib));
  for (int i = 0; i < 10; ++i) {
    auto* next = static_cast<std::byte*>(allocate(64 * kib));
    EXPECT_EQ(next - before, 64 * kib + 64);
    before = next;
  }
  auto* first = static_cast<std::byte*>(allocate(4096));
  EXPECT_EQ(static_cast<std::byte*>(allocate(4096)) - first, 4096 + 256);
}

// The gap before an aligned block is memory for requests, and costs no index.
TEST_F(RegionHeapTest, TheGapBeforeALongBlockIsUsed) {
  void* payload = allocate(24);
  auto* large = static_cast<std::byte*>(allocate(4096));
  const std::size_t footprint = heap().use().footprint;
  auto* in_gap = static_cast<std::byte*>(allocate(24));
  EXPECT_LT(in_gap, large);
  EXPECT_GT(in_gap, payload);
  EXPECT_EQ(heap().use().footprint, footprint);
  EXPECT_LE(footprint, 32 + 80 + 4096 + 256);
}

TEST_F(RegionHeapTest, ABlockThatGrowsToALongOneIsMoved) {
  void* first = allocate(24);
  void* payload = allocate(1000);
  ASSERT_FALSE(is_aligned(payload, 2048));
  EXPECT_TRUE(heap().resize(payload, 2000)) << "nothing lies behind it";
  EXPECT_FALSE(heap().resize(payload, 2048));
  EXPECT_EQ(heap().usable_bytes(payload) / 1000, 2);
  heap().release(payload);
  heap().release(first);
  heap().trim();
  void* aligned = allocate(2048);
  ASSERT_TRUE(is_aligned(aligned, 2048));
  EXPECT_TRUE(heap().resize(aligned, 100'000));
  heap().check_invariants();
}

TEST_F(RegionHeapTest, AFreedBlockIsTheNextOfItsSize) {
  for (const std::size_t bytes : {1UL, 64UL, 1000UL, 1001UL, 4096UL, 20'000UL, mib, 5 * mib}) {
    void* payload = allocate(bytes);
    heap().release(payload);
    EXPECT_EQ(allocate(bytes), payload) << bytes;
  }
}

TEST_F(RegionHeapTest, AHeapThatFreesSmallBlocksOnlyUsesOnePage) {
  for (int i = 0; i < 1000; ++i)
    heap().release(allocate(100));
  EXPECT_LE(sizeof(RegionHeap) + heap().use().footprint, 4096);
  EXPECT_EQ(committed_bytes, 0);
}

TEST_F(RegionHeapTest, FreedNeighboursBecomeOneBlock) {
  ASSERT_NE(allocate(200 * kib), nullptr) << "in the near part";
  std::vector<void*> blocks;
  for (int i = 0; i < 20; ++i)
    blocks.push_back(allocate(100 * kib));
  void* last = allocate(100 * kib);
  const std::size_t footprint = heap().use().footprint;
  for (void* payload : blocks)
    heap().release(payload);
  EXPECT_EQ(allocate(1900 * kib), blocks.front());
  EXPECT_LE(heap().use().footprint, footprint + 8 * kib);
  heap().release(last);
  heap().check_invariants();
}

TEST_F(RegionHeapTest, AlignedBlocksBeginAtMultiples) {
  std::vector<void*> blocks;
  for (std::size_t alignment = 1; alignment <= 4 * mib; alignment *= 2) {
    for (const std::size_t bytes : {0UL, 1UL, 100UL, 1000UL, 5000UL, 70'000UL}) {
      void* payload = heap().allocate_aligned(alignment, bytes);
      ASSERT_NE(payload, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(payload) % alignment, 0) << alignment;
      std::memset(payload, 0x77, bytes);
      blocks.push_back(payload);
      heap().check_invariants();
    }
  }
  for (void* payload : blocks)
    heap().release(payload);
  heap().check_invariants();
}

TEST_F(RegionHeapTest, ZeroedMemoryIsZeroWhateverItWasBefore) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  Prng random(test_seed());
  for (int round = 0; round < 300; ++round) {
    const std::size_t bytes = 1 + random.below(round % 3 == 0 ? 600 * kib : 60 * kib);
    auto* payload = static_cast<unsigned char*>(heap().allocate_zeroed(bytes));
    ASSERT_TRUE(is_filled(payload, bytes, 0)) << bytes;
    std::memset(payload, 0xff, heap().usable_bytes(payload));
    void* other = allocate(random.below(100 * kib));
    heap().release(payload);
    if (round % 5 == 0) heap().trim();
    if (random.below(4) != 0) heap().release(other);
  }
  heap().check_invariants();
}

TEST_F(RegionHeapTest, LargeZeroedMemoryIsNotTouched) {
  auto* payload = static_cast<std::byte*>(heap().allocate_zeroed(100 * mib));
  std::vector<unsigned char> resident(100 * mib / 4096);
  auto* page = payload + 4096 - reinterpret_cast<std::uintptr_t>(payload) % 4096;
  ASSERT_EQ(mincore(page, (resident.size() - 1) * 4096, resident.data()), 0);
  EXPECT_EQ(std::ranges::count(resident, 1), 0);
}

TEST_F(RegionHeapTest, BlocksGrowAndShrinkInPlaceWhereThereIsRoom) {
  ASSERT_NE(allocate(200 * kib), nullptr) << "in the near part";
  void* first = allocate(100'000);
  EXPECT_TRUE(heap().resize(first, 300'000)) << "nothing lies behind it";
  void* second = allocate(100'000);
  EXPECT_FALSE(heap().resize(first, 600'000));
  EXPECT_TRUE(heap().resize(first, 50'000));
  EXPECT_TRUE(heap().resize(first, 290'000)) << "into the rest that it left";
  heap().release(second);
  heap().release(first);
  heap().trim();
  heap().check_invariants();
  EXPECT_EQ(heap().use().in_use, heap().use().footprint - heap().use().free);
}

TEST_F(RegionHeapTest, RequestsBeyondTheMemoryFailAndHarmNothing) {
  EXPECT_EQ(allocate(300 * mib), nullptr);
  EXPECT_EQ(allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(allocate(SIZE_MAX - 100), nullptr);
  EXPECT_EQ(heap().allocate_zeroed(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(heap().allocate_aligned(std::size_t{1} << 62, 1), nullptr);
  EXPECT_EQ(heap().allocate_aligned(4096, SIZE_MAX - 4096), nullptr);
  void* payload = allocate(100);
  EXPECT_FALSE(heap().resize(payload, SIZE_MAX - 8));
  std::vector<void*> blocks;
  while (void* block = allocate(10 * mib))
    blocks.push_back(block);
  EXPECT_GE(blocks.size(), 25);
  EXPECT_NE(allocate(100), nullptr) << "the near part has room";
  for (void* block : blocks)
    heap().release(block);
  EXPECT_NE(allocate(200 * mib), nullptr);
  heap().check_invariants();
}

TEST_F(RegionHeapTest, WithoutPagesARequestFailsAndALaterOneMaySucceed) {
  commit_limit = 0;
  EXPECT_EQ(allocate(mib), nullptr);
  commit_limit = 256 * mib;
  EXPECT_NE(allocate(mib), nullptr);
  heap().check_invariants();
}

TEST_F(RegionHeapTest, CachedBlocksAreMergedBeforeARequestFails) {
  std::vector<void*> blocks;
  while (void* block = allocate(20'000))
    blocks.push_back(block);
  for (void* block : blocks)
    heap().release(block);
  EXPECT_NE(allocate(250 * mib), nullptr);
}

class SmallKeptTest : public RegionHeapTest {
 protected:
  SmallKeptTest() : RegionHeapTest(256 * kib, 0, 8 * mib) {}
};

TEST_F(SmallKeptTest, FreeMemoryBeyondTheLimitIsGivenBack) {
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) {
    blocks.push_back(allocate(mib));
    std::memset(blocks.back(), 1, mib);
  }
  for (std::size_t i = 0; i < blocks.size(); i += 2)
    heap().release(blocks[i]);
  EXPECT_GE(discarded_bytes, 12 * mib);
  EXPECT_LE(heap().use().kept, 8 * mib);
  for (std::size_t i = 1; i < blocks.size(); i += 2)
    heap().release(blocks[i]);
  EXPECT_LE(heap().use().kept, 8 * mib);
  heap().check_invariants();
}

TEST_F(SmallKeptTest, WhatAProgramFreesInEachStepStays) {
  for (int step = 0; step < 100; ++step) {
    void* first = allocate(3 * mib);
    void* second = allocate(3 * mib);
    heap().release(first);
    heap().release(second);
  }
  EXPECT_EQ(discarded_bytes, 0);
}

class KeptAsUsedTest : public RegionHeapTest {
 protected:
  KeptAsUsedTest() : RegionHeapTest(256 * kib, 0, 1024 * mib, 4 * kib, mib) {}
};

TEST_F(KeptAsUsedTest, FreeMemoryBeyondWhatIsInUseIsGivenBack) {
  void* used = allocate(2 * mib);
  std::vector<void*> blocks;
  for (int i = 0; i < 20; ++i) {
    blocks.push_back(allocate(mib));
    std::memset(blocks.back(), 1, mib);
  }
  for (void* block : blocks)
    heap().release(block);
  EXPECT_GE(discarded_bytes, 15 * mib);
  EXPECT_LE(heap().use().kept, 3 * mib);
  heap().release(used);
  heap().check_invariants();
}

TEST_F(KeptAsUsedTest, WhatAProgramFreesInEachStepStaysWhileItUsesAsMuch) {
  void* used = allocate(7 * mib);
  for (int step = 0; step < 100; ++step) {
    void* first = allocate(3 * mib);
    void* second = allocate(3 * mib);
    heap().release(first);
    heap().release(second);
  }
  EXPECT_EQ(discarded_bytes, 0);
  heap().release(used);
}

TEST_F(RegionHeapTest, ABlockFreedTwiceIsReported) {
  for (const std::size_t bytes : {40UL, 5000UL, 100'000UL}) {
    void* payload = allocate(bytes);
    void* keeps_it_from_the_end = allocate(bytes);
    heap().release(payload);
    const auto report = report_of([&] { heap().release(payload); });
    ASSERT_TRUE(report);
    EXPECT_EQ(report->damage, Damage::freed_twice) << bytes;
    EXPECT_EQ(report->address, payload);
    heap().release(keeps_it_from_the_end);
  }
}

TEST_F(RegionHeapTest, AnOverwrittenHeaderIsReported) {
  auto* payload = static_cast<char*>(allocate(40));
  auto* next = static_cast<char*>(allocate(40));
  std::memset(payload, 'x', 60);
  auto report = report_of([&] { heap().release(next); });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->damage, Damage::overwritten);
  EXPECT_EQ(report->address, next);
}

TEST_F(RegionHeapTest, AByteOfZeroBehindABlockIsReported) {
  auto* payload = static_cast<char*>(allocate(40));
  void* next = allocate(40);
  payload[40] = '\0';
  EXPECT_TRUE(report_of([&] { heap().release(next); }));
}

TEST_F(RegionHeapTest, OverwritingIsFoundWhenTheBlockBeforeIsMerged) {
  auto* payload = static_cast<char*>(allocate(100'000));
  void* next = allocate(100'000);
  const std::size_t usable = heap().usable_bytes(payload);
  std::memset(payload + usable, 0, 8);
  heap().release(payload);
  const auto report = report_of([&] { heap().trim(); });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->address, next);
}

TEST_F(RegionHeapTest, AnAddressInsideABlockIsReported) {
  auto* payload = static_cast<char*>(heap().allocate_zeroed(1000));
  EXPECT_EQ(report_of([&] { heap().release(payload + 8); })->damage, Damage::not_a_block);
  EXPECT_EQ(report_of([&] { heap().release(payload + 64); })->damage, Damage::overwritten);
  EXPECT_EQ(report_of([&] { heap().release_remotely(payload + 64); })->address, payload + 64);
}

TEST_F(RegionHeapTest, BlocksFreedByOtherThreadsComeBack) {
  constexpr int block_count = 4000;
  constexpr int thread_count = 3;
  std::vector<void*> blocks;
  for (int i = 0; i < block_count; ++i)
    blocks.push_back(allocate(static_cast<std::size_t>(1 + i % 3000)));
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = static_cast<std::size_t>(t); i < blocks.size(); i += thread_count)
        heap().release_remotely(blocks[i]);
    });
  // Meanwhile the owner allocates and frees.
  for (int i = 0; i < block_count; ++i)
    heap().release(allocate(static_cast<std::size_t>(i)));
  for (std::thread& thread : threads)
    thread.join();
  heap().trim();
  heap().check_invariants();
  EXPECT_LE(heap().use().in_use, block_bytes_for(sizeof(FreeIndex)));
}

struct Live {
  unsigned char* payload;
  std::size_t bytes;
  unsigned char value;
};

/// Requests of a program: mostly small ones, some arrays.
std::size_t random_bytes(Prng& random) {
  switch (random.below(8)) {
    case 0:
      return random.below(200 * kib);
    case 1:
      return random.below(20 * kib);
    case 2:
      return random.below(2 * kib);
    default:
      return random.below(200);
  }
}

// Goal: blocks never overlap, keep their content, and the structure stays consistent. Method: a
// model of the live blocks, with a byte each that fills it.
void RegionHeapTest::agree_with_a_model() {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  Prng random(test_seed());
  std::vector<Live> live;
  for (int step = 0; step < 60'000; ++step) {
    const auto value = static_cast<unsigned char>(step);
    const std::size_t choice = random.below(100);
    if (choice < 45 || live.empty()) {
      const std::size_t bytes = random_bytes(random);
      void* payload = nullptr;
      if (choice < 5) {
        const std::size_t alignment = std::size_t{16} << random.below(9);
        payload = heap().allocate_aligned(alignment, bytes);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(payload) % alignment, 0);
      } else if (choice < 10) {
        payload = heap().allocate_zeroed(bytes);
        ASSERT_TRUE(is_filled(payload, bytes, 0));
      } else {
        payload = allocate(bytes);
      }
      ASSERT_NE(payload, nullptr);
      ASSERT_GE(heap().usable_bytes(payload), bytes);
      ASSERT_TRUE(is_aligned(payload, bytes)) << bytes;
      std::memset(payload, value, bytes);
      live.push_back({static_cast<unsigned char*>(payload), bytes, value});
      continue;
    }
    Live& chosen = live[random.below(live.size())];
    ASSERT_TRUE(is_filled(chosen.payload, chosen.bytes, chosen.value));
    if (choice < 55) {
      const std::size_t bytes = random_bytes(random);
      if (!heap().resize(chosen.payload, bytes)) continue;
      ASSERT_GE(heap().usable_bytes(chosen.payload), bytes);
      ASSERT_TRUE(is_aligned(chosen.payload, bytes)) << bytes;
      ASSERT_TRUE(is_filled(chosen.payload, std::min(bytes, chosen.bytes), chosen.value));
      std::memset(chosen.payload, value, bytes);
      chosen.bytes = bytes;
      chosen.value = value;
      continue;
    }
    if (choice < 65) {
      heap().release_remotely(chosen.payload);
    } else {
      heap().release(chosen.payload);
    }
    chosen = live.back();
    live.pop_back();
    if (step % 1000 == 0) {
      if (step % 7000 == 0) heap().trim();
      heap().check_invariants();
    }
  }
  for (const Live& block : live) {
    ASSERT_TRUE(is_filled(block.payload, block.bytes, block.value));
    heap().release(block.payload);
  }
  heap().trim();
  heap().check_invariants();
  EXPECT_LE(heap().use().in_use, block_bytes_for(sizeof(FreeIndex)));
}

TEST_F(RegionHeapTest, RandomRequestsAgreeWithAModel) {
  agree_with_a_model();
}

class ThreePartsTest : public RegionHeapTest {
 protected:
  static constexpr std::size_t near_bytes = 16 * kib;

  ThreePartsTest() : RegionHeapTest(near_bytes, 256 * kib, 0) {}
};

/// The far part lies in pages of 2 MiB.
class LargePagesTest : public RegionHeapTest {
 protected:
  static constexpr std::size_t large_page_bytes = 2 * mib;

  LargePagesTest() : RegionHeapTest(16 * kib, 0, 1024 * mib, large_page_bytes) {}
};

TEST_F(LargePagesTest, MemoryIsMadeUsableUpToTheEndOfAPage) {
  for (const std::size_t bytes : {300 * kib, 3 * mib, 50 * mib}) {
    EXPECT_NE(allocate(bytes), nullptr);
    EXPECT_EQ(far_usable_end() % large_page_bytes, 0);
    EXPECT_EQ(committed_bytes, heap().far_usable_bytes());
  }
  EXPECT_NE(allocate(200 * mib), nullptr) << "the last page may be a part of one";
  heap().check_invariants();
}

TEST_F(LargePagesTest, WhatIsBehindTheLastBlockWasNotWritten) {
  allocate(300 * kib);
  EXPECT_GE(heap().written_bytes(2), 300 * kib);
  EXPECT_LE(heap().written_bytes(2), 301 * kib);
  heap().release(allocate(mib));
  EXPECT_GE(heap().written_bytes(2), 1300 * kib) << "freed memory may hold anything";
}

TEST_F(ThreePartsTest, RandomRequestsAgreeWithAModel) {
  agree_with_a_model();
}

TEST_F(ThreePartsTest, ABlockLiesInTheFirstPartThatHasRoom) {
  EXPECT_TRUE(is_in_near(allocate(8 * kib)));
  EXPECT_TRUE(is_in_middle(allocate(8 * kib)));
  EXPECT_TRUE(is_in_near(allocate(1 * kib))) << "the first part still has room for it";
  EXPECT_TRUE(is_in_middle(allocate(200 * kib)));
  EXPECT_EQ(committed_bytes, 0);
  void* far = allocate(200 * kib);
  EXPECT_FALSE(is_in_near(far) || is_in_middle(far));
  EXPECT_GT(committed_bytes, 200 * kib);
  heap().check_invariants();
}

TEST_F(ThreePartsTest, PagesOfTheFirstPartStay) {
  void* near = allocate(8 * kib);
  ASSERT_TRUE(is_in_near(near));
  heap().release(near);
  heap().trim();
  EXPECT_EQ(discarded_bytes, 0);
  void* middle = allocate(200 * kib);
  ASSERT_TRUE(is_in_middle(middle));
  heap().release(middle);
  heap().trim();
  EXPECT_GE(discarded_bytes, 196 * kib);
  heap().check_invariants();
}

TEST_F(ThreePartsTest, TheLargestFootprintIsKept) {
  void* block = allocate(mib);
  const std::size_t most = heap().use().footprint;
  EXPECT_GE(most, mib);
  heap().release(block);
  heap().trim();
  EXPECT_LT(heap().use().footprint, 100 * kib);
  EXPECT_EQ(heap().use().footprint_max, most);
}

// Goal: a bound of fragmentation, for requests whose sizes change over time. Method: the footprint
// over the largest sum of live bytes.
TEST_F(RegionHeapTest, RandomRequestsNeedLittleMoreThanTheirSum) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  Prng random(test_seed());
  std::vector<Live> live;
  std::size_t sum = 0;
  std::size_t most = 0;
  for (int step = 0; step < 100'000; ++step) {
    // Phases with another range of sizes each.
    const std::size_t range = std::size_t{64} << (step / 10'000);
    const bool must_free = sum > 8 * mib;
    if (!must_free && (live.empty() || random.below(100) < 60)) {
      const std::size_t bytes = 1 + random.below(range);
      live.push_back({static_cast<unsigned char*>(allocate(bytes)), bytes, 0});
      sum += bytes;
      most = std::max(most, sum + 16 * live.size());
    } else {
      Live& chosen = live[random.below(live.size())];
      heap().release(chosen.payload);
      sum -= chosen.bytes;
      chosen = live.back();
      live.pop_back();
    }
  }
  heap().check_invariants();
  EXPECT_LE(heap().use().footprint, 2 * most);
}

}  // namespace
}  // namespace sorrel::heap
