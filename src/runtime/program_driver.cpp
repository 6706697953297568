// The composition root of `sorrel run`: every rank runs a private copy of the user's executable.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "loop/team/loop.hpp"
#include "mpi/rank_state.hpp"
#include "program/copy_slab.hpp"
#include "program/debugger.hpp"
#include "program/image.hpp"
#include "program/rank_process.hpp"
#include "program/start.hpp"
#include "program/thread_block.hpp"
#include "runtime/host_job.hpp"
#include "runtime/in_place.hpp"
#include "runtime/job.hpp"
#include "runtime/rank_threads.hpp"

namespace sorrel::runtime {

namespace {

/// One guard page each, where the kernel cannot guard without a map of its own.
constexpr int maps_per_stack = 2;

constexpr int bad_program_status = 2;

class ProgramBody final : public RankBody {
 public:
  ProgramBody(const program::ProgramStart& start,
              const program::CopySlab& slab,
              const Config& config)
      : start_(start),
        slab_(slab),
        config_(config),
        ranks_(static_cast<std::size_t>(own_rank_count(config))) {}

  bool prepare(mpi::RankState& rank, const char** trouble) override {
    const int index = index_of(rank);
    Rank& mine = ranks_[static_cast<std::size_t>(index)];
    if (!slab_.make(index)) {
      *trouble = "no memory for a private copy of the program";
      return false;
    }
    const program::OutputFormat format{.has_rank_labels = config_.has_rank_labels,
                                       .completes_last_line = config_.rank_count > 1};
    mine.process =
        std::make_unique<program::RankProcess>(start_, slab_.copy(index), rank.world_rank, format);
    if (!slab_.image().needs_thread_block()) return true;
    const auto set_worker = [](void* worker) {
      core::Worker::set_current(static_cast<core::Worker*>(worker));
    };
    mine.thread_block = program::ThreadBlock::create(slab_.copy(index), set_worker, rank.worker);
    if (mine.thread_block == nullptr) {
      *trouble =
          "no more threads: each rank of a program with thread-local variables needs one (ulimit "
          "-u)";
      return false;
    }
    rank.fiber.thread_pointer = mine.thread_block->thread_pointer();
    return true;
  }

  void on_all_prepared() override { program::show_to_debugger(slab_); }

  int run(mpi::RankState& rank) override { return program::run_rank_main(*process_of(rank)); }

  void flush(mpi::RankState& rank) override {
    program::RankProcess* process = process_of(rank);
    if (process != nullptr) process->streams().finish();
  }

  [[nodiscard]] program::RankProcess* process_of(const mpi::RankState& rank) const {
    return ranks_[static_cast<std::size_t>(index_of(rank))].process.get();
  }

 private:
  /// Among the ranks of this process.
  static int index_of(const mpi::RankState& rank) {
    return static_cast<int>(static_cast<const Job&>(rank.world->job()).index_of(rank));
  }

  struct Rank {
    std::unique_ptr<program::RankProcess> process;
    std::unique_ptr<program::ThreadBlock> thread_block;
  };

  const program::ProgramStart& start_;
  const program::CopySlab& slab_;
  const Config& config_;
  std::vector<Rank> ranks_;
};

// The job of this process: there is one user's program, so there is one. Set before the first rank
// runs.
ProgramBody* the_body = nullptr;

program::RankProcess* current_process() {
  const mpi::RankState* rank = mpi::current_rank();
  return rank == nullptr ? nullptr : the_body->process_of(*rank);
}

void end_rank(program::RankProcess& process, int status) {
  mpi::RankState& rank = *mpi::current_rank();
  static_cast<void>(process);
  static_cast<Job&>(rank.world->job()).end_rank(rank, status);
}

int refuse(const std::string& trouble) {
  const Config& config = process_config();
  note_host_ending();
  // Every process has the same trouble, and one says it.
  const bool is_speaker =
      config.host != nullptr
          ? config.own_process == 0
          : config.memory == nullptr || config.memory->claim_ending(config.process_in_memory);
  if (is_speaker) std::fprintf(stderr, "sorrel: %s\n", trouble.c_str());
  return bad_program_status;
}

int run_program(const program::ProgramStart& start) {
  const Config& config = process_config();
  std::string trouble;
  const auto image = program::Image::read(trouble);
  if (image == nullptr) return refuse(trouble);
  const auto slab =
      program::CopySlab::reserve(*image, own_rank_count(config), maps_per_stack, trouble);
  if (slab == nullptr) return refuse(trouble);
  ProgramBody body(start, *slab, config);
  the_body = &body;
  loop::be_part_of_a_job(config.loops);
  program::set_current_slab(slab.get());
  set_rank_process_of_caller(current_process);
  program::set_rank_hooks({.current = current_process, .end_rank = end_rank});
  Job job(config, body);
  const int status = job.run();
  std::fflush(nullptr);
  if (config.host != nullptr) {
    leave_host(config);
    // A host MPI may have left something to do for the end of the process.
    std::exit(status);
  }
  // Nothing of the program is left to run: its handlers and destructors ran with its ranks.
  _exit(status);
}

}  // namespace

}  // namespace sorrel::runtime

namespace sorrel::program {

int program_driver(const ProgramStart& start) {
  return runtime::run_program(start);
}

bool program_runs_in_place() {
  return runtime::runs_in_place();
}

void program_begins_in_place() {
  runtime::begin_in_place();
}

}  // namespace sorrel::program
