#include "mpi/job/spawn_service.hpp"

#include <utility>

#include "base/text.hpp"
#include "mpi/job/process_world.hpp"

namespace sorrel::mpi {

namespace {

void write(ByteWriter& writer, const std::vector<std::int32_t>& numbers) {
  writer.add(static_cast<std::uint32_t>(numbers.size()));
  for (const std::int32_t number : numbers)
    writer.add(number);
}

std::vector<std::int32_t> take_numbers(ByteCursor& cursor) {
  std::vector<std::int32_t> numbers;
  for (auto left = cursor.take<std::uint32_t>(); left > 0 && cursor.is_good(); --left)
    numbers.push_back(cursor.take<std::int32_t>());
  return numbers;
}

void write(ByteWriter& writer, const SpawnCommand& command) {
  writer.add_block(command.program);
  writer.add_block(command.file);
  writer.add_block(command.directory);
  writer.add(command.number);
  writer.add(command.rank_count);
  writer.add(command.first_rank);
  writer.add(command.world_size);
  // The predefined ones: the same value in all processes.
  writer.add(command.errhandler);
  writer.add(static_cast<std::uint32_t>(command.arguments.size()));
  for (const std::string& argument : command.arguments)
    writer.add_block(argument);
}

SpawnCommand take_command(ByteCursor& cursor) {
  SpawnCommand command;
  command.program = cursor.take_block();
  command.file = cursor.take_block();
  command.directory = cursor.take_block();
  command.number = cursor.take<std::int32_t>();
  command.rank_count = cursor.take<std::int32_t>();
  command.first_rank = cursor.take<std::int32_t>();
  command.world_size = cursor.take<std::int32_t>();
  command.errhandler = cursor.take<MPI_Errhandler>();
  for (auto left = cursor.take<std::uint32_t>(); left > 0 && cursor.is_good(); --left)
    command.arguments.emplace_back(cursor.take_block());
  return command;
}

/// MPI_INFO_ENV of the rank. Values that are too long are not given.
void describe(RankState& rank, const SpawnCommand& command) {
  Info& info = rank.spawned->environment;
  ErrorDetail detail;
  std::string arguments;
  for (const std::string& argument : command.arguments)
    arguments += (arguments.empty() ? "" : " ") + argument;
  (void)info.set("command", command.program.c_str(), detail);
  (void)info.set("argv", arguments.c_str(), detail);
  (void)info.set("maxprocs", std::to_string(command.rank_count).c_str(), detail);
  if (!command.directory.empty()) (void)info.set("wdir", command.directory.c_str(), detail);
}

}  // namespace

SpawnService::SpawnService(ProcessWorld& world) : world_(world), calls_(world.calls()) {
  world.set_spawns(*this);
  calls_.set_handler(CallTopic::spawned_ranks, [this](ByteCursor question, ByteWriter& answer) {
    answer_call(question, answer);
  });
}

SpawnService::Room SpawnService::room(std::uint32_t process, const std::string& file) {
  if (process == world_.own_process()) return own_room(file);
  ByteWriter writer;
  writer.add(Operation::room);
  writer.add_block(file);
  const auto answer = ask(process, writer);
  if (!answer) return {};
  return ByteCursor(std::as_bytes(std::span(*answer))).take<Room>();
}

SpawnService::Room SpawnService::own_room(const std::string& file) {
  SpawnedRanks* const spawned = world_.spawned();
  if (spawned == nullptr) return {};
  SpawnCommand command;
  command.file = file;
  return {.has_program = world_.job().find_program(command).is_own,
          .free_count = spawned->free_count(),
          .are_any_leaving = spawned->are_any_leaving()};
}

SpawnService::Made SpawnService::make(std::uint32_t process,
                                      std::span<const SpawnCommand> commands) {
  if (process == world_.own_process()) return make_own(commands);
  ByteWriter writer;
  writer.add(Operation::make);
  writer.add(static_cast<std::uint32_t>(commands.size()));
  for (const SpawnCommand& command : commands)
    write(writer, command);
  const auto answer = ask(process, writer);
  if (!answer)
    return {.error = commands.front().program + ": the process that runs it has ended",
            .numbers = {}};
  ByteCursor cursor(std::as_bytes(std::span(*answer)));
  Made made;
  made.error = cursor.take_block();
  made.numbers = take_numbers(cursor);
  SORREL_ASSERT(cursor.is_good() && cursor.at_end());
  return made;
}

SpawnService::Made SpawnService::make_own(std::span<const SpawnCommand> commands) {
  std::int32_t count = 0;
  for (const SpawnCommand& command : commands)
    count += command.rank_count;
  const std::vector<RankState*> ranks = world_.spawned()->make(count);
  if (std::cmp_not_equal(ranks.size(), count)) {
    return {.error = text_of("%d ranks cannot be started: others took their places", count),
            .numbers = {}};
  }
  Made made;
  std::size_t first = 0;
  for (const SpawnCommand& command : commands) {
    const auto of_command =
        std::span(ranks).subspan(first, static_cast<std::size_t>(command.rank_count));
    first += of_command.size();
    for (RankState* rank : of_command) {
      rank->spawned->program_number = command.number;
      rank->world_comm.errhandler = errhandler_of(command.errhandler);
      describe(*rank, command);
      made.numbers.push_back(rank->world_rank);
    }
    made.error = world_.job().prepare_spawned(of_command, command);
    if (made.error.empty()) continue;
    world_.job().drop_spawned(ranks);
    world_.spawned()->drop(ranks);
    made.numbers.clear();
    break;
  }
  return made;
}

void SpawnService::start(std::uint32_t process, const SpawnedFamily& family) {
  if (process == world_.own_process()) {
    start_own(family);
    return;
  }
  ByteWriter writer;
  writer.add(Operation::start);
  write(writer, family.ranks);
  write(writer, family.parents);
  writer.add(family.world_context);
  writer.add(family.parent_context);
  writer.add(family.local_context);
  (void)ask(process, writer);
}

void SpawnService::start_own(const SpawnedFamily& family) {
  const std::vector<RankState*> ranks = own_of(family.ranks);
  if (ranks.empty()) return;
  const auto group = Group::of(family.ranks);
  auto* const world = new CommShared(world_, family.world_context, group);
  // The side of the new ranks. Each is given a reference to both parts.
  auto* const remote =
      new CommShared(world_, family.parent_context, Group::of(family.parents), CommKind::inter);
  auto* const local = new CommShared(world_, family.local_context, group);
  for (RankState* rank : ranks) {
    ProcessWorld::enter_world_comm(*rank, *world);
    remote->retain();
    local->retain();
    rank->spawned->parent_shared = remote;
    rank->spawned->parent_local = local;
  }
  // From here on they may end, and their states be deleted.
  world_.job().start_spawned(ranks);
}

void SpawnService::drop(std::uint32_t process, const std::vector<std::int32_t>& numbers) {
  if (process == world_.own_process()) {
    drop_own(numbers);
    return;
  }
  ByteWriter writer;
  writer.add(Operation::drop);
  write(writer, numbers);
  (void)ask(process, writer);
}

void SpawnService::drop_own(const std::vector<std::int32_t>& numbers) {
  const std::vector<RankState*> ranks = own_of(numbers);
  world_.job().drop_spawned(ranks);
  world_.spawned()->drop(ranks);
}

std::vector<RankState*> SpawnService::own_of(const std::vector<std::int32_t>& numbers) const {
  std::vector<RankState*> ranks;
  for (const std::int32_t number : numbers) {
    if (world_.is_here(number)) ranks.push_back(&world_.rank(number));
  }
  return ranks;
}

std::optional<std::string> SpawnService::ask(std::uint32_t process, const ByteWriter& question) {
  return calls_.ask(process, CallTopic::spawned_ranks, question.bytes());
}

void SpawnService::answer_call(ByteCursor cursor, ByteWriter& writer) {
  switch (cursor.take<Operation>()) {
    case Operation::room:
      writer.add(own_room(std::string(cursor.take_block())));
      break;
    case Operation::make: {
      std::vector<SpawnCommand> commands;
      for (auto left = cursor.take<std::uint32_t>(); left > 0 && cursor.is_good(); --left)
        commands.push_back(take_command(cursor));
      const Made made = make_own(commands);
      writer.add_block(made.error);
      write(writer, made.numbers);
      break;
    }
    case Operation::start: {
      SpawnedFamily family;
      family.ranks = take_numbers(cursor);
      family.parents = take_numbers(cursor);
      family.world_context = cursor.take<std::uint32_t>();
      family.parent_context = cursor.take<std::uint32_t>();
      family.local_context = cursor.take<std::uint32_t>();
      start_own(family);
      break;
    }
    case Operation::drop:
      drop_own(take_numbers(cursor));
      break;
  }
  SORREL_ASSERT(cursor.is_good() && cursor.at_end());
}

}  // namespace sorrel::mpi
