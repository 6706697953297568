//! RankEvents - the events of one rank that its tools observe (MPI 5.0, 15.3.9), in a queue of the
//! rank, until one of its calls ends and gives them to the tools (abi/tool_events.cpp).
//!
//! On the rank's worker, or while all workers are stopped. Messages and moves are recorded where
//! they happen; what the worker does, at the end of the rank's next call. While a RankEvents
//! exists, all calls of the process end in the slow way (core/burst.hpp): no other call asks for
//! events. The queue is bounded; an event without room in it is counted as dropped.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

struct Message;

/// In the order of the tools' table (abi/tool_catalogue.hpp), which names the values.
enum class EventKind : std::uint8_t {
  unexpected_message,
  rank_move,
  worker_park,
  worker_migration,
  pool_state,
};

inline constexpr std::size_t event_kind_count = 5;

struct RankEvent {
  using Values = std::array<std::int64_t, 4>;

  EventKind kind;
  /// On the worker's clock.
  std::int64_t time_ns;
  Values values;
  /// Counts the events of the rank, dropped ones too.
  std::uint64_t number;
};

class RankEvents {
 public:
  static constexpr std::size_t capacity = 1024;

  struct Dropped {
    std::uint64_t count = 0;
    /// The number of the first one.
    std::uint64_t first = 0;
  };

  /// `rank` has a world.
  explicit RankEvents(RankState& rank);
  ~RankEvents();
  RankEvents(const RankEvents&) = delete;
  RankEvents& operator=(const RankEvents&) = delete;

  /// Each begin has an end.
  void begin(EventKind kind) { ++observer_counts_[static_cast<std::size_t>(kind)]; }

  void end(EventKind kind) { --observer_counts_[static_cast<std::size_t>(kind)]; }

  /// Number of the next event.
  [[nodiscard]] std::uint64_t next_number() const { return next_number_; }

  /// Whether the tools have something to learn.
  [[nodiscard]] bool is_due() const { return !queue_.empty(); }

  /// The oldest event, which leaves the queue, if it came before the one of this number.
  [[nodiscard]] std::optional<RankEvent> take_before(std::uint64_t number);

  /// The events of a kind dropped since the last call.
  [[nodiscard]] Dropped take_dropped(EventKind kind);

  /// The message has been entered.
  void record_unexpected(const Message& message);
  /// The rank has got a new worker.
  void record_move(core::Worker& from);

  /// What the worker has done since the last call.
  void record_worker() { record_worker(*rank_.worker); }

 private:
  /// What is known of the rank's worker.
  struct WorkerSeen {
    std::uint64_t parks = 0;
    std::uint64_t migrations = 0;
    bool is_congested = false;
  };

  static WorkerSeen see(core::Worker& worker);
  void record_worker(core::Worker& worker);
  void record(EventKind kind, const RankEvent::Values& values);

  RankState& rank_;
  std::array<std::uint32_t, event_kind_count> observer_counts_{};
  std::array<Dropped, event_kind_count> dropped_{};
  std::uint64_t next_number_ = 0;
  WorkerSeen seen_;
  /// The events to come begin at `taken_`; emptied when all have been taken.
  std::vector<RankEvent> queue_;
  std::size_t taken_ = 0;
};

/// What RankServices::tool points to: the base of abi's ToolState.
struct RankTool {
  /// What the worker has counted, as far as tools ask for it.
  struct WorkerCounts {
    std::int64_t parks = 0;
    std::int64_t migrations = 0;

    static WorkerCounts of(const core::Worker& worker) {
      return {static_cast<std::int64_t>(worker.park_count()),
              static_cast<std::int64_t>(worker.migration_count())};
    }
  };

  /// Null: no tool observes the rank.
  std::unique_ptr<RankEvents> events;
  /// Added to the counts of the rank's worker: a move neither adds to the sums nor takes from them.
  WorkerCounts before_moves;

  void record_move(core::Worker& from, const core::Worker& to) {
    const WorkerCounts old = WorkerCounts::of(from);
    const WorkerCounts present = WorkerCounts::of(to);
    before_moves.parks += old.parks - present.parks;
    before_moves.migrations += old.migrations - present.migrations;
    if (events != nullptr) events->record_move(from);
  }
};

/// Null: the rank has no tool.
[[nodiscard]] inline RankTool* tool_of(const RankState& rank) {
  const RankServices* services = rank.services_if_used.get();
  return services == nullptr ? nullptr : static_cast<RankTool*>(services->tool.get());
}

/// Null: no tool observes the rank.
[[nodiscard]] inline RankEvents* events_of(const RankState& rank) {
  const RankTool* tool = tool_of(rank);
  return tool == nullptr ? nullptr : tool->events.get();
}

}  // namespace sorrel::mpi
