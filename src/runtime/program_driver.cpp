// The composition root of `sorrel run`: every rank runs a privatized image of the program.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "checkpoint/written_files.hpp"
#include "core/guest.hpp"
#include "core/later_balance.hpp"
#include "device/buffers.hpp"
#include "launch/rank_variables.hpp"
#include "loop/team/loop.hpp"
#include "mpi/base/object_memory.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/guard_install.hpp"
#include "os/thread_pointer.hpp"
#include "os/thread_rights.hpp"
#include "program/base/libc.hpp"
#include "program/gpu/device_wait.hpp"
#include "program/gpu/process_buffers.hpp"
#include "program/gpu/substitutes.hpp"
#include "program/heap/rank_heaps.hpp"
#include "program/image/debugger.hpp"
#include "program/image/held_back.hpp"
#include "program/image/image.hpp"
#include "program/image/image_slab.hpp"
#include "program/image/library_check.hpp"
#include "program/image/library_pointers.hpp"
#include "program/image/start.hpp"
#include "program/image/symbol_substitution.hpp"
#include "program/rank/device_settings.hpp"
#include "program/rank/device_states.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"
#include "program/rank/worker_settings.hpp"
#include "program/signals/signal_delivery.hpp"
#include "program/state/rank_files.hpp"
#include "program/state/signal_table.hpp"
#include "program/threads/thread_block.hpp"
#include "report/memory_rows.hpp"
#include "runtime/activity_report.hpp"
#include "runtime/balance_start.hpp"
#include "runtime/base/this_process.hpp"
#include "runtime/checkpoint/known_descriptors.hpp"
#include "runtime/checkpoint/program_layout.hpp"
#include "runtime/checkpoint/program_memory.hpp"
#include "runtime/checkpoint/save_requests.hpp"
#include "runtime/crash_report.hpp"
#include "runtime/device_ranks.hpp"
#include "runtime/end_request.hpp"
#include "runtime/host/host_job.hpp"
#include "runtime/image_note.hpp"
#include "runtime/job.hpp"
#include "runtime/moves/give_up.hpp"
#include "runtime/process_config.hpp"
#include "runtime/process_mode.hpp"
#include "runtime/rank_environment.hpp"
#include "runtime/rank_guests.hpp"
#include "runtime/rank_memory.hpp"
#include "runtime/rank_region.hpp"
#include "runtime/rank_threads.hpp"
#include "runtime/spawned_program.hpp"
#include "runtime/thread_bonds.hpp"
#include "runtime/uncaught_exception.hpp"
#include "runtime/wrapped_job.hpp"

namespace sorrel::runtime {

namespace {

/// The memory maps of a rank beside its image: a stack with its guard, if the kernel cannot guard
/// without a map.
int maps_per_rank() {
  constexpr int maps_per_stack = 2;
  return os::has_guard_install() ? 0 : maps_per_stack;
}

constexpr int bad_program_status = 2;

void use_initial_locale() {
  if (program::WorkerSettings::are_ranks_separate()) program::WorkerSettings::use_initial_locale();
}

bool gives_blocks(launch::Balance balance) {
  return balance == launch::Balance::steal || balance == launch::Balance::measured;
}

/// Not with simulated nodes, which share nothing, and not with a seed.
bool may_balance_later(const Config& config) {
  return config.balance == launch::Balance::automatic && !config.wire && !config.seed &&
         BalanceStart::can_begin(own_rank_count(config), place_count(config),
                                 config.rank_worker_count());
}

class ProgramBody final : public RankBody, public ProgramStates {
 public:
  ProgramBody(const program::ProgramStart& start,
              const program::ImageSlab& slab,
              program::Image& image,
              const Config& config)
      : start_(start),
        slab_(slab),
        image_(image),
        config_(config),
        image_note_(config.is_verbose),
        has_thread_blocks_(image.needs_thread_block() || gives_blocks(config.balance) ||
                           config.is_saved()),
        has_openmp_(image.uses_openmp()),
        begins_balance_later_(!has_openmp_ && may_balance_later(config)),
        thread_blocks_(has_thread_blocks_ || begins_balance_later_ ? place_count(config) : 0,
                       rank_region(config).thread_blocks),
        ranks_(static_cast<std::size_t>(place_count(config))) {}

  bool prepare(mpi::RankState& rank, const char** error) override {
    return prepare(rank, start_, config_.is_launched ? variables_of(rank) : std::string(), error);
  }

