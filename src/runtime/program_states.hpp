//! ProgramStates - what the programs of ranks have outside of MPI, for checkpoints
//! (runtime/checkpoint) and for ranks that change their process (runtime/moves). While no rank
//! runs.
//!
//! By itself: no rank has memory of its own, and none is saved or moves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/touched_pages.hpp"

namespace sorrel::runtime {

class ProgramStates {
 public:
  virtual ~ProgramStates() = default;

  /// What must be equal in a process in which ranks are restored (program_layout.hpp).
  [[nodiscard]] virtual std::string layout() const { return ""; }

  /// Why the job, or a rank, cannot be saved, for a user; "": it can. `files` are descriptors of
  /// MPI that are saved with their ranks.
  [[nodiscard]] virtual std::string reason_job_not_saved(const std::vector<int>& /*files*/) {
    return "no rank has memory of its own";
  }

  /// Also finds what save() writes of the rank's files.
  [[nodiscard]] virtual std::string reason_not_saved(const mpi::RankState& /*rank*/) { return ""; }

  /// Before save(), in the rank's process, which may go on before: writes the complete lines of its
  /// output, and notes how far its input was read.
  virtual void prepare_save(const mpi::RankState& /*rank*/) {}

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

  // For ranks that change their process, while all workers of the job are stopped.

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

  /// The opposite of RankBody::prepare(), also after an error: a rank has gone, or does not come.
  virtual void clear(const mpi::RankState& /*rank*/) {}

  /// Before the first rank that goes is saved, and when all have come and gone, or none has:
  /// meanwhile signals are held.
  virtual void begin_moves() {}

  virtual void end_moves() {}
};

}  // namespace sorrel::runtime
