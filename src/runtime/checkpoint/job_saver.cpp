#include "runtime/checkpoint/job_saver.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <numeric>
#include <span>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "checkpoint/generations.hpp"
#include "checkpoint/memory_generations.hpp"
#include "mpi/saved/saved_file.hpp"
#include "mpi/saved/saved_rank.hpp"
#include "os/clock.hpp"
#include "os/file_size_limit.hpp"
#include "os/memory_file.hpp"
#include "os/page_bytes.hpp"
#include "os/random_addresses.hpp"
#include "os/signal_block.hpp"
#include "os/write_all.hpp"
#include "program/base/restart_note.hpp"
#include "runtime/checkpoint/layout.hpp"
#include "runtime/checkpoint/rank_record.hpp"
#include "runtime/checkpoint/saved_state.hpp"

namespace sorrel::runtime {

namespace {

constexpr int saved = 0;
constexpr int went_on = 1;
constexpr int refused = -1;

/// Time between two looks whether the last checkpoint is written.
constexpr std::int64_t writer_poll_ns = 5'000'000;

/// Time between two looks whether all processes have restored their ranks.
constexpr std::int64_t restart_poll_ns = 500'000;

void print_line(const std::string& text) {
  os::write_all(STDERR_FILENO, "sorrel: " + printable(text) + "\n");
}

std::unique_ptr<const checkpoint::GenerationStore> store_of(const Config& config) {
  if (config.checkpoint_lock) os::keep_from_programs(*config.checkpoint_lock);
  if (config.checkpoint_files.empty()) {
    checkpoint::UserKey key;
    const std::string error = config.checkpoint_key.empty() ? "" : key.open(config.checkpoint_key);
    if (!error.empty() && config.own_process == 0)
      print_line("note: checkpoints have no code, and a restart needs --trust: " + error);
    return std::make_unique<checkpoint::Generations>(config.checkpoint_folder, key);
  }
  auto store = std::make_unique<checkpoint::MemoryGenerations>(config.checkpoint_files);
  store->keep_from_children();
  return store;
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
                   ProgramStates& states)
    : config_(config),
      memory_(memory),
      world_(world),
      safepoint_(*world.safepoint()),
      states_(states),
      layout_(states.layout()),
      generations_(store_of(config)) {
  safepoint_.add(*this);
}

/// The frame of this function is restored: after the call it uses nothing of the process.
int JobSaver::save(mpi::RankState& rank) {
  return safepoint_.enter(rank, *this);
}

/// The frame of this function is restored, too.
void JobSaver::save_begin(mpi::RankState& rank) {
  is_begin_.store(true, std::memory_order_relaxed);
  (void)safepoint_.enter(rank, *this);
}

/// Whether a save is wanted that the program has not asked for.
mpi::SafepointParticipant::Wish JobSaver::wants() {
  const bool is_wanted = requests_ != nullptr && requests_->seems_wanted();
  return is_wanted ? Wish::safepoint : Wish::nothing;
}

void JobSaver::begin() {
  requests_->begin();
}

void JobSaver::prepare(core::Worker& worker) {
  while (!has_written_last())
    worker.sleep(writer_poll_ns);
  begun_generation_ = 0;
  begin_error_.clear();
}

/// Before the stop, so that the ranks do not wait for the device. No process writes.
void JobSaver::prepare_stop() {
  SORREL_ASSERT(writer_ == 0, "process %d still writes", writer_);
  begun_generation_ = generations_->next();
  begin_error_ = generations_->begin(begun_generation_);
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

int JobSaver::run(core::JobStop& stop) {
  const int outcome = save_stopped(stop);
  // Why there is none, its process has noted.
  if (is_begin_.exchange(false, std::memory_order_relaxed) && outcome == saved)
    program::note_effect("they are damaged");
  if (requests_ != nullptr) requests_->end(outcome == saved);
  return outcome;
}

std::string JobSaver::reason_not_saved(mpi::MemberCounts& counts) {
  if (!begin_error_.empty()) return begin_error_;
  if (os::has_random_addresses())
    return "the system does not let `sorrel run` make addresses predictable";
  std::vector<int> files;
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i)
    mpi::add_descriptors(world_.rank(i), files);
  if (std::string reason = states_.reason_job_not_saved(files); !reason.empty()) return reason;
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i) {
    mpi::RankState& rank = world_.rank(i);
    const mpi::WaitingRank& waiting = safepoint_.waiting(rank);
    const char* reason = waiting.reason;
    if (reason == nullptr) reason = mpi::reason_not_saved(rank, states_.memory(rank), counts);
    if (reason == nullptr && waiting.handles_exception) reason = "it handles a C++ exception";
    // What pins a rank to its worker, such as the use of a GPU, is a better reason than that it is
    // pinned.
    std::string own;
    if (reason == nullptr || rank.fiber.pin_count != 0) own = states_.reason_not_saved(rank);
    if (own.empty() && reason != nullptr) own = reason;
    if (!own.empty()) return text_of("rank %d: %s", i, own.c_str());
  }
  return "";
}

/// If it was the first one: the job cannot begin anew.
void JobSaver::note_no_begin(const std::string& reason) {
  if (is_begin_.load(std::memory_order_relaxed))
    program::note_effect(("none could be made in MPI_Init" + reason).c_str());
}

/// A save that the program has not asked for is tried again: one line for each reason.
void JobSaver::print_refusal(const std::string& reason) {
  const bool is_request = requests_ != nullptr && requests_->is_taken();
  if (is_request && reason == last_refusal_) return;
  if (is_request) last_refusal_ = reason;
  note_no_begin(": " + reason);
  print_line("no checkpoint, and the job goes on: " + reason);
}

void JobSaver::start_requests() {
  // One process asks for all.
  requests_ = std::make_unique<SaveRequests>(
      SaveRequests::Options{.period_ns = config_.own_process == 0 ? config_.save_period_ns : 0,
                            .takes_signals = config_.own_process == 0,
                            .is_alone = config_.rank_count == 1});
}

void JobSaver::give_up(std::int32_t threaded_rank) {
  if (threaded_rank >= 0) {
    print_line(
        text_of("no checkpoint at collectives, since rank %d has MPI_THREAD_SERIALIZED or "
                "MPI_THREAD_MULTIPLE; sorrel_checkpoint() saves the job",
                threaded_rank));
  }
  requests_->give_up();
}

/// The result is equal in all processes. One of them prints the reason.
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
  SORREL_ASSERT(generation_ != 0, "no process has begun a checkpoint");
  if (!may_save(stop)) {
    if (begun_generation_ != 0) generations_->discard(generation_);
    return refused;
  }
  last_refusal_.clear();
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i)
    states_.prepare_save(world_.rank(i));
  const pid_t parent = ::getpid();
  pid_t child = -1;
  {
    // Handlers of ranks do not run in the child.
    const os::SignalBlock block;
    child = ::fork();
    if (child == 0) write_as_child(parent);
  }
  if (child < 0) {
    print_line(
        text_of("no checkpoint, and the job goes on: cannot fork: %s", std::strerror(errno)));
  }
  if (stop.agree(child > 0)) {
    SORREL_ASSERT(writer_ == 0, "processes %d and %d write", writer_, child);
    writer_ = child;
    const bool is_begin = stop.sum(is_begin_.load(std::memory_order_relaxed) ? 1 : 0) != 0;
    return is_begin ? wait_for_begin(stop) : saved;
  }
  if (child > 0) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  note_no_begin("");
  return refused;
}