  mpi::FoundProgram find_program(const mpi::SpawnCommand& command) override {
    const SpawnedProgram program(command);
    return {.error = program.error(), .file = program.path(), .is_own = program.is_own()};
  }

  std::string prepare_spawned(std::span<mpi::RankState* const> ranks,
                              const mpi::SpawnCommand& command) override {
    const auto program = std::make_shared<const SpawnedProgram>(command);
    if (!program->error().empty()) return program->error();
    if (!program->is_own()) return program->path() + ": this process runs another program";
    program::ProgramStart start = start_;
    start.argc = program->argument_count();
    start.argv = program->arguments();
    // Its MPI_COMM_WORLD is not there.
    launch::RankNumbers numbers{.rank = command.first_rank,
                                .rank_count = command.world_size,
                                .local_rank = command.first_rank,
                                .local_rank_count = command.world_size};
    for (mpi::RankState* rank : ranks) {
      const char* error = nullptr;
      const std::string variables =
          config_.is_launched ? launch::text_of_rank_variables(numbers) : std::string();
      if (!prepare(*rank, start, variables, &error)) return command.program + ": " + error;
      numbers.local_rank = ++numbers.rank;
      ranks_[static_cast<std::size_t>(index_of(*rank))].spawned = program;
    }
    const std::scoped_lock lock(ranks_mutex_);
    program::set_signal_targets(processes());
    return "";
  }

  bool end_spawned(const mpi::RankState& rank) override {
    const int index = index_of(rank);
    Rank ended;
    {
      const std::scoped_lock lock(ranks_mutex_);
      Rank& mine = ranks_[static_cast<std::size_t>(index)];
      // Threads of the rank use its memory until the process ends.
      if (mine.process != nullptr && mine.process->started_threads().any()) return false;
      std::swap(ended, mine);
      program::set_signal_targets(processes());
    }
    thread_blocks_.end(index);
    if (ended.process == nullptr) return true;
    ended.process->libraries().remove_all();
    ended.process.reset();
    slab_.clear(index);
    if (program::rank_heaps().count() != 0)
      program::rank_heaps().end_rank(static_cast<std::uint64_t>(index));
    return true;
  }

  bool prepare(mpi::RankState& rank,
               const program::ProgramStart& start,
               const std::string& variables,
               const char** error) {
    const int index = index_of(rank);
    if (!image_note_.make(slab_, index)) {
      *error = "no memory for a privatized image of the program";
      return false;
    }
    const program::OutputFormat format{
        .has_rank_labels = config_.has_rank_labels,
        .completes_last_line = config_.rank_count > 1 || config_.universe_size > 1};
    auto process = std::make_unique<program::RankProcess>(start, slab_.copy(index), rank.world_rank,
                                                          format, variables);
    const os::StackSlab& stacks = job_of(rank).view().stacks();
    process->set_fiber(rank.fiber, stacks.bottom(static_cast<std::size_t>(index)),
                       stacks.stack_bytes());
    // Streams in the memory of a rank are the program's.
    if (config_.has_safepoints()) process->streams().open();
    {
      const std::scoped_lock lock(ranks_mutex_);
      SORREL_CHECK(index >= 0 && static_cast<std::size_t>(index) < ranks_.size(),
                   "rank %d has index %d of %zu", rank.world_rank, index, ranks_.size());
      Rank& mine = ranks_[static_cast<std::size_t>(index)];
      SORREL_ASSERT(mine.process == nullptr, "the place of rank %d is taken", rank.world_rank);
      mine.rank = &rank;
      mine.process = std::move(process);
    }
    if (!has_thread_blocks_) return true;
    // The rank has been here before.
    rank.fiber.thread_pointer = thread_blocks_.created(index);
    core::Worker::set_current_of(rank.fiber, rank.worker);
    if (rank.fiber.thread_pointer != 0) return true;
    rank.fiber.thread_pointer = create_block(rank);
    if (rank.fiber.thread_pointer == 0) {
      *error =
          "no more threads: each rank of a program with thread-local variables, or with --balance "
          "steal or measured, needs one (ulimit -u, pids.max)";
      return false;
    }
    return true;
  }

