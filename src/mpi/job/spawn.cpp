#include "mpi/job/spawn.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/job/comm_create.hpp"
#include "mpi/job/intercomm.hpp"
#include "mpi/job/process_world.hpp"

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

/// The ranks of one command.
struct Part {
  const SpawnCommand* command;
  std::int32_t count;
};

/// The new ranks, before they run.
class Spawning {
 public:
  Spawning(const RankState& root, Comm& comm, std::span<const SpawnCommand> commands)
      : comm_(comm), world_(static_cast<ProcessWorld&>(*root.world)), commands_(commands) {}

  /// Starts them.
  Outcome run() {
    for (const SpawnCommand& command : commands_)
      outcome_.wanted_count += command.rank_count;
    outcome_.error = make();
    if (outcome_.error == MPI_SUCCESS) {
      connect();
      for (const RankState* rank : ranks_)
        numbers_.push_back(rank->world_rank);
      // From here on they may end, and their states be deleted.
      world_.job().start_spawned(ranks_);
      ranks_.clear();
    }
    return outcome_;
  }

  /// The numbers of the ranks that have been started.
  [[nodiscard]] const std::vector<std::int32_t>& numbers() const { return numbers_; }

  /// Why not, for a user.
  [[nodiscard]] const std::string& reason() const { return reason_; }

  /// For each rank that was wanted.
  [[nodiscard]] std::vector<int> errors() const {
    std::vector<int> errors;
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      const std::int32_t started =
          outcome_.error == MPI_SUCCESS ? parts_[i].count : std::int32_t{0};
      for (std::int32_t rank = 0; rank < commands_[i].rank_count; ++rank)
        errors.push_back(rank < started ? MPI_SUCCESS : MPI_ERR_SPAWN);
    }
    return errors;
  }

 private:
  int make() {
    if (const int error = choose_counts(); error != MPI_SUCCESS) return error;
    std::int32_t count = 0;
    for (const Part& part : parts_)
      count += part.count;
    ranks_ = world_.spawned()->make(count);
    if (std::cmp_not_equal(ranks_.size(), count))
      return fail(text_of("%d ranks cannot be started: others took their places", count));
    std::size_t first = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto ranks =
          std::span(ranks_).subspan(first, static_cast<std::size_t>(parts_[i].count));
      first += ranks.size();
      for (RankState* rank : ranks) {
        rank->spawned->program_number = static_cast<std::int32_t>(i);
        rank->world_comm.errhandler = errhandler_of(commands_[i].errhandler);
        describe(*rank, parts_[i]);
      }
      std::string error = world_.job().prepare_spawned(ranks, commands_[i]);
      if (error.empty()) continue;
      world_.job().drop_spawned(ranks_);
      world_.spawned()->drop(ranks_);
      ranks_.clear();
      return fail(std::move(error));
    }
    return MPI_SUCCESS;
  }

  /// As many of each command as there are places for.
  int choose_counts() {
    const std::int32_t free = world_.spawned() == nullptr ? 0 : wait_for_places();
    std::int32_t left = free;
    for (const SpawnCommand& command : commands_) {
      std::int32_t count = command.rank_count;
      if (count > left) {
        const auto fits = [&](std::int32_t soft) { return soft <= std::min(left, count); };
        const auto soft =
            std::ranges::find_if(command.soft_counts.rbegin(), command.soft_counts.rend(), fits);
        if (soft == command.soft_counts.rend()) return fail_places(free);
        count = *soft;
      }
      left -= count;
      parts_.push_back({.command = &command, .count = count});
    }
    return MPI_SUCCESS;
  }

  /// The number of free places. Ranks that have finalized MPI soon give theirs. May suspend.
  std::int32_t wait_for_places() {
    std::int64_t waited_ns = 0;
    std::int32_t free = world_.spawned()->free_count();
    while (free < outcome_.wanted_count && waited_ns < leaving_ns_max &&
           world_.spawned()->are_any_leaving()) {
      core::Worker::current()->sleep(leaving_poll_ns);
      waited_ns += leaving_poll_ns;
      free = world_.spawned()->free_count();
    }
    return free;
  }

  int fail(std::string reason) {
    reason_ = std::move(reason);
    return MPI_ERR_SPAWN;
  }

  int fail_places(std::int32_t free) {
    if (world_.spawned() == nullptr) {
      return fail(no_places);
    }
    return fail(
        text_of("%d ranks are wanted, and %d places are free: start the job with "
                "--universe N for N ranks at a time, not %d",
                outcome_.wanted_count, free, world_.universe_size()));
  }

  /// MPI_INFO_ENV of the rank. Values that are too long are not given.
  void describe(RankState& rank, const Part& part) {
    Info& info = rank.spawned->environment;
    ErrorDetail detail;
    std::string arguments;
    for (const std::string& argument : part.command->arguments)
      arguments += (arguments.empty() ? "" : " ") + argument;
    (void)info.set("command", part.command->program.c_str(), detail);
    (void)info.set("argv", arguments.c_str(), detail);
    (void)info.set("maxprocs", std::to_string(part.count).c_str(), detail);
    if (!part.command->directory.empty())
      (void)info.set("wdir", part.command->directory.c_str(), detail);
  }

  /// The side of the new ranks. Each is given a reference to both parts.
  void connect() {
    outcome_.started_count = static_cast<std::int32_t>(ranks_.size());
    outcome_.context = world_.new_context();
    if (ranks_.empty()) return;
    auto* remote = new CommShared(world_, outcome_.context, comm_.shared->group(), CommKind::inter);
    auto* local =
        new CommShared(world_, world_.new_context(), ranks_.front()->world_comm.shared->group());
    for (RankState* rank : ranks_) {
      remote->retain();
      local->retain();
      rank->spawned->parent_shared = remote;
      rank->spawned->parent_local = local;
    }
  }

  Comm& comm_;
  ProcessWorld& world_;
  const std::span<const SpawnCommand> commands_;
  std::vector<Part> parts_;
  std::vector<RankState*> ranks_;
  std::vector<std::int32_t> numbers_;
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
