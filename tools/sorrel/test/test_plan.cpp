#include "tools/sorrel/test/test_plan.hpp"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <optional>
#include <string_view>
#include <utility>

#include "os/library_search.hpp"
#include "tools/sorrel/common/numbers.hpp"
#include "tools/sorrel/run/run_options.hpp"
#include "tools/sorrel/run/wire_options.hpp"

namespace sorrel::tool {

namespace {

constexpr std::uint64_t many_ranks = 1000;
constexpr std::uint64_t few_ranks = 8;
constexpr std::uint64_t default_schedules = 20;
constexpr std::uint64_t nodes_of_network = 4;
constexpr std::int64_t default_limit_ns = 300'000'000'000;

struct KindName {
  std::string_view name;
  TestKind kind;
};

constexpr std::array kind_names = {
    KindName{"ranks", TestKind::ranks}, KindName{"network", TestKind::network},
    KindName{"check", TestKind::check}, KindName{"schedules", TestKind::schedules}};

/// A whole number from 1 to `most`; `value` if the option is not given.
Result<std::uint64_t> read_number(const char* option,
                                  std::string_view text,
                                  std::uint64_t most,
                                  std::uint64_t value) {
  if (text.empty()) return value;
  const std::optional<std::uint64_t> number = parse_count(text);
  if (number && *number >= 1 && *number <= most) return *number;
  return Error{fmt::format("{} must be a whole number from 1 to {}, not '{}'", option, most, text)};
}

Result<std::vector<std::uint64_t>> read_rank_counts(const std::string& list) {
  if (list.empty()) return std::vector<std::uint64_t>{many_ranks};
  std::vector<std::uint64_t> counts;
  for (const std::string& text : os::split_path(list, ',')) {
    const Result<std::uint64_t> count = read_number("-n", text, ranks_max, 0);
    if (!count.has_value()) return Error{count.error()};
    if (*count != 0 && std::ranges::find(counts, *count) == counts.end()) counts.push_back(*count);
  }
  if (counts.empty())
    return Error{fmt::format("-n must be numbers such as 1,8,1000, not '{}'", list)};
  return counts;
}

Result<std::vector<TestKind>> read_kinds(const std::string& list) {
  std::vector<TestKind> kinds;
  if (list.empty()) {
    for (const KindName& known : kind_names)
      kinds.push_back(known.kind);
    return kinds;
  }
  for (const std::string& name : os::split_path(list, ',')) {
    const auto known = std::ranges::find(kind_names, name, &KindName::name);
    if (known == kind_names.end()) {
      return Error{
          fmt::format("--only must be some of ranks,network,check,schedules, not '{}'", name)};
    }
    kinds.push_back(known->kind);
  }
  return kinds;
}

/// The value of --wire for the slow network.
Result<std::string> read_network(const std::string& wire, std::uint64_t ranks) {
  if (ranks < 2) {
    return Error{
        "between the nodes of a network at least 2 ranks are needed: give a larger -n, or leave "
        "the "
        "network out by --only ranks,check,schedules"};
  }
  if (wire.empty())
    return fmt::format("latency=1ms,bandwidth=1GB/s,nodes={}", std::min(ranks, nodes_of_network));
  WireOptions parsed;
  if (std::string error = parse_wire(wire, parsed); !error.empty())
    return Error{"--wire: " + std::move(error)};
  return wire;
}

Result<std::chrono::milliseconds> read_limit(const std::string& text) {
  constexpr double seconds_max = 1e6;
  constexpr std::int64_t ns_per_ms = 1'000'000;
  const std::optional<std::int64_t> limit_ns =
      text.empty() ? default_limit_ns : parse_delay(text, seconds_max);
  if (limit_ns && *limit_ns >= ns_per_ms) return std::chrono::milliseconds(*limit_ns / ns_per_ms);
  return Error{fmt::format(
      "--timeout must be a time such as 30s, 10min or 2h, at least 1ms, not '{}'", text)};
}

std::string ranks_text(std::uint64_t count) {
  return fmt::format("{} rank{}", count, count == 1 ? "" : "s");
}

struct Numbers {
  std::vector<std::uint64_t> ranks;
  std::uint64_t few = 0;
  std::uint64_t schedules = 0;
  std::string wire;
};

/// The runs of one kind, without the user's options of `sorrel run`.
std::vector<TestRun> runs_of(TestKind kind, const Numbers& numbers) {
  const auto count_option = [](std::uint64_t count) { return fmt::format("{}", count); };
  const std::uint64_t most = std::ranges::max(numbers.ranks);
  switch (kind) {
    case TestKind::ranks: {
      std::vector<TestRun> runs;
      for (const std::uint64_t count : numbers.ranks)
        runs.push_back({kind, ranks_text(count), {"-n", count_option(count)}});
      return runs;
    }
    case TestKind::network:
      return {{kind,
               fmt::format("{}, a slow network", ranks_text(most)),
               {"-n", count_option(most), "--wire", numbers.wire}}};
    case TestKind::check:
      return {{kind,
               fmt::format("{}, checked", ranks_text(numbers.few)),
               {"-n", count_option(numbers.few), "--check"}}};
    case TestKind::schedules:
      return {{kind,
               fmt::format("{}, {} schedules", ranks_text(numbers.few), numbers.schedules),
               {"-n", count_option(numbers.few), "--schedules", count_option(numbers.schedules)}}};
  }
  return {};
}

}  // namespace

Result<TestPlan> plan_tests(const TestOptions& options) {
  const Result<std::vector<std::uint64_t>> ranks = read_rank_counts(options.ranks);
  if (!ranks.has_value()) return Error{ranks.error()};
  const Result<std::vector<TestKind>> kinds = read_kinds(options.only);
  if (!kinds.has_value()) return Error{kinds.error()};
  const std::uint64_t most = std::ranges::max(*ranks);
  const Result<std::uint64_t> few =
      read_number("--few", options.few, ranks_max, std::min(most, few_ranks));
  if (!few.has_value()) return Error{few.error()};
  constexpr std::uint64_t schedules_max = 1'000'000;
  const Result<std::uint64_t> schedules =
      read_number("--schedules", options.schedules, schedules_max, default_schedules);
  if (!schedules.has_value()) return Error{schedules.error()};
  const Result<std::chrono::milliseconds> limit = read_limit(options.time_limit);
  if (!limit.has_value()) return Error{limit.error()};
  Numbers numbers{.ranks = *ranks, .few = *few, .schedules = *schedules, .wire = ""};
  if (std::ranges::find(*kinds, TestKind::network) != kinds->end()) {
    Result<std::string> wire = read_network(options.wire, most);
    if (!wire.has_value()) return Error{wire.error()};
    numbers.wire = std::move(wire).value();
  }
  TestPlan plan{.runs = {}, .time_limit = *limit};
  for (const KindName& known : kind_names) {
    if (std::ranges::find(*kinds, known.kind) == kinds->end()) continue;
    for (TestRun& run : runs_of(known.kind, numbers)) {
      run.options.insert(run.options.end(), options.run_options.begin(), options.run_options.end());
      plan.runs.push_back(std::move(run));
    }
  }
  return plan;
}

}  // namespace sorrel::tool
