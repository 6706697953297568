#include "runtime/checkpoint/job_saver.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <numeric>
#include <span>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "arch/stack_pointer.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "mpi/saved/saved_file.hpp"
#include "mpi/saved/saved_rank.hpp"
#include "os/file_size_limit.hpp"
#include "os/page_bytes.hpp"
#include "os/touched_pages.hpp"
#include "os/write_all.hpp"
#include "runtime/checkpoint/layout.hpp"

namespace sorrel::runtime {

namespace {

constexpr int saved = 0;
constexpr int restored = 1;
constexpr int refused = -1;

/// Between the frame that goes on after a restart and the frames that do not.
constexpr std::uintptr_t frame_distance = 1024;

/// Among the actions for which the job stops.
constexpr std::uint32_t stop_number = 0;

/// Between two looks whether the last checkpoint is written.
constexpr std::int64_t writer_poll_ns = 5'000'000;

void print_line(const std::string& text) {
  os::write_all(STDERR_FILENO, "sorrel: " + text + "\n");
}

bool is_randomized() {
  constexpr unsigned long query = 0xffffffff;
  return (::personality(query) & ADDR_NO_RANDOMIZE) == 0;
}

/// Whether the caller handles a C++ exception, or one unwinds its stack.
bool handles_exception() {
  // The Itanium C++ ABI's __cxa_eh_globals.
  struct Globals {
    void* caught;
    unsigned int uncaught_count;
  };

  using GetGlobals = Globals* (*)();
  // That of the program's C++ library, if it has one.
  const auto get = reinterpret_cast<GetGlobals>(::dlsym(RTLD_DEFAULT, "__cxa_get_globals"));
  const Globals* globals = get == nullptr ? nullptr : get();
  return globals != nullptr && (globals->caught != nullptr || globals->uncaught_count != 0);
}

std::uint32_t kind_of(SegmentKind kind) {
  return static_cast<std::uint32_t>(kind);
}

std::string add_record(checkpoint::SegmentWriter& file,
                       SegmentKind kind,
                       std::uint32_t rank,
                       const std::string& bytes) {
  return file.add({.kind = kind_of(kind), .rank = rank, .bytes = bytes.size()}, bytes.data());
}

}  // namespace

JobSaver::JobSaver(const Config& config,
                   core::JobMemory& memory,
                   mpi::ProcessWorld& world,
                   RankBody& body,
                   const os::StackSlab& stacks)
    : config_(config),
      memory_(memory),
      world_(world),
      job_stop_(*world.job_stop()),
      body_(body),
      stacks_(stacks),
      layout_(body.layout()),
      generations_(config.checkpoint_folder),
      kept_(static_cast<std::size_t>(world.last_own_rank() - world.first_own_rank())) {
  job_stop_.set_action(stop_number, *this);
}

/// The frame of this function is restored: after the switch it uses nothing of the process in which
/// it was called.
[[gnu::noinline]] int JobSaver::save(mpi::RankState& rank) {
  const auto index = static_cast<std::size_t>(rank.world_rank - world_.first_own_rank());
  auto* bottom = static_cast<std::byte*>(stacks_.bottom(index));
  const std::uintptr_t room = arch::stack_pointer() - reinterpret_cast<std::uintptr_t>(bottom);
  Kept kept{.saver = this, .rank = &rank, .handles_exception = handles_exception()};
  if (rank.fiber.is_guest || !mpi::is_in_main_fiber(rank) || rank.fiber.pin_count != 0 ||
      room > stacks_.stack_bytes()) {
    kept.reason = "the call is made by a thread of its own, in a callback, or on another stack";
    return join(kept);
  }
  const int saved_errno = errno;
  const arch::Context below =
      arch::make_context(bottom, (room - frame_distance) / 16 * 16, wait_below, &kept);
  arch::sorrel_switch_context(&kept.resume, below);
  errno = saved_errno;
  return *static_cast<volatile int*>(&kept.outcome);
}

void JobSaver::wait_below(void* argument) {
  auto& kept = *static_cast<Kept*>(argument);
  kept.outcome = kept.saver->join(kept);
  arch::Context ended = nullptr;
  arch::sorrel_switch_context(&ended, kept.resume);
  std::abort();
}

int JobSaver::join(Kept& kept) {
  mpi::RankState& rank = *kept.rank;
  kept.fiber = &rank.worker->running();
  rank.fiber.call = "sorrel_checkpoint";
  const mpi::RankWait wait(rank, mpi::WaitRecord::Kind::collective, &rank.world_comm);
  kept_[static_cast<std::size_t>(rank.world_rank - world_.first_own_rank())] = &kept;
  if (arrived_count_.fetch_add(1, std::memory_order_acq_rel) + 1 != kept_.size()) {
    rank.worker->suspend();
    return outcome_;
  }
  while (!has_written_last())
    rank.worker->sleep(writer_poll_ns);
  last_ = kept.fiber;
  is_over_ = false;
  begun_generation_ = 0;
  begin_error_.clear();
  if (!job_stop_.is_last_ready()) {
    rank.worker->suspend();
    return outcome_;
  }
  // Before the stop, so that the ranks do not wait for the device. No process writes.
  begun_generation_ = generations_.next();
  begin_error_ = generations_.begin(begun_generation_);
  // A worker that is late, or a message in flight, makes a stop fail.
  while (!is_over_) {
    if (job_stop_.request(*rank.worker, stop_number)) {
      rank.worker->suspend();
    } else {
      rank.worker->yield();
    }
  }
  return outcome_;
}

/// Whether no child writes any more.
bool JobSaver::has_written_last() {
  int status = 0;
  if (writer_ == 0 || ::waitpid(writer_, &status, WNOHANG) == 0) return writer_ == 0;
  end_writer(status);
  return true;
}

/// It has printed its errors, unless it was killed.
void JobSaver::end_writer(int status) {
  writer_ = 0;
  if (WIFSIGNALED(status)) {
    print_line(
        text_of("no checkpoint, and the job goes on: the process that writes it was ended "
                "by signal %d (%s)",
                WTERMSIG(status), ::strsignal(WTERMSIG(status))));
  }
}

/// The writer is killed when the thread that has forked it ends.
void JobSaver::wait_for_writer() const {
  siginfo_t unused{};
  // Left for finish().
  while (writer_ != 0 &&
         ::waitid(P_PID, static_cast<id_t>(writer_), &unused, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
}

void JobSaver::finish() {
  requests_.reset();
  if (writer_ == 0) return;
  int status = 0;
  if (::waitpid(writer_, &status, 0) == writer_) end_writer(status);
}

bool JobSaver::is_quiet() {
  return world_.have_all_packets_left();
}

void JobSaver::on_job_stopped(core::JobStop& stop) {
  outcome_ = save_stopped(stop);
  is_over_ = true;
  if (requests_ != nullptr) requests_->end(outcome_ == saved);
  // Relaxed: published by the end of the stop.
  arrived_count_.store(0, std::memory_order_relaxed);
  for (Kept* kept : kept_)
    kept->rank->worker->make_ready(*kept->fiber);
}

void JobSaver::on_job_resumed(core::Worker& requester, bool was_stopped) {
  if (!was_stopped) requester.make_ready(*last_);
}

std::string JobSaver::reason_not_saved(mpi::MemberCounts& counts) {
  if (!begin_error_.empty()) return begin_error_;
  if (is_randomized()) return "the system does not let `sorrel run` make addresses predictable";
  std::vector<int> files;
  for (const Kept* kept : kept_)
    mpi::add_descriptors(*kept->rank, files);
  if (std::string reason = body_.reason_job_not_saved(files); !reason.empty()) return reason;
  for (const Kept* kept : kept_) {
    mpi::RankState& rank = *kept->rank;
    const char* reason = kept->reason;
    if (reason == nullptr) reason = mpi::reason_not_saved(rank, body_.memory(rank), counts);
    if (reason == nullptr) reason = body_.reason_not_saved(rank);
    if (reason == nullptr && kept->handles_exception) reason = "it handles a C++ exception";
    if (reason != nullptr) return text_of("rank %d: %s", rank.world_rank, reason);
  }
  return "";
}

/// A save that the program has not asked for is tried again: one line for each reason.
void JobSaver::print_refusal(const std::string& reason) {
  const bool is_request = requests_ != nullptr && requests_->is_taken();
  if (is_request && reason == last_refusal_) return;
  if (is_request) last_refusal_ = reason;
  print_line("no checkpoint, and the job goes on: " + reason);
}

void JobSaver::start_requests() {
  // One process asks for all.
  requests_ = std::make_unique<SaveRequests>(
      SaveRequests::Options{.period_ns = config_.own_process == 0 ? config_.save_period_ns : 0,
                            .takes_signals = config_.own_process == 0,
                            .is_alone = config_.rank_count == 1});
}

std::uint32_t JobSaver::vote() {
  if (requests_ == nullptr) return 0;
  const bool is_wanted = requests_->seems_wanted();
  if (!is_wanted && config_.process_count == 1) return 0;
  // All have called MPI_Init. A thread that is not the main one may be in the collective.
  if (!has_looked_for_threads_) {
    has_looked_for_threads_ = true;
    for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i) {
      if (threaded_rank_ < 0 && world_.rank(i).calling_level >= MPI_THREAD_SERIALIZED)
        threaded_rank_ = i;
    }
  }
  return (is_wanted ? mpi::wants_save : 0U) | (threaded_rank_ >= 0 ? mpi::refuses_save : 0U);
}

bool JobSaver::begin_save(std::uint32_t votes) {
  if ((votes & mpi::wants_save) == 0) return false;
  if ((votes & mpi::refuses_save) == 0) {
    requests_->begin();
    return true;
  }
  if (threaded_rank_ >= 0) {
    print_line(
        text_of("no checkpoint at collectives, since rank %d has MPI_THREAD_SERIALIZED or "
                "MPI_THREAD_MULTIPLE; sorrel_checkpoint() saves the job",
                threaded_rank_));
  }
  requests_->give_up();
  return false;
}

/// The same in all processes. One of them prints the reason.
bool JobSaver::may_save(core::JobStop& stop) {
  mpi::MemberCounts counts;
  const std::string reason = reason_not_saved(counts);
  const auto has_reason = stop.exchange(reason.empty() ? 0 : 1);
  const auto first = std::ranges::find(has_reason, std::uint64_t{1}) - has_reason.begin();
  if (first != static_cast<std::ptrdiff_t>(has_reason.size())) {
    if (first == static_cast<std::ptrdiff_t>(config_.own_process)) print_refusal(reason);
    return false;
  }
  const auto differences = stop.exchange(counts.difference());
  if (config_.process_count == 1 ||
      std::accumulate(differences.begin(), differences.end(), std::uint64_t{0}) == 0)
    return true;
  if (config_.own_process == 0)
    print_refusal("ranks of several processes are in different collectives of a communicator");
  return false;
}

int JobSaver::save_stopped(core::JobStop& stop) {
  generation_ = std::ranges::max(stop.exchange(begun_generation_));
  if (!may_save(stop)) {
    if (begun_generation_ != 0) generations_.discard(generation_);
    return refused;
  }
  last_refusal_.clear();
  for (const Kept* kept : kept_)
    body_.flush_lines(*kept->rank);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) write_as_child(parent);
  if (child < 0) {
    print_line(
        text_of("no checkpoint, and the job goes on: cannot fork: %s", std::strerror(errno)));
  }
  if (stop.agree(child > 0)) {
    writer_ = child;
    return saved;
  }
  if (child > 0) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  return refused;
}

/// If its parent ends, another job may use the folder.
void JobSaver::write_as_child(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  os::make_file_size_limit_an_error();
  checkpoint::FileSeal seal;
  std::string error = write(seal);
  if (!error.empty()) seal = {};
  const std::string failed = complete(seal);
  if (error.empty()) error = failed;
  if (!error.empty()) print_line("no checkpoint, and the job goes on: " + error);
  ::_exit(error.empty() ? 0 : 1);
}

/// The file of this process is on the device, or, with an empty seal, is not. The last process to
/// come here makes the checkpoint visible, if all files are there.
std::string JobSaver::complete(const checkpoint::FileSeal& seal) {
  memory_.process(config_.process_in_memory).for_completion = {seal.bytes, seal.check};
  if (!memory_.is_last_to_complete(generation_)) return "";
  std::vector<checkpoint::FileSeal> seals;
  for (std::uint32_t i = 0; i < config_.process_count; ++i) {
    const auto& [bytes, check] = memory_.process(i).for_completion;
    seals.push_back({.bytes = bytes, .check = static_cast<std::uint32_t>(check)});
  }
  std::string error;
  const bool are_whole = std::ranges::find(seals, checkpoint::FileSeal{}) == seals.end();
  if (are_whole) error = generations_.commit(generation_, seals);
  if (!are_whole || !error.empty()) generations_.discard(generation_);
  return error;
}

checkpoint::FileIdentity JobSaver::identity(std::uint64_t generation) const {
  return {.generation = generation,
          .layout = hash_of(layout_),
          .process = config_.own_process,
          .process_count = config_.process_count,
          .rank_count = static_cast<std::uint32_t>(config_.rank_count),
          .page_bytes = static_cast<std::uint32_t>(os::page_bytes())};
}

std::string JobSaver::write(checkpoint::FileSeal& seal) {
  checkpoint::SegmentWriter file;
  const std::string path = generations_.path_to_write(generation_, config_.own_process);
  std::string error = file.begin(path, identity(generation_));
  if (error.empty()) error = add_record(file, SegmentKind::layout, 0, layout_);
  ByteWriter process;
  process.add(world_.next_context());
  if (error.empty()) error = add_record(file, SegmentKind::process, 0, process.bytes());
  for (const Kept* kept : kept_) {
    if (error.empty()) error = write_rank(file, *kept->rank);
  }
  if (error.empty()) error = file.finish(seal);
  return error;
}

std::string JobSaver::write_rank(checkpoint::SegmentWriter& file, mpi::RankState& rank) {
  const auto index = static_cast<std::size_t>(rank.world_rank - world_.first_own_rank());
  const Kept& kept = *kept_[index];
  const auto number = static_cast<std::uint32_t>(rank.world_rank);
  ByteWriter record;
  record.add(ResumePoint{.context = reinterpret_cast<std::uintptr_t>(kept.resume),
                         .outcome = reinterpret_cast<std::uintptr_t>(&kept.outcome),
                         .thread_pointer = rank.fiber.thread_pointer,
                         .far_heap_bytes = body_.far_heap_bytes(rank)});
  mpi::save_messages(rank, record);
  ByteWriter objects;
  mpi::save_objects(rank, objects);
  record.add_block(objects.bytes());
  body_.save(rank, record);
  std::string error = add_record(file, SegmentKind::rank, number, record.bytes());
  if (!error.empty()) return error;
  std::vector<os::MemoryRange> whole = body_.thread_locals(rank);
  std::vector<os::MemoryRange> touched = body_.memory(rank);
  const auto stack = reinterpret_cast<std::uintptr_t>(stacks_.bottom(index));
  touched.push_back({.begin = reinterpret_cast<std::uintptr_t>(kept.resume),
                     .end = stack + stacks_.usable_bytes(static_cast<std::size_t>(number))});
  const os::TouchedPages pages;
  for (const os::MemoryRange& range : touched) {
    if (error = pages.add_runs(range, whole); !error.empty()) return error;
  }
  for (const os::MemoryRange& run : whole) {
    error = file.add({.kind = kind_of(SegmentKind::memory),
                      .rank = number,
                      .address = run.begin,
                      .bytes = run.end - run.begin},
                     reinterpret_cast<const void*>(run.begin));
    if (!error.empty()) return error;
  }
  return "";
}

std::string JobSaver::open() {
  if (config_.restart_generation == 0) return "";
  places_.resize(static_cast<std::size_t>(config_.rank_count));
  objects_.resize(places_.size());
  for (std::uint32_t process = 0, count = 1; process < count; ++process) {
    checkpoint::SegmentReader& file = files_.emplace_back();
    std::string error = file.open(generations_.path_of(config_.restart_generation, process));
    if (error.empty()) error = read_records(file);
    if (!error.empty()) return error;
    count = file.identity().process_count;
  }
  return "";
}

/// Of a process, and where its ranks are.
std::string JobSaver::read_records(const checkpoint::SegmentReader& file) {
  for (std::size_t i = 0; i < file.segments().size(); ++i) {
    const checkpoint::SegmentReader::Segment& segment = file.segments()[i];
    const auto kind = static_cast<SegmentKind>(segment.head.kind);
    if (kind == SegmentKind::rank && segment.head.rank < places_.size())
      places_[segment.head.rank] = {.file = &file, .segment = i};
    if (kind != SegmentKind::layout && kind != SegmentKind::process) continue;
    std::string bytes(segment.head.bytes, '\0');
    if (std::string error = file.read(segment, bytes.data()); !error.empty()) return error;
    if (kind == SegmentKind::process) {
      ByteCursor record(std::as_bytes(std::span(bytes)));
      world_.issue_contexts_after(record.take<std::uint32_t>());
    } else if (const std::string difference = layout_difference(bytes, layout_);
               !difference.empty()) {
      return "the program or the machine has changed: " + difference;
    }
  }
  return "";
}

std::string JobSaver::restore(mpi::RankState& rank) {
  const auto number = static_cast<std::uint32_t>(rank.world_rank);
  const Place& place = places_[number];
  if (place.file == nullptr) return text_of("the checkpoint has no rank %u", number);
  const checkpoint::SegmentReader& file = *place.file;
  const auto segments = std::span(file.segments()).subspan(place.segment);
  std::string bytes(segments.front().head.bytes, '\0');
  std::string error = file.read(segments.front(), bytes.data());
  if (!error.empty()) return error;
  ByteCursor record(std::as_bytes(std::span(bytes)));
  const auto point = record.take<ResumePoint>();
  if (point.thread_pointer != rank.fiber.thread_pointer ||
      !body_.open_far_heap(rank, point.far_heap_bytes))
    return text_of("rank %u cannot get the addresses that it had", number);
  const bool has_messages = mpi::restore_messages(rank, record);
  objects_[number] = record.take_block();
  if (!has_messages || !body_.restore(rank, record))
    return text_of("no memory for the state of rank %u, or its record is damaged", number);
  for (const checkpoint::SegmentReader::Segment& segment : segments.subspan(1)) {
    if (segment.head.kind != kind_of(SegmentKind::memory)) break;
    error = file.read(segment, reinterpret_cast<void*>(segment.head.address));
    if (!error.empty()) return error;
  }
  rank.fiber.context = reinterpret_cast<arch::Context>(point.context);
  *reinterpret_cast<int*>(point.outcome) = restored;
  return "";
}

std::string JobSaver::restore_objects() {
  mpi::SharedParts parts(world_);
  for (std::int32_t number = world_.first_own_rank(); number < world_.last_own_rank(); ++number) {
    const std::string bytes = std::move(objects_[static_cast<std::size_t>(number)]);
    ByteCursor record(std::as_bytes(std::span(bytes)));
    if (const std::string error = mpi::restore_objects(world_.rank(number), parts, record);
        !error.empty())
      return text_of("rank %d: %s", number, error.c_str());
  }
  return "";
}

}  // namespace sorrel::runtime
