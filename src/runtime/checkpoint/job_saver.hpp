//! JobSaver - saves all ranks of a job at a collective call, and restores them in another process.
//!
//! All ranks come to a safepoint (mpi/safepoint). While the job is stopped, each process forks. The
//! ranks go on at once; the child has the memory of that moment, writes it, and ends. README.md has
//! the protocol.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "checkpoint/generation_store.hpp"
#include "checkpoint/written_files.hpp"
#include "core/job_memory.hpp"
#include "core/job_stop.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/safepoint/safepoint.hpp"
#include "mpi/saved/refusal.hpp"
#include "runtime/checkpoint/save_requests.hpp"
#include "runtime/config.hpp"
#include "runtime/program_states.hpp"

namespace sorrel::runtime {

class JobSaver final : private mpi::SafepointParticipant {
 public:
  /// All outlive it. Before the workers run.
  JobSaver(const Config& config,
           core::JobMemory& memory,
           mpi::ProcessWorld& world,
           ProgramStates& states);

  /// Before the workers run: reads what a job that is restarted needs first. Returns an error, or
  /// "".
  [[nodiscard]] std::string open();

  /// JobControl::save_job().
  [[nodiscard]] int save(mpi::RankState& rank);

  /// At the end of MPI_Init, a collective of all ranks, on the rank's own stack: makes the first
  /// checkpoint of a job that may be started again. The ranks go on when it is whole: so they have
  /// done nothing that it does not have.
  void save_begin(mpi::RankState& rank);

  /// On the worker of a rank that is prepared and has not run: gives it the state that it has in
  /// the checkpoint with which the job was started. Returns an error, or "".
  [[nodiscard]] std::string restore(mpi::RankState& rank);

  /// When all ranks are restored: gives them what their handles stand for. Returns an error, or "".
  [[nodiscard]] std::string restore_objects();

  /// When nothing can end the restart any more in this process. Waits until that holds in all, and
  /// one of them has cut the files that ranks of the job write. Returns an error, or "".
  [[nodiscard]] std::string cut_written_files();

  /// At the end of each worker, before its thread ends: waits until the last checkpoint is written.
  void wait_for_writer() const;

  /// When no rank runs.
  void finish();

  /// When ranks may run: from now on requests are taken.
  void start_requests();

 private:
  [[nodiscard]] Wish wants() override;
  void begin() override;
  void give_up(std::int32_t threaded_rank) override;

  [[nodiscard]] const char* call() const override { return "sorrel_checkpoint"; }

  void prepare(core::Worker& worker) override;
  void prepare_stop() override;
  [[nodiscard]] int run(core::JobStop& stop) override;

  [[nodiscard]] bool has_written_last();
  void end_writer(int status);
  [[nodiscard]] std::string reason_not_saved(mpi::MemberCounts& counts);
  [[nodiscard]] bool may_save(core::JobStop& stop);
  void print_refusal(const std::string& reason);
  void note_no_begin(const std::string& reason);
  [[nodiscard]] int save_stopped(core::JobStop& stop);
  [[nodiscard]] int wait_for_begin(core::JobStop& stop);
  [[noreturn]] void write_as_child(pid_t parent);
  [[nodiscard]] std::string write(checkpoint::FileSeal& seal);
  [[nodiscard]] std::string complete(const checkpoint::FileSeal& seal);
  [[nodiscard]] std::string read_records(const checkpoint::SegmentReader& file);
  [[nodiscard]] std::string write_rank(checkpoint::SegmentWriter& file, mpi::RankState& rank);
  [[nodiscard]] std::string write_memory(checkpoint::SegmentWriter& file,
                                         std::uint32_t rank,
                                         const os::MemoryRange& run);
  [[nodiscard]] checkpoint::FileIdentity identity(std::uint64_t generation) const;

  const Config& config_;
  core::JobMemory& memory_;
  mpi::ProcessWorld& world_;
  mpi::Safepoint& safepoint_;
  ProgramStates& states_;
  const std::string layout_;
  const std::unique_ptr<const checkpoint::GenerationStore> generations_;

  // While the job is stopped, or by the last rank to arrive.
  /// The checkpoint in the making.
  std::uint64_t generation_ = 0;
  /// Its number in the process that has begun it; 0 in the others.
  std::uint64_t begun_generation_ = 0;
  /// Why it cannot be begun.
  std::string begin_error_;
  /// In the child that writes: bytes for which there was room.
  std::uint64_t room_bytes_ = 0;
  /// The child that writes; 0: none.
  pid_t writer_ = 0;
  /// The ranks wait in save_begin(). Relaxed: read while the job is stopped.
  std::atomic<bool> is_begin_{false};
  /// Why the last save that the program had not asked for was refused.
  std::string last_refusal_;
  /// Null before start_requests().
  std::unique_ptr<SaveRequests> requests_;

  // For a job that was restarted; constant once it is open.
  /// The files of all processes that have written it.
  std::deque<checkpoint::SegmentReader> files_;

  /// The first segment of a rank.
  struct Place {
    const checkpoint::SegmentReader* file = nullptr;
    std::size_t segment = 0;
  };

  /// By rank.
  std::vector<Place> places_;
  /// The written files of all ranks of the job.
  std::vector<checkpoint::WrittenFile> written_files_;
  /// Whether a rank has found a file that has changed.
  std::atomic<bool> has_note_{false};
  /// By rank: the record of its objects, until they are restored.
  std::vector<std::string> objects_;
};

}  // namespace sorrel::runtime
