//! WindowAccesses - the one-sided operations of all ranks that no synchronization has separated,
//! and the conflicts between them (MPI 5.0, 12.7).
//!
//! Accesses under MPI_Win_fence conflict within one epoch; under MPI_Win_start until the target's
//! MPI_Win_wait; under locks as long as both are held, or, if shared, until the origin synchronizes
//! with any other rank: what might be ordered is not reported. One process, one worker.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "check/byte_ranges.hpp"
#include "check/checked_call.hpp"
#include "check/finding_log.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/rma/window.hpp"

namespace sorrel::check {

class WindowAccesses {
 public:
  explicit WindowAccesses(FindingLog& findings) : findings_(findings) {}

  /// An operation begins.
  void begin(const mpi::Win& win, const CheckedCall& call, const CallPlace& place);

  /// An operation has succeeded, and its data is in place.
  void add(const mpi::Win& win, const CheckedCall& call, const CallPlace& place);

  /// A synchronizing call on the window begins, or has returned.
  void begin_synchronization(const mpi::Win& win, const CheckedCall& call);
  void end_synchronization(const mpi::Win& win, const CheckedCall& call);

  /// The request in this variable of the program is complete. Null: the variable is not known.
  void complete(std::int32_t world_rank, std::uintptr_t request, const void* variable);

  /// The rank takes part in a message or a collective: its former accesses may be ordered.
  void on_communication(std::int32_t world_rank);

  /// The window is freed: no epoch may be open.
  void free(const mpi::Win& win, const CallPlace& place);

 private:
  enum class Operation : std::uint8_t { put, get, accumulate };

  struct Access {
    std::int32_t origin;  ///< in the job
    std::int32_t target;  ///< in the window
    ByteRanges bytes;
    Operation operation;
    MPI_Op op;
    CallPlace place;
    mpi::Win::Access epoch;
    /// Number of the epoch of MPI_Win_fence.
    std::uint64_t fence;
    /// Hash of the target's memory behind an update.
    std::optional<std::uint64_t> hash = {};
    /// When the request is complete, the target's memory has been read.
    bool returns_data = false;
    /// Its request; 0: it has none. The program's variable of the request; null: not known.
    std::uintptr_t request = 0;
    const void* variable = nullptr;
    bool is_exclusive = false;
    /// The origin's epoch has ended.
    bool is_closed = false;
    /// The origin has flushed it: its own later accesses are ordered.
    bool is_flushed = false;
  };

  /// A member's own memory as it was when its fence epoch began.
  struct Snapshot {
    std::uintptr_t begin = 0;
    std::vector<std::byte> bytes;
  };

  struct Member {
    std::uint64_t fence = 0;
    Snapshot snapshot;
    /// Targets that it has locked exclusively.
    std::set<std::int32_t> exclusive_targets;
  };

  struct Window {
    std::list<Access> accesses;
    std::map<std::int32_t, Member> members;
  };

  static void end_fence(Window& window, const mpi::Win& win);
  void find_conflict(const Window& window, const Access& access);
  static Access access_of(Window& window,
                          const mpi::Win& win,
                          const CheckedCall& call,
                          const CallPlace& place);
  static bool differs_from_snapshot(const Window& window, const Access& access);
  void find_local_stores(const Window& window, const mpi::Win& win);
  void report_local_store(const Access& access);
  static bool conflict(const Access& a, const Access& b);

  FindingLog& findings_;
  std::map<const mpi::WinShared*, Window> windows_;
};

}  // namespace sorrel::check
