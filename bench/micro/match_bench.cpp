// Matching at a depth: the cost of finding one entry among many, which should not grow.
//
// The table always holds `depth` entries with tags 0..depth-1. One item is one message or receive
// that is found, removed and put back. In reversed order each search finds the youngest entry, the
// worst case of a linear list.
#include <benchmark/benchmark.h>
#include <cstdint>
#include <vector>

#include "mpi/match/match_table.hpp"

namespace sorrel::bench {

namespace {

using mpi::Envelope;
using mpi::MatchEntry;
using mpi::PostedTable;
using mpi::UnexpectedTable;

constexpr std::int32_t sender = 3;

enum class Order : std::uint8_t { as_added, reversed };

std::vector<MatchEntry> entries_of(std::int32_t depth) {
  std::vector<MatchEntry> entries(static_cast<std::size_t>(depth));
  for (std::int32_t tag = 0; tag < depth; ++tag)
    entries[static_cast<std::size_t>(tag)].envelope = {.context = 0, .source = sender, .tag = tag};
  return entries;
}

/// Calls visit(tag) for every tag, round after round, until the benchmark ends.
template <class Visit>
void for_tags(benchmark::State& state, Order order, Visit visit) {
  const auto depth = static_cast<std::int32_t>(state.range(0));
  std::int32_t step = 0;
  for (auto _ : state) {
    visit(order == Order::as_added ? step : depth - 1 - step);
    if (++step == depth) step = 0;
  }
  state.SetItemsProcessed(state.iterations());
}

void find_posted(benchmark::State& state, Order order) {
  auto entries = entries_of(static_cast<std::int32_t>(state.range(0)));
  PostedTable table;
  for (MatchEntry& entry : entries)
    table.add(entry);
  for_tags(state, order, [&](std::int32_t tag) {
    MatchEntry* found = table.take_for({.context = 0, .source = sender, .tag = tag});
    table.add(*found);
  });
}

/// One receive with a wildcard is posted behind all other receives, so every message must check it.
void find_posted_beside_wildcard(benchmark::State& state, Order order) {
  auto entries = entries_of(static_cast<std::int32_t>(state.range(0)));
  PostedTable table;
  for (MatchEntry& entry : entries)
    table.add(entry);
  MatchEntry wildcard;
  wildcard.envelope = {.context = 0, .source = sender + 1, .tag = MPI_ANY_TAG};
  table.add(wildcard);
  for_tags(state, order, [&](std::int32_t tag) {
    MatchEntry* found = table.take_for({.context = 0, .source = sender, .tag = tag});
    table.add(*found);
  });
}

void find_unexpected(benchmark::State& state, Order order) {
  auto entries = entries_of(static_cast<std::int32_t>(state.range(0)));
  UnexpectedTable table;
  for (MatchEntry& entry : entries)
    table.add(entry);
  for_tags(state, order, [&](std::int32_t tag) {
    MatchEntry* found = table.take_for({.context = 0, .source = sender, .tag = tag});
    table.add(*found);
  });
}

/// A receive with both wildcards takes the oldest message.
void find_unexpected_by_wildcard(benchmark::State& state) {
  auto entries = entries_of(static_cast<std::int32_t>(state.range(0)));
  UnexpectedTable table;
  for (MatchEntry& entry : entries)
    table.add(entry);
  for_tags(state, Order::as_added, [&](std::int32_t /*tag*/) {
    MatchEntry* found =
        table.take_for({.context = 0, .source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG});
    table.add(*found);
  });
}

void to_depth_4096(benchmark::internal::Benchmark* bench) {
  bench->Arg(1)->Arg(16)->Arg(256)->Arg(4096);
}

BENCHMARK_CAPTURE(find_posted, in_order, Order::as_added)->Apply(to_depth_4096);
BENCHMARK_CAPTURE(find_posted, reversed, Order::reversed)->Apply(to_depth_4096);
BENCHMARK_CAPTURE(find_posted_beside_wildcard, reversed, Order::reversed)->Apply(to_depth_4096);
BENCHMARK_CAPTURE(find_unexpected, in_order, Order::as_added)->Apply(to_depth_4096);
BENCHMARK_CAPTURE(find_unexpected, reversed, Order::reversed)->Apply(to_depth_4096);
BENCHMARK(find_unexpected_by_wildcard)->Apply(to_depth_4096);

}  // namespace

}  // namespace sorrel::bench
