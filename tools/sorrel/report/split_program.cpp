#include "tools/sorrel/report/split_program.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.hpp"

namespace sorrel::tool {

namespace {

/// Fewer do not show what is a ring and what a line.
constexpr std::uint32_t row_rank_count_min = 4;

/// Distance from rank to rank: how many ranks further.
using Offset = std::int64_t;

/// Consecutive ranks that exchange messages.
struct Row {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool is_ring = false;
};

/// The two ends of events, by event.
struct Ends {
  std::uint32_t source = no_index;
  std::uint32_t destination = no_index;
};

class Splitter {
 public:
  Splitter(const ReplayProgram& program, std::uint32_t factor, SplitShape shape)
      : program_(program),
        factor_(factor),
        has_rows_(shape == SplitShape::rows),
        rank_count_(static_cast<std::uint32_t>(program.ranks.size())),
        ends_(program.events.size()) {
    SORREL_ASSERT(factor != 0, "ranks are divided into no parts");
    SORREL_ASSERT(program.workers.size() == rank_count_ && program.begins.size() == rank_count_,
                  "a program of %u ranks with %zu workers", rank_count_, program.workers.size());
  }

  Result<ReplayProgram> split() {
    find_ends();
    if (has_rows_) {
      const bool has_messages = std::ranges::any_of(
          program_.events, [](const ReplayEvent& event) { return event.is_message; });
      if (has_messages && rank_count_ < row_rank_count_min)
        return Error{"fewer than 4 ranks do not show which ones are neighbours"};
      find_rows();
      find_partners();
      if (!are_rows_apart())
        return Error{"ranks exchange messages with more than their neighbours"};
    }
    split_.latencies = program_.latencies;
    split_.nodes = program_.nodes;
    split_.collectives = program_.collectives;
    for (ReplayCollective& collective : split_.collectives) {
      collective.member_count *= factor_;
      if (collective.root != no_index) collective.root *= factor_;
    }
    for (std::uint32_t rank = 0; rank < rank_count_; ++rank) {
      for (std::uint32_t part = 0; part < factor_; ++part) {
        split_.workers.push_back(program_.workers[rank]);
        split_.rank_nodes.push_back(program_.rank_nodes[rank]);
        split_.begins.push_back(program_.begins[rank]);
      }
    }
    split_.ranks.resize(std::size_t{rank_count_} * factor_);
    for (std::uint32_t rank = 0; rank < rank_count_; ++rank) {
      for (std::uint32_t part = 0; part < factor_; ++part) {
        const std::optional<std::uint32_t> like = rank_like(rank, part);
        if (!like) return Error{"no rank has a neighbour on both sides"};
        add_steps(rank, part, *like);
      }
    }
    return std::move(split_);
  }

 private:
  void find_ends() {
    for (std::uint32_t rank = 0; rank < rank_count_; ++rank) {
      for (const ReplayStep& step : program_.ranks[rank]) {
        if (step.kind == StepKind::signal) ends_[step.index].source = rank;
        if (step.kind == StepKind::need) ends_[step.index].destination = rank;
      }
    }
  }

  [[nodiscard]] bool is_known_message(std::uint32_t event) const {
    return program_.events[event].is_message && ends_[event].source != no_index &&
           ends_[event].destination != no_index;
  }

  void find_rows() {
    // Whether each rank exchanges messages with the next one, the last one with the first.
    std::vector<bool> is_linked(rank_count_);
    for (std::uint32_t event = 0; event < ends_.size(); ++event) {
      if (!is_known_message(event)) continue;
      const auto [source, destination] = ends_[event];
      if ((source + 1) % rank_count_ == destination) is_linked[source] = true;
      if ((destination + 1) % rank_count_ == source) is_linked[destination] = true;
    }
    const bool is_ring = std::ranges::all_of(is_linked, [](bool each) { return each; });
    for (std::uint32_t rank = 0; rank < rank_count_; ++rank) {
      if (rank == 0 || !is_linked[rank - 1])
        rows_.push_back({.begin = rank, .end = rank, .is_ring = is_ring});
      ++rows_.back().end;
      row_of_.push_back(static_cast<std::uint32_t>(rows_.size() - 1));
    }
  }

