//! World - the ranks of the job, as a process sees them. ProcessWorld (job/process_world.hpp) makes
//! and ends them.
//!
//! Constant after start-up, except the counters marked "any thread", and where the ranks are, which
//! changes while all workers of the job are stopped (ProcessWorld::begin_move()). Ranks that are
//! spawned (job/spawned_ranks.hpp) have further numbers: the table of ranks has addresses for
//! them, of which pages that no rank uses are never touched. In a job of one process these numbers
//! are in the order of the ranks' beginning, in a job of several they say where the rank lives
//! (RankLayout).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/job_stop.hpp"
#include "core/scheduler.hpp"
#include "mpi/base/rank_layout.hpp"
#include "mpi/comm/spawn_command.hpp"

namespace sorrel::os {
class StackSlab;
}

namespace sorrel::mpi {

class CommShared;
class Group;
class Observer;
struct RankState;
struct Request;
class Safepoint;
struct WorkerState;

/// Contexts that World::new_contexts() issues have so many bits. The bits above number the shadows
/// of a communicator (CommShared::shadow()).
inline constexpr std::uint32_t context_bits = 29;

/// Messages of the library between ranks of the job that may have no communicator in common
/// (job/job_comm.hpp): no shadow has this number.
inline constexpr std::uint32_t job_context = 7U << context_bits;

/// So many ranks can be spawned in a job, one after the other.
inline constexpr std::int32_t spawned_count_max = 1 << 22;

/// Memory of a table whose entries are zero at first: pages of it that are not written are never
/// touched.
template <class T>
struct ZeroedMemory {
  using value_type = T;

  ZeroedMemory() = default;

  template <class U>
  explicit ZeroedMemory(const ZeroedMemory<U>& /*other*/) {}

  static T* allocate(std::size_t count) {
    void* memory = std::calloc(count, sizeof(T));
    SORREL_CHECK(memory != nullptr, "no addresses for a table of %zu entries", count);
    return static_cast<T*>(memory);
  }

  static void deallocate(T* memory, std::size_t /*count*/) { std::free(memory); }

  /// An entry that is not given a value is zero.
  template <class U>
  void construct(U* /*entry*/) {}

  bool operator==(const ZeroedMemory&) const = default;
};

/// Bounds of the message protocol; see match/README.md.
struct MessageLimits {
  /// A message to another worker no longer than this is copied into the mailbox.
  std::uint32_t inline_bytes_max = 512;
  /// An unexpected message no longer than this is copied so that a blocking sender may continue.
  std::uint32_t eager_bytes_max = 16384;
};

/// Actions on the job as a whole.
class JobControl {
 public:
  virtual ~JobControl() = default;

  /// Gets what a checker must know (match/observer.hpp); null: the run is not checked.
  [[nodiscard]] virtual Observer* observer() { return nullptr; }

  /// While all workers are stopped: whether the rank may change its worker, and so its thread.
  virtual bool may_move(const RankState& /*rank*/) { return true; }

  /// The rank has changed its worker, which was `from`; all workers are stopped.
  virtual void on_moved(const RankState& /*rank*/, const core::Worker& /*from*/) {}

  /// On the rank's own stack, a collective of all ranks: saves the job. Returns 0, or 1 in a rank
  /// that was restored from it, or -1: it cannot be saved, as one line says. May suspend.
  virtual int save_job(RankState& /*rank*/) { return -1; }

  /// Ends the whole job at once with `status`, after printing `message` (one line, without newline;
  /// may be empty).
  [[noreturn]] void end_job(const RankState* culprit, int status, const char* message) {
    do_end_job(culprit, status, message);
    __builtin_unreachable();
  }

  /// A rank of this process has finalized MPI: from here on it may exit in any way.
  virtual void record_finalized(const RankState& /*rank*/) {}

 private:
  virtual void do_end_job(const RankState* culprit, int status, const char* message) = 0;

 public:
  /// Gives new ranks, which lie in this process, what they need to run the program of `command`,
  /// whose file is known. Returns why that is not possible, for a user; "": it is.
  [[nodiscard]] virtual std::string prepare_spawned(std::span<RankState* const> /*ranks*/,
                                                    const SpawnCommand& /*command*/) {
    return "this process has no places for further ranks";
  }

  /// The ranks, or some, have been given what they need, and will not run.
  virtual void drop_spawned(std::span<RankState* const> /*ranks*/) {}

  /// They run from here on, each on its worker.
  virtual void start_spawned(std::span<RankState* const> /*ranks*/) {}

