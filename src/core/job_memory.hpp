//! JobMemory - the memory that workers of a job share: a control block for each worker, a mailbox
//! for each ordered pair of workers, the count of idle workers, and the status of each process.
//!
//! One layout, addressed by offsets: private memory for a job of one process, else a segment shared
//! by all processes, so workers need not know which. Zeroed memory is the initial state of
//! everything in it, and only touched pages cost memory.
//!
//! Any thread. Limit: job_worker_count_max, since address space for the mailboxes is reserved in
//! advance (49 KiB for each ordered pair).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "core/exchange.hpp"
#include "core/index_list.hpp"
#include "core/job_stop_state.hpp"
#include "core/parker.hpp"
#include "core/window_load.hpp"
#include "core/worker_mailbox.hpp"
#include "os/shared_segment.hpp"
#include "os/touched_pages.hpp"

namespace sorrel::core {

inline constexpr std::uint32_t job_worker_count_max = 1024;

/// Number of a worker in its job: worker w of process p is p * workers_per_process + w.
using WorkerId = std::uint32_t;

struct JobShape {
  std::uint32_t process_count = 1;
  std::uint32_t workers_per_process = 1;
  /// The job has processes elsewhere, so all workers here being idle is no deadlock: every process
  /// counts its own idle workers.
  bool is_part = false;

  [[nodiscard]] constexpr std::uint32_t worker_count() const {
    return process_count * workers_per_process;
  }
};

/// Part of a worker's state that other workers access.
struct WorkerControl {
  /// Any worker of the job, through a Parker.
  alignas(cache_line_bytes) Parker::State parker_state;
  /// The worker has ended and takes no more records. Release by the owner, acquire by senders.
  std::atomic<std::uint32_t> is_gone{0};
  /// 1: the worker itself is in the list below, since its attention was requested. Any process.
  std::atomic<std::uint32_t> is_called{0};
  /// Workers that have just opened a mailbox to this worker.
  alignas(cache_line_bytes) IndexList newly_opened;
  /// Data of the transport about this worker, shared with other processes.
  alignas(cache_line_bytes) std::byte for_transport[cache_line_bytes];
};

enum class ProcessPhase : std::uint32_t {
  not_started,  ///< Has not called MPI.
  running,
  finished,  ///< Its ranks have ended or finalized.
  left,      ///< A rank has ended without MPI_Finalize, which ends the job.
};

/// State of a process that other processes read.
struct alignas(cache_line_bytes) ProcessStatus {
  /// Address of `probe_value` in that process: set, with release, when its memory may be read.
  std::atomic<std::uint64_t> probe_address{0};
  std::atomic<std::int32_t> pid{0};
  std::atomic<ProcessPhase> phase{ProcessPhase::not_started};
  /// 1 + the number of bytes that it has written into report(), when requested; 0: none yet.
  std::atomic<std::uint32_t> report_bytes{0};
  /// 1: it handles the signal that requests its activity; 0: that signal is the program's.
  std::atomic<std::uint32_t> handles_requests{0};
  /// The number of the latest request of its activity that it has answered, and the number of bytes
  /// that it has written into activity_space() before.
  std::atomic<std::uint32_t> answered_activity{0};
  std::atomic<std::uint32_t> activity_bytes{0};
  /// Data of the layers above, for balance.
  WindowLoad window_load;
  /// Data of the layers above about a step that all processes complete (is_last_to_complete()).
  std::array<std::uint64_t, 2> for_completion{};
  /// Its numbers for all processes, while the job is stopped.
  Exchange::Slot for_exchange;
  /// Count of its idle workers, where the memory is that of a part of the job.
  alignas(cache_line_bytes) Parker::Count asleep_count{0};
};

class JobMemory {
 public:
  /// Private memory for a job of one process.
  explicit JobMemory(std::uint32_t worker_count);

  /// Memory shared by the processes of a job: `segment` has bytes_needed(shape).
  JobMemory(const JobShape& shape, os::SharedSegment segment);

  ~JobMemory();
  JobMemory(const JobMemory&) = delete;
  JobMemory& operator=(const JobMemory&) = delete;

  [[nodiscard]] static std::size_t bytes_needed(const JobShape& shape);

  [[nodiscard]] const JobShape& shape() const { return shape_; }

  [[nodiscard]] bool is_shared() const { return segment_.is_valid(); }

  /// Descriptor of the segment, for the creator to pass on.
  [[nodiscard]] int descriptor() const { return segment_.descriptor(); }

  [[nodiscard]] WorkerControl& control(WorkerId worker) {
    SORREL_ASSERT(worker < worker_count_);
    return at<WorkerControl>(sizeof(Header))[worker];
  }

  [[nodiscard]] ProcessStatus& process(std::uint32_t process) {
    SORREL_ASSERT(process < shape_.process_count);
    return at<ProcessStatus>(processes_offset_)[process];
  }

  [[nodiscard]] WorkerMailbox& mailbox(std::uint32_t from, std::uint32_t to) {
    return at<WorkerMailbox>(mailboxes_offset_)[pair_index(mailbox_owner(from, to), to)];
  }

  /// Where the mailboxes lie from which a worker reads.
  [[nodiscard]] os::MemoryRange mailboxes_to(WorkerId worker) const {
    const auto* first = at<WorkerMailbox>(mailboxes_offset_) + pair_index(0, worker);
    return {reinterpret_cast<std::uintptr_t>(first),
            reinterpret_cast<std::uintptr_t>(first + worker_count_)};
  }

