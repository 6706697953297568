//! RankState - the state of one rank. Accessed by the rank's own worker only.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/worker.hpp"
#include "mpi/base/error_codes.hpp"
#include "mpi/base/fortran_calls.h"
#include "mpi/base/integer_handles.hpp"
#include "mpi/comm/attribute.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/world.hpp"
#include "mpi/datatype/kind_types.hpp"
#include "mpi/match/match_table.hpp"
#include "mpi/match/type_attributes.hpp"
#include "mpi/match/type_names.hpp"
#include "mpi/match/worker_state.hpp"

namespace sorrel::mpi {

struct Request;

enum class Phase : std::uint8_t {
  running,
  running_with_device,  ///< Running; its buffers may be in the memory of a device.
  before_init,
  finalized,
  in_handler,  ///< Running, and a signal handler interrupts a wait: no call may be made.
};

/// Whether calls may be made. One comparison: both come first.
[[nodiscard]] constexpr bool is_running(Phase phase) {
  return phase <= Phase::running_with_device;
}

/// The wait of a rank, for reports. Written when a call blocks. While it has a kind, all of it is
/// valid, also for a signal handler on the worker's thread.
struct WaitRecord {
  enum class Kind : std::uint8_t { none, requests, probe, collective, window };
  WaitRecord() = default;
  // Another member lies in the padding behind `kind`.
  WaitRecord(const WaitRecord&) = delete;
  WaitRecord& operator=(const WaitRecord&) = delete;

  /// The details of the wait are written before.
  void begin(Kind what) {
    SORREL_ASSERT(kind == Kind::none, "a rank waits for one thing at a time");
    std::atomic_signal_fence(std::memory_order_release);
    kind = what;
  }

  void end() {
    SORREL_ASSERT(kind != Kind::none);
    kind = Kind::none;
    std::atomic_signal_fence(std::memory_order_release);
  }

  /// The communicator of a probe or a collective; of a window, its own one.
  const Comm* comm = nullptr;
  Kind kind = Kind::none;
};

/// Further details, by kind: the envelope of a probe, the list of requests, the rank of the window
/// that is waited for.
struct WaitDetail {
  std::int32_t peer = 0;
  std::int32_t tag = 0;
  const MPI_Request* requests = nullptr;
  std::int32_t request_count = 0;
};

/// A library's own description of its rank's waits, for the deadlock report.
struct WaitExplanation {
  void (*explain)(void* argument, char* text, std::size_t bytes) = nullptr;
  void* argument = nullptr;
};

/// What a rank has that MPI_Comm_spawn has started (job/spawned_ranks.hpp).
struct SpawnedRank {
  /// The rank itself until it has ended, and the communicators of which it is a member. The
  /// decrement to zero acquires what the other holders released.
  std::atomic<std::int32_t> holder_count{1};
  /// The attribute MPI_APPNUM.
  std::int32_t program_number = 0;
  /// The shared parts of `parent`, and of its local communicator: until the rank starts.
  CommShared* parent_shared = nullptr;
  CommShared* parent_local = nullptr;
  /// The result of MPI_Comm_get_parent; null: freed.
  Comm* parent = nullptr;
  /// MPI_INFO_ENV.
  Info environment;
};

/// State that few ranks use; created at first use.
struct RankServices {
  /// Null without Fortran bindings.
  const sorrel_fortran_calls* fortran_calls = nullptr;
  /// The code that a call returns for an error; null: the error itself (mpi/base/returned_codes.h).
  int (*returned_code)(int error) = nullptr;
  /// In a call of MPI that is traced: where the program has made it; else null.
  const void* traced_site = nullptr;
  KeyvalTable keyvals;
  /// Null until the program asks for one. In a job that may be saved: memory of the rank.
  std::unique_ptr<PredefinedAttributes> predefined_attributes;
  ErrorCodes error_codes;
  IntegerHandles integer_handles;
  /// Point to keyvals, so they end first.
  TypeAttributes type_attributes;
  KindTypes kind_types;
  TypeNames type_names;
  /// A RankFiles (mpi/io/rank_files.hpp).
  std::shared_ptr<void> files;
  /// A ToolState (abi/tool_state.hpp).
  std::shared_ptr<void> tool;
};

/// With many ranks on a worker, every call finds the cache lines of its rank in the second-level
/// cache at best. What each call reads is therefore together at the beginning.
struct alignas(cache_line_bytes) RankState {
  // Constant after construction; other workers read it to send here, so no changing field shares
  // its line.
  /// Its number in the job. Of a rank that the job began with, that in MPI_COMM_WORLD.
  std::int32_t world_rank = 0;
  /// Its number among the places of this process: stacks, images, heaps. Set before it runs.
  std::int32_t place = 0;
  core::Worker* worker = nullptr;
  WorkerState* worker_state = nullptr;
  World* world = nullptr;