/// No rank goes on before the checkpoint is visible, or cannot be made.
int JobSaver::wait_for_begin(core::JobStop& stop) {
  int status = 0;
  while (::waitpid(writer_, &status, 0) < 0 && errno == EINTR) {
  }
  end_writer(status);
  // The last writer of all processes makes it visible before it ends.
  if (stop.agree(WIFEXITED(status) && WEXITSTATUS(status) == 0)) return saved;
  note_no_begin("");
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
  if (are_whole) error = generations_->commit(generation_, seals);
  if (!are_whole || !error.empty()) generations_->discard(generation_);
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
  const std::string path = generations_->path_to_write(generation_, config_.own_process);
  std::string error =
      file.begin(path, identity(generation_), generations_->place(), generations_->key());
  if (error.empty()) error = add_record(file, SegmentKind::layout, 0, layout_);
  ByteWriter process;
  process.add(world_.next_context());
  if (error.empty()) error = add_record(file, SegmentKind::process, 0, process.bytes());
  ByteWriter files;
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i)
    states_.save_written_files(world_.rank(i), files);
  if (error.empty()) error = add_record(file, SegmentKind::files, 0, files.bytes());
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i) {
    if (error.empty()) error = write_rank(file, world_.rank(i));
  }
  if (error.empty()) error = file.finish(seal);
  return error;
}

std::string JobSaver::write_rank(checkpoint::SegmentWriter& file, mpi::RankState& rank) {
  const auto number = static_cast<std::uint32_t>(rank.world_rank);
  std::string error = add_record(file, SegmentKind::rank, number,
                                 record_of(rank, safepoint_.waiting(rank), states_));
  std::vector<os::MemoryRange> memory;
  if (error.empty()) error = add_memory_of(rank, safepoint_.stack_of(rank), states_, memory);
  for (const os::MemoryRange& run : memory) {
    if (error.empty()) error = write_memory(file, number, run);
  }
  return error;
}