  void on_all_prepared() override {
    SORREL_ASSERT(processes().size() == static_cast<std::size_t>(own_rank_count(config_)),
                  "%zu processes of %d ranks", processes().size(), own_rank_count(config_));
    // Images of ranks that come are made of them.
    if (!config_.moves_between && config_.universe_size <= config_.rank_count) image_.close_files();
    // The time zone lies in the C library's heap then, not in that of the first rank that needs it.
    if (config_.moves_between) ::tzset();
    image_note_.print(slab_);
    program::register_with_debugger(
        slab_, config_.moves_between ? slab_.count() : own_rank_count(config_));
    program::set_signal_targets(processes());
    descriptors_.read();
    if (config_.balance == launch::Balance::automatic) core::postpone_balance();
    if (!begins_balance_later_) return;
    // The scheduler of every rank.
    balance_start_ = std::make_unique<BalanceStart>(
        core::Worker::current()->scheduler(),
        config_.begins_balance_at_once ? BalanceStart::Begin::at_once
                                       : BalanceStart::Begin::when_uneven,
        has_thread_blocks_ ? 0 : own_rank_count(config_),
        [this](core::Worker& worker) { return give_thread_blocks(worker); });
  }

  void on_thread_start() override {
    use_initial_locale();
    const std::scoped_lock lock(threads_mutex_);
    if (begins_balance_later_) bonds_.add_calling_thread();
    if (!config_.has_safepoints()) return;
    threads_.emplace_back(::gettid(), os::ThreadRights::of(::gettid()));
  }

  // Frames of the rank's code, and of the C library below, may hold addresses of thread-locals: the
  // errno of the rank stays where it is only if the rank has a block of its own. The rest is known
  // to belong to the thread that runs the rank's worker.
  [[nodiscard]] bool may_move(const mpi::RankState& rank) const override {
    if (rank.fiber.thread_pointer == 0 || rank.fiber.settings != nullptr || has_openmp_)
      return false;
    program::RankProcess& process = *process_of(rank);
    return !process.signals().is_in_handler() && !process.started_threads().any() &&
           !has_openmp_ranks();
  }

  // Signals are delivered to the thread of the rank's own worker.
  [[nodiscard]] bool may_lend(const mpi::RankState& rank) const override {
    const program::RankSignals& signals = process_of(rank)->signals();
    return (signals.handled() | signals.blocked()) == 0 && may_move(rank);
  }

  void on_settings_change(core::Worker& worker, const core::Fiber& next) override {
    program::WorkerSettings::of(worker).apply(worker, program::thread_settings_of(next.settings),
                                              next.thread_pointer != 0);
    program::apply_device_context(worker, next.settings);
  }

  void on_attention(core::Worker& worker) override {
    std::vector<const Rank*> interrupted;
    {
      // Ranks of this worker do not end meanwhile.
      const std::scoped_lock lock(ranks_mutex_);
      for (const Rank& rank : ranks_) {
        if (rank.rank != nullptr && rank.rank->worker == &worker &&
            rank.process->signals().has_work())
          interrupted.push_back(&rank);
      }
    }
    for (const Rank* rank : interrupted)
      interrupt_wait(*rank);
    program::gpu::poll_waits(worker);
    if (balance_start_ != nullptr) balance_start_->on_attention(worker);
  }

  /// On standard error.
  void report_balance_start() {
    if (balance_start_ != nullptr) balance_start_->report();
  }

  void print_region_note(const os::StackSlab& stacks) const {
    const program::RankHeaps& heaps = program::rank_heaps();
    runtime::print_region_note({.stacks = stacks.is_in_band(),
                                .thread_blocks = thread_blocks_.is_in_band(),
                                .images = slab_.is_in_band() || slab_.bytes() == 0,
                                .heaps = heaps.are_in_band() || heaps.count() == 0});
  }

  /// On standard error: what each rank has used of GPUs.
  void print_device_memory() const {
    for (const Rank& rank : ranks_) {
      const program::DeviceState* state =
          rank.process != nullptr ? program::device_state_of(*rank.process) : nullptr;
      if (state == nullptr) continue;
      std::fprintf(stderr, "sorrel: note: rank %d used at most %s of GPU memory\n",
                   rank.process->rank(), report::text_of_bytes(state->memory().most).text().data());
    }
  }

  void on_move_out(mpi::RankState& rank) override {
    program::RankProcess& process = *process_of(rank);
    process.set_own_thread(::gettid());
    program::take_settings_of(process);
  }

  [[nodiscard]] std::int32_t started_thread_count(const mpi::RankState& rank) const override {
    return process_of(rank)->started_threads().count();
  }

  [[nodiscard]] ProgramStates& states() override { return *this; }

  [[nodiscard]] std::string layout() const override { return layout_text(config_); }

