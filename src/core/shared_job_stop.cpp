#include "core/shared_job_stop.hpp"

#include <algorithm>

#include "arch/cpu.hpp"
#include "base/copy_bytes.hpp"
#include "core/job_memory.hpp"
#include "core/scheduler.hpp"
#include "os/clock.hpp"
#include "os/peer_memory.hpp"
#include "os/thread.hpp"

namespace sorrel::core {

namespace {

/// A process that is late by so much ends the stop: its messages may be what it waits for.
constexpr std::int64_t wait_ns_max = 100'000'000;

/// Polls between two readings of the clock, and chances for another thread that needs this core.
constexpr int polls_per_pause = 64;

std::vector<std::uint64_t> copy_of(std::span<const std::uint64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace

SharedJobStop::SharedJobStop(Scheduler& scheduler)
    : scheduler_(scheduler),
      memory_(scheduler.memory()),
      process_(scheduler.process()),
      process_count_(memory_.shape().process_count),
      numbers_(process_count_) {
  SORREL_CHECK(!memory_.shape().is_part, "the job has processes elsewhere");
}

/// It would never arrive.
bool SharedJobStop::has_ended_process() const {
  for (std::uint32_t i = 0; i < process_count_; ++i) {
    // Acquire, pairs with the process's end.
    if (memory_.process(i).phase.load(std::memory_order_acquire) == ProcessPhase::finished)
      return true;
  }
  return false;
}

bool SharedJobStop::request(Worker& requester) {
  JobStopState& state = memory_.job_stop();
  std::uint32_t none = 0;
  // Acquire, pairs with on_resumed() of the last requester; failure is no stop.
  if (has_ended_process() || !state.is_claimed.compare_exchange_strong(
                                 none, 1, std::memory_order_acquire, std::memory_order_relaxed))
    return false;
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
void SharedJobStop::on_attention(Worker& worker) {
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

void SharedJobStop::on_stopped() {
  JobStopState& state = memory_.job_stop();
  // Possibly of a later stop than the workers were stopped for.
  const StopPoint::Stop stop = state.point.arrive(process_count_);
  if (stop.arrival == StopPoint::Arrival::late) return;
  arrived_number_.store(stop.number, std::memory_order_relaxed);
  if (!wait_for_all(stop.number)) return;
  if (agree(scheduler_.is_quiet() && action().is_quiet())) {
    was_stopped_ = true;
    action().on_job_stopped(*this);
  }
  // No process goes on while another one acts.
  (void)exchange(0);
  if (is_requester_) state.point.close();
}

/// False: the stop was given up.
bool SharedJobStop::wait_for_all(std::uint32_t number) {
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

void SharedJobStop::on_resumed(Worker& requester) {
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
  // Release, pairs with the next requester.
  state.is_claimed.store(0, std::memory_order_release);
  action().on_job_resumed(requester, was_stopped);
}

bool SharedJobStop::must_request() {
  // Acquire and release: the last one sees what the others have written before.
  return (memory_.job_stop().ready_count.fetch_add(1, std::memory_order_acq_rel) + 1) %
             process_count_ ==
         0;
}

std::span<const std::uint64_t> SharedJobStop::exchange(std::uint64_t own) {
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

std::int32_t SharedJobStop::pid_of(std::uint32_t process) const {
  // Relaxed: written before the process was ready.
  return memory_.process(process).pid.load(std::memory_order_relaxed);
}

bool SharedJobStop::gather(const void* own, void* all, std::size_t bytes) {
  const auto addresses = copy_of(exchange(reinterpret_cast<std::uintptr_t>(own)));
  bool are_here = true;
  for (std::uint32_t i = 0; i < process_count_; ++i) {
    std::byte* const to = static_cast<std::byte*>(all) + i * bytes;
    if (i == process_) {
      copy_bytes(to, own, bytes);
    } else if (are_here) {
      are_here = os::read_peer_memory(pid_of(i), to, addresses[i], bytes);
    }
  }
  // No process changes its own before all have read it.
  return agree(are_here);
}

std::optional<std::vector<std::string>> SharedJobStop::exchange_parcels(
    std::span<const Parcel> parcels, std::span<const std::uint32_t> senders) {
  /// Bytes in the memory of this process.
  struct Slice {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };

  std::vector<Slice> slices(process_count_);
  for (const Parcel& parcel : parcels) {
    slices[parcel.process] = {.address = reinterpret_cast<std::uintptr_t>(parcel.bytes.data()),
                              .bytes = parcel.bytes.size()};
  }
  const auto tables = copy_of(exchange(reinterpret_cast<std::uintptr_t>(slices.data())));
  std::vector<std::string> received;
  bool are_here = true;
  for (const std::uint32_t sender : senders) {
    Slice slice;
    are_here =
        are_here && os::read_peer_memory(pid_of(sender), &slice,
                                         tables[sender] + process_ * sizeof(Slice), sizeof slice);
    std::string& bytes = received.emplace_back(slice.bytes, '\0');
    are_here =
        are_here && os::read_peer_memory(pid_of(sender), bytes.data(), slice.address, slice.bytes);
  }
  if (!agree(are_here)) return std::nullopt;
  return received;
}

bool SharedJobStop::ship(std::span<const Shipment> /*sent*/, std::span<const Shipment> awaited) {
  return std::ranges::all_of(awaited, [this](const Shipment& shipment) {
    return os::read_equal_memory(pid_of(shipment.process), shipment.memory);
  });
}

}  // namespace sorrel::core
