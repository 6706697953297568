//! WaitGraph - which waiting ranks no rank can release: a deadlock of a part of a job. Pure.
//!
//! Each waiting rank has needs, each of which some other rank can meet. What the graph is not told
//! about acts freely: ranks that run or that are not in the graph, and needs that anything may
//! meet. README.md has the rule and its proof.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sorrel::mpi {

class WaitGraph {
 public:
  /// For ranks of the job from `first` to `last`, the latter not included.
  WaitGraph(std::int32_t first, std::int32_t last);

  enum class Needs : std::uint8_t { all, any };

  /// The rank waits until all of its needs are met, or any; they are added next. Without a need it
  /// acts freely.
  void add_wait(std::int32_t rank, Needs needs);

  /// The rank has ended, and meets no need.
  void add_ended(std::int32_t rank);

  // A need of the last wait:
  /// Only this rank can meet it.
  void need(std::int32_t rank);

  /// Any rank of a group can meet it.
  void need_one_of(std::size_t group);

  /// Something outside of the graph may meet it.
  void need_anything();

  /// A group for need_one_of(), with its number in the order of the calls.
  std::size_t add_group(std::vector<std::int32_t> ranks);

  struct Stuck {
    std::int32_t rank;
    /// A stuck or ended rank that it needs, if one can be named.
    std::optional<std::int32_t> awaited;
    bool operator==(const Stuck&) const = default;
  };

  /// The ranks that wait for ever, ascending. O(ranks + needs + members of groups).
  [[nodiscard]] std::vector<Stuck> stuck() const;

 private:
  enum class State : std::uint8_t { free, waiting, ended };

  struct Rank {
    State state = State::free;
    Needs needs = Needs::all;
    std::uint32_t need_count = 0;
  };

  struct Need {
    std::int32_t waiting;
    /// A rank, or below: the number of a group.
    std::int32_t rank = -1;
    std::size_t group = 0;
  };

  class Release;

  [[nodiscard]] bool is_inside(std::int32_t rank) const;
  [[nodiscard]] Rank& at(std::int32_t rank);

  const std::int32_t first_;
  std::vector<Rank> ranks_;
  std::int32_t last_wait_ = -1;
  std::vector<Need> needs_;
  /// Needs that are met: the ranks that have them.
  std::vector<std::int32_t> met_;
  std::vector<std::vector<std::int32_t>> groups_;
};

}  // namespace sorrel::mpi