  [[nodiscard]] std::string reason_job_not_saved(const std::vector<int>& files) override {
    const program::RankHeaps& heaps = program::rank_heaps();
    if (const char* reason = heaps.reason_for_none(); reason != nullptr)
      return text_of("ranks use the C library's heap, because %s", reason);
    if (!heaps.are_in_band() || !slab_.is_in_band() || !thread_blocks_.is_in_band())
      return "addresses that ranks need are in use";
    std::vector<int> saved = files;
    for (program::RankProcess* process : processes())
      process->files().add_to(saved);
    if (const std::string descriptor = descriptors_.find_new(saved); !descriptor.empty())
      return descriptor + " is open";
    streams_ = find_open_streams(processes());
    if (streams_.other_count != 0) return "a stream of stdio is open";
    {
      const std::scoped_lock lock(threads_mutex_);
      for (const auto& [thread, rights] : threads_) {
        const std::string changed = rights.difference(os::ThreadRights::of(thread));
        if (!changed.empty()) return "a rank has changed a setting of its process: " + changed;
      }
    }
    if (program::RankHeaps::was_called_elsewhere())
      return "a rank has allocated memory in a coroutine, a signal handler or the body of a loop, "
             "where it is the C library's";
    return "";
  }

  [[nodiscard]] std::string reason_none_leaves() override { return reason_job_not_saved({}); }

  [[nodiscard]] std::string reason_referred_to(const mpi::RankState& rank,
                                               const os::MemoryRange& stack) const override {
    const program::PrivatizedImage copy = slab_.copy(index_of(rank));
    std::vector<os::MemoryRange> memory = this->memory(rank);
    memory.push_back(stack);
    memory.push_back(copy.range());
    for (const os::MemoryRange& range : thread_locals(rank))
      memory.push_back(range);
    const auto kept = program::find_kept_address(slab_.image(), rank.fiber.thread_pointer, memory);
    if (!kept) return "";
    return text_of("%s keeps the address 0x%llx of its memory, in %s 0x%llx", kept->library.c_str(),
                   static_cast<unsigned long long>(kept->address),
                   kept->is_thread_local ? "the thread-local at" : "the variable at",
                   static_cast<unsigned long long>(kept->offset));
  }

  [[nodiscard]] bool is_closed_to_moves() const override { return has_openmp_; }

  void begin_moves() override { program::hold_signals(); }

  void end_moves() override {
    program::set_signal_targets(processes());
    program::release_signals();
  }

  void clear(const mpi::RankState& rank) override {
    const int index = index_of(rank);
    // The rank's thread control block stays: its thread sleeps until the rank is here again.
    program::RankProcess* process = process_of(rank);
    if (process != nullptr) process->leave();
    ranks_[static_cast<std::size_t>(index)] = {};
    slab_.clear(index);
    if (program::rank_heaps().count() != 0)
      program::rank_heaps().clear(static_cast<std::uint64_t>(index));
  }

  [[nodiscard]] std::string reason_not_saved(const mpi::RankState& rank) override {
    if (program::rank_heaps().has_overflowed(static_cast<std::uint64_t>(index_of(rank))))
      return "its heap was full, and some of its memory is the C library's";
    if (const char* reason = process_of(rank)->reason_not_saved(); reason != nullptr) return reason;
    const auto index = static_cast<std::uint64_t>(index_of(rank));
    std::vector<FILE*> streams;
    for (auto at = std::ranges::lower_bound(streams_.of_ranks,
                                            std::pair<std::uint64_t, FILE*>(index, nullptr));
         at != streams_.of_ranks.end() && at->first == index; ++at)
      streams.push_back(at->second);
    return process_of(rank)->files().read(std::move(streams), own_memory(rank));
  }

  // Not the rank's files: their offsets are known.
  void prepare_save(const mpi::RankState& rank) override {
    process_of(rank)->streams().prepare_save();
  }

  void save(const mpi::RankState& rank, ByteWriter& to) override {
    process_of(rank)->save(to);
    process_of(rank)->files().save(to);
  }

  [[nodiscard]] bool has_files(const mpi::RankState& rank) override {
    return process_of(rank)->files().any();
  }

  void save_written_files(const mpi::RankState& rank, ByteWriter& to) override {
    process_of(rank)->files().for_each_written([&](const std::string& path, off_t bytes) {
      checkpoint::add({.path = path, .bytes = bytes}, to);
    });
  }

  [[nodiscard]] Restored restore(const mpi::RankState& rank,
                                 ByteCursor& from,
                                 bool is_restart) override {
    if (const char* reason = program::rank_heaps().reason_for_none(); reason != nullptr)
      return {.error = text_of("ranks use the C library's heap, because %s", reason), .note = {}};
    if (!process_of(rank)->restore(from))
      return {.error = "no memory for its signal actions", .note = {}};
    auto [error, note] = process_of(rank)->files().restore(from, is_restart);
    if (error.empty() && (!from.is_good() || !from.at_end())) error = "its record is damaged";
    return {.error = std::move(error), .note = std::move(note)};
  }

