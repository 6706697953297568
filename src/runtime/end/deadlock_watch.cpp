#include "runtime/end/deadlock_watch.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "mpi/job/rank_needs.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::runtime {

namespace {

/// Samples between two attempts, once many have found nothing.
constexpr std::uint32_t pause_max = 15;
/// With more ranks, samples are left out, so that the thread takes little time.
constexpr std::size_t ranks_per_sample_max = 8192;

/// Reads a value that another thread may be changing.
template <class T>
[[gnu::no_sanitize("thread")]] T read_while_it_runs(const T& value) {
  return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15U;
}

/// What a rank waits for, so that a later wait is another one, as far as that can be seen from
/// outside; 0: it does not wait in MPI.
std::uint64_t wait_of(const mpi::RankState& rank) {
  if (read_while_it_runs(rank.fiber.state) != core::FiberState::waiting) return 0;
  const auto kind = read_while_it_runs(rank.wait.kind);
  if (kind == mpi::WaitRecord::Kind::none || kind == mpi::WaitRecord::Kind::window) return 0;
  std::uint64_t hash = static_cast<std::uint64_t>(kind);
  hash = mix(hash, reinterpret_cast<std::uintptr_t>(read_while_it_runs(rank.fiber.call_site)));
  hash = mix(hash, reinterpret_cast<std::uintptr_t>(read_while_it_runs(rank.wait_detail.requests)));
  hash = mix(hash, read_while_it_runs(rank.world_comm.barrier_count));
  return hash | 1;
}

}  // namespace

DeadlockWatch::DeadlockWatch(core::Scheduler& scheduler, const Worlds& worlds, Report report)
    : scheduler_(scheduler),
      worlds_(worlds),
      report_(std::move(report)),
      answered_(scheduler.worker_count()) {}

/// Whether some rank waits as it did at the last sample.
bool DeadlockWatch::has_unmoved_rank() {
  bool is_any = false;
  std::size_t index = 0;
  for (const auto& world : worlds_) {
    world->for_each_rank([&](const mpi::RankState& rank) {
      if (index == last_waits_.size()) last_waits_.push_back(0);
      const std::uint64_t wait = wait_of(rank);
      // The entry of a spawned rank may be that of another one: then this is a hint.
      is_any |= wait != 0 && std::exchange(last_waits_[index], wait) == wait;
      ++index;
    });
  }
  return is_any;
}

void DeadlockWatch::sample() {
  const Step step = step_.load(std::memory_order_relaxed);
  if (step == Step::stopping) return;
  if (step == Step::asked) {
    const bool have_all_answered = std::ranges::all_of(
        answered_, [](const auto& answer) { return answer.load(std::memory_order_relaxed); });
    if (have_all_answered) begin(Step::stopping);
    return;
  }
  if (samples_to_skip_ > 0) {
    --samples_to_skip_;
    return;
  }
  const bool is_suspicious = has_unmoved_rank();
  if (!is_suspicious) pause_ = 0;
  samples_to_skip_ =
      std::max(pause_, static_cast<std::uint32_t>(last_waits_.size() / ranks_per_sample_max));
  if (!is_suspicious) return;
  pause_ = std::min(2 * pause_ + 1, pause_max);
  begin(scheduler_.worker_count() == 1 ? Step::stopping : Step::asked);
}

void DeadlockWatch::begin(Step step) {
  SORREL_ASSERT(step == Step::asked || step == Step::stopping, "step %d", static_cast<int>(step));
  SORREL_ASSERT(answered_.size() == scheduler_.worker_count(), "%zu answers of %u workers",
                answered_.size(), scheduler_.worker_count());
  for (auto& answer : answered_)
    answer.store(false, std::memory_order_relaxed);
  step_.store(step, std::memory_order_release);
  for (std::uint32_t i = 0; i < scheduler_.worker_count(); ++i)
    scheduler_.worker(i).request_attention();
}

void DeadlockWatch::on_attention(core::Worker& worker) {
  const Step step = step_.load(std::memory_order_acquire);
  if (step == Step::asked) answered_[worker.index()].store(true, std::memory_order_relaxed);
  if (step != Step::stopping || worker.index() != 0) return;
  if (scheduler_.worker_count() == 1) {
    examine();
  } else if (scheduler_.request_stop(worker, *this)) {
    return;
  }
  step_.store(Step::idle, std::memory_order_relaxed);
}

/// Messages in flight would change what the ranks need.
void DeadlockWatch::on_stopped() {
  if (scheduler_.is_quiet_inside()) examine();
}

void DeadlockWatch::on_resumed(core::Worker& /*requester*/) {
  step_.store(Step::idle, std::memory_order_relaxed);
}

void DeadlockWatch::examine() {
  for (const auto& world : worlds_) {
    const auto stuck = mpi::needs_of(*world).stuck();
    if (!stuck.empty()) report_(stuck);
  }
}

}  // namespace sorrel::runtime
