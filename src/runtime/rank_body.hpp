//! RankBody - the code that a job runs for each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "core/worker.hpp"
#include "mpi/comm/spawn_command.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/touched_pages.hpp"
#include "program/state/outside_wait.hpp"
#include "report/wait_table.hpp"

namespace sorrel::runtime {

class RankBody {
 public:
  virtual ~RankBody() = default;
  /// On the rank's worker, before any rank runs. False: the job ends with the message in `error`.
  virtual bool prepare(mpi::RankState& rank, const char** error) = 0;

  /// On a worker whose attention was requested, outside of any fiber. Must not suspend.
  virtual void on_attention(core::Worker& /*worker*/) {}

  /// First on each thread that runs workers.
  virtual void on_thread_start() {}

  /// At a switch to a fiber with other settings (core::SchedulerHooks).
  virtual void on_settings_change(core::Worker& /*worker*/, const core::Fiber& /*next*/) {}

  /// On the new thread of a rank that leaves its worker (runtime/rank_guests.hpp).
  virtual void on_move_out(mpi::RankState& /*rank*/) {}

  /// The threads that a rank has started and that have not ended. Any thread.
  [[nodiscard]] virtual std::int32_t started_thread_count(const mpi::RankState& /*rank*/) const {
    return 0;
  }

  /// Whether an idle worker may run the rank until its next call (core::SchedulerHooks).
  [[nodiscard]] virtual bool may_lend(const mpi::RankState& /*rank*/) const { return true; }

  /// Whether another worker may run the rank from its next call on, as its own.
  [[nodiscard]] virtual bool may_move(const mpi::RankState& /*rank*/) const { return true; }

  /// Called once, when every rank is prepared and none has run.
  virtual void on_all_prepared() {}

  /// On the rank's own stack; returns its exit status. May suspend.
  virtual int run(mpi::RankState& rank) = 0;

  /// Any thread: the rank's wait outside of MPI during which its worker runs other ranks; null if
  /// there is none.
  virtual const program::OutsideWait* outside_wait(const mpi::RankState& /*rank*/) const {
    return nullptr;
  }

  /// The heap of a rank, by its index among those of this process; nothing if it has none of its
  /// own, or has not used it. Any thread, and signal handlers.
  [[nodiscard]] virtual std::optional<report::RankMemory> memory_of(std::size_t /*index*/) const {
    return std::nullopt;
  }

  // For checkpoints (runtime/checkpoint): what a rank has outside of MPI, while no rank runs.

  /// What must be equal in a process in which ranks are restored (program_layout.hpp).
  [[nodiscard]] virtual std::string layout() const { return ""; }

  /// Why the job, or a rank, cannot be saved, for a user; "": it can. `files` are descriptors of
  /// MPI that are saved with their ranks.
  [[nodiscard]] virtual std::string reason_job_not_saved(const std::vector<int>& /*files*/) {
    return "no rank has memory of its own";
  }

  /// Also finds what save() writes of the rank's files.
  [[nodiscard]] virtual std::string reason_not_saved(const mpi::RankState& /*rank*/) { return ""; }

  /// Writes the complete lines of its output.
  virtual void flush_lines(const mpi::RankState& /*rank*/) {}

  virtual void save(const mpi::RankState& /*rank*/, ByteWriter& /*to*/) {}

  /// After reason_not_saved(): whether the rank has files open.
  [[nodiscard]] virtual bool has_files(const mpi::RankState& /*rank*/) { return false; }

  /// After reason_not_saved(): appends records of the files that the rank writes.
  virtual void save_written_files(const mpi::RankState& /*rank*/, ByteWriter& /*to*/) {}

  struct Restored {
    /// "": all is there.
    std::string error;
    /// What has changed since the job was saved, for a user; "": nothing.
    std::string note;
  };

  /// In a rank that is prepared and has not run. `is_restart`: in another job than the one in which
  /// it was saved.
  [[nodiscard]] virtual Restored restore(const mpi::RankState& /*rank*/,
                                         ByteCursor& /*from*/,
                                         bool /*is_restart*/) {
    return {.error = "no rank has memory of its own", .note = {}};
  }

  /// After restore(), when the memory of the rank is there, too.
  virtual void on_memory_restored(const mpi::RankState& /*rank*/) {}

  /// The rank's memory but for the stack.
  [[nodiscard]] virtual std::vector<os::MemoryRange> memory(const mpi::RankState& /*rank*/) const {
    return {};
  }

  [[nodiscard]] virtual std::vector<os::MemoryRange> thread_locals(
      const mpi::RankState& /*rank*/) const {
    return {};
  }

  /// Bytes of its heap that become usable as it grows; makes as many usable.
  [[nodiscard]] virtual std::uint64_t far_heap_bytes(const mpi::RankState& /*rank*/) const {
    return 0;
  }

  [[nodiscard]] virtual bool open_far_heap(const mpi::RankState& /*rank*/,
                                           std::uint64_t /*bytes*/) const {
    return false;
  }

  // For ranks that change their process (runtime/moves), while all workers of the job are stopped.

  /// Why no rank of this process can go to another one, for a user; "": they can.
  [[nodiscard]] virtual std::string reason_none_leaves() { return "no rank has memory of its own"; }

  /// What of the process refers to the memory of a rank, of whose stack `stack` is in use, for a
  /// user; "": nothing, so that the rank can go to another process.
  [[nodiscard]] virtual std::string reason_referred_to(const mpi::RankState& /*rank*/,
                                                       const os::MemoryRange& /*stack*/) const {
    return "";
  }

  /// Whether ranks can neither come nor go.
  [[nodiscard]] virtual bool is_closed_to_moves() const { return true; }

  /// The opposite of prepare(), also after an error: a rank has gone, or does not come.
  virtual void clear(const mpi::RankState& /*rank*/) {}

  /// Before the first rank that goes is saved, and when all have come and gone, or none has:
  /// meanwhile signals are held.
  virtual void begin_moves() {}

  virtual void end_moves() {}

  /// Makes the rank's output so far visible. Called when the job ends early.
  virtual void flush(mpi::RankState& rank) = 0;

  /// The index, among the ranks of this process, of the rank whose own code holds an address; -1:
  /// not known. Safe in a signal handler.
  [[nodiscard]] virtual int index_of_code(const void* /*address*/) const { return -1; }

  // For ranks that are spawned (mpi/job/spawned_ranks.hpp).

  /// In a fiber of another rank: the same for new ranks, which run the program of `command`.
  /// Returns why not, for a user; "": all are prepared.
  [[nodiscard]] virtual std::string prepare_spawned(std::span<mpi::RankState* const> /*ranks*/,
                                                    const mpi::SpawnCommand& /*command*/) {
    return "ranks cannot be spawned here";
  }

  /// A rank has ended, or was prepared and will not run, or was not prepared. False: something that
  /// it has left is in use, and its place cannot be given to another rank.
  virtual bool end_spawned(const mpi::RankState& /*rank*/) { return true; }
};

}  // namespace sorrel::runtime