  /// In a fiber of a rank, whose directory and search path count unless the command has a file.
  [[nodiscard]] virtual FoundProgram find_program(const SpawnCommand& /*command*/) {
    return {.error = "this process starts no programs", .file = {}, .is_own = false};
  }
};

class World {
 public:
  /// How a world is connected.
  struct Connection {
    /// Null if there is one process; else it outlives the world, and its workers have not started.
    transport::Transport* transport = nullptr;
    /// Stops of all processes of the job; null where the job has no safepoints. Else `rank_stacks`
    /// are the stacks of the ranks of this process, by their places.
    core::JobStop* job_stop = nullptr;
    const os::StackSlab* rank_stacks = nullptr;
    /// Several worlds may share a scheduler: each has the layout's workers from this one on.
    std::uint32_t first_worker = 0;
    /// The layout's processes are simulated nodes of this process (transport/sim).
    bool is_simulated_node = false;
    /// The ranks' worker only communicates; further workers, without ranks, compute.
    bool has_comm_worker = false;
    /// Stack of each nonblocking collective in progress (collectives/operation_pool.hpp).
    std::size_t operation_stack_bytes = std::size_t{1} << 20;
    /// Ranks may change their worker. Fibers are measured.
    bool moves_ranks = false;
    /// Ranks may go on in other processes.
    bool moves_between = false;
    /// Ranks change their worker at random, whenever they can.
    std::optional<std::uint64_t> shuffle_seed = std::nullopt;
    /// The number of this process's program, in a job of several programs.
    std::int32_t program_number = 0;
    MessageLimits limits = {};
    /// So many ranks can exist at a time in a process, beside those of others with which the job
    /// began; 0: no more than the layout has.
    std::int32_t universe_size = 0;
  };

  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// The number of ranks with which the job began.
  [[nodiscard]] std::int32_t size() const { return layout_.rank_count(); }

  /// The attribute MPI_UNIVERSE_SIZE: ranks that can exist at a time.
  [[nodiscard]] std::int32_t universe_size() const {
    return std::max(connection_.universe_size, size());
  }

  /// Whether there are places for ranks that are spawned.
  [[nodiscard]] bool may_spawn() const { return universe_size() > size(); }

  /// All ranks that this process knows have smaller numbers. Any thread.
  [[nodiscard]] std::int32_t rank_number_end() const {
    // Acquire, pairs with ProcessWorld::make_spawned(): the entries of the table.
    return rank_number_end_.load(std::memory_order_acquire);
  }

  [[nodiscard]] const RankLayout& layout() const { return layout_; }

  /// Null if there is one process.
  [[nodiscard]] transport::Transport* transport() const { return connection_.transport; }

  [[nodiscard]] bool is_simulated_node() const { return connection_.is_simulated_node; }

  [[nodiscard]] bool has_comm_worker() const { return connection_.has_comm_worker; }

  [[nodiscard]] std::size_t operation_stack_bytes() const {
    return connection_.operation_stack_bytes;
  }

  [[nodiscard]] std::int32_t program_number() const { return connection_.program_number; }

  [[nodiscard]] std::uint32_t own_process() const { return own_process_; }

  /// The node of this process, identified by its first process.
  [[nodiscard]] std::uint32_t own_node() const {
    return transport() == nullptr ? 0 : transport()->node_of(own_process_);
  }

  /// Whether a rank lives in this process.
  [[nodiscard]] bool is_here(std::int32_t world_rank) const {
    if (world_rank >= size()) return process_of(world_rank) == own_process_;
    return world_rank >= first_own_rank_ && world_rank < last_own_rank_;
  }

  /// The process of a rank.
  [[nodiscard]] std::uint32_t process_of(std::int32_t world_rank) const {
    return transport() == nullptr ? 0 : layout_.process_of(world_rank);
  }

  /// This process has the ranks [first_own_rank(), last_own_rank()) of those with which the job
  /// began, or which have come since.
  [[nodiscard]] std::int32_t first_own_rank() const { return first_own_rank_; }

  [[nodiscard]] std::int32_t last_own_rank() const { return last_own_rank_; }

  [[nodiscard]] core::Scheduler& scheduler() const { return scheduler_; }

  [[nodiscard]] JobControl& job() const { return job_; }

  [[nodiscard]] const MessageLimits& limits() const { return connection_.limits; }

  /// All ranks of other processes share one placeholder, whose `worker` is null.
  [[nodiscard]] RankState& rank(std::int32_t world_rank) {
    SORREL_ASSERT(world_rank >= 0 && world_rank < rank_number_end(), "rank %d of %d", world_rank,
                  rank_number_end());
    return *ranks_[static_cast<std::size_t>(world_rank)];
  }

  /// Placeholder for every send of another process.
  [[nodiscard]] Request* remote_sender() const { return remote_sender_; }

  /// By number. The address is constant.
  [[nodiscard]] RankState* const* ranks() const { return ranks_.data(); }

  /// Numbers for which the table has addresses.
  [[nodiscard]] std::int32_t rank_capacity() const {
    return may_spawn() ? size() + spawned_count_max : size();
  }

  [[nodiscard]] const std::shared_ptr<const Group>& group() const { return group_; }

  /// The endpoint of a worker of this process.
  [[nodiscard]] Endpoint endpoint_of(const core::Worker& worker) const {
    return {.process = own_process_, .worker = worker.index() - connection_.first_worker};
  }

