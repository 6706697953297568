#include "mpi/match/rank_events.hpp"

#include <utility>

#include "core/burst.hpp"
#include "mpi/match/request.hpp"

namespace sorrel::mpi {

namespace {

/// Tags below are those of the library's own messages (mpi/base/internal_tag.hpp).
constexpr std::int32_t user_tag_min = 0;

}  // namespace

RankEvents::RankEvents(RankState& rank) : rank_(rank), seen_(see(*rank_.worker)) {
  queue_.reserve(capacity);
  core::begin_slow_ends();
}

RankEvents::~RankEvents() {
  core::end_slow_ends();
}

std::optional<RankEvent> RankEvents::take_before(std::uint64_t number) {
  if (queue_.empty() || queue_[taken_].number >= number) return std::nullopt;
  const RankEvent event = queue_[taken_++];
  if (taken_ == queue_.size()) {
    queue_.clear();
    taken_ = 0;
  }
  return event;
}

RankEvents::Dropped RankEvents::take_dropped(EventKind kind) {
  return std::exchange(dropped_[static_cast<std::size_t>(kind)], {});
}

/// Keeps nothing of an event that no tool observes.
void RankEvents::record(EventKind kind, const RankEvent::Values& values) {
  const auto index = static_cast<std::size_t>(kind);
  if (observer_counts_[index] == 0) return;
  const std::uint64_t number = next_number_++;
  if (queue_.size() == capacity) {
    Dropped& dropped = dropped_[index];
    if (dropped.count++ == 0) dropped.first = number;
    return;
  }
  queue_.push_back(
      {.kind = kind, .time_ns = rank_.worker->now_ns(), .values = values, .number = number});
}

void RankEvents::record_unexpected(const Message& message) {
  if (message.envelope.tag < user_tag_min) return;
  record(EventKind::unexpected_message,
         {message.envelope.source, message.envelope.tag, static_cast<std::int64_t>(message.bytes),
          rank_.unexpected.count()});
}

void RankEvents::record_move(core::Worker& from) {
  record_worker(from);
  record(EventKind::rank_move, {from.index(), rank_.worker->index()});
  seen_ = see(*rank_.worker);
}

RankEvents::WorkerSeen RankEvents::see(core::Worker& worker) {
  return {.parks = worker.park_count(),
          .migrations = worker.migration_count(),
          .is_congested = worker.pool().is_congested()};
}

void RankEvents::record_worker(core::Worker& worker) {
  const WorkerSeen before = std::exchange(seen_, see(worker));
  if (seen_.parks != before.parks) {
    record(EventKind::worker_park,
           {worker.index(), static_cast<std::int64_t>(seen_.parks - before.parks)});
  }
  if (seen_.migrations != before.migrations) {
    record(EventKind::worker_migration,
           {worker.index(), static_cast<std::int64_t>(seen_.migrations - before.migrations)});
  }
  if (seen_.is_congested != before.is_congested) {
    record(EventKind::pool_state,
           {seen_.is_congested ? 1 : 0, static_cast<std::int64_t>(worker.pool().bytes_in_use())});
  }
}

}  // namespace sorrel::mpi
