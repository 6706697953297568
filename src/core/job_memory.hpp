//! JobMemory - what the workers of a job touch of each other: a board for each worker, a mailbox
//! for each ordered pair of them, the count of those asleep; and what its processes know of each
//! other.
//!
//! One layout, found by offsets: private memory for a job of one process, a segment shared by all
//! processes otherwise, so that workers need not know which. Zeroed memory is the initial state of
//! everything in it, and only touched pages cost. A *place* is a worker of the job: those of
//! process p are p * workers_per_process and on.
//!
//! Any thread. Limit: place_count_max, since the mailboxes' addresses are reserved in advance
//! (49 KiB for each ordered pair).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "core/index_list.hpp"
#include "core/mailbox.hpp"
#include "core/parker.hpp"
#include "os/shared_segment.hpp"

namespace sorrel::core {

inline constexpr std::uint32_t place_count_max = 1024;

struct JobShape {
  std::uint32_t process_count = 1;
  std::uint32_t workers_per_process = 1;
  /// The job has other processes elsewhere, so that all asleep here does not mean that nobody is
  /// left: every process counts its own sleepers.
  bool is_part = false;

  [[nodiscard]] constexpr std::uint32_t place_count() const {
    return process_count * workers_per_process;
  }
};

/// What others touch of a worker.
struct Board {
  /// Any worker of the job, through a Parker.
  alignas(cache_line_bytes) Parker::State parker_state{Parker::awake};
  /// Its worker has ended and takes no more records. Release by the owner, acquire by senders.
  std::atomic<std::uint32_t> is_gone{0};
  /// Places whose mailboxes to this worker have just been opened.
  alignas(cache_line_bytes) IndexList newly_opened;
  /// The transport's own: what it wants to share with the others about this worker.
  alignas(cache_line_bytes) std::byte for_transport[cache_line_bytes];
};

enum class ProcessPhase : std::uint32_t {
  not_started,  ///< Has not asked for MPI.
  running,
  finished,  ///< Its ranks have ended, or have said that they need nobody any more.
};

/// What others want to know of a process.
struct alignas(cache_line_bytes) ProcessBoard {
  /// Where `probe_value` lies in that process: set, with release, when its memory may be read.
  std::atomic<std::uint64_t> probe_address{0};
  std::atomic<std::int32_t> pid{0};
  std::atomic<ProcessPhase> phase{ProcessPhase::not_started};
  /// 1 + the bytes that it has written into report(), when asked to; 0: none yet.
  std::atomic<std::uint32_t> report_bytes{0};
  /// Of its workers, where the memory is that of a part of the job.
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

  /// The segment's descriptor, for who has created it and hands it on.
  [[nodiscard]] int descriptor() const { return segment_.descriptor(); }

  [[nodiscard]] Board& board(std::uint32_t place) {
    SORREL_ASSERT(place < place_count_);
    return at<Board>(sizeof(Header))[place];
  }

  [[nodiscard]] ProcessBoard& process(std::uint32_t process) {
    SORREL_ASSERT(process < shape_.process_count);
    return at<ProcessBoard>(processes_offset_)[process];
  }

  [[nodiscard]] Mailbox& mailbox(std::uint32_t from, std::uint32_t to) {
    return at<Mailbox>(mailboxes_offset_)[pair_index(from, to)];
  }

  /// The link of `from` in the list of mailboxes newly opened to `to`.
  [[nodiscard]] IndexList::Link& link(std::uint32_t from, std::uint32_t to) {
    return at<IndexList::Link>(links_offset_)[pair_index(from, to)];
  }

  /// Workers that nothing but another worker can wake, or that have ended: of the job, or of this
  /// process of a part of it. Never more than truly sleep or have ended.
  [[nodiscard]] Parker::Count& asleep_count(std::uint32_t process_number) {
    return shape_.is_part ? process(process_number).asleep_count : header().asleep_count;
  }

  /// How many workers such a count is about.
  [[nodiscard]] std::int32_t counted_together() const {
    return static_cast<std::int32_t>(shape_.is_part ? shape_.workers_per_process : place_count_);
  }

  /// The parker of a place: two references.
  [[nodiscard]] Parker parker(std::uint32_t place) {
    Parker::State& state = board(place).parker_state;
    if (!shape_.is_part) [[likely]]
      return {state, header().asleep_count};
    return {state, process(place / shape_.workers_per_process).asleep_count};
  }

  /// Any process, when it ends the job early: true for the first, which may say why.
  [[nodiscard]] bool claim_ending(std::uint32_t process);

  /// The process that ends the job early, or -1.
  [[nodiscard]] std::int32_t ending_process() const;

  /// The process that ends the job asks all others what their ranks wait for, and wakes somebody in
  /// each: who wakes then calls SchedulerHooks::on_report_wanted().
  void want_reports(std::uint32_t asking_process);

  [[nodiscard]] bool are_reports_wanted() const;

  /// Where that process writes its report, and the asking one reads it.
  [[nodiscard]] std::span<char> report_space(std::uint32_t process) const;

  /// Whether all processes order their memory by membarrier(2) (else by full fences). Set by the
  /// creator before any process starts.
  void set_has_barrier(bool has_barrier);
  [[nodiscard]] bool has_barrier() const;

  /// The worker of a place, awake, ends (or never began): it counts as asleep for good and takes no
  /// more records. When all others that are counted with it sleep, wakes one of them, who finds
  /// that out.
  void mark_gone(std::uint32_t place);

 private:
  struct Header {
    // Written before the processes start.
    std::atomic<std::uint32_t> has_barrier{0};
    // 1 + the process that ends the job early.
    std::atomic<std::uint32_t> ending{0};
    std::atomic<std::uint32_t> are_reports_wanted{0};
    alignas(cache_line_bytes) Parker::Count asleep_count{0};
    alignas(cache_line_bytes) std::byte end[cache_line_bytes];
  };

  /// Of each worker; as with the mailboxes, what is not touched costs nothing.
  static constexpr std::size_t report_bytes_per_worker = 65536;

  void lay_out();
  bool wake(std::uint32_t place);

  [[nodiscard]] std::size_t pair_index(std::uint32_t from, std::uint32_t to) const {
    SORREL_ASSERT(from < place_count_ && to < place_count_);
    return std::size_t{to} * place_count_ + from;
  }

  template <class T>
  [[nodiscard]] T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }

  [[nodiscard]] Header& header() const { return *at<Header>(0); }

  // Constant after construction.
  JobShape shape_;
  std::uint32_t place_count_;
  std::size_t processes_offset_ = 0;
  std::size_t links_offset_ = 0;
  std::size_t mailboxes_offset_ = 0;
  std::size_t reports_offset_ = 0;
  os::SharedSegment segment_;
  std::byte* base_ = nullptr;
};

}  // namespace sorrel::core
