#include "mpi/io/layout_runs.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "mpi/io/coverage.hpp"

namespace sorrel::mpi {
namespace {

constexpr Layout three_bytes(3);
constexpr Layout eight_bytes(8);

/// A random shape whose displacements do not decrease and that does not overlap.
class RandomShape {
 public:
  explicit RandomShape(unsigned seed) : random_(seed) {}

  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  Shape make(int depth) {
    if (depth == 0)
      return {.offset = 0, .layout = LayoutRef(below(2) ? &three_bytes : &eight_bytes)};
    if (below(2) == 0) {
      const Shape inner = make(depth - 1);
      const LayoutSpan span = span_of(*inner.layout.get());
      return repeat(inner, static_cast<std::size_t>(1 + below(5)),
                    span.end - span.first + below(7));
    }
    LayoutBuilder builder;
    std::int64_t at = 0;
    for (int i = 0; i < 2 + below(4); ++i) {
      const Shape inner = make(depth - 1);
      const LayoutSpan span = span_of(*inner.layout.get());
      builder.add(at - inner.offset - span.first, inner);
      at += span.end - span.first + below(9);
    }
    return builder.finish();
  }

 private:
  std::mt19937 random_;
};

std::vector<std::int64_t> offsets_of(const Shape& shape, std::size_t from, std::size_t to) {
  std::vector<std::int64_t> offsets;
  visit_runs(*shape.layout.get(), shape.offset, from, to,
             [&](std::int64_t offset, std::size_t bytes) {
               for (std::size_t i = 0; i < bytes; ++i)
                 offsets.push_back(offset + static_cast<std::int64_t>(i));
               return true;
             });
  return offsets;
}

TEST(LayoutRuns, OfAPartAreThatPartOfAllAndHaveAnInverse) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomShape random(seed);
    const Shape shape = random.make(1 + random.below(4));
    const Layout& layout = *shape.layout.get();
    const std::vector<std::int64_t> all = offsets_of(shape, 0, layout.bytes);
    ASSERT_EQ(all.size(), layout.bytes) << seed;
    ASSERT_TRUE(std::is_sorted(all.begin(), all.end())) << seed;
    ASSERT_EQ(all.front() - shape.offset, span_of(layout).first) << seed;
    ASSERT_EQ(all.back() + 1 - shape.offset, span_of(layout).end) << seed;
    for (int i = 0; i < 20; ++i) {
      const auto from = static_cast<std::size_t>(random.below(static_cast<int>(layout.bytes)));
      const auto to =
          from + static_cast<std::size_t>(random.below(static_cast<int>(layout.bytes - from) + 1));
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(from);
      const auto last = all.begin() + static_cast<std::ptrdiff_t>(to);
      ASSERT_EQ(offsets_of(shape, from, to), std::vector<std::int64_t>(first, last)) << seed;
    }
    for (std::int64_t offset = all.front() - 2; offset < all.back() + 3; ++offset) {
      const auto expected = std::lower_bound(all.begin(), all.end(), offset) - all.begin();
      ASSERT_EQ(bytes_below(layout, shape.offset, offset), static_cast<std::size_t>(expected))
          << seed << " at " << offset;
    }
  }
}

TEST(LayoutRuns, StopWhenTheVisitorHasEnough) {
  const Shape shape = repeat({.offset = 0, .layout = LayoutRef(&three_bytes)}, 10, 5);
  int visits = 0;
  EXPECT_FALSE(visit_runs(*shape.layout.get(), 0, 0, 30,
                          [&](std::int64_t, std::size_t) { return ++visits < 4; }));
  EXPECT_EQ(visits, 4);
}

TEST(LayoutOrder, TellsDecreaseAndOverlap) {
  const auto order_of = [](std::initializer_list<std::int64_t> displacements, std::int64_t extent) {
    LayoutBuilder builder;
    for (const std::int64_t displacement : displacements)
      builder.add(displacement, {.offset = 0, .layout = LayoutRef(&eight_bytes)});
    const Shape shape = builder.finish();
    return check_order(*shape.layout.get(), extent);
  };
  const LayoutOrder right = order_of({0, 16, 40}, 48);
  EXPECT_TRUE(right.is_ascending && !right.has_overlap);
  EXPECT_FALSE(order_of({16, 0, 40}, 48).is_ascending);
  const LayoutOrder overlap = order_of({0, 4, 40}, 48);
  EXPECT_TRUE(overlap.is_ascending && overlap.has_overlap);
  // From one repetition to the next.
  const LayoutOrder touching = order_of({0, 16, 40}, 44);
  EXPECT_TRUE(touching.repetitions_overlap && !touching.repetitions_decrease);
  const LayoutOrder interleaved = order_of({0, 16, 40}, 24);
  EXPECT_TRUE(interleaved.is_ascending && interleaved.repetitions_decrease);
  EXPECT_FALSE(interleaved.has_overlap || touching.has_overlap);
  EXPECT_FALSE(right.repetitions_overlap);
}

TEST(Coverage, GivesTheRunsThatWereAdded) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    RandomShape random(seed);
    constexpr std::size_t size = 700;
    std::vector<bool> expected(size);
    Coverage coverage(size);
    coverage.add(3, 9);
    coverage.clear();
    for (int i = 0; i < 1 + random.below(12); ++i) {
      const auto begin = static_cast<std::size_t>(random.below(size));
      const auto bytes =
          static_cast<std::size_t>(random.below(std::min(200, static_cast<int>(size - begin)) + 1));
      coverage.add(begin, bytes);
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(begin), bytes, true);
    }
    std::vector<bool> found(size);
    std::size_t last = 0;
    coverage.visit_runs([&](std::size_t begin, std::size_t bytes) {
      EXPECT_TRUE(last == 0 || begin > last) << seed;
      last = begin + bytes;
      std::fill_n(found.begin() + static_cast<std::ptrdiff_t>(begin), bytes, true);
    });
    EXPECT_EQ(found, expected) << seed;
  }
}

}  // namespace
}  // namespace sorrel::mpi