  void on_memory_restored(const mpi::RankState& rank) override {
    process_of(rank)->files().restore_streams();
  }

  [[nodiscard]] std::vector<os::MemoryRange> memory(const mpi::RankState& rank) const override {
    const int index = index_of(rank);
    return runtime::memory_of(slab_.copy(index), static_cast<std::uint64_t>(index));
  }

  [[nodiscard]] std::vector<os::MemoryRange> thread_locals(
      const mpi::RankState& rank) const override {
    return thread_locals_of(slab_.copy(index_of(rank)), rank.fiber);
  }

  [[nodiscard]] std::uint64_t far_heap_bytes(const mpi::RankState& rank) const override {
    return program::rank_heaps().far_usable_bytes(static_cast<std::uint64_t>(index_of(rank)));
  }

  [[nodiscard]] bool open_far_heap(const mpi::RankState& rank, std::uint64_t bytes) const override {
    return program::rank_heaps().open_far_part(static_cast<std::uint64_t>(index_of(rank)), bytes);
  }

  int run(mpi::RankState& rank) override {
    program::RankProcess& process = *process_of(rank);
    const auto& spawned = ranks_[static_cast<std::size_t>(index_of(rank))].spawned;
    if (spawned != nullptr && !spawned->directory().empty() &&
        !enter_directory(process, spawned->directory())) {
      job_of(rank).end_job(&rank, bad_program_status,
                           ("cannot enter the directory " + spawned->directory()).c_str());
    }
    return program::run_rank_main(process);
  }

  [[nodiscard]] program::OutsideState outside_state(const mpi::RankState& rank) const override {
    const program::RankProcess* process = process_of(rank);
    return process == nullptr ? program::OutsideState{} : process->outside_wait().state();
  }

  [[nodiscard]] std::optional<report::RankMemory> memory_of(std::size_t index) const override {
    return heap_of_rank(index);
  }

  void flush(mpi::RankState& rank) override {
    program::RankProcess* process = process_of(rank);
    if (process != nullptr) process->streams().finish();
  }

  [[nodiscard]] mpi::RankState& rank_of(const program::RankProcess& process) const {
    // A rank alone may run in the template image.
    const int index = std::max(process.libraries().index(), 0);
    SORREL_ASSERT(static_cast<std::size_t>(index) < ranks_.size() &&
                      ranks_[static_cast<std::size_t>(index)].rank != nullptr,
                  "no rank has index %d", index);
    return *ranks_[static_cast<std::size_t>(index)].rank;
  }

  [[nodiscard]] int index_of_code(const void* address) const override {
    return slab_.index_of(reinterpret_cast<std::uintptr_t>(address));
  }

  [[nodiscard]] program::RankProcess* process_of(const mpi::RankState& rank) const {
    return ranks_[static_cast<std::size_t>(index_of(rank))].process.get();
  }

 private:
  /// 0: the system allows no more threads.
  [[nodiscard]] std::uintptr_t create_block(const mpi::RankState& rank) {
    const auto prepare_thread = [](void* worker) {
      core::Worker::set_current(static_cast<core::Worker*>(worker));
      use_initial_locale();
    };
    if (!os::claim_blocks(os::BlockUse::exchanged)) return 0;
    const int index = index_of(rank);
    return thread_blocks_.create(index, slab_.copy(index), prepare_thread, rank.worker);
  }

  /// In a poll of the worker.
  [[nodiscard]] BalanceStart::Given give_thread_blocks(core::Worker& worker) {
    // That of the rank in whose wait this is called.
    const int saved_errno = errno;
    BalanceStart::Given given;
    {
      const std::scoped_lock lock(ranks_mutex_);
      for (const Rank& entry : ranks_) {
        if (entry.rank == nullptr || entry.rank->worker != &worker) continue;
        std::string reason = give_thread_block(worker, *entry.rank);
        if (reason.empty()) {
          ++given.count;
        } else {
          given.kept.push_back({.rank = entry.rank->world_rank, .reason = std::move(reason)});
        }
      }
    }
    errno = saved_errno;
    return given;
  }

