#include "grid/copy/runs.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "base/prng.hpp"
#include "unit/grid/random_problem.hpp"

namespace sorrel::grid {
namespace {

// A box of random cells in a random view with gaps, such as one component among several.
struct Subject {
  std::vector<std::byte> memory;
  ArrayView view;
  Box<3> box;
  MemoryOrder order;
};

Subject random_subject(Prng& prng) {
  Subject subject;
  subject.order = prng.below(2) == 0 ? MemoryOrder::c : MemoryOrder::fortran;
  Extents extents;
  for (std::size_t d = 0; d < 3; ++d) {
    extents[d] = static_cast<std::int64_t>(1 + prng.below(7));
    const auto room = static_cast<std::uint64_t>(extents[d]);
    const std::uint64_t lo = prng.below(room);
    subject.box.lo[d] = static_cast<std::int64_t>(lo);
    subject.box.hi[d] = static_cast<std::int64_t>(lo + 1 + prng.below(room - lo));
  }
  const std::int64_t element_bytes = std::int64_t{1} << prng.below(6);
  const auto gap = static_cast<std::int64_t>(prng.below(2) * 8);
  ArrayView dense = dense_view(nullptr, extents, element_bytes + gap, subject.order);
  subject.memory.resize(
      static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * (element_bytes + gap)));
  dense.element_bytes = element_bytes;
  dense.first = subject.memory.data();
  subject.view = dense;
  return subject;
}

// The slow oracle: cell by cell, in the memory order of the problem.
std::vector<std::byte*> bytes_of(const Subject& subject) {
  std::vector<std::byte*> places;
  const bool is_c = subject.order == MemoryOrder::c;
  const std::size_t outer = is_c ? 0 : 2;
  const std::size_t inner = 2 - outer;
  const Extents count = subject.box.extents();
  for (std::int64_t i = 0; i < count[outer]; ++i)
    for (std::int64_t j = 0; j < count[1]; ++j)
      for (std::int64_t k = 0; k < count[inner]; ++k) {
        Extents at = subject.box.lo;
        at[outer] += i;
        at[1] += j;
        at[inner] += k;
        for (std::int64_t b = 0; b < subject.view.element_bytes; ++b)
          places.push_back(subject.view.at(at) + b);
      }
  return places;
}

class RunsOf : public testing::TestWithParam<Pack> {};

TEST_P(RunsOf, ABoxIsPackedAndUnpackedCellByCell) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  Prng prng(test_seed());
  for (int round = 0; round < 300; ++round) {
    Subject subject = random_subject(prng);
    for (std::byte& byte : subject.memory)
      byte = static_cast<std::byte>(prng.below(256));
    const std::vector<std::byte> before = subject.memory;
    const auto places = bytes_of(subject);
    const Runs runs = runs_of(subject.view, subject.box, subject.order);
    ASSERT_EQ(runs.bytes(), static_cast<std::int64_t>(places.size()));

    std::vector<std::byte> buffer(places.size());
    EXPECT_EQ(pack(runs, GetParam(), buffer.data()), runs.bytes());
    for (std::size_t i = 0; i < places.size(); ++i)
      ASSERT_EQ(buffer[i], *places[i]);

    for (std::byte& byte : buffer)
      byte = ~byte;
    unpack(runs, GetParam(), buffer.data());
    std::vector<std::byte> expected = before;
    for (std::byte* place : places) {
      std::byte& byte = expected[static_cast<std::size_t>(place - subject.memory.data())];
      byte = ~byte;
    }
    ASSERT_EQ(subject.memory, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways,
                         RunsOf,
                         testing::Values(Pack::rows, Pack::blocked),
                         [](const auto& way) { return std::string(name_of(way.param)); });

TEST(RunsOfArrays, AWholeArrayIsOneRun) {
  std::vector<double> data(4 * 5 * 6);
  const ArrayView view = dense_view(data.data(), {4, 5, 6}, 8, MemoryOrder::c);
  const Runs runs = runs_of(view, Box<3>{{}, {4, 5, 6}}, MemoryOrder::c);
  EXPECT_EQ(runs.run_bytes, 4 * 5 * 6 * 8);
}

TEST(RunsOfArrays, ASlabOfTheOutermostDimensionIsOneRun) {
  std::vector<double> data(4 * 5 * 6);
  const ArrayView view = dense_view(data.data(), {4, 5, 6}, 8, MemoryOrder::c);
  const Runs runs = runs_of(view, Box<3>{{2, 0, 0}, {3, 5, 6}}, MemoryOrder::c);
  EXPECT_EQ(runs.run_bytes, 5 * 6 * 8);
  EXPECT_EQ(runs.first, view.at({2, 0, 0}));
}

}  // namespace
}  // namespace sorrel::grid