  /// The stop of all processes.
  [[nodiscard]] JobStopState& job_stop() { return header().job_stop; }

  /// The link of `from` in the list of mailboxes opened to `to`.
  [[nodiscard]] IndexList::Link& link(std::uint32_t from, std::uint32_t to) {
    return at<IndexList::Link>(links_offset_)[pair_index(from, to)];
  }

  /// Number of workers that only another worker can wake, or that have ended: of the job, or of one
  /// process of a part of it. Never more than actually sleep or have ended.
  [[nodiscard]] Parker::Count& asleep_count(std::uint32_t process_number) {
    return shape_.is_part ? process(process_number).asleep_count : header().asleep_count;
  }

  /// Number of workers that such a count covers.
  [[nodiscard]] std::int32_t idle_count_max() const {
    return static_cast<std::int32_t>(shape_.is_part ? shape_.workers_per_process : worker_count_);
  }

  /// The parker of a worker: two references.
  [[nodiscard]] Parker parker(WorkerId worker) {
    Parker::State& state = control(worker).parker_state;
    if (!shape_.is_part) [[likely]]
      return {state, header().asleep_count};
    return {state, process(worker / shape_.workers_per_process).asleep_count};
  }

  /// Any process that ends the job early: returns true for the first, which then reports the
  /// reason.
  [[nodiscard]] bool claim_ending(std::uint32_t process);

  /// The process that ends the job early, or -1.
  [[nodiscard]] std::int32_t ending_process() const;

  /// Requests from all other processes what their ranks wait for, and wakes a worker in each, which
  /// then calls SchedulerHooks::on_report_requested().
  void request_reports(std::uint32_t asking_process);

  [[nodiscard]] bool are_reports_requested() const;

  /// Buffer for the report of that process: written by it, read by the process that requested it.
  [[nodiscard]] std::span<char> report_space(std::uint32_t process) const;

  /// The parent of the processes requests what their ranks do, and then sends each a signal.
  /// Returns the request's number.
  std::uint32_t request_activity();

  /// The number of the latest request; 0: none.
  [[nodiscard]] std::uint32_t requested_activity() const;

  /// Buffer for the text about that process's ranks.
  [[nodiscard]] std::span<char> activity_space(std::uint32_t process) const;

  /// In that process, safe in a signal handler: `bytes` bytes of activity_space() answer a request.
  void answer_activity(std::uint32_t process, std::uint32_t request, std::size_t bytes);

  /// The text with which that process has answered the request; nothing if it has not.
  [[nodiscard]] std::optional<std::string_view> activity_text(std::uint32_t process,
                                                              std::uint32_t request);

  /// In every process, or a child of it, once for each number, which grows: true in the last one,
  /// which sees what the others have written before. A number that some do not complete has none.
  [[nodiscard]] bool is_last_to_complete(std::uint64_t number);

  /// By that last one: the others go on, if they wait until is_released(), and see what it has
  /// written before. Numbers grow.
  void release(std::uint64_t number);
  [[nodiscard]] bool is_released(std::uint64_t number) const;

  /// Counts the processes that began with ranks and have none any more, less those that began
  /// without and have some. Any process; returns the new count.
  std::int32_t change_rankless_count(std::int32_t by);
  [[nodiscard]] std::int32_t rankless_count() const;

  /// Whether all processes order their memory by membarrier(2) (else by full fences). Set by the
  /// creator before any process starts.
  void set_has_barrier(bool has_barrier);
  [[nodiscard]] bool has_barrier() const;

  /// The worker, awake, ends (or never began): it counts as asleep for good and takes no more
  /// records. If all other workers covered by the count sleep, wakes one of them to detect that.
  void mark_gone(WorkerId worker);

  /// As mark_gone(), for all workers of a process from number `first_in_process` on.
  void mark_workers_gone(std::uint32_t process, std::uint32_t first_in_process);

 private:
  struct Header {
    // Written before the processes start.
    std::atomic<std::uint32_t> has_barrier{0};
    // 1 + the process that ends the job early.
    std::atomic<std::uint32_t> ending{0};
    std::atomic<std::uint32_t> are_reports_requested{0};
    std::atomic<std::uint32_t> requested_activity{0};
    /// The number of the last step, and how many processes have completed it.
    std::atomic<std::uint64_t> completion{0};
    std::atomic<std::uint64_t> released{0};
    std::atomic<std::int32_t> rankless_count{0};
    alignas(cache_line_bytes) Parker::Count asleep_count{0};
    alignas(cache_line_bytes) JobStopState job_stop;
    alignas(cache_line_bytes) std::byte end[cache_line_bytes];
  };

  /// Bytes for each worker, of each kind; untouched pages cost nothing.
  static constexpr std::size_t report_bytes_per_worker = 65536;

  void lay_out();
  bool wake(WorkerId worker);

  [[nodiscard]] std::size_t pair_index(std::uint32_t from, std::uint32_t to) const {
    SORREL_ASSERT(from < worker_count_ && to < worker_count_);
    return std::size_t{to} * worker_count_ + from;
  }

  template <class T>
  [[nodiscard]] T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }

  [[nodiscard]] Header& header() const { return *at<Header>(0); }

  // Constant after construction.
  JobShape shape_;
  std::uint32_t worker_count_;
  std::size_t processes_offset_ = 0;
  std::size_t links_offset_ = 0;
  std::size_t mailboxes_offset_ = 0;
  std::size_t reports_offset_ = 0;
  std::size_t activities_offset_ = 0;
  os::SharedSegment segment_;
  std::byte* base_ = nullptr;
};

}  // namespace sorrel::core
