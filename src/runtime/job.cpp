#include "runtime/job.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <poll.h>
#include <span>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "check/checker.hpp"
#include "core/cycle_clock.hpp"
#include "core/fiber_thread.hpp"
#include "core/guest.hpp"
#include "core/later_balance.hpp"
#include "core/shared_job_stop.hpp"
#include "launch/exit_status.hpp"
#include "launch/job_parts.hpp"
#include "loop/team/fiber_team.hpp"
#include "os/clock.hpp"
#include "os/cpu_set.hpp"
#include "os/freed_memory.hpp"
#include "os/memory_nodes.hpp"
#include "os/page_nodes.hpp"
#include "os/thread_limits.hpp"
#include "os/write_all.hpp"
#include "report/deadlock_report.hpp"
#include "runtime/balance_start.hpp"
#include "runtime/base/report_window.hpp"
#include "runtime/debugger_table.hpp"
#include "runtime/end/latest_events.hpp"
#include "runtime/end/signal_stack.hpp"
#include "runtime/end/wait_collection.hpp"
#include "runtime/host/host_job.hpp"
#include "runtime/host/host_session.hpp"
#include "runtime/program_calls.hpp"
#include "runtime/rank_region.hpp"
#include "runtime/user_tuning.hpp"
#include "transport/host/host_job_stop.hpp"
#include "transport/host/host_transport.hpp"
#include "transport/shm/shm_transport.hpp"