  /// Returns why the rank keeps the block of its worker's thread; "": it has one of its own.
  [[nodiscard]] std::string give_thread_block(core::Worker& worker, mpi::RankState& rank) {
    core::Fiber& fiber = rank.fiber;
    if (fiber.thread_pointer != 0 || fiber.state == core::FiberState::ended) return "";
    if (has_openmp_ranks()) return "a rank uses OpenMP";
    if (rank.calling_level >= MPI_THREAD_SERIALIZED || fiber.is_guest)
      return "several threads of it may call MPI";
    const program::RankHeaps& heaps = program::rank_heaps();
    if (heaps.reason_for_none() != nullptr ||
        heaps.has_overflowed(static_cast<std::uint64_t>(index_of(rank))))
      return "it has memory of the C library's heap";
    if (!os::claim_blocks(os::BlockUse::exchanged))
      return "a rank has changed the identity of the process (setuid)";
    std::string reason = bonds_.reason_bound(*process_of(rank), memory(rank));
    if (!reason.empty()) return reason;
    const std::uintptr_t block = create_block(rank);
    if (block == 0) return "the system allows no more threads (ulimit -u, pids.max)";
    core::give_block(worker, fiber, block);
    return "";
  }

  /// The index among the ranks for which this process has addresses.
  static int index_of(const mpi::RankState& rank) {
    return static_cast<int>(job_of(rank).view().index_of(rank));
  }

  /// Whether an address lies in the rank's globals, heap or stack.
  [[nodiscard]] program::RankFiles::IsOwn own_memory(const mpi::RankState& rank) const {
    return [ranges = memory(rank), process = process_of(rank)](const void* address) {
      const auto at = reinterpret_cast<std::uintptr_t>(address);
      return process->is_on_stack(address) ||
             std::ranges::any_of(ranges, [at](const os::MemoryRange& range) {
               return at >= range.begin && at < range.end;
             });
    };
  }

  /// A rank; without any of this if it is not in this process.
  struct Rank {
    mpi::RankState* rank = nullptr;
    std::unique_ptr<program::RankProcess> process;
    /// The arguments and the directory of a rank that was spawned.
    std::shared_ptr<const SpawnedProgram> spawned;
  };

  [[nodiscard]] static Job& job_of(const mpi::RankState& rank) {
    return static_cast<Job&>(rank.world->job());
  }

  /// In the rank, before its program begins.
  static bool enter_directory(program::RankProcess& process, const std::string& path) {
    static auto* const real = program::next_definition<decltype(::chdir)>("chdir");
    program::RankSettings& settings = process.settings();
    return settings.separate_files() && real(path.c_str()) == 0 && settings.take_directory();
  }

  [[nodiscard]] std::vector<program::RankProcess*> processes() const {
    std::vector<program::RankProcess*> processes;
    for (const Rank& rank : ranks_) {
      if (rank.process != nullptr) processes.push_back(rank.process.get());
    }
    return processes;
  }

  /// Ends the rank's wait, for its signal handlers. A rank that is ready soon runs them by itself.
  static void interrupt_wait(const Rank& rank) {
    SORREL_ASSERT(rank.rank != nullptr && rank.process != nullptr, "a place without a rank");
    mpi::RankState& state = *rank.rank;
    // The rank's own thread is interrupted.
    if (state.fiber.is_guest || state.fiber.state != core::FiberState::waiting) return;
    const bool is_in_mpi = mpi::is_running(state.phase);
    if (is_in_mpi) state.phase = mpi::Phase::in_handler;
    program::deliver_to_waiting(*rank.process);
    if (is_in_mpi) admit_calls(state);
  }