/// In parts, so that room for each is found before it is written.
std::string JobSaver::write_memory(checkpoint::SegmentWriter& file,
                                   std::uint32_t rank,
                                   const os::MemoryRange& run) {
  constexpr std::uint64_t part_bytes_max = std::uint64_t{64} << 20;
  std::string error;
  for (std::uintptr_t at = run.begin; at < run.end && error.empty();) {
    const std::uint64_t bytes = std::min<std::uint64_t>(run.end - at, part_bytes_max);
    SORREL_ASSERT(bytes != 0 && at + bytes <= run.end, "0x%zx to 0x%zx", run.begin, run.end);
    if (bytes > room_bytes_) {
      error = generations_->room_error(part_bytes_max);
      room_bytes_ = part_bytes_max;
    }
    room_bytes_ -= bytes;
    if (error.empty()) {
      error = file.add(
          {.kind = kind_of(SegmentKind::memory), .rank = rank, .address = at, .bytes = bytes},
          reinterpret_cast<const void*>(at));
    }
    at += bytes;
  }
  return error;
}

std::string JobSaver::open() {
  if (config_.restart_generation == 0) return "";
  places_.resize(static_cast<std::size_t>(config_.rank_count));
  objects_.resize(places_.size());
  for (std::uint32_t process = 0, count = 1; process < count; ++process) {
    checkpoint::SegmentReader& file = files_.emplace_back();
    std::string error = file.open(generations_->path_of(config_.restart_generation, process),
                                  generations_->place());
    if (error.empty()) error = read_records(file);
    if (!error.empty()) return error;
    count = file.identity().process_count;
  }
  return "";
}

/// Reads the records of a process, and where its ranks are.
std::string JobSaver::read_records(const checkpoint::SegmentReader& file) {
  for (std::size_t i = 0; i < file.segments().size(); ++i) {
    const checkpoint::SegmentReader::Segment& segment = file.segments()[i];
    const auto kind = static_cast<SegmentKind>(segment.head.kind);
    if (kind == SegmentKind::rank && segment.head.rank < places_.size())
      places_[segment.head.rank] = {.file = &file, .segment = i};
    const bool is_record =
        kind == SegmentKind::layout || kind == SegmentKind::process || kind == SegmentKind::files;
    if (!is_record) continue;
    std::string bytes(segment.head.bytes, '\0');
    if (std::string error = file.read(segment, bytes.data()); !error.empty()) return error;
    if (kind == SegmentKind::process) {
      ByteCursor record(std::as_bytes(std::span(bytes)));
      world_.issue_contexts_after(record.take<std::uint32_t>());
    } else if (kind == SegmentKind::files) {
      for (checkpoint::WrittenFile& written : checkpoint::written_files_in(bytes))
        written_files_.push_back(std::move(written));
    } else if (const std::string difference = layout_difference(bytes, layout_);
               !difference.empty()) {
      const auto manifest = generations_->manifest(config_.restart_generation);
      return "the program or the machine has changed: " + difference +
             (manifest ? "; the checkpoint was written by " + manifest->writer : "");
    }
  }
  return "";
}

std::string JobSaver::restore(mpi::RankState& rank) {
  const auto number = static_cast<std::uint32_t>(rank.world_rank);
  SORREL_CHECK(number < places_.size(), "rank %u of %zu", number, places_.size());
  const Place& place = places_[number];
  if (place.file == nullptr) return text_of("the checkpoint has no rank %u", number);
  const checkpoint::SegmentReader& file = *place.file;
  SORREL_CHECK(place.segment < file.segments().size(), "segment %zu of %zu", place.segment,
               file.segments().size());
  const auto segments = std::span(file.segments()).subspan(place.segment);
  std::string bytes(segments.front().head.bytes, '\0');
  std::string error = file.read(segments.front(), bytes.data());
  if (!error.empty()) return error;
  RestoredRank restored;
  if (error = restore_record(rank, bytes, true, states_, restored); !error.empty()) return error;
  // One for all files that have changed. Relaxed: only the first one counts.
  if (!restored.note.empty() && !has_note_.exchange(true, std::memory_order_relaxed))
    print_line(text_of("note: rank %d: %s", rank.world_rank, restored.note.c_str()));
  for (const checkpoint::SegmentReader::Segment& segment : segments.subspan(1)) {
    if (segment.head.kind != kind_of(SegmentKind::memory)) break;
    error = file.read(segment, reinterpret_cast<void*>(segment.head.address));
    if (!error.empty()) return error;
  }
  runtime::resume(rank, restored, states_, went_on);
  objects_[number] = std::move(restored.objects);
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

std::string JobSaver::cut_written_files() {
  // Later numbers are those of checkpoints that the job makes.
  const std::uint64_t number = config_.restart_generation;
  if (!memory_.is_last_to_complete(number)) {
    // A process that fails ends the job.
    while (!memory_.is_released(number))
      os::sleep_ns(restart_poll_ns);
    return "";
  }
  const checkpoint::CutFiles cut = checkpoint::cut_files(written_files_);
  if (!cut.error.empty()) return cut.error;
  if (cut.count != 0) {
    print_line(text_of("note: %s again as long as at the checkpoint: %s%s",
                       cut.count == 1 ? "a file is" : "files are", cut.path.c_str(),
                       cut.count == 1 ? "" : text_of(" and %zu more", cut.count - 1).c_str()));
  }
  memory_.release(number);
  return "";
}

}  // namespace sorrel::runtime
