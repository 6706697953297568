#include "mpi/job/wait_graph.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace sorrel::mpi {

WaitGraph::WaitGraph(std::int32_t first, std::int32_t last)
    : first_(first), ranks_(static_cast<std::size_t>(last - first)) {}

bool WaitGraph::is_inside(std::int32_t rank) const {
  return rank >= first_ && static_cast<std::size_t>(rank - first_) < ranks_.size();
}

WaitGraph::Rank& WaitGraph::at(std::int32_t rank) {
  SORREL_CHECK(is_inside(rank), "rank %d is not in the graph", rank);
  return ranks_[static_cast<std::size_t>(rank - first_)];
}

void WaitGraph::add_wait(std::int32_t rank, Needs needs) {
  at(rank) = {.state = State::waiting, .needs = needs, .need_count = 0};
  last_wait_ = rank;
}

void WaitGraph::add_ended(std::int32_t rank) {
  at(rank).state = State::ended;
}

void WaitGraph::need(std::int32_t rank) {
  if (!is_inside(rank)) return need_anything();
  ++at(last_wait_).need_count;
  needs_.push_back({.waiting = last_wait_, .rank = rank});
}

void WaitGraph::need_one_of(std::size_t group) {
  ++at(last_wait_).need_count;
  needs_.push_back({.waiting = last_wait_, .group = group});
}

void WaitGraph::need_anything() {
  ++at(last_wait_).need_count;
  met_.push_back(last_wait_);
}

std::size_t WaitGraph::add_group(std::vector<std::int32_t> ranks) {
  groups_.push_back(std::move(ranks));
  return groups_.size() - 1;
}

/// Sets ranks free, one after the other, whose needs free ranks can meet.
class WaitGraph::Release {
 public:
  explicit Release(const WaitGraph& graph)
      : graph_(graph),
        is_free_(graph.ranks_.size()),
        met_counts_(graph.ranks_.size()),
        needs_of_(graph.ranks_.size()),
        groups_of_(graph.ranks_.size()),
        needs_of_group_(graph.groups_.size()),
        is_group_free_(graph.groups_.size()) {
    for (const Need& need : graph.needs_)
      (need.rank >= 0 ? needs_of_[index(need.rank)] : needs_of_group_[need.group])
          .push_back(need.waiting);
  }

  void run() {
    for (std::size_t group = 0; group < graph_.groups_.size(); ++group)
      add_members(group);
    for (std::size_t i = 0; i < is_free_.size(); ++i) {
      const Rank& rank = graph_.ranks_[i];
      const bool is_free =
          rank.state == State::free || (rank.state == State::waiting && rank.need_count == 0);
      if (is_free) set_free(i);
    }
    for (const std::int32_t waiting : graph_.met_)
      meet(waiting);
    while (!found_.empty()) {
      const std::size_t i = found_.back();
      found_.pop_back();
      for (const std::int32_t waiting : needs_of_[i])
        meet(waiting);
      for (const std::size_t group : groups_of_[i])
        set_group_free(group);
    }
  }

  [[nodiscard]] bool is_free(std::int32_t rank) const {
    return !graph_.is_inside(rank) || is_free_[index(rank)];
  }

 private:
  [[nodiscard]] std::size_t index(std::int32_t rank) const {
    return static_cast<std::size_t>(rank - graph_.first_);
  }

  /// A group with a member outside of the graph is free.
  void add_members(std::size_t group) {
    for (const std::int32_t rank : graph_.groups_[group]) {
      if (graph_.is_inside(rank)) {
        groups_of_[index(rank)].push_back(group);
      } else {
        set_group_free(group);
      }
    }
  }

  void set_free(std::size_t i) {
    if (is_free_[i]) return;
    is_free_[i] = true;
    found_.push_back(i);
  }

  void set_group_free(std::size_t group) {
    if (is_group_free_[group]) return;
    is_group_free_[group] = true;
    for (const std::int32_t waiting : needs_of_group_[group])
      meet(waiting);
  }

  void meet(std::int32_t waiting) {
    const std::size_t i = index(waiting);
    const Rank& rank = graph_.ranks_[i];
    if (++met_counts_[i] >= (rank.needs == Needs::any ? 1 : rank.need_count)) set_free(i);
  }

  const WaitGraph& graph_;
  std::vector<bool> is_free_;
  std::vector<std::uint32_t> met_counts_;
  /// Ranks that need a rank, or one of a group.
  std::vector<std::vector<std::int32_t>> needs_of_;
  std::vector<std::vector<std::size_t>> groups_of_;
  std::vector<std::vector<std::int32_t>> needs_of_group_;
  std::vector<bool> is_group_free_;
  /// Free ranks whose effect is not yet known.
  std::vector<std::size_t> found_;
};

std::vector<WaitGraph::Stuck> WaitGraph::stuck() const {
  Release release(*this);
  release.run();
  std::vector<Stuck> stuck;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const std::int32_t rank = first_ + static_cast<std::int32_t>(i);
    if (ranks_[i].state == State::waiting && !release.is_free(rank))
      stuck.push_back({.rank = rank, .awaited = std::nullopt});
  }
  for (const Need& need : needs_) {
    if (need.rank < 0 || release.is_free(need.rank) || release.is_free(need.waiting)) continue;
    const auto found = std::ranges::lower_bound(stuck, need.waiting, {}, &Stuck::rank);
    if (!found->awaited) found->awaited = need.rank;
  }
  return stuck;
}

}  // namespace sorrel::mpi