  /// To the next rank of a ring, the last one's too, the offset is 1.
  [[nodiscard]] Offset offset_of(std::uint32_t event) const {
    SORREL_ASSERT(is_known_message(event), "the ends of event %u are not known", event);
    const auto [source, destination] = ends_[event];
    const Offset offset = Offset{destination} - Offset{source};
    if (rows_[row_of_[source]].is_ring) {
      if (offset == 1 - Offset{rank_count_}) return 1;
      if (offset == Offset{rank_count_} - 1) return -1;
    }
    return offset;
  }

  [[nodiscard]] bool are_rows_apart() const {
    for (std::uint32_t event = 0; event < ends_.size(); ++event) {
      if (!is_known_message(event)) continue;
      const Offset offset = offset_of(event);
      const auto [source, destination] = ends_[event];
      if (row_of_[source] == row_of_[destination] && std::abs(offset) > 1) return false;
    }
    return true;
  }

  /// The partners of each rank in other rows, and what else a rank takes part in.
  void find_partners() {
    partners_.resize(rank_count_);
    for (std::uint32_t event = 0; event < ends_.size(); ++event) {
      if (!is_known_message(event)) continue;
      const auto [source, destination] = ends_[event];
      const Offset offset = offset_of(event);
      if (std::abs(offset) == 1) continue;
      partners_[source].emplace(true, offset);
      partners_[destination].emplace(false, offset);
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> collectives_of(std::uint32_t rank) const {
    std::vector<std::uint32_t> collectives;
    for (const ReplayStep& step : program_.ranks[rank])
      if (step.kind == StepKind::arrive) collectives.push_back(step.index);
    return collectives;
  }

  /// The traced rank that has such neighbours as a part of `rank`: itself, if it can be.
  [[nodiscard]] std::optional<std::uint32_t> rank_like(std::uint32_t rank,
                                                       std::uint32_t part) const {
    if (!has_rows_) return rank;
    const Row& row = rows_[row_of_[rank]];
    SORREL_ASSERT(row.begin <= rank && rank < row.end, "rank %u is in the row from %u to %u", rank,
                  row.begin, row.end);
    const auto is_end = [&](std::uint32_t at) {
      return !row.is_ring && (at == row.begin || at + 1 == row.end);
    };
    // A row of one rank has no neighbours in it, and its parts have none.
    if (!is_end(rank) || row.end - row.begin == 1) return rank;
    if ((rank == row.begin && part == 0) || (rank + 1 == row.end && part + 1 == factor_))
      return rank;
    for (std::uint32_t distance = 1; distance < row.end - row.begin; ++distance) {
      const std::uint32_t other = rank == row.begin ? rank + distance : rank - distance;
      if (!is_end(other) && partners_[other] == partners_[rank] &&
          collectives_of(other) == collectives_of(rank))
        return other;
    }
    return std::nullopt;
  }

  [[nodiscard]] static std::int64_t computing_of(const std::vector<ReplayStep>& steps) {
    std::int64_t sum = 0;
    for (const ReplayStep& step : steps)
      sum += step.compute_ns;
    return sum;
  }

  /// The computing time of one part of a rank, in a step.
  [[nodiscard]] std::int64_t compute_ns(const ReplayStep& step, double scale) const {
    // Where all is cold, no more than a half is due to it.
    const std::int64_t cold_ns =
        step.is_cold ? std::min(program_.cold_start_ns, step.compute_ns / 2) : 0;
    const double warm_ns = static_cast<double>(step.compute_ns - cold_ns) / factor_;
    return static_cast<std::int64_t>(
        scale * (warm_ns + static_cast<double>(cold_ns) / std::sqrt(std::sqrt(factor_))));
  }

  /// Part `part` of `rank` does what `like` has done.
  void add_steps(std::uint32_t rank, std::uint32_t part, std::uint32_t like) {
    SORREL_ASSERT(part < factor_ && like < rank_count_, "part %u of %u, like rank %u", part,
                  factor_, like);
    const std::vector<ReplayStep>& traced = program_.ranks[like];
    const std::int64_t traced_ns = computing_of(traced);
    const double scale = like == rank || traced_ns == 0
                             ? 1
                             : static_cast<double>(computing_of(program_.ranks[rank])) /
                                   static_cast<double>(traced_ns);
    const std::uint32_t self = rank * factor_ + part;
    std::vector<ReplayStep>& steps = split_.ranks[self];
    steps.reserve(traced.size());
    // Messages of this part so far, by offset, sent and received.
    std::map<std::pair<bool, Offset>, std::uint32_t> counts;
    for (const ReplayStep& step : traced) {
      ReplayStep& added = steps.emplace_back(step);
      added.compute_ns = compute_ns(step, scale);
      added.is_cold = false;
      if (step.kind == StepKind::signal || step.kind == StepKind::need)
        added.index = event_of(step, self, part, counts);
    }
    split_.step_count += steps.size();
  }

  /// The event of one part: both ends of a message find the same one.
  std::uint32_t event_of(const ReplayStep& step,
                         std::uint32_t self,
                         std::uint32_t part,
                         std::map<std::pair<bool, Offset>, std::uint32_t>& counts) {
    const bool is_send = step.kind == StepKind::signal;
    if (!has_rows_ || !is_known_message(step.index))
      return event_named({.event = step.index, .number = part}, step.index, factor_);
    const Offset offset = offset_of(step.index);
    const bool is_neighbour = std::abs(offset) == 1;
    const auto count = static_cast<Offset>(split_.ranks.size());
    const Offset distance = is_neighbour ? offset : offset * Offset{factor_};
    const Offset sender = is_send ? Offset{self} : (Offset{self} - distance + count) % count;
    const std::uint32_t number = counts[{is_send, offset}]++;
    return event_named(
        {.sender = static_cast<std::uint32_t>(sender), .offset = offset, .number = number},
        step.index, is_neighbour ? 1 : factor_);
  }

  struct EventName {
    std::uint32_t event = no_index;
    std::uint32_t sender = no_index;
    Offset offset = 0;
    std::uint32_t number = 0;

    auto operator<=>(const EventName&) const = default;
  };

  std::uint32_t event_named(const EventName& name, std::uint32_t traced, std::uint32_t divisor) {
    const auto [found, is_new] =
        events_.try_emplace(name, static_cast<std::uint32_t>(split_.events.size()));
    if (!is_new) return found->second;
    ReplayEvent event = program_.events[traced];
    event.bytes /= divisor;
    if (name.sender != no_index) {
      const auto count = static_cast<Offset>(split_.ranks.size());
      const Offset distance =
          std::abs(name.offset) == 1 ? name.offset : name.offset * Offset{factor_};
      const auto receiver =
          static_cast<std::uint32_t>((Offset{name.sender} + distance + count) % count);
      event.distance = split_.distance_of(name.sender, receiver);
    }
    split_.events.push_back(event);
    return found->second;
  }

  const ReplayProgram& program_;
  const std::uint32_t factor_;
  const bool has_rows_;
  const std::uint32_t rank_count_;
  std::vector<Ends> ends_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> row_of_;
  /// The partners of each rank: whether it sends, and the offset.
  std::vector<std::set<std::pair<bool, Offset>>> partners_;
  std::map<EventName, std::uint32_t> events_;
  ReplayProgram split_;
};

}  // namespace

Result<ReplayProgram> split_program(const ReplayProgram& program,
                                    std::uint32_t factor,
                                    SplitShape shape) {
  return Splitter(program, factor, shape).split();
}

}  // namespace sorrel::tool