  // Own worker only. What lies in the first line is constant, too.
  /// Its last members, the current MPI call and its call site, lie in the second line.
  core::Fiber fiber;
  [[no_unique_address]] WaitRecord wait;
  /// Running also in a rank that has a session and has not called MPI_Init.
  Phase phase = Phase::before_init;
  /// It has left the worker on which it was made, where other processes send its packets
  /// (net/relay.hpp). Changed while all workers are stopped.
  bool is_away = false;
  // What a collective uses of it ends with the line that begins behind `fiber`.
  Comm world_comm;
  WaitDetail wait_detail;
  /// Attributes of communicators point to its keyvals: ProcessWorld::end_ranks() ends those first.
  std::unique_ptr<RankServices> services_if_used;

  PostedTable posted;
  UnexpectedTable unexpected;
  /// Fibers in MPI_Probe or MPI_Mprobe, made ready when an unexpected message arrives.
  core::FiberQueue probers;

  Comm self_comm;
  WaitExplanation wait_explanation;

  /// Null until one is measured.
  std::unique_ptr<core::Burst> burst;

  /// What MPI_Init_thread has provided, and the highest level of that and of all sessions.
  int thread_level = 0;
  int calling_level = 0;
  /// Threads of the rank that wait in a call, with the seat of its worker (core/guest.hpp).
  std::int32_t waiting_thread_count = 0;
  /// The rank comes to a safepoint, with all others, at the end of the call that it is in.
  bool is_safepoint_due = false;
  /// The phase by MPI_Init and MPI_Finalize alone, never running_with_device.
  Phase world_phase = Phase::before_init;
  std::int32_t session_count = 0;
  /// Messages of a matched probe that have not been received.
  std::int32_t set_aside_count = 0;
  /// Messages whose data other processes push to the worker where the rank is.
  std::int32_t arriving_count = 0;
  std::int32_t window_count = 0;
  /// With windows: when the rank has last read the clock (CLOCK_MONOTONIC), and for how long it has
  /// done little else.
  std::int64_t clock_read_ns = 0;
  std::int64_t clock_spin_ns = 0;
  /// Created at first use, like that of a communicator.
  BufferedSendsPointer buffered_sends;
  /// In a job that may be saved: what the rank has made and not freed.
  ObjectList objects;
  /// Null in a rank that the job began with.
  std::unique_ptr<SpawnedRank> spawned;
  /// Null until the library needs it (job/job_comm.hpp).
  std::unique_ptr<Comm> job_comm;

  RankServices& services() {
    if (services_if_used == nullptr) services_if_used = std::make_unique<RankServices>();
    return *services_if_used;
  }

  /// The communicator behind a handle; null if invalid.
  Comm* comm_of(MPI_Comm handle) {
    if (handle == MPI_COMM_WORLD) [[likely]]
      return &world_comm;
    if (handle == MPI_COMM_SELF) return &self_comm;
    return object_of<Comm>(handle);
  }

  /// Stores the detail of an error (printf format) and returns its class.
  [[nodiscard, gnu::cold, gnu::format(printf, 3, 4)]] int fail(int error_class,
                                                               const char* format,
                                                               ...);

  /// Receives the detail of an error from functions that do not know their rank.
  [[nodiscard]] ErrorDetail& detail() const { return worker_state->error_detail; }
};

/// Whether the rank's program runs, not one of its operations (mpi/collectives/operation_pool.hpp).
inline bool is_in_main_fiber(const RankState& rank) {
  return &rank.worker->running() == &rank.fiber;
}

/// Records a wait of the rank's main thread until the end of the scope. Other threads of the rank
/// and its operations wait without a record.
class RankWait {
 public:
  RankWait(RankState& rank, WaitRecord::Kind kind, const Comm* comm, const WaitDetail& detail = {})
      : record_(is_in_main_fiber(rank) ? &rank.wait : nullptr) {
    if (record_ == nullptr) return;
    record_->comm = comm;
    rank.wait_detail = detail;
    record_->begin(kind);
  }

  ~RankWait() {
    if (record_ != nullptr) record_->end();
  }

  RankWait(const RankWait&) = delete;
  RankWait& operator=(const RankWait&) = delete;

 private:
  WaitRecord* const record_;
};

/// Whether the caller may access the state of a rank.
inline bool is_on_worker_of(const RankState& rank) {
  return core::Worker::current() == rank.worker;
}

/// The rank that the calling thread is running, or null. May suspend: a rank that another worker
/// has borrowed returns to its own first.
inline RankState* current_rank() {
  return static_cast<RankState*>(core::Worker::current_user());
}

/// As current_rank(), but the rank stays where it is: only for signal handlers, reports and what is
/// constant.
inline RankState* peek_rank() {
  return static_cast<RankState*>(core::Worker::peek_user());
}

}  // namespace sorrel::mpi
