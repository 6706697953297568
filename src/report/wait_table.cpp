#include "report/wait_table.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "report/rank_runs.hpp"

namespace sorrel::report {

namespace {

template <class Number>
std::string text_of_number(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "-";
}

/// All fields of a line except its kind and its ranks.
std::string fields_of(const RankWait& wait) {
  std::string text;
  if (!wait.state.empty()) text += "\t" + as_field(wait.state);
  for (const std::string& field : {wait.call, wait.peer, wait.tag, wait.comm, wait.place})
    text += "\t" + as_field(field);
  text += "\t" + text_of_number(wait.awaited) + "\t" + text_of_number(wait.collective);
  if (!wait.explanation.empty()) text += "\t" + as_field(wait.explanation);
  return text;
}

}  // namespace

void WaitTable::append(RankRuns& runs, std::int32_t rank) {
  report::append(runs, rank);
}

std::string WaitTable::text(std::size_t bytes_max) const {
  std::string text;
  // Room for the line about the ranks that do not fit.
  constexpr std::size_t reserved_bytes = 48;
  RankRun left_out{.first = std::numeric_limits<std::int32_t>::max(), .last = -1};
  const auto append_line = [&](const std::string& line) {
    const bool fits = text.size() + line.size() + reserved_bytes <= bytes_max;
    if (fits) text += line;
    return fits;
  };
  for (const auto& [context, runs] : members_)
    append_line(text_of("members\t%u\t", context) + as_field(runs) + "\n");
  for (const auto& [kind, ranks, fields] : lines()) {
    if (append_line(kind + as_field(ranks) + fields + "\n")) continue;
    left_out.first = std::min(left_out.first, ranks.front().first);
    left_out.last = std::max(left_out.last, ranks.back().last);
  }
  for (const RankMemory& memory : memory_) {
    append_line(text_of("memory\t%d\t%ju\t%ju\t%ju\n", memory.rank, std::uintmax_t{memory.in_use},
                        std::uintmax_t{memory.held}, std::uintmax_t{memory.most}));
  }
  for (const Unreceived& messages : unreceived_) {
    append_line(text_of("unreceived\t%d\t%ju\t", messages.rank, std::uintmax_t{messages.count}) +
                as_field(messages.text) + "\n");
  }
  if (left_out.last >= 0) text += text_of("unknown\t%d-%d,\n", left_out.first, left_out.last);
  return text;
}

/// Groups ranks with the same fields, those of the fewest runs first, so that lines that do not fit
/// are those of many ranks.
std::vector<WaitTable::Line> WaitTable::lines() const {
  std::map<std::string, std::size_t> index_of;
  std::vector<Line> lines;
  for (const RankWait& wait : waits_) {
    std::string fields = fields_of(wait);
    const auto [found, is_new] = index_of.try_emplace(fields, lines.size());
    const char* kind = wait.state.empty() ? "wait\t" : "rank\t";
    if (is_new) lines.push_back({.kind = kind, .ranks = {}, .fields = std::move(fields)});
    append(lines[found->second].ranks, wait.rank);
  }
  const auto rank_count = [](const Line& line) { return rank_count_of(line.ranks); };
  std::ranges::stable_sort(lines, {}, rank_count);
  return lines;
}

void WaitTable::add(std::string_view text) {
  while (!text.empty())
    add_line(take_field(text, '\n'));
  sort();
}

void WaitTable::add_line(std::string_view line) {
  const std::string_view kind = take_field(line);
  if (kind == "members") {
    const auto context = number_in<std::uint32_t>(take_field(line));
    if (context && members_[*context].empty()) members_[*context] = runs_in(line);
    return;
  }
  if (kind == "memory") {
    const auto rank = number_in<std::int32_t>(take_field(line));
    const auto in_use = number_in<std::uint64_t>(take_field(line));
    const auto held = number_in<std::uint64_t>(take_field(line));
    const auto most = number_in<std::uint64_t>(take_field(line));
    if (rank && in_use && held && most) memory_.push_back({*rank, *in_use, *held, *most});
    return;
  }
  if (kind == "unreceived") {
    const auto rank = number_in<std::int32_t>(take_field(line));
    const auto count = number_in<std::uint64_t>(take_field(line));
    if (rank && count) add(Unreceived{.rank = *rank, .count = *count, .text = std::string(line)});
    return;
  }
  const RankRuns ranks = runs_in(take_field(line));
  if (kind == "unknown") {
    unknown_.insert(unknown_.end(), ranks.begin(), ranks.end());
    return;
  }
  RankWait wait;
  if (kind == "rank") wait.state = take_field(line);
  for (std::string* field : {&wait.call, &wait.peer, &wait.tag, &wait.comm, &wait.place})
    *field = take_field(line);
  wait.awaited = number_in<std::int32_t>(take_field(line));
  wait.collective = number_in<std::uint32_t>(take_field(line));
  wait.explanation = line;
  for (const RankRun& run : ranks) {
    for (wait.rank = run.first; wait.rank <= run.last; ++wait.rank)
      waits_.push_back(wait);
  }
}

void WaitTable::sort() {
  std::ranges::sort(waits_, {}, &RankWait::rank);
  std::ranges::sort(memory_, {}, &RankMemory::rank);
  std::ranges::stable_sort(unreceived_, {}, &Unreceived::rank);
}

void WaitTable::keep_only(const std::vector<StuckRank>& ranks) {
  const auto find = [&](std::int32_t rank) {
    const auto found = std::ranges::lower_bound(ranks, rank, {}, &StuckRank::rank);
    return found != ranks.end() && found->rank == rank ? &*found : nullptr;
  };
  std::erase_if(waits_, [&](const RankWait& wait) { return find(wait.rank) == nullptr; });
  std::erase_if(unreceived_,
                [&](const Unreceived& messages) { return find(messages.rank) == nullptr; });
  for (RankWait& wait : waits_) {
    wait.awaited = find(wait.rank)->awaited;
    wait.collective.reset();
  }
  is_part_ = true;
}

void WaitTable::add_unknown(std::int32_t first, std::int32_t last) {
  unknown_.push_back({.first = first, .last = last - 1});
}

std::int32_t WaitTable::unknown_count() const {
  std::int32_t count = 0;
  for (const RankRun& run : unknown_) {
    for (std::int32_t rank = run.first; rank <= run.last; ++rank)
      count += wait_of(rank) == nullptr ? 1 : 0;
  }
  return count;
}

bool WaitTable::is_unknown(std::int32_t rank) const {
  return wait_of(rank) == nullptr && std::ranges::any_of(unknown_, [&](const Run& run) {
           return rank >= run.first && rank <= run.last;
         });
}

const RankWait* WaitTable::wait_of(std::int32_t rank) const {
  const auto found = std::ranges::lower_bound(waits_, rank, {}, &RankWait::rank);
  return found != waits_.end() && found->rank == rank ? &*found : nullptr;
}

std::optional<std::int32_t> WaitTable::first_absent(std::uint32_t context) const {
  const auto members = members_.find(context);
  if (members == members_.end()) return std::nullopt;
  for (const RankRun& run : members->second) {
    for (std::int32_t rank = run.first; rank <= run.last; ++rank) {
      if (is_unknown(rank)) continue;
      const RankWait* member = wait_of(rank);
      if (member == nullptr || member->collective != context) return rank;
    }
  }
  return std::nullopt;
}

}  // namespace sorrel::report