  const program::ProgramStart& start_;
  const program::ImageSlab& slab_;
  program::Image& image_;
  const Config& config_;
  ImageNote image_note_;
  const bool has_thread_blocks_;
  const bool has_openmp_;
  /// Ranks get thread control blocks when the job turns out to be uneven.
  const bool begins_balance_later_;
  /// Filled under threads_mutex_ before any rank runs.
  ThreadBonds bonds_;
  program::ThreadBlockSlab thread_blocks_;
  /// An entry is changed under the lock, and used by its rank without.
  std::mutex ranks_mutex_;
  std::vector<Rank> ranks_;
  KnownDescriptors descriptors_;
  /// The streams at the present stop of the job.
  OpenStreams streams_;
  /// The threads of workers, with their rights at the start; if the job has safepoints.
  std::vector<std::pair<pid_t, os::ThreadRights>> threads_;
  std::mutex threads_mutex_;
  std::unique_ptr<BalanceStart> balance_start_;
};

ProgramBody& body_of_process() {
  return static_cast<ProgramBody&>(job_of_process()->body());
}

Job& job_of(mpi::RankState& rank) {
  return static_cast<Job&>(rank.world->job());
}

program::RankProcess* process_of(const mpi::RankState& rank) {
  const auto& job = static_cast<const Job&>(rank.world->job());
  return static_cast<const ProgramBody&>(job.body()).process_of(rank);
}

/// `running`: the rank that the worker of the calling thread runs, or null.
program::RankProcess* process_of_thread(const mpi::RankState* running) {
  if (running != nullptr && !running->worker->running().is_guest) [[likely]]
    return process_of(*running);
  // A thread of a rank that has left its worker: the main thread, or another, in a call or not.
  const core::Guest* guest = core::Guest::current();
  if (guest == nullptr) return nullptr;
  return process_of(*static_cast<const mpi::RankState*>(guest->fiber().user));
}

program::RankProcess* current_process() {
  return process_of_thread(mpi::current_rank());
}

mpi::ObjectList* objects_of_caller() {
  mpi::RankState* rank = mpi::peek_rank();
  return rank == nullptr ? nullptr : &rank->objects;
}

bool is_in_fiber() {
  const core::Worker* worker = core::Worker::current();
  return worker != nullptr && worker->in_fiber();
}

/// For objects with handles, and MPI_Alloc_mem, in a job that may be saved.
void* allocate_object(std::size_t alignment, std::size_t bytes) {
  void* memory = program::rank_heaps().allocate_for_rank(alignment, bytes);
  // Outside of ranks' stacks, as in nonblocking collectives: such an object is not saved.
  return memory != nullptr ? memory : std::aligned_alloc(alignment, bytes);
}

mpi::RankState* rank_of_started_thread() {
  const program::RankProcess* process = program::starter_of_thread();
  return process == nullptr ? nullptr : &body_of_process().rank_of(*process);
}

program::RankProcess* peek_process() {
  return process_of_thread(mpi::peek_rank());
}

void end_rank(program::RankProcess& process, int status) {
  mpi::RankState& rank = body_of_process().rank_of(process);
  job_of(rank).end_rank(rank, status);
}

void end_by_signal(program::RankProcess& process, int number) {
  char message[120];
  std::snprintf(message, sizeof message, "rank %d: %s (signal %d)", process.rank(),
                strsignal(number), number);
  job_of(body_of_process().rank_of(process)).end_job(nullptr, 128 + number, message);
}

void end_by_thread(program::RankProcess& process, int status) {
  mpi::RankState& rank = body_of_process().rank_of(process);
  job_of(rank).require_finalized(rank, status);
}

void end_by_jump(program::RankProcess& process) {
  mpi::RankState& rank = body_of_process().rank_of(process);
  char message[160];
  std::snprintf(
      message, sizeof message,
      "rank %d: a signal handler jumps out of %s: it must not leave a call of MPI by a jump",
      process.rank(), rank.fiber.call[0] == '\0' ? "a call" : rank.fiber.call);
  job_of(rank).end_job(nullptr, 1, message);
}

int report_error(const std::string& error) {
  const Config& config = process_config();
  record_host_ending();
  record_failure(config);
  // The error is the same in every process, and one process reports it.
  const bool is_reporter =
      config.host != nullptr
          ? config.own_process == 0
          : config.memory == nullptr || config.memory->claim_ending(config.process_in_memory);
  if (is_reporter) std::fprintf(stderr, "sorrel: %s\n", printable(error).c_str());
  return bad_program_status;
}

/// Why the ranks of this program cannot share a process; "": they can.
std::string sharing_error_of(const Config& config) {
  if (const std::string reason = program::sharing_error(); !reason.empty()) {
    return reason + ": run every rank as a process, with --procs " +
           std::to_string(config.rank_count);
  }
  // `sorrel run` has inspected the wrapper only.
  if (config.wrapper.name.empty() || own_rank_count(config) == 1) return "";
  return wrapped_sharing_error(config);
}

/// Handlers of signals that requests come by.
void watch_for_requests(const Config& config) {
  watch_for_activity_requests();
  if (config.is_saved()) {
    watch_for_save_requests();
  } else if (config.moves_between) {
    watch_for_give_up();
  }
}

/// What the modules below call. Before the job exists, whose ranks they return.
void set_hooks(const program::ImageSlab& slab) {
  program::set_current_slab(&slab);
  set_rank_process_of_caller(current_process);
  set_thread_source(
      {.rank_of_caller = rank_of_started_thread, .sees_starts = program::sees_thread_starts});
  program::set_thread_start_hook(before_thread_start);
  program::set_rank_hooks({.current = current_process,
                           .peek = peek_process,
                           .end_by_signal = end_by_signal,
                           .end_by_jump = end_by_jump,
                           .end_by_thread = end_by_thread,
                           .end_rank = end_rank});
}

/// What ranks need of the process, in this order: a crash in a later step is reported, and the
/// heaps of ranks report damage as crashes. No rank runs yet.
void prepare_process(const Config& config, program::ImageSlab& slab, Job& job) {
  const bool has_several = place_count(config) > 1;
  // A rank alone, too, if it is saved: its changes are noticed.
  if (has_several || config.has_safepoints()) program::WorkerSettings::begin(config.worker_count);
  watch_for_crashes();
  watch_for_end_requests();
  program::prepare_signal_delivery(is_of_runtime);
  begin_rank_heaps(config, slab, job.view());
  // A process for each rank would have a limit of open files of its own.
  if (has_several) program::RankFiles::begin(config.rank_count);
  // With another allocator ranks are not saved. What it calls under its locks, as mmap(), must not
  // allocate in order to be recorded.
  if (config.has_safepoints() && program::rank_heaps().reason_for_none() == nullptr) {
    program::RankProcess::set_saved();
    program::rank_heaps().include_libc(is_in_fiber);
    mpi::set_object_hooks({.list_of_caller = objects_of_caller, .allocate = allocate_object});
  }
  report_activity_of(job);
}

device::Support device_support() {
  return {.is_driver_found = program::gpu::can_load_driver, .note_rank = note_device_memory};
}

int run_program(const program::ProgramStart& start) {
  const Config& config = process_config();
  keep_memory_of_ranks(config);
  watch_for_requests(config);
  std::string error = sharing_error_of(config);
  if (!error.empty()) return report_error(error);
  // Before the image is read: a private C++ library takes the handler from the template image.
  watch_for_uncaught_exceptions();
  program::set_symbol_substitution(program::gpu::substitute_for);
  program::gpu::find_loaded_driver();
  device::set_support(device_support());
  const auto image = program::Image::read(error);
  if (image == nullptr) return report_error(error);
  const program::ImageSlab::Counts counts{.reserved = place_count(config),
                                          .made = config.universe_size > config.rank_count
                                                      ? own_rank_count(config)
                                                      : place_count(config)};
  const auto slab = program::ImageSlab::reserve(*image, counts, maps_per_rank(),
                                                rank_region(config).images, error);
  if (slab == nullptr) return report_error(error);
  ProgramBody body(start, *slab, *image, config);
  loop::join_job(config.loops);
  set_hooks(*slab);
  program::record_ranks_begin(place_count(config) == 1);
  Job job(config, body);
  set_job_of_process(&job);
  prepare_process(config, *slab, job);
  if (config.is_verbose && rank_region(config).stacks.begin != 0)
    body.print_region_note(job.view().stacks());
  const int status = job.run();
  if (config.is_verbose) {
    body.report_balance_start();
    print_memory();
    body.print_device_memory();
  }
  std::fflush(nullptr);
  if (config.host != nullptr) {
    leave_host(config);
    // A host MPI may have registered exit handlers.
    std::exit(status);
  }
  // No code of the program is left to run: its handlers and destructors ran with its ranks.
  _exit(status);
}

}  // namespace

}  // namespace sorrel::runtime

namespace sorrel::program {

int program_driver(const ProgramStart& start) {
  return runtime::run_program(start);
}

bool program_runs_in_process_mode() {
  const runtime::Config& config = runtime::process_config();
  allow_libraries(config.shared_libraries);
  if (runtime::is_process_mode()) {
    if (config.host != nullptr) runtime::set_variables_under_host(config);
    return true;
  }
  // A single rank is not privatized if that would not work with the program's libraries.
  const bool is_alone = config.rank_count == 1 && config.memory == nullptr &&
                        config.host == nullptr && !config.wire && !config.seed;
  return is_alone && !has_held_back_modules() && !sharing_error().empty();
}

void program_begins_in_process_mode() {
  runtime::set_thread_source({.sees_starts = sees_thread_starts});
  set_thread_start_hook(runtime::before_thread_start);
  runtime::begin_process_mode();
  device::set_support(runtime::device_support());
  gpu::give_process_buffers();
  runtime::announce_handler(true);
  observe_own_actions([](int number) {
    if (number == SIGUSR1) runtime::announce_handler(false);
  });
}

}  // namespace sorrel::program