  /// The inverse, for endpoints of this process.
  [[nodiscard]] core::Worker& worker(std::uint32_t index_in_process) const {
    SORREL_ASSERT(index_in_process < layout_.worker_count());
    return scheduler_.worker(connection_.first_worker + index_in_process);
  }

  /// Whether it runs ranks of this world.
  [[nodiscard]] bool has_worker(const core::Worker& worker) const {
    return worker.index() - connection_.first_worker < layout_.worker_count();
  }

  /// The state of one of this process's workers.
  [[nodiscard]] WorkerState& state_of(const core::Worker& worker) const {
    SORREL_ASSERT(has_worker(worker), "worker %u runs no rank of this world", worker.index());
    return *worker_states_[endpoint_of(worker).worker];
  }

  /// Any thread: a context that no communicator of the job has had. Each process counts in steps of
  /// the number of processes, from its own number, so that no message is needed.
  std::uint32_t new_context() { return new_contexts(1); }

  /// The first of `count` such numbers, which are context_step() apart.
  std::uint32_t new_contexts(std::uint32_t count) {
    const std::uint32_t first =
        next_context_.fetch_add(count * context_step(), std::memory_order_relaxed);
    SORREL_CHECK(first + count * context_step() <= 1U << context_bits,
                 "the job has made more than %u communicators",
                 (1U << context_bits) / context_step());
    return first;
  }

  /// Any thread: one that this process has not issued.
  [[nodiscard]] std::uint32_t next_context() const {
    return next_context_.load(std::memory_order_relaxed);
  }

  /// Before the first is issued: all issued ones will be larger than `used`.
  void issue_contexts_after(std::uint32_t used) {
    std::uint32_t next = next_context();
    while (next <= used)
      next += context_step();
    next_context_.store(next, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint32_t context_step() const { return layout_.process_count(); }

  [[nodiscard]] bool moves_ranks() const { return connection_.moves_ranks; }

  [[nodiscard]] bool moves_between() const { return connection_.moves_between; }

  // Where ranks may go on in other processes: the communicators that this one has, in any order.
  // Any thread; the list may be read while all workers are stopped.
  void add_comm(CommShared& comm);
  void remove_comm(CommShared& comm);

  [[nodiscard]] const std::vector<CommShared*>& comms() const { return comms_; }

  /// Null if the job has no safepoints.
  [[nodiscard]] core::JobStop* job_stop() const { return connection_.job_stop; }

  [[nodiscard]] const os::StackSlab* rank_stacks() const { return connection_.rank_stacks; }

  /// Null if the ranks neither come to safepoints of the job nor change their worker.
  [[nodiscard]] Safepoint* safepoint() const { return safepoint_; }

  /// By the number of the worker among those of this world.
  [[nodiscard]] const std::vector<WorkerState*>& worker_states() const { return worker_states_; }

  [[nodiscard]] CommShared& shared_of_world() { return *world_comm_; }

 protected:
  World(core::Scheduler& scheduler,
        JobControl& job,
        const RankLayout& layout,
        const Connection& connection,
        const std::shared_ptr<const Group>& group)
      : scheduler_(scheduler),
        job_(job),
        layout_(layout),
        connection_(connection),
        own_process_(transport() == nullptr ? 0 : transport()->own_process()),
        first_own_rank_(layout.first_rank_of_process(own_process_)),
        last_own_rank_(layout.first_rank_of_process(own_process_ + 1)),
        group_(group),
        ranks_(static_cast<std::size_t>(rank_capacity())),
        next_context_(own_process_ + layout.process_count()),
        rank_number_end_(layout.rank_count()) {}

  ~World() = default;

 private:
  friend class ProcessWorld;

  core::Scheduler& scheduler_;
  JobControl& job_;
  RankLayout layout_;
  const Connection connection_;
  const std::uint32_t own_process_;
  std::int32_t first_own_rank_;
  std::int32_t last_own_rank_;
  const std::shared_ptr<const Group> group_;
  // Set by ProcessWorld, which owns what they point to.
  Request* remote_sender_ = nullptr;

  std::vector<RankState*, ZeroedMemory<RankState*>> ranks_;
  std::vector<WorkerState*> worker_states_;
  CommShared* world_comm_ = nullptr;
  Safepoint* safepoint_ = nullptr;
  // Relaxed: only distinct values matter.
  std::atomic<std::uint32_t> next_context_;
  // Release by ProcessWorld::make_spawned().
  std::atomic<std::int32_t> rank_number_end_;
  std::mutex comms_mutex_;
  std::vector<CommShared*> comms_;
};

inline void World::add_comm(CommShared& comm) {
  if (!moves_between()) return;
  const std::scoped_lock lock(comms_mutex_);
  comms_.push_back(&comm);
}

inline void World::remove_comm(CommShared& comm) {
  if (!moves_between()) return;
  const std::scoped_lock lock(comms_mutex_);
  std::erase(comms_, &comm);
}

}  // namespace sorrel::mpi
