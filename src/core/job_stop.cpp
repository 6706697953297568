#include "core/job_stop.hpp"

#include <algorithm>

#include "arch/cpu.hpp"
#include "core/job_memory.hpp"
#include "core/scheduler.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"

namespace sorrel::core {

namespace {

/// A process that is late by so much ends the stop: its messages may be what it waits for.
constexpr std::int64_t wait_ns_max = 100'000'000;

/// Between two readings of the clock, and two chances for another thread that needs this core.
constexpr int polls_per_pause = 64;

}  // namespace

JobStop::JobStop(Scheduler& scheduler)
    : scheduler_(scheduler),
      memory_(scheduler.memory()),
      process_(scheduler.process()),
      process_count_(memory_.shape().process_count),
      numbers_(process_count_) {
  SORREL_CHECK(!memory_.shape().is_part, "the job has processes elsewhere");
}

void JobStop::set_action(std::uint32_t number, JobStopAction& action) {
  SORREL_CHECK(number < action_count_max && actions_[number] == nullptr);
  actions_[number] = &action;
}

/// It would never arrive.
bool JobStop::has_ended_process() const {
  for (std::uint32_t i = 0; i < process_count_; ++i) {
    // Acquire, pairs with the process's end.
    if (memory_.process(i).phase.load(std::memory_order_acquire) == ProcessPhase::finished)
      return true;
  }
  return false;
}

bool JobStop::request(Worker& requester, std::uint32_t number) {
  SORREL_ASSERT(number < action_count_max && actions_[number] != nullptr);
  JobStopState& state = memory_.job_stop();
  std::uint32_t none = 0;
  // Acquire, pairs with on_resumed() of the last requester; failure is no stop.
  if (has_ended_process() || !state.is_claimed.compare_exchange_strong(
                                 none, 1, std::memory_order_acquire, std::memory_order_relaxed))
    return false;
  state.action.store(number, std::memory_order_relaxed);
  const std::uint32_t stop = state.point.open();
  // Acquire and release, as in on_attention().
  const bool is_first = !is_taking_part_.exchange(true, std::memory_order_acq_rel);
  if (!is_first || !scheduler_.request_stop(requester, *this)) {
    if (is_first) is_taking_part_.store(false, std::memory_order_release);
    state.point.give_up(stop, process_count_);
    // Release, pairs with the next requester.
    state.is_claimed.store(0, std::memory_order_release);
    return false;
  }
  // Before on_stopped(), since this worker has not left its fibers.
  number_ = stop;
  is_requester_ = true;
  was_stopped_ = false;
  for (std::uint32_t i = 0; i < process_count_; ++i) {
    if (i != process_) requester.request_attention_of(i * memory_.shape().workers_per_process);
  }
  return true;
}

/// On the thread of `worker`, whose attention was requested for whatever reason.
void JobStop::on_attention(Worker& worker) {
  StopPoint& point = memory_.job_stop().point;
  const std::uint32_t number = point.open_number();
  if (number == 0 || number == arrived_number_.load(std::memory_order_relaxed)) return;
  // Acquire and release: a worker that takes part sees the end of the last stop.
  if (is_taking_part_.exchange(true, std::memory_order_acq_rel)) return;
  if (!scheduler_.request_stop(worker, *this)) {
    is_taking_part_.store(false, std::memory_order_release);
    point.give_up(number, process_count_);
    return;
  }
  // Before on_stopped(), since this worker has not left its fibers.
  number_ = number;
  is_requester_ = false;
  was_stopped_ = false;
}

void JobStop::on_stopped() {
  JobStopState& state = memory_.job_stop();
  // Possibly of a later stop than the workers were stopped for.
  const StopPoint::Stop stop = state.point.arrive(process_count_);
  if (stop.arrival == StopPoint::Arrival::late) return;
  arrived_number_.store(stop.number, std::memory_order_relaxed);
  if (!wait_for_all(stop.number)) return;
  JobStopAction& action = *actions_[state.action.load(std::memory_order_relaxed)];
  if (agree(scheduler_.is_quiet() && action.is_quiet())) {
    was_stopped_ = true;
    action.on_job_stopped(*this);
  }
  // No process goes on while another one acts.
  (void)exchange(0);
  if (is_requester_) state.point.close();
}

/// False: the stop was given up.
bool JobStop::wait_for_all(std::uint32_t number) {
  StopPoint& point = memory_.job_stop().point;
  const std::int64_t end_ns = os::monotonic_ns() + wait_ns_max;
  for (int poll = 1; !point.have_all_arrived(number, process_count_); ++poll) {
    if (point.is_over(number)) return false;
    arch::pause();
    if (poll % polls_per_pause != 0) continue;
    os::yield_core();
    if (os::monotonic_ns() >= end_ns) point.give_up(number, process_count_);
  }
  return true;
}

void JobStop::on_resumed(Worker& requester) {
  JobStopState& state = memory_.job_stop();
  const bool is_requester = is_requester_;
  const bool was_stopped = was_stopped_;
  const std::uint32_t number = number_;
  is_requester_ = false;
  // Release, pairs with the exchanges.
  is_taking_part_.store(false, std::memory_order_release);
  // If a worker was late; else the stop is over.
  state.point.give_up(number, process_count_);
  if (!is_requester) return;
  JobStopAction& action = *actions_[state.action.load(std::memory_order_relaxed)];
  // Release, pairs with the next requester.
  state.is_claimed.store(0, std::memory_order_release);
  action.on_job_resumed(requester, was_stopped);
}

bool JobStop::is_last_ready() {
  // Acquire and release: the last one sees what the others have written before.
  return (memory_.job_stop().ready_count.fetch_add(1, std::memory_order_acq_rel) + 1) %
             process_count_ ==
         0;
}

std::span<const std::uint64_t> JobStop::exchange(std::uint64_t own) {
  Exchange& exchange = memory_.job_stop().exchange;
  exchange.publish(memory_.process(process_).for_exchange, round_, own);
  for (int poll = 1; !exchange.is_complete(round_, process_count_); ++poll) {
    arch::pause();
    // The late one may need this core.
    if (poll % polls_per_pause == 0) os::yield_core();
  }
  for (std::uint32_t i = 0; i < process_count_; ++i)
    numbers_[i] = Exchange::number_in(memory_.process(i).for_exchange, round_);
  ++round_;
  return numbers_;
}

bool JobStop::agree(bool own) {
  return std::ranges::all_of(exchange(own ? 1 : 0), [](std::uint64_t each) { return each != 0; });
}

}  // namespace sorrel::core
