//! WaitCauses - why each wait of a job lasted so long, by the names of Scalasca (Böhme et al.,
//! "Identifying the root causes of wait states in large-scale parallel applications", 2016).
//!
//! A wait has up to three parts, one after the other: the wait for a late rank; the message in
//! flight, or the collective's own work; and the time in which the rank is ready but its worker
//! runs other ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/sorrel/report/job_trace.hpp"

namespace sorrel::tool {

enum class WaitKind : std::uint8_t {
  late_sender,    ///< a receive, until the send begins
  late_receiver,  ///< a send that needs its receive, until the receiver calls
  late_root,      ///< a member of a broadcast or scatter, until the root calls ("late broadcast")
  early_root,     ///< the root of a reduction or gather, until the last member calls
  collective,     ///< any member of another collective, until the last member calls
  in_flight,      ///< the message, or the collective's own messages
  ready,          ///< its worker runs other ranks
  other,          ///< MPI waits for something else, as a nonblocking collective
  outside         ///< not in MPI
};

inline constexpr std::size_t wait_kind_count = 9;

/// In words, as "late sender".
[[nodiscard]] std::string_view name_of(WaitKind kind);

/// As a key of JSON, "late_sender".
[[nodiscard]] std::string_view key_of(WaitKind kind);

struct WaitCause {
  /// Kind of the part before `late_end`, if that is not empty; else in_flight, other or outside.
  WaitKind kind = WaitKind::other;
  std::int64_t late_end = 0;
  std::int64_t ready_begin = 0;
  /// The rank for which it waited, and the call of that rank which ended the first part.
  std::uint32_t culprit = no_index;
  std::uint32_t culprit_call = no_index;
  /// When the culprit did what ended the wait, as sending; the critical path goes on there.
  std::int64_t culprit_ns = 0;
};

/// A part of a wait that is not empty.
struct WaitPart {
  WaitKind kind = WaitKind::other;
  Interval time;
};

struct WaitParts {
  std::array<WaitPart, 3> parts;
  std::size_t count = 0;

  [[nodiscard]] const WaitPart* begin() const { return parts.data(); }

  [[nodiscard]] const WaitPart* end() const { return parts.data() + count; }
};

/// Some ranks' calls of one collective.
struct Collective {
  std::uint32_t last_rank = no_index;
  std::uint32_t last_call = no_index;
  std::int64_t last_ns = -1;
  std::uint32_t root = no_index;  ///< index; no_index: it has no root, or the root has not called
  std::uint32_t root_call = no_index;
  std::uint32_t member_count = 0;
  std::uint32_t site = 0;
  bool is_matched = true;  ///< all members have called the same function
};

class WaitCauses {
 public:
  /// `job` outlives this object.
  explicit WaitCauses(const JobTrace& job);

  /// The causes of a rank's waits, in their order.
  [[nodiscard]] const std::vector<WaitCause>& of(std::uint32_t rank) const { return causes_[rank]; }

  [[nodiscard]] WaitParts parts_of(std::uint32_t rank, std::uint32_t wait) const;

  /// Idle time of a worker before `ns`.
  [[nodiscard]] std::int64_t idle_before(std::uint32_t worker, std::int64_t ns) const;

  /// The part of `time` in which the worker of a rank was idle.
  [[nodiscard]] std::int64_t idle_within(std::uint32_t worker, Interval time) const {
    return idle_before(worker, time.end) - idle_before(worker, time.begin);
  }

  /// The worker that runs a rank at the end of a wait.
  [[nodiscard]] std::uint32_t worker_after(std::uint32_t rank, std::int64_t ns) const;

  [[nodiscard]] const std::vector<Collective>& collectives() const { return collectives_; }

  /// The collective of a call, or null.
  [[nodiscard]] const Collective* collective_of(std::uint32_t rank, std::uint32_t call) const;

 private:
  void add_idle_sums();
  void match_collectives();
  void find_causes(std::uint32_t rank);
  void judge_collective(std::uint32_t rank, const Wait& wait, WaitCause& cause) const;
  void judge_messages(std::uint32_t rank, const Wait& wait, WaitCause& cause) const;
  [[nodiscard]] std::int64_t last_idle_end(std::uint32_t worker, Interval time) const;

  const JobTrace& job_;
  std::vector<std::vector<WaitCause>> causes_;
  /// By worker: the idle time before the begin of each idle interval.
  std::vector<std::vector<std::int64_t>> idle_sums_;
  std::vector<Collective> collectives_;
  /// By rank and call: index of the collective.
  std::vector<std::vector<std::uint32_t>> collective_of_;
};

/// The call of a rank that runs at `ns`, or no_index.
[[nodiscard]] std::uint32_t call_at(const TracedRank& rank, std::int64_t ns);

}  // namespace sorrel::tool