namespace sorrel::runtime {

namespace {

/// Time limit for the answers of other processes: looking up source lines takes time, and `run`
/// waits only a little longer.
constexpr std::int64_t report_wait_ns = 1'000'000'000;

/// If processes share cores: about two turns for each of the other processes.
constexpr int yield_count_max = 16;

/// Not with simulated nodes: they share nothing. Not with a seed, which needs one worker.
bool lends_ranks(const Config& config) {
  return config.balance != launch::Balance::off && config.rank_worker_count() > 1 && !config.wire &&
         !config.seed && !config.process_mode &&
         (config.balance != launch::Balance::automatic ||
          BalanceStart::can_begin(runtime::own_rank_count(config), runtime::place_count(config),
                                  config.rank_worker_count()));
}

/// Each process moves its own.
bool moves_ranks(const Config& config) {
  if (config.shuffle_seed) return true;
  return lends_ranks(config) && config.balance != launch::Balance::steal && config.parts.empty() &&
         !config.has_comm_worker;
}

/// From the beginning.
bool measures_ranks(const Config& config) {
  const bool begins_later = config.balance == launch::Balance::automatic && !config.shuffle_seed;
  return config.moves_between || (moves_ranks(config) && !begins_later);
}

core::SchedulerOptions thread_options(const Config& config) {
  core::SchedulerOptions options{.worker_count = config.worker_count,
                                 .limits = {},
                                 .cpus = config.cpus,
                                 .memory = config.memory,
                                 .process = config.process_in_memory,
                                 .lends_fibers = lends_ranks(config),
                                 .measures_fibers = measures_ranks(config),
                                 .seed = config.seed};
  // A job that shares the machine may move its workers, because another job may use their cores.
  options.may_move = config.worker_count > 1 && config.loops.limits.share != governor::Share::fixed;
  if (config.spin_ns_max) options.limits.spin_ns_max = *config.spin_ns_max;
  const std::vector<int> cpus = os::allowed_cpus();
  std::size_t worker_count = std::size_t{config.process_count} * config.worker_count;
  std::size_t first_worker = std::size_t{config.own_process} * config.worker_count;
  if (!config.parts.empty()) {
    const auto shares = launch::shares_of(config);
    worker_count = std::size_t{shares.back().first_worker} + shares.back().worker_count;
    first_worker = shares[config.own_process].first_worker;
  }
  const bool is_crowded =
      config.host != nullptr ? config.host->is_crowded : worker_count > cpus.size();
  if (!is_crowded) return options;
  // Workers that share cores would take time from each other by spinning.
  options.limits.spin_ns_max = 0;
  if (config.process_count == 1) return options;
  options.limits.yield_count_max = yield_count_max;
  // Processes that take turns on a core should have neighbouring ranks, whose messages then stay on
  // the core. The system may move them when their work is uneven.
  if (config.host == nullptr && config.worker_count == 1 && options.cpus.empty() && !cpus.empty()) {
    options.cpus = {cpus[os::part_begin(cpus.size(), first_worker, worker_count)]};
    options.may_move = true;
  }
  return options;
}

core::SchedulerOptions scheduler_options(const Config& config) {
  core::SchedulerOptions options = thread_options(config);
  if (!options.cpus.empty() && !os::has_memory_policy())
    options.memory_nodes = os::MemoryNodes::read();
  return options;
}

std::unique_ptr<transport::Transport> make_transport(const Config& config,
                                                     core::Scheduler& scheduler) {
  if (config.process_count == 1) return nullptr;
  if (!config.is_all_near()) {
    if (config.host == nullptr) return nullptr;
    return std::make_unique<transport::HostTransport>(scheduler, *config.host);
  }
  using Pulling = transport::ShmTransport::Pulling;
  return std::make_unique<transport::ShmTransport>(
      scheduler, config.may_pull ? Pulling::when_allowed : Pulling::never,
      config.host != nullptr ? config.host->common_ancestor
                             : (config.launcher != 0 ? config.launcher : getppid()));
}

std::unique_ptr<transport::SimulatedNodes> simulated_nodes(const Config& config,
                                                           core::Scheduler& scheduler) {
  if (!config.wire) return nullptr;
  const transport::WireOptions wire{.node_count = config.wire->node_count,
                                    .latency_ns = config.wire->latency_ns,
                                    .jitter_ns = config.wire->jitter_ns,
                                    .bytes_per_ns = config.wire->bytes_per_second * 1e-9,
                                    .seed = config.wire->seed};
  return std::make_unique<transport::SimulatedNodes>(scheduler, wire, config.rank_worker_count());
}

std::unique_ptr<core::JobStop> job_stop(const Config& config,
                                        core::Scheduler& scheduler,
                                        transport::HostTransport* transport) {
  if (!config.has_safepoints()) return nullptr;
  if (transport == nullptr) return std::make_unique<core::SharedJobStop>(scheduler);
  return std::make_unique<transport::HostJobStop>(scheduler, *transport, *config.host);
}

mpi::RankLayout layout_of(const Config& config) {
  if (config.wire) {
    return mpi::RankLayout({.rank_count = config.rank_count,
                            .process_count = config.wire->node_count,
                            .worker_count = transport::SimulatedNodes::workers_per_node(
                                config.wire->node_count, config.rank_worker_count())});
  }
  if (!config.parts.empty()) {
    std::vector<mpi::RankLayout::Block> blocks;
    for (const launch::ProcessShare& share : launch::shares_of(config))
      blocks.push_back({.rank_count = share.rank_count, .worker_count = share.worker_count});
    return mpi::RankLayout({.rank_count = config.rank_count,
                            .process_count = config.process_count,
                            .worker_count = launch::workers_per_process(config)},
                           blocks);
  }
  return mpi::RankLayout({.rank_count = config.rank_count,
                          .process_count = config.process_count,
                          .worker_count = config.rank_worker_count()});
}

/// Their fibers run operations of the program, so a larger stack that the user asks for is theirs
/// too.
std::size_t operation_stack_bytes(const Config& config) {
  constexpr std::size_t usual_bytes = std::size_t{1} << 20;
  return config.stack_bytes != 0 ? config.stack_bytes : usual_bytes;
}

std::int32_t program_number_of(const Config& config) {
  if (config.parts.empty()) return 0;
  return static_cast<std::int32_t>(launch::shares_of(config)[config.own_process].part);
}

/// Equal in all processes of the job, and in no other job of the machine that runs now.
std::uint64_t number_of_job(const Config& config) {
  if (config.host != nullptr) return config.host->members.front().probe_value;
  if (config.memory == nullptr) return static_cast<std::uint64_t>(::getpid());
  return static_cast<std::uint64_t>(config.launcher != 0 ? config.launcher : ::getppid());
}

/// The name of a rank in the trace of its worker, if there is one.
void trace_rank(const mpi::RankState& rank) {
  trace::Tracer* tracer = rank.worker->tracer();
  if (tracer == nullptr) return;
  tracer->add(trace::Record::now(trace::Kind::rank, trace::name_of(&rank),
                                 static_cast<std::uint64_t>(rank.world_rank),
                                 rank.world->own_process()));
}

/// At the end of a job with --verbose.
void report_loans(const core::Scheduler& scheduler) {
  if (!core::are_fibers_lent(scheduler)) return;
  const core::LoanCounts counts = scheduler.loan_counts();
  const core::CycleClock clock;
  const auto per_second = static_cast<double>(clock.cycles_in(1'000'000'000));
  std::fprintf(stderr,
               "sorrel: balance: %llu computations lent, %.3f s; %llu long ones not lent, %.3f s\n",
               static_cast<unsigned long long>(counts.loans),
               static_cast<double>(counts.lent_cycles) / per_second,
               static_cast<unsigned long long>(counts.long_home_bursts),
               static_cast<double>(counts.long_home_cycles) / per_second);
}

/// A mean, or 0.
double mean_of(double sum, std::uint64_t count) {
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

void report_moves(const mpi::BalanceReport& report) {
  const balance::PolicyCounts& policy = report.policy;
  std::fprintf(stderr,
               "sorrel: balance: %llu of %llu windows uneven; %llu ranks moved in %llu steps, held "
               "for %.6f s; imbalance %.2f before, %.2f after\n",
               static_cast<unsigned long long>(policy.uneven_windows),
               static_cast<unsigned long long>(policy.windows),
               static_cast<unsigned long long>(policy.moves),
               static_cast<unsigned long long>(policy.steps), report.waited_seconds,
               mean_of(policy.imbalance_before, policy.steps),
               mean_of(policy.imbalance_after, policy.judged_steps));
  if (policy.place_changes != 0) {
    std::fprintf(stderr,
                 "sorrel: balance: the number of threads changed %llu times for the balancer\n",
                 static_cast<unsigned long long>(policy.place_changes));
  }
  if (report.late_stops + report.busy_stops + report.refused_moves == 0) return;
  std::fprintf(stderr,
               "sorrel: balance: %llu steps given up for a late worker, %llu for messages or "
               "operations in flight; %llu moves of ranks that had to stay\n",
               static_cast<unsigned long long>(report.late_stops),
               static_cast<unsigned long long>(report.busy_stops),
               static_cast<unsigned long long>(report.refused_moves));
}

/// Nothing where no rank has changed its memory node.
void report_pages(const PageFollower::Report& report) {
  if (report.rank_count == 0) return;
  std::fprintf(stderr,
               "sorrel: balance: ranks moved to another memory node %llu times; %llu pages have "
               "followed them, %llu have not\n",
               static_cast<unsigned long long>(report.rank_count),
               static_cast<unsigned long long>(report.pages.there),
               static_cast<unsigned long long>(report.pages.elsewhere));
}

/// By the first process, for the job.
void report_moves_between(const MoveReport& report) {
  const balance::StepCounts& policy = report.policy;
  std::fprintf(stderr,
               "sorrel: balance: %llu ranks moved between processes in %llu steps, %.1f MiB in "
               "%.6f s, held for %.6f s; imbalance of processes %.2f before, %.2f after\n",
               static_cast<unsigned long long>(report.ranks),
               static_cast<unsigned long long>(report.steps),
               static_cast<double>(report.bytes) / (1 << 20), report.moving_seconds,
               report.waited_seconds, mean_of(policy.imbalance_before, report.steps),
               mean_of(policy.imbalance_after, policy.judged_steps));
  if (report.busy_steps + report.empty_steps == 0) return;
  std::fprintf(
      stderr,
      "sorrel: balance: between processes, %llu steps given up for operations in progress, "
      "%llu without a move\n",
      static_cast<unsigned long long>(report.busy_steps),
      static_cast<unsigned long long>(report.empty_steps));
}

/// Whether each process that runs has answered the request for its report.
bool have_all_reported(core::JobMemory& memory, std::uint32_t process_count) {
  for (std::uint32_t process = 0; process < process_count; ++process) {
    const core::ProcessStatus& status = memory.process(process);
    // Acquire, both, as in add_remote_waits().
    if (status.report_bytes.load(std::memory_order_acquire) == 0 &&
        status.phase.load(std::memory_order_acquire) == core::ProcessPhase::running)
      return false;
  }
  return true;
}

}  // namespace

void keep_memory_of_ranks(const Config& config) {
  // With more ranks, the unused memory would cost more than the page faults.
  constexpr std::int32_t kept_memory_ranks_max = 64;
  if (own_rank_count(config) <= kept_memory_ranks_max) os::keep_freed_memory();
}

std::int32_t own_rank_count(const Config& config) {
  if (config.wire) return config.rank_count;
  const mpi::RankLayout layout = layout_of(config);
  return layout.first_rank_of_process(config.own_process + 1) -
         layout.first_rank_of_process(config.own_process);
}

std::int32_t first_own_rank(const Config& config) {
  return config.wire ? 0 : layout_of(config).first_rank_of_process(config.own_process);
}

std::int32_t place_count(const Config& config) {
  if (config.universe_size > config.rank_count) {
    const std::int32_t count = own_rank_count(config) + config.universe_size - config.rank_count;
    // The program of a process with a single place would run unprivatized.
    return std::max(count, 2);
  }
  return config.moves_between ? config.rank_count : own_rank_count(config);
}

std::int32_t first_place(const Config& config) {
  return config.moves_between ? 0 : first_own_rank(config);
}

class Job::SpawnedPlaces final : public mpi::SpawnedRankHooks {
 public:
  explicit SpawnedPlaces(Job& job) : job_(job) {}

  void begin_spawned(mpi::RankState& rank) override {
    job_.start_fiber(rank, *rank.worker);
    trace_rank(rank);
    rank.worker->make_ready(rank.fiber);
  }

  bool end_spawned(mpi::RankState& rank) override {
    const bool is_free = job_.body_.end_spawned(rank);
    // Acquire and release: the last one has seen the effects of all others.
    if (job_.is_host_ && job_.hosted_count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      job_.note_rankless(*rank.worker);
    if (is_free) {
      job_.page_follower_.forget(job_.view_.index_of(rank));
      job_.stacks_.clear(job_.view_.index_of(rank));
    }
    return is_free;
  }

 private:
  Job& job_;
};

Job::Job(const Config& config, RankBody& body, transport::Transport* transport)
    : CheckedJob(config.check_folder, config.rank_count),
      body_(body),
      view_(worlds_,
            body,
            stacks_,
            {.first = first_place(config),
             .count = runtime::place_count(config),
             .is_process_mode = config.process_mode}),
      tracers_(config.trace_folder.empty() ? 0 : config.worker_count),
      trace_folder_(config.trace_folder),
      trace_bytes_max_(
          trace::part_bytes_max(std::uint64_t{config.process_count} * config.worker_count)),
      report_file_(config.report_file),
      stacks_(config.process_mode ? 0 : static_cast<std::size_t>(view_.place_count()),
              config.stack_bytes,
              os::StackSlab::Guards::later,
              runtime::rank_region(config).stacks),
      has_guard_(static_cast<std::size_t>(view_.place_count())),
      scheduler_(scheduler_options(config), *this),
      own_transport_(transport == nullptr ? make_transport(config, scheduler_) : nullptr),
      host_transport_(dynamic_cast<transport::HostTransport*>(own_transport_.get())),
      job_stop_(job_stop(config, scheduler_, host_transport_)),
      simulated_nodes_(simulated_nodes(config, scheduler_)),
      is_host_(runtime::own_rank_count(config) == 0),
      is_restarted_(config.restart_generation != 0),
      is_verbose_(config.is_verbose),
      spawned_places_(std::make_unique<SpawnedPlaces>(*this)) {
  core::JobMemory& memory = scheduler_.memory();
  if (memory.is_shared()) memory.mark_workers_gone(scheduler_.process(), scheduler_.worker_count());
  make_worlds(config, own_transport_ != nullptr ? own_transport_.get() : transport);
  SORREL_CHECK(!worlds_.empty() && view_.own_rank_count() <= view_.place_count(),
               "%zu worlds, addresses for %d ranks", worlds_.size(), view_.place_count());
  if (host_transport_ != nullptr) host_transport_->quiet().set_watcher(this);
  mpi::ProcessWorld& world = *worlds_.front();
  if (config.is_saved())
    saver_ = std::make_unique<JobSaver>(config, scheduler_.memory(), world, body_.states());
  if (config.moves_between) {
    RankPlaces& places = *this;
    mover_ = std::make_unique<RankMover>(config, world, body_.states(), places);
  }
}

void Job::make_worlds(const Config& config, transport::Transport* transport) {
  const mpi::RankLayout layout = layout_of(config);
  const mpi::TuningTable tuning = take_tuning_from_environment(config);
  mpi::MessageLimits limits;
  if (config.eager_bytes_max.value_or(0) != 0) limits.eager_bytes_max = *config.eager_bytes_max;
  if (simulated_nodes_ == nullptr) {
    worlds_.push_back(std::make_unique<mpi::ProcessWorld>(
        scheduler_, *this, layout,
        mpi::World::Connection{
            .transport = transport,
            .job_stop = job_stop_.get(),
            .rank_stacks = &stacks_,
            .has_comm_worker = config.has_comm_worker,
            .operation_stack_bytes = operation_stack_bytes(config),
            .moves_ranks = moves_ranks(config),
            .moves_between = config.moves_between,
            .shuffle_seed = config.shuffle_seed ? config.shuffle_seed : config.move_seed,
            .program_number = program_number_of(config),
            .limits = limits,
            .universe_size = config.universe_size},
        tuning));
    worlds_.front()->ports().own().set_job(number_of_job(config));
    spawns_ = std::make_unique<mpi::SpawnService>(*worlds_.front());
    return;
  }
  for (std::uint32_t i = 0; i < simulated_nodes_->count(); ++i) {
    worlds_.push_back(std::make_unique<mpi::ProcessWorld>(
        scheduler_, *this, layout,
        mpi::World::Connection{.transport = &simulated_nodes_->node(i),
                               .first_worker = simulated_nodes_->first_worker(i),
                               .is_simulated_node = true,
                               .has_comm_worker = config.has_comm_worker,
                               .operation_stack_bytes = operation_stack_bytes(config),
                               .limits = limits},
        tuning));
    worlds_.back()->ports().own().set_job(number_of_job(config));
  }
}

int Job::run() {
  if (!stacks_.is_valid()) end_without_stacks();
  if (saver_ != nullptr) {
    if (const std::string error = saver_->open(); !error.empty()) end_not_restarted(error);
    saver_->start_requests();
  }
  set_phase(core::ProcessPhase::running);
  if (view_.place_count() > 1 && mover_ == nullptr) {
    deadlock_watch_ = std::make_unique<DeadlockWatch>(
        scheduler_, worlds_, [this](const auto& ranks) { report_stuck(ranks); });
  }
  const auto watch = make_stall_watch();
  // Without ranks it runs until drop_fiber().
  scheduler_.run(is_host_ ? 1 : static_cast<std::uint32_t>(view_.own_rank_count()));
  have_workers_ended_ = true;
  if (saver_ != nullptr) saver_->finish();
  if (is_verbose_) report_loans(scheduler_);
  const core::BalanceStage stage = core::balance_stage();
  const bool has_measured =
      stage == core::BalanceStage::as_configured || stage == core::BalanceStage::measuring;
  if (is_verbose_ && worlds_.front()->balancer() != nullptr && has_measured)
    report_moves(worlds_.front()->balancer()->report());
  if (is_verbose_) report_pages(page_follower_.report());
  if (is_verbose_ && mover_ != nullptr && worlds_.front()->own_process() == 0)
    report_moves_between(mover_->report());
  if (own_transport_ != nullptr) own_transport_->finish();
  set_phase(core::ProcessPhase::finished);
  loop::FiberTeam::deregister(scheduler_);
  return worst_status_.load(std::memory_order_relaxed);
}

/// Null if no rank can keep another one from running.
std::unique_ptr<StallWatch> Job::make_stall_watch() {
  if (view_.place_count() == 1) return nullptr;
  const StallWatch::Options options{.rank_count = worlds_.front()->size(),
                                    .is_verbose = is_verbose_,
                                    .on_wake = answer_report_request,
                                    .deadlocks = deadlock_watch_.get()};
  return std::make_unique<StallWatch>(scheduler_, worlds_, body_, options);
}

void Job::end_not_restarted(const std::string& error) {
  end_job(nullptr, 1, ("cannot restart: " + error).c_str());
}

/// A rank may return from here in another process: nothing of this one is used afterwards.
void Job::save_begin(mpi::RankState& rank) {
  if (saver_ != nullptr) saver_->save_begin(rank);
}

int Job::save_job(mpi::RankState& rank) {
  if (saver_ != nullptr) return saver_->save(rank);
  static std::atomic_flag is_reported;
  // Relaxed: only the first one counts.
  if (!is_reported.test_and_set(std::memory_order_relaxed)) {
    os::write_all(STDERR_FILENO,
                  "sorrel: no checkpoint, and the job goes on: it was not started with "
                  "--checkpoint\n");
  }
  return -1;
}

void Job::end_without_stacks() {
  char message[160];
  std::snprintf(message, sizeof message,
                "no memory for %d stacks of %zu KiB: use a smaller --stack or fewer ranks",
                view_.place_count(), stacks_.stack_bytes() >> 10);
  end_job(nullptr, 1, message);
}

void Job::on_thread_start() {
  install_signal_stack();
  body_.on_thread_start();
}

void Job::on_thread_end() {
  remove_signal_stack();
}

void Job::on_thread_refused(std::uint32_t started) {
  const std::string message =
      text_of("cannot start %u workers: the system allows %u thread(s) (%s); use --workers %u",
              scheduler_.worker_count(), started, os::describe_thread_limits().c_str(), started);
  end_job(nullptr, exit_cannot_execute, message.c_str());
}

void Job::begin_trace(core::Worker& worker) {
  if (checker() != nullptr) {
    // The one worker of a process of a checked run. A tracer without a file writes nothing, and no
    // line about it.
    has_trace_failed_.test_and_set(std::memory_order_relaxed);
    message_tracer_ =
        std::make_unique<trace::Tracer>("/dev/null", trace::Origin{}, 0, has_trace_failed_);
    worker.set_tracer(message_tracer_.get());
  }
  if (tracers_.empty()) return;
  const trace::Origin origin{.process = worlds_.front()->own_process(), .worker = worker.index()};
  SORREL_ASSERT(worker.index() < tracers_.size(), "worker %u of %zu", worker.index(),
                tracers_.size());
  auto& tracer = tracers_[worker.index()];
  SORREL_ASSERT(tracer == nullptr, "worker %u is traced already", worker.index());
  tracer =
      std::make_unique<trace::Tracer>(trace_folder_, origin, trace_bytes_max_, has_trace_failed_);
  worker.set_tracer(tracer.get());
}

/// On the governor's thread, the only one that changes the width.
void Job::on_width_change(std::uint32_t before, std::uint32_t now) {
  if (tracers_.empty()) return;
  if (governor_tracer_ == nullptr) {
    governor_tracer_ = std::make_unique<trace::Tracer>(
        trace_folder_,
        trace::Origin{.process = worlds_.front()->own_process(), .worker = trace::no_worker},
        trace_bytes_max_, has_trace_failed_);
  }
  governor_tracer_->add(trace::Record::now(trace::Kind::width, now, before));
}

/// The names of a worker's ranks.
void Job::trace_ranks(core::Worker& worker) {
  if (worker.tracer() == nullptr) return;
  for (const auto& world : worlds_) {
    for (std::int32_t i = world->first_own_rank(); i < world->last_own_rank(); ++i) {
      const mpi::RankState& rank = world->rank(i);
      if (rank.worker == &worker) trace_rank(rank);
    }
  }
}

void Job::on_worker_start(core::Worker& worker) {
  begin_trace(worker);
  if (own_transport_ != nullptr) own_transport_->start(worker);
  for (const auto& world : worlds_) {
    if (world->has_worker(worker)) prepare_ranks(*world, worker);
  }
  trace_ranks(worker);
}

void Job::prepare_ranks(mpi::ProcessWorld& world, core::Worker& worker) {
  world.make_ranks(worker);
  const mpi::Endpoint endpoint = world.endpoint_of(worker);
  const std::int32_t first = world.layout().first_rank(endpoint);
  const std::int32_t last = world.layout().last_rank(endpoint);
  SORREL_ASSERT(first >= world.first_own_rank() && last <= world.last_own_rank(),
                "ranks %d to %d of worker %u, in a process of ranks %d to %d", first, last,
                worker.index(), world.first_own_rank(), world.last_own_rank());
  SORREL_CHECK(!is_restarted_ || saver_ != nullptr, "a restart without checkpoints");
  // Each worker installs the guards of its own ranks, before any image is mapped: guards need the
  // system's lock of the address space for reading only, maps need it for writing.
  for (std::int32_t i = first; i < last; ++i) {
    mpi::RankState& rank = world.rank(i);
    rank.place = static_cast<std::int32_t>(view_.index_of(i));
    if (!install_guard(rank)) end_without_stacks();
  }
  for (std::int32_t i = first; i < last; ++i) {
    mpi::RankState& rank = world.rank(i);
    if (const std::string error = prepare_rank(rank, worker); !error.empty())
      end_job(&rank, 1, error.c_str());
    worker.make_ready(rank.fiber);
    if (!is_restarted_) continue;
    if (const std::string why = saver_->restore(rank); !why.empty()) end_not_restarted(why);
  }
}

/// Once for each stack, however often its rank comes.
bool Job::install_guard(const mpi::RankState& rank) {
  const std::size_t index = view_.index_of(rank);
  SORREL_CHECK(index < has_guard_.size(), "rank %d at place %zu of %zu", rank.world_rank, index,
               has_guard_.size());
  if (has_guard_[index] == 0) has_guard_[index] = stacks_.install_guard(index) ? 1 : 0;
  return has_guard_[index] != 0;
}

std::string Job::prepare_rank(mpi::RankState& rank, core::Worker& worker) {
  rank.place = static_cast<std::int32_t>(view_.index_of(rank.world_rank));
  if (!install_guard(rank)) return "the system gives no guard for a stack";
  const char* error = nullptr;
  if (!body_.prepare(rank, &error)) return error;
  start_fiber(rank, worker);
  return "";
}

/// It waits.
void Job::start_fiber(mpi::RankState& rank, core::Worker& worker) {
  // The color is the rank's number in the job, equal in every process. A spawned rank stays in its
  // process.
  const std::int32_t color = rank.spawned == nullptr ? rank.world_rank : rank.place;
  SORREL_ASSERT(color >= 0 && rank.place >= 0 && rank.place < view_.place_count(),
                "rank %d at place %d of %d", rank.world_rank, rank.place, view_.place_count());
  const std::size_t bytes = stacks_.usable_bytes(static_cast<std::size_t>(color));
  worker.prepare(rank.fiber, stacks_.bottom(view_.index_of(rank)), bytes, rank_entry, &rank);
}

mpi::FoundProgram Job::find_program(const mpi::SpawnCommand& command) {
  return body_.find_program(command);
}

std::string Job::prepare_spawned(std::span<mpi::RankState* const> ranks,
                                 const mpi::SpawnCommand& command) {
  for (const mpi::RankState* rank : ranks) {
    if (!install_guard(*rank)) return "the system gives no guard for a stack";
  }
  return body_.prepare_spawned(ranks, command);
}

void Job::drop_spawned(std::span<mpi::RankState* const> ranks) {
  for (const mpi::RankState* rank : ranks)
    (void)body_.end_spawned(*rank);
}

void Job::start_spawned(std::span<mpi::RankState* const> ranks) {
  SORREL_ASSERT(worlds_.front()->spawned() != nullptr, "a job without places for spawned ranks");
  // Relaxed: the rank that spawns these has not ended.
  if (is_host_ && hosted_count_.fetch_add(static_cast<std::int32_t>(ranks.size()),
                                          std::memory_order_relaxed) == 0)
    scheduler_.memory().change_rankless_count(-1);
  scheduler_.add_fibers(static_cast<std::uint32_t>(ranks.size()));
  worlds_.front()->spawned()->start(ranks);
}

/// A process that gets its first ranks is counted before the one that has asked for them: the count
/// is never above that of processes without ranks.
void Job::note_rankless(core::Worker& worker) {
  core::JobMemory& memory = scheduler_.memory();
  memory.change_rankless_count(1);
  if (!have_all_ranks_ended()) return;
  const mpi::RankLayout& layout = worlds_.front()->layout();
  for (std::uint32_t process = 0; process < layout.process_count(); ++process) {
    if (layout.first_rank_of_process(process) == layout.first_rank_of_process(process + 1))
      worker.request_attention_of(process * memory.shape().workers_per_process);
  }
}

bool Job::have_all_ranks_ended() {
  const mpi::RankLayout& layout = worlds_.front()->layout();
  std::int32_t count = 0;
  for (std::uint32_t process = 0; process < layout.process_count(); ++process) {
    if (layout.first_rank_of_process(process) != layout.first_rank_of_process(process + 1)) ++count;
  }
  return scheduler_.memory().rankless_count() == count;
}

void Job::clear_rank(mpi::RankState& rank) {
  SORREL_ASSERT(mover_ != nullptr, "rank %d leaves a job whose ranks stay", rank.world_rank);
  page_follower_.forget(view_.index_of(rank));
  body_.states().clear(rank);
  stacks_.clear(view_.index_of(rank));
}

void Job::begin_change() {
  runtime::begin_change(*this);
}

void Job::end_change() {
  publish_ranks();
  runtime::end_change(*this);
}

void Job::publish_ranks() const {
  std::vector<const core::Fiber*> fibers;
  for (const auto& world : worlds_) {
    for (std::int32_t i = world->first_own_rank(); i < world->last_own_rank(); ++i)
      fibers.push_back(&world->rank(i).fiber);
  }
  SORREL_ASSERT(fibers.size() == static_cast<std::size_t>(view_.own_rank_count()),
                "%zu fibers of %d ranks", fibers.size(), view_.own_rank_count());
  const std::int32_t first = worlds_.front()->first_own_rank();
  publish_ranks_to_debuggers(std::move(fibers), first, view_.is_process_mode() ? nullptr : &stacks_,
                             view_.index_of(first));
}

void Job::on_all_started() {
  body_.on_all_prepared();
  if (is_restarted_) {
    if (const std::string why = saver_->restore_objects(); !why.empty()) end_not_restarted(why);
    if (const std::string why = saver_->cut_written_files(); !why.empty()) end_not_restarted(why);
  }
  // All other processes may have ended.
  if (is_host_) scheduler_.worker(0).request_attention();
  // The workers wait for this call.
  if (!tracers_.empty()) tracers_.front()->add_code();
  publish_ranks();
  open_window(*this);
  loop::FiberTeam::govern_fibers(scheduler_);
}

void Job::on_settings_change(core::Worker& worker, const core::Fiber& next) {
  body_.on_settings_change(worker, next);
}

bool Job::may_lend(const core::Fiber& fiber) {
  const auto& rank = *static_cast<const mpi::RankState*>(fiber.user);
  // An operation uses the rank's thread control block here.
  return !mpi::has_operation_in_progress(rank) && body_.may_lend(rank);
}

bool Job::may_move(const mpi::RankState& rank) {
  return body_.may_move(rank);
}

void Job::on_moved(const mpi::RankState& rank, const core::Worker& from) {
  SORREL_ASSERT(rank.worker != &from, "rank %d has moved to its own worker", rank.world_rank);
  const core::WorkerNodes& nodes = scheduler_.nodes();
  const int node = nodes.node_of(rank.worker->index());
  if (node == nodes.node_of(from.index())) return;
  std::vector<os::MemoryRange> memory = body_.states().thread_locals(rank);
  const std::size_t index = view_.index_of(rank);
  const auto stack = reinterpret_cast<std::uintptr_t>(stacks_.bottom(index));
  memory.push_back({stack, stack + stacks_.stack_bytes()});
  std::ranges::copy(body_.states().memory(rank), std::back_inserter(memory));
  page_follower_.follow(index, std::move(memory), node);
}

void Job::on_attention(core::Worker& worker) {
  if (job_stop_ != nullptr) job_stop_->on_attention(worker);
  if (deadlock_watch_ != nullptr) deadlock_watch_->on_attention(worker);
  body_.on_attention(worker);
  if (mpi::SpawnedRanks* spawned = worlds_.front()->spawned(); spawned != nullptr) {
    // That of the rank in whose wait this is called.
    const int saved_errno = errno;
    spawned->progress(worker, *spawned_places_);
    errno = saved_errno;
  }
  if (is_host_ && worker.index() == 0 && !is_over_ && have_all_ranks_ended()) {
    is_over_ = true;
    scheduler_.drop_fiber();
  }
}

void Job::on_guest_wait(core::Guest& guest) {
  // What a report says of the rank's main thread.
  auto& rank = *static_cast<mpi::RankState*>(guest.fiber().user);
  if (&guest.fiber() == &rank.fiber) on_guest_resume(guest);
}

/// Other threads of the rank have called meanwhile.
void Job::on_guest_resume(core::Guest& guest) {
  auto& rank = *static_cast<mpi::RankState*>(guest.fiber().user);
  rank.fiber.call = guest.call;
  rank.fiber.call_site = guest.call_site;
}

bool Job::has_threads_outside(core::Worker& worker) {
  // Threads of a process are not counted, and any may call.
  if (view_.is_process_mode()) return true;
  for (const auto& world : worlds_) {
    if (!world->has_worker(worker)) continue;
    // The list has the ranks that have moved to this worker, too.
    for (const mpi::RankState* rank : world->state_of(worker).ranks) {
      if (!rank->fiber.is_guest || rank->fiber.state == core::FiberState::ended) continue;
      if (rank->waiting_thread_count < 1 + body_.started_thread_count(*rank)) return true;
    }
    if (world->spawned() == nullptr) continue;
    bool has_any = false;
    world->spawned()->for_each([&](const mpi::RankState& rank) {
      has_any |= rank.worker == &worker && rank.fiber.is_guest &&
                 rank.fiber.state != core::FiberState::ended &&
                 rank.waiting_thread_count < 1 + body_.started_thread_count(rank);
    });
    if (has_any) return true;
  }
  return false;
}

void Job::on_worker_end(core::Worker& worker) {
  // Before the worker counts as asleep for good: a process that waits for the end is woken first.
  if (!is_host_ && worker.index() == 0 && scheduler_.memory().is_shared()) note_rankless(worker);
  if (saver_ != nullptr) saver_->wait_for_writer();
  close_window(*this);
  // Libraries that the program has opened.
  if (worker.tracer() != nullptr && worker.index() == 0) worker.tracer()->add_code();
  for (const auto& world : worlds_) {
    if (world->has_worker(worker)) world->end_ranks(worker);
  }
}

/// The frame of a rank that is restored, as that of rank_entry(): after the program has run, it
/// uses nothing of the process in which the rank began.
[[gnu::noinline]] int Job::run_body(mpi::RankState& rank) {
  return static_cast<Job&>(rank.world->job()).body_.run(rank);
}

void Job::rank_entry(void* argument) {
  const int status = run_body(*static_cast<mpi::RankState*>(argument));
  // Its own thread may run it at its end.
  core::Guest* const guest = core::Guest::current();
  auto& rank =
      guest == nullptr ? *mpi::current_rank() : *static_cast<mpi::RankState*>(guest->fiber().user);
  static_cast<Job&>(rank.world->job()).end_rank(rank, status);
}

void Job::attach_calling_thread() {
  SORREL_CHECK(view_.place_count() == 1, "the calling thread cannot be %d ranks",
               view_.place_count());
  install_signal_stack();
  begin_trace(scheduler_.worker(0));
  worlds_.front()->make_ranks(scheduler_.worker(0));
  trace_ranks(scheduler_.worker(0));
  if (!tracers_.empty()) tracers_.front()->add_code();
  scheduler_.attach_thread(attached_rank().fiber);
  if (own_transport_ != nullptr) own_transport_->start(scheduler_.worker(0));
  publish_ranks();
  open_window(*this);
  set_phase(core::ProcessPhase::running);
}

void Job::end_attached_rank(int status) {
  const mpi::RankState& rank = attached_rank();
  if (mpi::is_running(rank.phase)) end_without_finalize(rank, status);
  if (core::Guest* guest = core::Guest::current(); guest != nullptr) guest->enter();
  // The rank's state is kept: code that runs at the process's end may still use it.
  drain(*rank.worker_state);
  if (own_transport_ != nullptr) own_transport_->finish();
  if (scheduler_.memory().is_shared()) scheduler_.memory().mark_gone(rank.worker->id());
  rank.worker->set_tracer(nullptr);
  tracers_.clear();
}

void Job::record_finalized(const mpi::RankState& /*rank*/) {
  if (view_.is_process_mode()) set_phase(core::ProcessPhase::finished);
}

void Job::set_phase(core::ProcessPhase phase) {
  core::JobMemory& memory = scheduler_.memory();
  // Release, pairs with the acquire of the process that waits for this one.
  if (memory.is_shared())
    memory.process(scheduler_.process()).phase.store(phase, std::memory_order_release);
}

void Job::require_finalized(const mpi::RankState& rank, int status) {
  const mpi::Phase phase = __atomic_load_n(&rank.phase, __ATOMIC_RELAXED);
  if (mpi::is_running(phase) || phase == mpi::Phase::in_handler) end_without_finalize(rank, status);
}

void Job::end_without_finalize(const mpi::RankState& rank, int status) {
  char message[120];
  std::snprintf(message, sizeof message,
                "rank %d: ended with status %d without calling MPI_Finalize", rank.world_rank,
                status);
  if (checker() != nullptr) checker()->on_missing_finalize(rank);
  set_phase(core::ProcessPhase::left);
  end_job(&rank, failure_status(status), message);
}

void Job::end_rank(mpi::RankState& rank, int status) {
  require_finalized(rank, status);
  int worst = worst_status_.load(std::memory_order_relaxed);
  while (worst < (status & 0xff) &&
         !worst_status_.compare_exchange_weak(worst, status & 0xff, std::memory_order_relaxed)) {
  }
  if (core::Guest::current() != nullptr) core::FiberThread::move_back();
  if (rank.spawned != nullptr) worlds_.front()->spawned()->end(rank);
  rank.worker->end_fiber();
}

bool Job::claim_ending() {
  // Acquire and release: only one thread reports.
  if (is_ending_.test_and_set(std::memory_order_acq_rel)) return false;
  ending_thread_.store(gettid(), std::memory_order_relaxed);
  record_host_ending();
  core::JobMemory& memory = scheduler_.memory();
  return !memory.is_shared() || memory.claim_ending(scheduler_.process());
}

bool Job::is_ended_by_caller() {
  if (ending_thread_.load(std::memory_order_relaxed) != gettid()) return false;
  // The thread has claimed the end for this process; another process may have been first.
  const core::JobMemory& memory = scheduler_.memory();
  return !memory.is_shared() ||
         memory.ending_process() == static_cast<std::int32_t>(scheduler_.process());
}

std::optional<std::uint32_t> Job::process_number() const {
  const bool is_alone = worlds_.front()->transport() == nullptr || simulated_nodes_ != nullptr;
  return is_alone ? std::nullopt : std::optional(worlds_.front()->own_process());
}

/// Another thread or process has claimed the end.
void Job::end_after_another(int status) {
  core::JobMemory& memory = scheduler_.memory();
  const bool is_elsewhere =
      memory.is_shared() &&
      memory.ending_process() != static_cast<std::int32_t>(scheduler_.process());
  // The parent waits for processes whose ranks run: here none of them does any more.
  if (is_elsewhere &&
      late_end_count_.fetch_add(1, std::memory_order_relaxed) + 1 == scheduler_.worker_count())
    _exit(status);
  // The end of the process is near.
  for (;;)
    ::poll(nullptr, 0, -1);
}

symbols::Backtrace Job::backtrace_of(const mpi::RankState* rank) const {
  symbols::Backtrace backtrace(is_verbose_);
  const mpi::RankServices* services = rank == nullptr ? nullptr : rank->services_if_used.get();
  const sorrel_fortran_calls* bindings = services == nullptr ? nullptr : services->fortran_calls;
  if (bindings != nullptr) backtrace.leave_out_bindings(bindings->begin, bindings->end);
  return backtrace;
}

void Job::do_end_job(const mpi::RankState* failed_rank, int code, const char* message) {
  // The classes of errors that a program adds begin at a multiple of 256.
  const int status = failure_status(code);
  // The failed rank's own output is printed before the message, and also if another rank has ended
  // the job first. Other ranks may be writing theirs.
  if (failed_rank != nullptr) body_.flush(failed_rank->world->rank(failed_rank->world_rank));
  if (!claim_ending()) end_after_another(status);
  if (message[0] != '\0') {
    os::write_all(STDERR_FILENO, "sorrel: " + printable(message) + "\n");
    // Where the program has made the call that ends the job.
    const bool is_here = failed_rank != nullptr && mpi::peek_rank() == failed_rank;
    const symbols::Backtrace::Texts calls =
        is_here ? calls_of_program(backtrace_of(failed_rank)) : symbols::Backtrace::Texts{};
    symbols::write_calls(calls);
    report_file_.write(
        {.kind = "error",
         .status = status,
         .what = message,
         .rank = failed_rank != nullptr ? std::optional(failed_rank->world_rank) : std::nullopt,
         .process = process_number(),
         .signal = std::nullopt,
         .calls = calls});
  }
  end_others_and_exit(status);
}

/// Slurm, asked to end the other processes, kills all of them and returns a status of its own:
/// they end by themselves if they can.
void Job::end_others_and_exit(int status) {
  core::JobMemory& memory = scheduler_.memory();
  bool have_others_ended = false;
  if (must_end_others() && host_transport_ != nullptr) {
    have_others_ended = host_transport_->end_others(status);
  } else if (must_end_others() && memory.is_shared()) {
    memory.request_reports(scheduler_.process());
    // Release, pairs with end_after_report(): this process has written all it says.
    memory.process(scheduler_.process())
        .report_bytes.store(static_cast<std::uint32_t>(status), std::memory_order_release);
    const std::int64_t give_up_ns = os::monotonic_ns() + report_wait_ns;
    const std::uint32_t process_count = worlds_.front()->layout().process_count();
    while (!(have_others_ended = have_all_reported(memory, process_count)) &&
           os::monotonic_ns() < give_up_ns)
      os::sleep_ns(100'000);
  }
  if (!have_others_ended) abort_host(status);
  _exit(status);
}

void Job::on_all_asleep() {
  if (host_transport_ != nullptr) {
    host_transport_->quiet().note_all_asleep();
    return;
  }
  // Another process may still send a message, unless its workers were counted as well.
  const bool has_unseen_peers =
      worlds_.front()->transport() != nullptr && simulated_nodes_ == nullptr;
  if (has_unseen_peers && !scheduler_.memory().is_shared()) return;
  // Only one process reports; the others are woken by its requests, or by its end.
  if (!claim_ending()) return;
  flush_all();
  report::WaitTable table = own_waits();
  if (scheduler_.memory().is_shared()) add_remote_waits(table);
  end_in_deadlock(table);
}

void Job::on_deadlock() {
  if (!claim_ending()) return;
  flush_all();
  report::WaitTable table = own_waits();
  const mpi::RankLayout& layout = worlds_.front()->layout();
  SORREL_ASSERT(host_transport_ != nullptr, "a deadlock of processes without a host MPI");
  const auto reports = host_transport_->quiet().gather_reports();
  SORREL_CHECK(reports.size() >= layout.process_count(), "%zu reports of %u processes",
               reports.size(), layout.process_count());
  for (std::uint32_t process = 0; process < layout.process_count(); ++process) {
    const auto& report = reports[process];
    if (report.has_come) {
      table.add(report.text);
    } else {
      table.add_unknown(layout.first_rank_of_process(process),
                        layout.first_rank_of_process(process + 1));
    }
  }
  end_in_deadlock(table);
}

std::string Job::text_of_waits(std::size_t bytes_max) {
  flush_all();
  return own_waits().text(bytes_max);
}

report::WaitTable Job::own_waits() const {
  return have_workers_ended_ ? report::WaitTable() : waits_of(worlds_);
}

void Job::report_stuck(const std::vector<mpi::WaitGraph::Stuck>& ranks) {
  SORREL_ASSERT(!ranks.empty(), "a deadlock of no ranks");
  if (!claim_ending()) return;
  flush_all();
  std::vector<report::WaitTable::StuckRank> stuck;
  stuck.reserve(ranks.size());
  for (const mpi::WaitGraph::Stuck& rank : ranks)
    stuck.push_back({.rank = rank.rank, .awaited = rank.awaited});
  report::WaitTable table = own_waits();
  table.keep_only(stuck);
  end_in_deadlock(table);
}

void Job::end_in_deadlock(const report::WaitTable& table) {
  // With those that have ended.
  const std::int32_t rank_count = worlds_.front()->rank_number_end();
  os::write_all(STDERR_FILENO, report::deadlock_report(table, rank_count));
  report_file_.write_deadlock(table, rank_count, exit_deadlock);
  if (is_verbose_) write_latest_events(view_);
  if (checker() != nullptr) {
    std::vector<std::int32_t> ranks;
    for (const report::RankWait& wait : table.waits())
      ranks.push_back(wait.rank);
    checker()->on_deadlock(ranks);
  }
  end_others_and_exit(exit_deadlock);
}

void Job::on_end(int status) {
  // The process that ends the job has the claim of all processes of its node.
  if (is_ending_.test_and_set(std::memory_order_acq_rel)) return;
  record_host_ending();
  flush_all();
  _exit(status);
}

void Job::flush_all() {
  if (have_workers_ended_) return;
  for (const auto& world : worlds_) {
    world->for_each_rank([this](mpi::RankState& rank) { body_.flush(rank); });
  }
}

/// Requests the waits of every process that has not ended, and waits for the answers for a limited
/// time.
void Job::add_remote_waits(report::WaitTable& table) {
  core::JobMemory& memory = scheduler_.memory();
  memory.request_reports(scheduler_.process());
  const std::int64_t give_up_ns = os::monotonic_ns() + report_wait_ns;
  const mpi::RankLayout& layout = worlds_.front()->layout();
  for (std::uint32_t process = 0; process < layout.process_count(); ++process) {
    if (process == scheduler_.process()) continue;
    core::ProcessStatus& status = memory.process(process);
    // Acquire, pairs with the release in on_report_requested().
    std::uint32_t bytes = 0;
    while ((bytes = status.report_bytes.load(std::memory_order_acquire)) == 0 &&
           status.phase.load(std::memory_order_acquire) == core::ProcessPhase::running &&
           os::monotonic_ns() < give_up_ns)
      os::sleep_ns(100'000);
    if (bytes != 0) {
      const std::span<const char> space = memory.report_space(process);
      SORREL_CHECK(bytes - 1 <= space.size(), "process %u has written %u bytes", process,
                   bytes - 1);
      table.add({space.data(), bytes - 1});
    } else if (status.phase.load(std::memory_order_acquire) == core::ProcessPhase::running) {
      table.add_unknown(layout.first_rank_of_process(process),
                        layout.first_rank_of_process(process + 1));
    }
  }
}

void Job::on_report_requested() {
  // On any worker of this process; one reports.
  if (has_reported_.test_and_set(std::memory_order_relaxed)) return;
  flush_all();
  core::JobMemory& memory = scheduler_.memory();
  const std::span<char> space = memory.report_space(scheduler_.process());
  const std::string text = own_waits().text(space.size());
  SORREL_CHECK(text.size() <= space.size(), "%zu bytes of waits", text.size());
  std::ranges::copy(text, space.begin());
  // Release: the text is written before.
  memory.process(scheduler_.process())
      .report_bytes.store(static_cast<std::uint32_t>(text.size()) + 1, std::memory_order_release);
  if (must_end_others()) end_after_report(memory);
}

/// Ends this process with the status of the one that ends the job, when that has written its
/// report.
void Job::end_after_report(core::JobMemory& memory) {
  SORREL_ASSERT(memory.ending_process() >= 0, "no process ends the job");
  const auto reporter = static_cast<std::uint32_t>(memory.ending_process());
  const std::int64_t give_up_ns = os::monotonic_ns() + 2 * report_wait_ns;
  std::uint32_t status = 0;
  // Acquire, pairs with end_others_and_exit().
  while ((status = memory.process(reporter).report_bytes.load(std::memory_order_acquire)) == 0) {
    if (os::monotonic_ns() >= give_up_ns) return;
    os::sleep_ns(100'000);
  }
  static_cast<void>(claim_ending());
  _exit(static_cast<int>(status));
}

}  // namespace sorrel::runtime
