// Which consecutive ranks each process has.
#include "balance/borders.hpp"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

namespace sorrel::balance {
namespace {

using Begins = std::vector<std::int32_t>;

std::uint64_t seed_of_test() {
  const char* text = std::getenv("SORREL_SEED");
  const std::uint64_t seed = text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
  testing::Test::RecordProperty("seed", std::to_string(seed));
  return seed;
}

Chain chain_of(std::vector<double> loads, Begins begins) {
  const std::size_t ranks = loads.size();
  const std::size_t parts = begins.size();
  return {.loads = std::move(loads),
          .stays = std::vector<bool>(ranks),
          .begins = std::move(begins),
          .is_closed = std::vector<bool>(parts),
          .is_given_up = {}};
}

double largest_after(Chain chain, const Begins& begins) {
  chain.begins = begins;
  return std::ranges::max(part_loads(chain));
}

/// By trying all borders.
double best_of(const Chain& chain, Begins& begins, std::size_t part) {
  const auto ranks = static_cast<std::int32_t>(chain.loads.size());
  if (part == chain.begins.size()) {
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const std::int32_t end = i + 1 < begins.size() ? begins[i + 1] : ranks;
      const std::int32_t old_end = i + 1 < begins.size() ? chain.begins[i + 1] : ranks;
      if (begins[i] >= end) return 1e9;
      if (chain.is_closed[i] && (begins[i] != chain.begins[i] || end != old_end)) return 1e9;
      for (std::int32_t rank = chain.begins[i]; rank < old_end; ++rank) {
        const bool is_in = rank >= begins[i] && rank < end;
        if (chain.stays[static_cast<std::size_t>(rank)] && !is_in) return 1e9;
      }
    }
    return largest_after(chain, begins);
  }
  double best = 1e9;
  for (std::int32_t begin = begins.back() + 1; begin < ranks; ++begin) {
    begins.push_back(begin);
    best = std::min(best, best_of(chain, begins, part + 1));
    begins.pop_back();
  }
  return best;
}

Chain random_chain(Prng& random) {
  const std::size_t ranks = 2 + random.below(10);
  const std::size_t parts = 1 + random.below(std::min<std::size_t>(ranks, 4));
  std::vector<double> loads;
  for (std::size_t i = 0; i < ranks; ++i)
    loads.push_back(random.below(3) == 0 ? 0 : static_cast<double>(1 + random.below(20)));
  Begins all(ranks - 1);
  std::iota(all.begin(), all.end(), 1);
  Begins begins{0};
  for (std::size_t part = 1; part < parts; ++part) {
    const std::size_t at = random.below(all.size());
    begins.push_back(all[at]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
  }
  std::ranges::sort(begins);
  Chain chain = chain_of(loads, begins);
  for (std::size_t i = 0; i < ranks; ++i)
    chain.stays[i] = random.below(8) == 0;
  for (std::size_t i = 0; i < parts; ++i)
    chain.is_closed[i] = random.below(10) == 0;
  return chain;
}

TEST(Borders, CutsUnevenLoadsInHalf) {
  const Chain chain = chain_of({4, 4, 4, 4, 0, 0, 0, 0}, {0, 4});
  EXPECT_EQ(plan_borders(chain), (Begins{0, 2}));
}

TEST(Borders, AreAsGoodAsTheBestOnesWithinTheTolerance) {
  Prng random(seed_of_test());
  for (int i = 0; i < 2000; ++i) {
    const Chain chain = random_chain(random);
    Begins begins{0};
    const double best = best_of(chain, begins, 1);
    const double mean = std::accumulate(chain.loads.begin(), chain.loads.end(), 0.0) /
                        static_cast<double>(chain.begins.size());
    const Begins planned = plan_borders(chain);
    ASSERT_LE(largest_after(chain, planned), best + 0.021 * mean) << "round " << i;
    Begins copy = planned;
    ASSERT_LT(best_of(chain, copy, chain.begins.size()), 1e9) << "round " << i;
  }
}

std::int32_t count_of(const Begins& begins, std::size_t part, std::size_t ranks) {
  const bool is_last = part + 1 == begins.size();
  return (is_last ? static_cast<std::int32_t>(ranks) : begins[part + 1]) - begins[part];
}

TEST(Borders, LeaveOneRankInAPartThatIsGivenUp) {
  for (std::size_t part = 0; part < 3; ++part) {
    Chain chain = chain_of({1, 1, 1, 1, 1, 1, 1}, {0, 3, 5});
    chain.is_given_up = {part == 0, part == 1, part == 2};
    const Begins planned = plan_borders(chain);
    EXPECT_EQ(count_of(planned, part, 7), 1);
    for (std::size_t other = 0; other < 3; ++other) {
      if (other != part) {
        EXPECT_EQ(count_of(planned, other, 7), 3);
      }
    }
    // Also where nothing is known about the ranks.
    chain.loads.assign(7, 0);
    EXPECT_EQ(count_of(plan_borders(chain), part, 7), 1);
  }
}

TEST(Borders, LeaveThoseThatMustStayInAPartThatIsGivenUp) {
  Chain chain = chain_of({1, 1, 1, 1, 1, 1, 1, 1}, {0, 4});
  chain.is_given_up = {false, true};
  chain.stays[5] = true;
  EXPECT_EQ(plan_borders(chain), (Begins{0, 5})) << "there is no other part behind it";
  chain.begins = {0, 2, 7};
  chain.is_closed = {false, false, false};
  chain.is_given_up = {false, true, false};
  chain.stays[3] = true;
  EXPECT_EQ(plan_borders(chain), (Begins{0, 3, 6}));
}

TEST(Borders, StayIfAllPartsAreGivenUp) {
  Chain chain = chain_of({1, 1, 1, 1}, {0, 2});
  chain.is_given_up = {true, true};
  EXPECT_EQ(plan_borders(chain), (Begins{0, 2}));
}

TEST(Borders, OfRandomChainsGiveUpPartsWherePossible) {
  Prng random(seed_of_test());
  for (int i = 0; i < 2000; ++i) {
    Chain chain = random_chain(random);
    const std::size_t ranks = chain.loads.size();
    for (std::size_t part = 0; part < chain.begins.size(); ++part)
      chain.is_given_up.push_back(random.below(3) == 0);
    const auto are_small = [&](const Begins& begins) {
      for (std::size_t part = 0; part < begins.size(); ++part) {
        std::int32_t first = -1;
        std::int32_t last = -1;
        for (std::int32_t rank = chain.begins[part];
             rank < chain.begins[part] + count_of(chain.begins, part, ranks); ++rank) {
          if (!chain.stays[static_cast<std::size_t>(rank)]) continue;
          if (first < 0) first = rank;
          last = rank;
        }
        if (first >= 0 && part == 0) first = 0;
        if (first >= 0 && part + 1 == begins.size()) last = static_cast<std::int32_t>(ranks) - 1;
        const std::int32_t least = first < 0 ? 1 : last - first + 1;
        if (chain.is_given_up[part] && count_of(begins, part, ranks) != least) return false;
      }
      return true;
    };
    // All borders that are allowed.
    bool is_possible = false;
    const auto search = [&](auto&& self, Begins& begins) -> void {
      if (begins.size() == chain.begins.size()) {
        Begins copy = begins;
        is_possible = is_possible || (are_small(begins) && best_of(chain, copy, copy.size()) < 1e9);
        return;
      }
      for (std::int32_t begin = begins.back() + 1; begin < static_cast<std::int32_t>(ranks);
           ++begin) {
        begins.push_back(begin);
        self(self, begins);
        begins.pop_back();
      }
    };
    Begins begins{0};
    search(search, begins);
    for (const Begins& planned : {plan_borders(chain), shuffle_borders(chain, random)}) {
      Begins copy = planned;
      ASSERT_LT(best_of(chain, copy, copy.size()), 1e9) << "round " << i;
      if (is_possible) {
        ASSERT_TRUE(are_small(planned)) << "round " << i;
      }
    }
  }
}

TEST(Borders, StayWhereTheyAreIfNothingIsBetter) {
  for (const Begins& begins : {Begins{0, 3, 5}, Begins{0, 2, 4}}) {
    const Chain chain = chain_of({1, 1, 1, 1, 1, 1, 1}, begins);
    const Begins planned = plan_borders(chain);
    EXPECT_EQ(largest_after(chain, planned), 3);
    if (largest_after(chain, begins) == 3) {
      EXPECT_EQ(planned, begins);
    }
  }
  const Chain idle = chain_of({0, 0, 0}, {0, 2});
  EXPECT_EQ(plan_borders(idle), (Begins{0, 2}));
}

TEST(Borders, MoveAsFewRanksAsTheBoundAllows) {
  // Among the borders with a largest load of 6, that next to the present one.
  const Chain chain = chain_of({6, 0, 0, 0, 6, 1, 0}, {0, 5});
  const Begins planned = plan_borders(chain);
  EXPECT_EQ(planned, (Begins{0, 4}));
  EXPECT_EQ(moved_count(chain.begins, planned, 7), 1);
}

TEST(Borders, GoRoundRanksThatStay) {
  Chain chain = chain_of({4, 4, 4, 4, 0, 0, 0, 0}, {0, 4});
  chain.stays[2] = true;
  EXPECT_EQ(plan_borders(chain), (Begins{0, 3}));
  chain.is_closed[1] = true;
  EXPECT_EQ(plan_borders(chain), (Begins{0, 4}));
}

TEST(Borders, AreAllowedOnesAtRandom) {
  Prng random(seed_of_test());
  std::size_t changed = 0;
  for (int i = 0; i < 2000; ++i) {
    const Chain chain = random_chain(random);
    Begins begins = shuffle_borders(chain, random);
    changed += begins == chain.begins ? 0 : 1;
    ASSERT_LT(best_of(chain, begins, chain.begins.size()), 1e9) << "round " << i;
  }
  EXPECT_GT(changed, 500U);
}

TEST(Borders, CountTheRanksThatMove) {
  EXPECT_EQ(moved_count(Begins{0, 4}, Begins{0, 4}, 8), 0);
  EXPECT_EQ(moved_count(Begins{0, 4}, Begins{0, 1}, 8), 3);
  EXPECT_EQ(moved_count(Begins{0, 2, 4}, Begins{0, 5, 6}, 8), 4);
}

}  // namespace
}  // namespace sorrel::balance
