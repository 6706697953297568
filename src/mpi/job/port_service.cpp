#include "mpi/job/port_service.hpp"

#include <span>
#include <utility>

#include "mpi/comm/world.hpp"

namespace sorrel::mpi {

namespace {

/// The process that has the published names.
constexpr std::uint32_t name_process = 0;

}  // namespace

PortService::PortService(World& world, ProcessCalls& calls)
    : world_(world), calls_(calls), own_(world.own_process(), world.layout().process_count()) {
  calls.set_handler(CallTopic::ports, [this](ByteCursor question, ByteWriter& answer) {
    answer_call(question, answer);
  });
}

PortTable::Meeting PortService::meet(const std::string& name,
                                     PortTable::Side side,
                                     std::int32_t rank) {
  const std::optional<std::uint32_t> process = own_.process_of(name);
  if (!process) return {.outcome = PortTable::Outcome::no_port, .caller = {}};
  return ask(*process, {.operation = Operation::meet, .side = side, .rank = rank, .name = name})
      .meeting;
}

std::optional<std::vector<PortTable::Caller>> PortService::close(const std::string& name) {
  const std::optional<std::uint32_t> process = own_.process_of(name);
  if (!process) return std::nullopt;
  Answer answer = ask(*process, {.operation = Operation::close, .name = name});
  return answer.is_there ? std::optional(std::move(answer.callers)) : std::nullopt;
}

bool PortService::publish(const std::string& service, const std::string& port) {
  return ask(name_process, {.operation = Operation::publish, .name = service, .port = port})
      .is_there;
}

bool PortService::unpublish(const std::string& service) {
  return ask(name_process, {.operation = Operation::unpublish, .name = service}).is_there;
}

std::optional<std::string> PortService::lookup(const std::string& service) {
  Answer answer = ask(name_process, {.operation = Operation::lookup, .name = service});
  return answer.is_there ? std::optional(std::move(answer.port)) : std::nullopt;
}

/// From its table.
PortService::Answer PortService::answer_to(const Question& question) {
  Answer answer;
  switch (question.operation) {
    case Operation::meet:
      answer.meeting = own_.meet(question.name, question.side, question.rank);
      break;
    case Operation::close:
      if (auto callers = own_.close(question.name)) {
        answer.is_there = true;
        answer.callers = std::move(*callers);
      }
      break;
    case Operation::publish:
      answer.is_there = own_.publish(question.name, question.port);
      break;
    case Operation::unpublish:
      answer.is_there = own_.unpublish(question.name);
      break;
    case Operation::lookup:
      if (auto port = own_.lookup(question.name)) {
        answer.is_there = true;
        answer.port = std::move(*port);
      }
      break;
  }
  return answer;
}

/// In a process that has ended, nothing is there.
PortService::Answer PortService::ask(std::uint32_t process, const Question& question) {
  if (process == world_.own_process()) return answer_to(question);
  ByteWriter writer;
  writer.add(question.operation);
  writer.add(question.side);
  writer.add(question.rank);
  writer.add_block(question.name);
  writer.add_block(question.port);
  Answer answer;
  const auto bytes = calls_.ask(process, CallTopic::ports, writer.bytes());
  if (!bytes) return answer;
  ByteCursor cursor(std::as_bytes(std::span(*bytes)));
  answer.is_there = cursor.take<bool>();
  answer.meeting = cursor.take<PortTable::Meeting>();
  for (auto left = cursor.take<std::uint32_t>(); left > 0; --left)
    answer.callers.push_back(cursor.take<PortTable::Caller>());
  answer.port = cursor.take_block();
  SORREL_ASSERT(cursor.is_good() && cursor.at_end());
  return answer;
}

void PortService::answer_call(ByteCursor cursor, ByteWriter& writer) {
  Question question{.operation = cursor.take<Operation>()};
  question.side = cursor.take<PortTable::Side>();
  question.rank = cursor.take<std::int32_t>();
  question.name = cursor.take_block();
  question.port = cursor.take_block();
  SORREL_ASSERT(cursor.is_good() && cursor.at_end());
  const Answer answer = answer_to(question);
  writer.add(answer.is_there);
  writer.add(answer.meeting);
  writer.add(static_cast<std::uint32_t>(answer.callers.size()));
  for (const PortTable::Caller& caller : answer.callers)
    writer.add(caller);
  writer.add_block(answer.port);
}

}  // namespace sorrel::mpi
