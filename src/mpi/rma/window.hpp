//! Window - what the members of a window share in a process (WinShared), and each member's own view
//! of it (Win), which an MPI_Win handle points to.
//!
//! A Win belongs to one rank, whose worker alone accesses it, with one exception: what `sync_lock`
//! protects, any worker of the process may change while it holds that lock. A WinShared is constant
//! once the window has been created. Memory: 64 bytes for each member in each process; for each
//! rank some 600 bytes, and one byte for each member once it has locked, started or posted.
//! README.md has the protocol.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/cache_line.hpp"
#include "core/completion.hpp"
#include "core/remote_call.hpp"
#include "device/owned_memory.hpp"
#include "mpi/base/handle.hpp"
#include "mpi/base/object_memory.hpp"
#include "mpi/comm/attribute.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/errhandler.hpp"
#include "mpi/comm/info.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/rma/lock_queue.hpp"
#include "mpi/rma/spin_lock.hpp"
#include "mpi/rma/window_memory.hpp"
#include "os/shared_segment.hpp"

namespace sorrel::mpi {

struct Win;

/// A member of the window, as this process accesses it.
struct alignas(cache_line_bytes) WinTarget {
  /// Its memory as this process addresses it; null if only its own process can access it, on a
  /// device, and for dynamic windows.
  std::byte* address = nullptr;
  std::int64_t bytes = 0;
  std::int64_t displacement_unit = 1;
  /// Its view: an address of its own process.
  Win* window = nullptr;
  /// Makes accumulates to its memory atomic; null if only its own process can access the memory.
  SpinLock* accumulate_lock = nullptr;
  std::int32_t world_rank = 0;
  /// Where it is, in its process: it stays there while it has the window.
  std::uint32_t worker = 0;
  /// It is a rank of this process.
  bool is_here = false;
  /// In this process: what it has on devices, if its memory is there; its address is Win::base.
  device::OwnedMemory* device = nullptr;
};

class WinShared {
 public:
  WinShared(int flavor, std::int32_t member_count)
      : flavor_(flavor), targets_(static_cast<std::size_t>(member_count)) {}

  WinShared(const WinShared&) = delete;
  WinShared& operator=(const WinShared&) = delete;

  /// MPI_WIN_FLAVOR_*.
  [[nodiscard]] int flavor() const { return flavor_; }

  [[nodiscard]] bool is_dynamic() const { return flavor_ == MPI_WIN_FLAVOR_DYNAMIC; }

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(targets_.size()); }

  [[nodiscard]] const WinTarget& target(std::int32_t rank) const {
    SORREL_ASSERT(rank >= 0 && rank < size(), "rank %d of %d", rank, size());
    return targets_[static_cast<std::size_t>(rank)];
  }

  /// Each member writes its own entry, and a leader those of other processes, before the last
  /// barrier of the creation.
  [[nodiscard]] WinTarget& entry(std::int32_t rank) { return const_cast<WinTarget&>(target(rank)); }

  /// The memory of several members, if the library has allocated it for them together: of those in
  /// this process, or of all, mapped by the processes of a node.
  WindowMemory memory;
  os::SharedSegment segment;

  void retain(std::int32_t count) { holder_count_.fetch_add(count, std::memory_order_relaxed); }

