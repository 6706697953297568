#include "mpi/job/spawn.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/job/comm_create.hpp"
#include "mpi/job/intercomm.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/job/spawn_service.hpp"

namespace sorrel::mpi {

namespace {

constexpr const char* no_places =
    "this job has no places for further ranks: it needs processes that ranks share, and "
    "--universe N for N ranks at a time";

/// What the root tells the members of its group first.
struct Outcome {
  int error = MPI_SUCCESS;
  /// Ranks that were wanted, and that have been started.
  std::int32_t wanted_count = 0;
  std::int32_t started_count = 0;
  std::uint32_t context = 0;
};

template <class T>
int tell(RankState& self, Comm& local, std::span<T> values, std::int32_t root) {
  const TypedBuffer buffer{.buffer = values.data(),
                           .count = values.size_bytes(),
                           .type = datatype_from_handle(MPI_BYTE)};
  local.call = CollectiveCall(
      {.kind = CollectiveKind::intercomm_create, .root = root, .bytes = buffer.bytes()});
  return broadcast({self, local}, buffer, root);
}

// Time between two looks for places, and in all, at most: ranks may do much after MPI_Finalize.
constexpr std::int64_t leaving_poll_ns = 100'000;
constexpr std::int64_t leaving_ns_max = 10'000'000'000;

/// The ranks of one command, and the process in which they are to run.
struct Part {
  SpawnCommand command;
  std::uint32_t process = 0;
  std::vector<std::int32_t> numbers;
};

/// The new ranks, before they run.
class Spawning {
 public:
  Spawning(const RankState& root, Comm& comm, std::span<const SpawnCommand> commands)
      : comm_(comm), world_(static_cast<ProcessWorld&>(*root.world)), commands_(commands) {}

  /// Starts them. May suspend.
  Outcome run() {
    for (const SpawnCommand& command : commands_)
      outcome_.wanted_count += command.rank_count;
    outcome_.error = make();
    if (outcome_.error == MPI_SUCCESS) start();
    return outcome_;
  }

  /// The numbers of the ranks that have been started.
  [[nodiscard]] const std::vector<std::int32_t>& numbers() const { return family_.ranks; }

  /// Why not, for a user.
  [[nodiscard]] const std::string& reason() const { return reason_; }

  /// For each rank that was wanted.
  [[nodiscard]] std::vector<int> errors() const {
    std::vector<int> errors;
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      const std::int32_t started =
          outcome_.error == MPI_SUCCESS ? parts_[i].command.rank_count : std::int32_t{0};
      for (std::int32_t rank = 0; rank < commands_[i].rank_count; ++rank)
        errors.push_back(rank < started ? MPI_SUCCESS : MPI_ERR_SPAWN);
    }
    return errors;
  }

 private:
  int make() {
    if (world_.spawned() == nullptr || world_.spawns() == nullptr) return fail(no_places);
    for (const SpawnCommand& command : commands_) {
      if (const int error = find(command); error != MPI_SUCCESS) return error;
    }
    if (const int error = choose_counts(); error != MPI_SUCCESS) return error;
    std::int32_t world_size = 0;
    for (Part& part : parts_) {
      part.command.first_rank = world_size;
      world_size += part.command.rank_count;
    }
    for (Part& part : parts_)
      part.command.world_size = world_size;
    for (const std::uint32_t process : processes_) {
      if (const int error = make_in(process); error != MPI_SUCCESS) {
        drop_all();
        return error;
      }
    }
    for (const Part& part : parts_)
      family_.ranks.insert(family_.ranks.end(), part.numbers.begin(), part.numbers.end());
    return MPI_SUCCESS;
  }

  /// The program of a command, and a process that runs it: this one, if it does.
  int find(const SpawnCommand& command) {
    Part part{.command = command, .process = world_.own_process(), .numbers = {}};
    part.command.number = static_cast<std::int32_t>(parts_.size());
    FoundProgram program = world_.job().find_program(command);
    if (!program.error.empty()) return fail(std::move(program.error));
    part.command.file = std::move(program.file);
    if (!program.is_own) {
      const auto process = process_of(part.command.file);
      if (!process) {
        return fail(
            text_of("%s: no process of this job runs it; a job started with ': -n 0 %s' "
                    "behind its programs has a process for it",
                    part.command.file.c_str(), part.command.file.c_str()));
      }
      part.process = *process;
    }
    if (std::ranges::find(processes_, part.process) == processes_.end())
      processes_.push_back(part.process);
    parts_.push_back(std::move(part));
    return MPI_SUCCESS;
  }

  /// The first other process that runs a program.
  std::optional<std::uint32_t> process_of(const std::string& file) {
    for (std::uint32_t process = 0; process < world_.layout().process_count(); ++process) {
      if (process != world_.own_process() && !world_.is_simulated_node() &&
          spawns().room(process, file).has_program)
        return process;
    }
    return std::nullopt;
  }

  int make_in(std::uint32_t process) {
    std::vector<SpawnCommand> commands;
    for (const Part& part : parts_) {
      if (part.process == process) commands.push_back(part.command);
    }
    SpawnService::Made made = spawns().make(process, commands);
    if (!made.error.empty()) return fail(std::move(made.error));
    auto next = made.numbers.begin();
    for (Part& part : parts_) {
      if (part.process != process) continue;
      const auto end = next + part.command.rank_count;
      part.numbers.assign(next, end);
      next = end;
    }
    return MPI_SUCCESS;
  }

