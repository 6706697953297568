#include "core/job_memory.hpp"

#include <algorithm>
#include <sys/mman.h>
#include <utility>

#include "os/futex.hpp"

namespace sorrel::core {

namespace {

constexpr std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

JobMemory::JobMemory(std::uint32_t worker_count)
    : shape_{.process_count = 1, .workers_per_process = worker_count}, worker_count_(worker_count) {
  lay_out();
  const std::size_t bytes = bytes_needed(shape_);
  void* range = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  SORREL_CHECK(range != MAP_FAILED, "no room for the mailboxes of %u workers", worker_count);
  // A huge page would commit 2 MiB for the first touched byte of a mailbox.
  madvise(range, bytes, MADV_NOHUGEPAGE);
  base_ = static_cast<std::byte*>(range);
}

JobMemory::JobMemory(const JobShape& shape, os::SharedSegment segment)
    : shape_(shape), worker_count_(shape.worker_count()), segment_(std::move(segment)) {
  SORREL_CHECK(segment_.is_valid() && segment_.bytes() >= bytes_needed(shape));
  SORREL_CHECK(work_between_processes(), "only queue=own works with several processes");
  lay_out();
  base_ = segment_.base();
}

JobMemory::~JobMemory() {
  if (!is_shared()) munmap(base_, bytes_needed(shape_));
}

void JobMemory::lay_out() {
  SORREL_CHECK(worker_count_ >= 1 && worker_count_ <= job_worker_count_max);
  constexpr std::size_t page_bytes = 4096;
  const std::size_t pair_count = std::size_t{worker_count_} * worker_count_;
  processes_offset_ = sizeof(Header) + worker_count_ * sizeof(WorkerControl);
  links_offset_ = processes_offset_ + shape_.process_count * sizeof(ProcessStatus);
  mailboxes_offset_ = rounded(links_offset_ + pair_count * sizeof(IndexList::Link), page_bytes);
  reports_offset_ = mailboxes_offset_ + rounded(pair_count * sizeof(WorkerMailbox), page_bytes);
  activities_offset_ = reports_offset_ + worker_count_ * report_bytes_per_worker;
}

std::size_t JobMemory::bytes_needed(const JobShape& shape) {
  constexpr std::size_t page_bytes = 4096;
  const std::size_t workers = shape.worker_count();
  const std::size_t in_front = sizeof(Header) + workers * sizeof(WorkerControl) +
                               shape.process_count * sizeof(ProcessStatus) +
                               workers * workers * sizeof(IndexList::Link);
  return rounded(in_front, page_bytes) +
         rounded(workers * workers * sizeof(WorkerMailbox), page_bytes) +
         2 * workers * report_bytes_per_worker;
}

bool JobMemory::claim_ending(std::uint32_t process) {
  std::uint32_t none = 0;
  // Acquire and release: a process that comes second sees that the first one reports.
  return header().ending.compare_exchange_strong(none, process + 1, std::memory_order_acq_rel,
                                                 std::memory_order_relaxed);
}

std::int32_t JobMemory::ending_process() const {
  // Acquire, pairs with the exchange in claim_ending().
  return static_cast<std::int32_t>(header().ending.load(std::memory_order_acquire)) - 1;
}

bool JobMemory::is_last_to_complete(std::uint64_t number) {
  constexpr int count_bits = 16;
  std::uint64_t seen = header().completion.load(std::memory_order_relaxed);
  std::uint64_t count = 0;
  do {
    count = (seen >> count_bits == number ? seen & ((1U << count_bits) - 1) : 0) + 1;
    // Acquire and release: the last one sees what the others have written.
  } while (!header().completion.compare_exchange_weak(
      seen, number << count_bits | count, std::memory_order_acq_rel, std::memory_order_relaxed));
  return count == shape_.process_count;
}

void JobMemory::release(std::uint64_t number) {
  // Release, pairs with the acquire below.
  header().released.store(number, std::memory_order_release);
}

bool JobMemory::is_released(std::uint64_t number) const {
  return header().released.load(std::memory_order_acquire) >= number;
}

std::int32_t JobMemory::change_rankless_count(std::int32_t by) {
  // Acquire and release: the last process to change it has seen what the others have written.
  return header().rankless_count.fetch_add(by, std::memory_order_acq_rel) + by;
}

std::int32_t JobMemory::rankless_count() const {
  return header().rankless_count.load(std::memory_order_acquire);
}

void JobMemory::mark_gone(WorkerId worker) {
  // Release, pairs with the senders' acquire: records sent by this worker come before.
  control(worker).is_gone.store(1, std::memory_order_release);
  const std::uint32_t workers = shape_.workers_per_process;
  const std::uint32_t process_number = worker / workers;
  // Acquire and release, as in Parker::mark_idle().
  if (asleep_count(process_number).fetch_add(1, Order::acq_rel) + 1 != idle_count_max()) return;
  const std::uint32_t first = shape_.is_part ? process_number * workers : 0;
  for (std::uint32_t other = first; other < (shape_.is_part ? first + workers : worker_count_);
       ++other) {
    if (wake(other)) return;
  }
}

void JobMemory::mark_workers_gone(std::uint32_t process, std::uint32_t first_in_process) {
  for (std::uint32_t i = first_in_process; i < shape_.workers_per_process; ++i)
    mark_gone(process * shape_.workers_per_process + i);
}

/// Returns whether the worker slept and this call woke it.
bool JobMemory::wake(WorkerId worker) {
  Parker sleeper = parker(worker);
  if (!sleeper.try_unpark()) return false;
  os::futex_wake_one(sleeper.state().std_atomic(), os::FutexScope::shared);
  return true;
}

void JobMemory::request_reports(std::uint32_t asking_process) {
  // Release, pairs with are_reports_requested(); the exchange in wake() orders it before the
  // sleeper's check.
  header().are_reports_requested.store(1, std::memory_order_release);
  const std::uint32_t workers = shape_.workers_per_process;
  for (std::uint32_t process = 0; process < shape_.process_count; ++process) {
    if (process == asking_process) continue;
    for (std::uint32_t i = 0; i < workers && !wake(process * workers + i); ++i) {
    }
  }
}

bool JobMemory::are_reports_requested() const {
  return header().are_reports_requested.load(std::memory_order_acquire) != 0;
}

std::span<char> JobMemory::report_space(std::uint32_t process) const {
  const std::size_t bytes = shape_.workers_per_process * report_bytes_per_worker;
  return {at<char>(reports_offset_) + process * bytes, bytes};
}

std::uint32_t JobMemory::request_activity() {
  // Relaxed: the signal that follows orders it.
  return header().requested_activity.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint32_t JobMemory::requested_activity() const {
  return header().requested_activity.load(std::memory_order_relaxed);
}

std::span<char> JobMemory::activity_space(std::uint32_t process) const {
  const std::size_t bytes = shape_.workers_per_process * report_bytes_per_worker;
  return {at<char>(activities_offset_) + process * bytes, bytes};
}

void JobMemory::answer_activity(std::uint32_t process_number,
                                std::uint32_t request,
                                std::size_t bytes) {
  ProcessStatus& status = process(process_number);
  status.activity_bytes.store(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
  // Release, pairs with activity_text(): the text is written before.
  status.answered_activity.store(request, std::memory_order_release);
}

std::optional<std::string_view> JobMemory::activity_text(std::uint32_t process_number,
                                                         std::uint32_t request) {
  ProcessStatus& status = process(process_number);
  if (status.answered_activity.load(std::memory_order_acquire) != request) return std::nullopt;
  const std::size_t bytes = status.activity_bytes.load(std::memory_order_relaxed);
  const std::span<char> space = activity_space(process_number);
  return std::string_view(space.data(), std::min(bytes, space.size()));
}

void JobMemory::set_has_barrier(bool has_barrier) {
  // Relaxed: the processes start later.
  header().has_barrier.store(has_barrier ? 1 : 0, std::memory_order_relaxed);
}

bool JobMemory::has_barrier() const {
  return header().has_barrier.load(std::memory_order_relaxed) != 0;
}

}  // namespace sorrel::core