  /// Deletes it with the last reference.
  void release() {
    // Release and acquire: the accesses of all holders come before the end.
    if (holder_count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~WinShared() = default;

  const int flavor_;
  std::vector<WinTarget> targets_;
  std::atomic<std::int32_t> holder_count_{0};
};

/// A piece of memory that a dynamic window exposes.
struct AttachedRegion {
  std::uintptr_t begin;
  std::uintptr_t end;
  /// What the rank has on devices, if the piece is there; else null.
  device::OwnedMemory* device;
};

/// A one-sided operation of another process that failed here, to be reported at its next
/// synchronization.
struct FailedOperation {
  std::int32_t origin;
  int error;
};

/// The wait of one call on a window, on the stack of the caller; see wait.hpp.
struct WinWait : core::RemoteCall {
  explicit WinWait(Win& waited) : window(waited) {}

  Win& window;
  core::Completion is_over;
};

/// One rank's view of a window.
struct Win : HandleObject<ObjectType::win> {
  static constexpr ObjectKind object_kind = ObjectKind::win;

  /// The access epoch that is open.
  enum class Access : std::uint8_t { none, fence, start, lock, lock_all };

  /// What this rank has done with a target: bits of target_bits.
  enum TargetBit : std::uint8_t {
    locked = 1,     ///< It holds the target's lock.
    unchecked = 2,  ///< Counts as locked: it promised that there is no conflict (MPI_MODE_NOCHECK).
    in_start_group = 4,
    is_dirty = 8,  ///< It has sent operations there since the last flush.
  };

  Win(RankState& self, Comm& own_comm, WinShared& all);
  ~Win();
  Win(const Win&) = delete;
  Win& operator=(const Win&) = delete;

  [[nodiscard]] std::int32_t size() const { return shared->size(); }

  [[nodiscard]] const WinTarget& target(std::int32_t target_rank) const {
    return shared->target(target_rank);
  }

  [[nodiscard]] SpinLock& accumulate_lock_of_own_memory() const {
    return *target(rank).accumulate_lock;
  }

  /// The bits of a target; the array is created at first use.
  [[nodiscard]] std::uint8_t& bits_of(std::int32_t target_rank) {
    if (target_bits.empty()) target_bits.resize(static_cast<std::size_t>(size()));
    return target_bits[static_cast<std::size_t>(target_rank)];
  }

  [[nodiscard]] bool has_bits(std::int32_t target_rank, std::uint8_t bits) const {
    return !target_bits.empty() && (target_bits[static_cast<std::size_t>(target_rank)] & bits) != 0;
  }

  [[nodiscard]] bool is_in_passive_epoch() const {
    return access == Access::lock || access == Access::lock_all;
  }

  /// Whether no access epoch is open, or one of MPI_Win_fence that no operation has used.
  [[nodiscard]] bool may_begin_access() const {
    return access == Access::none || (access == Access::fence && !is_fence_used);
  }

  ObjectHeader header{object_kind};
  std::int32_t rank;
  WinShared* const shared;
  RankState* const owner;
  /// A duplicate of the communicator that the window was created on: its barrier, its messages.
  Comm* const comm;

  Access access = Access::none;
  /// With Access::fence: an operation was made in the epoch.
  bool is_fence_used = false;
  /// Between MPI_Win_post and MPI_Win_wait.
  bool is_exposed = false;
  /// With Access::lock_all: the program promised that there is no conflict.
  bool is_lock_all_unchecked = false;
  /// Number of targets that Access::lock has locked.
  std::int32_t lock_count = 0;
  /// Number of locks of MPI_PROC_NULL.
  std::int32_t null_lock_count = 0;
  /// Calls that programs poll with.
  std::uint32_t poll_count = 0;
  /// One for each member; empty until one is needed.
  std::vector<std::uint8_t> target_bits;
  /// Targets with the bit is_dirty; targets locked under lock_all; members of the start group.
  std::vector<std::int32_t> dirty_targets;
  std::vector<std::int32_t> locked_targets;
  std::vector<std::int32_t> start_group;
  /// The error of an operation whose answer came after its call; reported by the next flush.
  int late_error = MPI_SUCCESS;
  /// Where copies within a device are that may not be over; see finish_device_copies().
  device::CopyStreams device_copies;

  Errhandler* errhandler;
  AttributeMapPointer attributes;
  std::unique_ptr<std::string> name;
  Info info;
  // The values of MPI_WIN_SIZE and its like: programs get pointers to them.
  void* base = nullptr;
  MPI_Aint attribute_size = 0;
  int attribute_displacement_unit = 1;
  int attribute_flavor = 0;
  int attribute_model = MPI_WIN_UNIFIED;
  /// The memory of this member, if the library has allocated it for it alone.
  WindowMemory memory;

  // Under sync_lock: any worker of the process.
  alignas(cache_line_bytes) SpinLock sync_lock;
  /// Makes accumulates to this rank's memory atomic.
  SpinLock accumulate_lock;
  LockQueue lock_queue;
  std::vector<AttachedRegion> regions;
  std::vector<FailedOperation> failed_operations;
  /// One for each member, once there was a post: whether it has posted, or is awaited in
  /// MPI_Win_start.
  enum class Post : std::uint8_t { none, posted, awaited };
  std::vector<Post> posts;
  std::int32_t missing_post_count = 0;
  /// Origins of the exposure epoch that have not completed theirs.
  std::int32_t missing_complete_count = 0;
  /// The wait of MPI_Win_start for posts, and of MPI_Win_wait for completes; or null.
  WinWait* start_wait = nullptr;
  WinWait* exposure_wait = nullptr;
};

/// The window of a handle, null if invalid.
inline Win* win_of(MPI_Win handle) {
  return object_of<Win>(handle);
}

inline MPI_Win handle_of(Win& win) {
  return reinterpret_cast<MPI_Win>(&win);
}

}  // namespace sorrel::mpi