  /// The ranks that some processes have made.
  void drop_all() {
    for (const Part& part : parts_) {
      if (!part.numbers.empty()) spawns().drop(part.process, part.numbers);
    }
  }

  /// As many of each command as there are places for.
  int choose_counts() {
    std::vector<std::int32_t> left;
    for (const std::uint32_t process : processes_)
      left.push_back(wait_for_places(process));
    for (Part& part : parts_) {
      const auto index = static_cast<std::size_t>(std::ranges::find(processes_, part.process) -
                                                  processes_.begin());
      const std::vector<std::int32_t>& soft_counts = part.command.soft_counts;
      std::int32_t& count = part.command.rank_count;
      if (count > left[index]) {
        const auto fits = [&](std::int32_t soft) { return soft <= std::min(left[index], count); };
        const auto soft = std::ranges::find_if(soft_counts.rbegin(), soft_counts.rend(), fits);
        if (soft == soft_counts.rend()) return fail_places(left[index]);
        count = *soft;
      }
      left[index] -= count;
    }
    return MPI_SUCCESS;
  }

  /// The number of free places of a process. Ranks that have finalized MPI soon give theirs. May
  /// suspend.
  std::int32_t wait_for_places(std::uint32_t process) {
    std::string file;
    std::int32_t wanted_count = 0;
    for (const Part& part : parts_) {
      if (part.process != process) continue;
      file = part.command.file;
      wanted_count += part.command.rank_count;
    }
    SpawnService::Room room = spawns().room(process, file);
    for (std::int64_t waited_ns = 0;
         room.free_count < wanted_count && room.are_any_leaving && waited_ns < leaving_ns_max;
         waited_ns += leaving_poll_ns) {
      core::Worker::current()->sleep(leaving_poll_ns);
      room = spawns().room(process, file);
    }
    return room.free_count;
  }

  void start() {
    outcome_.started_count = static_cast<std::int32_t>(family_.ranks.size());
    outcome_.context = family_.parent_context = world_.new_context();
    family_.world_context = world_.new_context();
    family_.local_context = world_.new_context();
    const Group& parents = *comm_.shared->group();
    for (std::int32_t rank = 0; rank < parents.size(); ++rank)
      family_.parents.push_back(parents.world_rank(rank));
    for (const std::uint32_t process : processes_)
      spawns().start(process, family_);
  }

  [[nodiscard]] SpawnService& spawns() const { return *world_.spawns(); }

  int fail(std::string reason) {
    reason_ = std::move(reason);
    return MPI_ERR_SPAWN;
  }

  int fail_places(std::int32_t free) {
    return fail(
        text_of("%d ranks are wanted, and %d places are free: start the job with "
                "--universe N for N ranks at a time, not %d",
                outcome_.wanted_count, free, world_.universe_size()));
  }

  Comm& comm_;
  ProcessWorld& world_;
  const std::span<const SpawnCommand> commands_;
  std::vector<Part> parts_;
  /// The processes in which ranks are to run.
  std::vector<std::uint32_t> processes_;
  SpawnedFamily family_;
  Outcome outcome_;
  std::string reason_;
};

}  // namespace

int comm_spawn(RankState& self,
               Comm& comm,
               std::span<const SpawnCommand> commands,
               int error,
               std::int32_t root,
               SpawnResult& result) {
  Outcome outcome{.error = error};
  // Other ranks of the worker may fail meanwhile.
  std::string reason =
      comm.rank == root ? self.detail().text() : "the root could not start the ranks";
  std::vector<std::int32_t> numbers;
  if (comm.rank == root && error == MPI_SUCCESS) {
    Spawning spawning(self, comm, commands);
    outcome = spawning.run();
    result.errors = spawning.errors();
    reason = spawning.reason();
    numbers = spawning.numbers();
  }
  int told = tell(self, comm, std::span(&outcome, 1), root);
  if (told != MPI_SUCCESS) return told;
  result.errors.resize(static_cast<std::size_t>(outcome.wanted_count), MPI_ERR_SPAWN);
  if (outcome.wanted_count > 0) {
    told = tell(self, comm, std::span(result.errors), root);
    if (told != MPI_SUCCESS) return told;
  }
  // The rank that prints may be another one than the root.
  if (comm.rank != root && outcome.error == MPI_ERR_SPAWN &&
      static_cast<ProcessWorld&>(*self.world).spawned() == nullptr)
    reason = no_places;
  if (outcome.error != MPI_SUCCESS) return self.fail(outcome.error, "%s", reason.c_str());
  numbers.resize(static_cast<std::size_t>(outcome.started_count));
  if (!numbers.empty()) {
    told = tell(self, comm, std::span(numbers), root);
    if (told != MPI_SUCCESS) return told;
  }
  Comm* local = nullptr;
  told = comm_duplicate(self, comm, &local);
  if (told != MPI_SUCCESS) return told;
  return make_inter_side(self, {.local = local, .is_first = true}, Group::of(std::move(numbers)),
                         outcome.context, comm, &result.comm);
}

}  // namespace sorrel::mpi
