#include "runtime/job.hpp"

#include <cstdio>
#include <poll.h>
#include <unistd.h>

#include "mpi/rank_state.hpp"
#include "runtime/crash_report.hpp"
#include "runtime/deadlock_report.hpp"

namespace sorrel::runtime {

namespace {

constexpr int deadlock_status = 3;

core::SchedulerOptions scheduler_options(const Config& config) {
  core::SchedulerOptions options{
      .worker_count = config.worker_count, .limits = {}, .cpus = config.cpus};
  // Workers that share cores take time from each other by spinning.
  const long online_count = sysconf(_SC_NPROCESSORS_ONLN);
  if (static_cast<long>(config.worker_count) > online_count) options.limits.spin_ns_max = 0;
  return options;
}

mpi::RankLayout layout_of(const Config& config) {
  return mpi::RankLayout({.rank_count = config.rank_count,
                          .process_count = config.process_count,
                          .worker_count = config.worker_count});
}

void write_all(int descriptor, const char* text, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(descriptor, text, bytes);
    if (written <= 0) return;
    text += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

}  // namespace

std::int32_t own_rank_count(const Config& config) {
  const mpi::RankLayout layout = layout_of(config);
  return layout.first_rank_of_process(config.own_process + 1) -
         layout.first_rank_of_process(config.own_process);
}

Job::Job(const Config& config, RankBody& body, transport::Transport* transport)
    : body_(body),
      stacks_(static_cast<std::size_t>(runtime::own_rank_count(config)), config.stack_bytes),
      scheduler_(scheduler_options(config), *this),
      world_(scheduler_, *this, layout_of(config), transport) {
  watch_for_crashes(*this);
}

Job::~Job() {
  stop_watching_for_crashes();
}

int Job::run() {
  if (!stacks_.is_valid()) {
    char message[160];
    std::snprintf(message, sizeof message,
                  "no room for %d stacks of %zu KiB: use a smaller --stack or fewer ranks",
                  own_rank_count(), stacks_.stack_bytes() >> 10);
    end_job(nullptr, 1, message);
  }
  scheduler_.run(static_cast<std::uint32_t>(own_rank_count()));
  return worst_status_.load(std::memory_order_relaxed);
}

void Job::on_worker_start(core::Worker& worker) {
  install_signal_stack();
  world_.make_ranks(worker);
  const mpi::Place place = world_.place_of(worker);
  for (std::int32_t i = world_.layout().first_rank(place); i < world_.layout().last_rank(place);
       ++i) {
    mpi::RankState& rank = world_.rank(i);
    const char* trouble = nullptr;
    if (!body_.prepare(rank, &trouble)) end_job(&rank, 1, trouble);
    const auto index = static_cast<std::size_t>(i - world_.first_own_rank());
    worker.start(rank.fiber, stacks_.bottom(index), stacks_.usable_bytes(index), rank_entry, &rank);
  }
}

void Job::on_worker_end(core::Worker& worker) {
  world_.end_ranks(worker);
  remove_signal_stack();
}

void Job::rank_entry(void* argument) {
  auto& rank = *static_cast<mpi::RankState*>(argument);
  auto& job = static_cast<Job&>(rank.world->job());
  job.end_rank(rank, job.body_.run(rank));
}

void Job::end_rank(mpi::RankState& rank, int status) {
  if (rank.phase == mpi::Phase::running) {
    char message[120];
    std::snprintf(message, sizeof message,
                  "rank %d: ended with status %d without calling MPI_Finalize", rank.world_rank,
                  status);
    end_job(&rank, status != 0 ? status & 0xff : 1, message);
  }
  int worst = worst_status_.load(std::memory_order_relaxed);
  while (worst < (status & 0xff) &&
         !worst_status_.compare_exchange_weak(worst, status & 0xff, std::memory_order_relaxed)) {
  }
  rank.worker->end_fiber();
}

void Job::do_end_job(const mpi::RankState* culprit, int status, const char* message) {
  // Acquire and release: only one speaks, the others wait for the end of the process.
  if (is_ending_.test_and_set(std::memory_order_acq_rel)) {
    for (;;)
      ::poll(nullptr, 0, -1);
  }
  // The culprit's own output stands before the message; other ranks may be in the middle of theirs.
  if (culprit != nullptr) body_.flush(world_.rank(culprit->world_rank));
  if (message[0] != '\0') {
    char line[600];
    const int length = std::snprintf(line, sizeof line, "sorrel: %s\n", message);
    write_all(STDERR_FILENO, line, std::min(static_cast<std::size_t>(length), sizeof line - 1));
  }
  _exit(status);
}

void Job::on_all_asleep() {
  // Another process may still send something.
  if (world_.transport() != nullptr) return;
  // Nobody runs: everybody's output can be completed.
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i)
    body_.flush(world_.rank(i));
  const std::string report = deadlock_report(world_);
  write_all(STDERR_FILENO, report.data(), report.size());
  end_job(nullptr, deadlock_status, "");
}

}  // namespace sorrel::runtime
