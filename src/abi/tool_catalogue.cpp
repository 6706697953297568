#include "abi/tool_catalogue.hpp"

#include <array>

#include "mpi/comm/collective_shadows.hpp"
#include "mpi/match/buffered_sends.hpp"
#include "mpi/match/rank_events.hpp"
#include "runtime/job.hpp"
#include "runtime/process_config.hpp"

namespace sorrel::abi {

namespace {

using mpi::Comm;
using mpi::RankState;

constexpr std::array<ToolEnumItem, 3> shares{
    {{"fair", static_cast<int>(governor::Share::fair)},
     {"yielding", static_cast<int>(governor::Share::yielding)},
     {"fixed", static_cast<int>(governor::Share::fixed)}}};
constexpr std::array<ToolEnumItem, 2> pool_states{{{"has room", 0}, {"congested", 1}}};

constexpr std::array<ToolEnumItem, 4> unexpected_message_elements{
    {{"source", 0}, {"tag", 1}, {"bytes", 2}, {"queued", 3}}};
constexpr std::array<ToolEnumItem, 2> rank_move_elements{{{"from_worker", 0}, {"to_worker", 1}}};
constexpr std::array<ToolEnumItem, 2> worker_park_elements{{{"worker", 0}, {"parks", 1}}};
constexpr std::array<ToolEnumItem, 2> worker_migration_elements{{{"worker", 0}, {"migrations", 1}}};
constexpr std::array<ToolEnumItem, 2> pool_state_elements{{{"state", 0}, {"bytes", 1}}};

constexpr std::array<ToolEnum, 7> enums{
    {{"sorrel_share", shares},
     {"sorrel_pool_state", pool_states},
     {"sorrel_unexpected_message_elements", unexpected_message_elements},
     {"sorrel_rank_move_elements", rank_move_elements},
     {"sorrel_worker_park_elements", worker_park_elements},
     {"sorrel_worker_migration_elements", worker_migration_elements},
     {"sorrel_pool_state_elements", pool_state_elements}}};

constexpr std::array<ToolCategoryInfo, 5> categories{
    {{"sorrel", "all variables of Sorrel"},
     {"messages", "point-to-point messages: limits, queues, buffered sends"},
     {"collectives", "collective communication"},
     {"workers", "the event loops that run the ranks, and their threads"},
     {"memory", "memory of the rank and of its worker"}}};

/// What a rank without a world has.
template <class Read>
std::int64_t of_limits(const RankState& self, Read&& read) {
  return read(self.world == nullptr ? mpi::MessageLimits{} : self.world->limits());
}

template <class Read>
std::int64_t of_world(const RankState& self, std::int64_t otherwise, Read&& read) {
  return self.world == nullptr ? otherwise : static_cast<std::int64_t>(read(*self.world));
}

template <class Read>
std::int64_t of_worker(const RankState& self, Read&& read) {
  return self.worker == nullptr ? 0 : static_cast<std::int64_t>(read(*self.worker));
}

/// While the rank was with them.
mpi::RankTool::WorkerCounts counts_of_workers(const RankState& self) {
  if (self.worker == nullptr) return {};
  auto counts = mpi::RankTool::WorkerCounts::of(*self.worker);
  if (const mpi::RankTool* tool = mpi::tool_of(self); tool != nullptr) {
    counts.parks += tool->before_moves.parks;
    counts.migrations += tool->before_moves.migrations;
  }
  return counts;
}

std::int64_t bytes_of(const mpi::BufferedSends* sends) {
  return sends == nullptr ? 0 : static_cast<std::int64_t>(sends->bytes_in_use);
}

std::int64_t heap_bytes(const RankState& self) {
  if (self.world == nullptr) return 0;
  const runtime::JobView& job = static_cast<const runtime::Job&>(self.world->job()).view();
  const auto memory = job.body().memory_of(job.index_of(self));
  return memory.has_value() ? static_cast<std::int64_t>(memory->in_use) : 0;
}

constexpr std::array<ControlVariable, 12> controls{{
    {{"sorrel_eager_bytes_max",
      "Bytes of the longest unexpected message that is copied, so that its blocking sender "
      "continues (SORREL_EAGER, --eager).",
      ToolCategory::messages, MPI_T_VERBOSITY_USER_BASIC},
     [](const RankState& self, const Comm*) {
       return of_limits(self, [](const auto& limits) { return limits.eager_bytes_max; });
     }},
    {{"sorrel_inline_bytes_max",
      "Bytes of the longest message to another worker that travels inside a mailbox.",
      ToolCategory::messages, MPI_T_VERBOSITY_TUNER_DETAIL},
     [](const RankState& self, const Comm*) {
       return of_limits(self, [](const auto& limits) { return limits.inline_bytes_max; });
     }},
    {{.name = "sorrel_comm_read_late",
      .description = "1: long messages on this communicator are read long after they have arrived, "
                     "so they are copied by the receiver's worker (the hint sorrel_read_late).",
      .category = ToolCategory::messages,
      .verbosity = MPI_T_VERBOSITY_TUNER_BASIC,
      .is_int = true,
      .is_bound_to_comm = true},
     [](const RankState&, const Comm* comm) { return std::int64_t{comm->is_read_late ? 1 : 0}; },
     [](Comm* comm, std::int64_t value) { comm->is_read_late = value != 0; }},
    {{"sorrel_nonblocking_collectives_max",
      "Nonblocking collectives of a communicator that progress at once; a further one waits.",
      ToolCategory::collectives, MPI_T_VERBOSITY_TUNER_DETAIL},
     [](const RankState&, const Comm*) {
       return std::int64_t{mpi::CollectiveShadows::shadow_count};
     }},
    {{"sorrel_operation_stack_bytes", "Bytes of the stack of a nonblocking collective.",
      ToolCategory::collectives, MPI_T_VERBOSITY_USER_DETAIL},
     [](const RankState& self, const Comm*) {
       return of_world(self, 0,
                       [](const mpi::World& world) { return world.operation_stack_bytes(); });
     }},
    {{"sorrel_processes", "Processes of the job.", ToolCategory::workers,
      MPI_T_VERBOSITY_USER_BASIC},
     [](const RankState& self, const Comm*) {
       return of_world(self, 1,
                       [](const mpi::World& world) { return world.layout().process_count(); });
     }},
    {{"sorrel_workers", "Workers of this process that run ranks.", ToolCategory::workers,
      MPI_T_VERBOSITY_USER_BASIC},
     [](const RankState& self, const Comm*) {
       return of_world(self, 1,
                       [](const mpi::World& world) { return world.layout().worker_count(); });
     }},
    {{.name = "sorrel_comm_worker",
      .description = "1: the worker of the ranks only communicates (--comm-worker).",
      .category = ToolCategory::workers,
      .verbosity = MPI_T_VERBOSITY_USER_DETAIL,
      .is_int = true},
     [](const RankState& self, const Comm*) {
       return of_world(self, 0, [](const mpi::World& world) { return world.has_comm_worker(); });
     }},
    {{.name = "sorrel_seeded",
      .description = "1: order and time are functions of a seed (--seed).",
      .category = ToolCategory::workers,
      .verbosity = MPI_T_VERBOSITY_USER_DETAIL,
      .is_int = true},
     [](const RankState& self, const Comm*) {
       return of_worker(self, [](const auto& worker) { return worker.is_seeded(); });
     }},
    {{.name = "sorrel_share",
      .description = "How loops share the machine with other jobs (SORREL_SHARE).",
      .category = ToolCategory::workers,
      .verbosity = MPI_T_VERBOSITY_USER_BASIC,
      .is_int = true,
      .enumeration = &enums[0]},
     [](const RankState&, const Comm*) {
       return static_cast<std::int64_t>(runtime::process_config().loops.limits.share);
     }},
    {{"sorrel_spin_ns_max", "Nanoseconds that an idle worker spins at most before it sleeps.",
      ToolCategory::workers, MPI_T_VERBOSITY_TUNER_BASIC},
     [](const RankState& self, const Comm*) {
       return of_worker(self, [](const auto& worker) { return worker.limits().spin_ns_max; });
     }},
    {{"sorrel_pool_bytes_max",
      "Bytes of a worker's pool of unexpected messages, beyond which messages stay with senders.",
      ToolCategory::memory, MPI_T_VERBOSITY_USER_DETAIL},
     [](const RankState& self, const Comm*) {
       return of_worker(self, [](const auto& worker) { return worker.limits().pool_bytes_max; });
     }},
}};

constexpr std::array<PerformanceVariable, 10> counts{{
    {{"sorrel_posted_receives", "Receives of this rank that no message has matched.",
      ToolCategory::messages, MPI_T_VERBOSITY_USER_BASIC},
     MPI_T_PVAR_CLASS_LEVEL,
     [](const RankState& self, const Comm*) { return std::int64_t{self.posted.count()}; }},
    {{"sorrel_unexpected_messages", "Messages to this rank that no receive has matched.",
      ToolCategory::messages, MPI_T_VERBOSITY_USER_BASIC},
     MPI_T_PVAR_CLASS_LEVEL,
     [](const RankState& self, const Comm*) { return std::int64_t{self.unexpected.count()}; }},
    {{"sorrel_buffered_bytes",
      "Bytes of the buffer of MPI_Buffer_attach that messages in flight use.",
      ToolCategory::messages, MPI_T_VERBOSITY_USER_DETAIL},
     MPI_T_PVAR_CLASS_LEVEL,
     [](const RankState& self, const Comm*) { return bytes_of(self.buffered_sends.get()); }},
    {{.name = "sorrel_comm_buffered_bytes",
      .description = "Bytes of the buffer of MPI_Comm_attach_buffer that messages in flight use.",
      .category = ToolCategory::messages,
      .verbosity = MPI_T_VERBOSITY_USER_DETAIL,
      .is_bound_to_comm = true},
     MPI_T_PVAR_CLASS_LEVEL,
     [](const RankState&, const Comm* comm) { return bytes_of(comm->buffered_sends.get()); }},
    {{.name = "sorrel_comm_barriers",
      .description = "Barriers that the collectives of this communicator have passed.",
      .category = ToolCategory::collectives,
      .verbosity = MPI_T_VERBOSITY_TUNER_DETAIL,
      .is_bound_to_comm = true},
     MPI_T_PVAR_CLASS_COUNTER,
     [](const RankState&, const Comm* comm) {
       return std::int64_t{local_part_of(*comm).barrier_count};
     }},
    {{"sorrel_parks", "How often the workers of this rank have gone to sleep.",
      ToolCategory::workers, MPI_T_VERBOSITY_TUNER_BASIC},
     MPI_T_PVAR_CLASS_COUNTER,
     [](const RankState& self, const Comm*) { return counts_of_workers(self).parks; }},
    {{"sorrel_migrations", "How often the workers of this rank have moved to another thread.",
      ToolCategory::workers, MPI_T_VERBOSITY_TUNER_BASIC},
     MPI_T_PVAR_CLASS_COUNTER,
     [](const RankState& self, const Comm*) { return counts_of_workers(self).migrations; }},
    {{"sorrel_pool_bytes", "Bytes of the worker's pool that unexpected messages use.",
      ToolCategory::memory, MPI_T_VERBOSITY_USER_BASIC},
     MPI_T_PVAR_CLASS_LEVEL,
     [](const RankState& self, const Comm*) {
       return of_worker(self, [](auto& worker) { return worker.pool().bytes_in_use(); });
     }},
    {{.name = "sorrel_pool_state",
      .description = "Whether the worker's pool makes senders keep their messages.",
      .category = ToolCategory::memory,
      .verbosity = MPI_T_VERBOSITY_TUNER_DETAIL,
      .is_int = true,
      .enumeration = &enums[1]},
     MPI_T_PVAR_CLASS_STATE,
     [](const RankState& self, const Comm*) {
       return of_worker(self, [](auto& worker) { return worker.pool().is_congested(); });
     }},
    {{"sorrel_heap_bytes", "Bytes of the rank's own heap that are allocated; 0: it has none.",
      ToolCategory::memory, MPI_T_VERBOSITY_USER_BASIC},
     MPI_T_PVAR_CLASS_LEVEL,
     [](const RankState& self, const Comm*) { return heap_bytes(self); }},
}};

constexpr std::array<ToolEvent, mpi::event_kind_count> events{{
    {"sorrel_unexpected_message",
     "A message to this rank has come before its receive: source, tag, bytes, and the number of "
     "such messages with it.",
     ToolCategory::messages,
     MPI_T_VERBOSITY_USER_BASIC,
     &enums[2],
     {true, true}},
    {"sorrel_rank_move",
     "This rank belongs to another worker from now on (--balance): the workers.",
     ToolCategory::workers,
     MPI_T_VERBOSITY_USER_BASIC,
     &enums[3],
     {true, true}},
    {"sorrel_worker_park",
     "The worker of this rank has gone to sleep, since no rank of it could run: the worker, and "
     "how "
     "often since the last such event. Seen at the end of a call of this rank.",
     ToolCategory::workers,
     MPI_T_VERBOSITY_TUNER_BASIC,
     &enums[4],
     {true}},
    {"sorrel_worker_migration",
     "The worker of this rank has moved to another thread: the worker, and how often since the "
     "last "
     "such event. Seen at the end of a call of this rank.",
     ToolCategory::workers,
     MPI_T_VERBOSITY_TUNER_BASIC,
     &enums[5],
     {true}},
    {"sorrel_pool_state",
     "The pool of unexpected messages of this rank's worker has reached its limit, or has room "
     "again: the state, as of the variable of this name, and the bytes in use. Seen at the end of "
     "a "
     "call of this rank.",
     ToolCategory::memory,
     MPI_T_VERBOSITY_USER_DETAIL,
     &enums[6],
     {true}},
}};

}  // namespace

std::span<const ControlVariable> control_variables() {
  return controls;
}

std::span<const PerformanceVariable> performance_variables() {
  return counts;
}

std::span<const ToolEvent> tool_events() {
  return events;
}

std::span<const ToolEnum> tool_enums() {
  return enums;
}

std::span<const ToolCategoryInfo> tool_categories() {
  return categories;
}

}  // namespace sorrel::abi
