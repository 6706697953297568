#include "mpi/job/process_calls.hpp"

#include <algorithm>
#include <span>

#include "mpi/match/worker_state.hpp"
#include "mpi/net/send_queue.hpp"

namespace sorrel::mpi {

namespace {

// Time between two looks for an answer.
constexpr std::int64_t poll_ns_min = 20'000;
constexpr std::int64_t poll_ns_max = 1'000'000;

struct WaitingPart : PendingSend {
  transport::Packet packet;
  std::string bytes;
};

bool send_part(PendingSend& self, SendQueue& send_queue, Endpoint to) {
  auto* part = static_cast<WaitingPart*>(&self);
  if (!send_queue.try_send_next(to, part->packet, part->bytes.data())) return false;
  delete part;
  return true;
}

ByteCursor cursor_over(const std::string& bytes) {
  return ByteCursor(std::as_bytes(std::span(bytes)));
}

}  // namespace

ProcessCalls::ProcessCalls(World& world) : world_(world) {
  if (world.transport() == nullptr) return;
  world.transport()->set_handler(number_of(PacketKind::question), on_question, this);
  world.transport()->set_handler(number_of(PacketKind::answer), on_answer, this);
}

void ProcessCalls::set_handler(CallTopic topic, Handler handler) {
  handlers_[topic] = std::move(handler);
}

std::optional<std::string> ProcessCalls::ask(std::uint32_t process,
                                             CallTopic topic,
                                             const std::string& question) {
  SORREL_ASSERT(process != world_.own_process());
  std::uint32_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    number = asked_count_++;
    answers_.try_emplace(number);
  }
  send(*core::Worker::current(), {.process = process, .worker = 0}, PacketKind::question, number,
       static_cast<char>(topic) + question);
  for (std::int64_t pause_ns = poll_ns_min;; pause_ns = std::min(2 * pause_ns, poll_ns_max)) {
    // The rank may have another worker afterwards.
    core::Worker::current()->sleep(pause_ns);
    const bool is_over = has_ended(process);
    const std::scoped_lock lock(mutex_);
    const auto found = answers_.find(number);
    const bool is_complete = found->second.is_complete;
    if (!is_complete && !is_over) continue;
    std::string answer = std::move(found->second.bytes);
    answers_.erase(found);
    return is_complete ? std::optional(std::move(answer)) : std::nullopt;
  }
}

/// Whether that process takes no more packets, if it shares memory with this one.
bool ProcessCalls::has_ended(std::uint32_t process) const {
  core::JobMemory& memory = world_.scheduler().memory();
  if (!memory.is_shared() || memory.shape().is_part) return false;
  // Acquire, pairs with JobMemory::mark_gone().
  return memory.control(process * memory.shape().workers_per_process)
             .is_gone.load(std::memory_order_acquire) != 0;
}

/// All parts by one worker to one worker: they arrive in order.
void ProcessCalls::send(core::Worker& from,
                        Endpoint to,
                        PacketKind kind,
                        std::uint32_t number,
                        const std::string& bytes) {
  const std::size_t part_bytes_max = world_.transport()->payload_bytes_max(to.process);
  std::size_t sent = 0;
  do {
    auto* waiting = new WaitingPart;
    waiting->bytes = bytes.substr(sent, part_bytes_max);
    sent += waiting->bytes.size();
    waiting->packet = {.kind = number_of(kind),
                       .words = {number, sent == bytes.size() ? 1U : 0U},
                       .payload_bytes = static_cast<std::uint32_t>(waiting->bytes.size())};
    waiting->send = send_part;
    world_.state_of(from).send_queue->send(to, *waiting);
  } while (sent < bytes.size());
}

void ProcessCalls::on_question(void* owner,
                               core::Worker& receiver,
                               Endpoint from,
                               const transport::Packet& packet,
                               const std::byte* payload) {
  auto& calls = *static_cast<ProcessCalls*>(owner);
  const auto key = std::pair(from.process, packet.words[0]);
  std::string question;
  {
    const std::scoped_lock lock(calls.mutex_);
    std::string& arriving = calls.questions_[key];
    arriving.append(reinterpret_cast<const char*>(payload), packet.payload_bytes);
    if (packet.words[1] == 0) return;
    question = std::move(arriving);
    calls.questions_.erase(key);
  }
  ByteWriter answer;
  ByteCursor cursor = cursor_over(question);
  const auto found = calls.handlers_.find(cursor.take<CallTopic>());
  SORREL_CHECK(found != calls.handlers_.end(), "a question without a topic");
  found->second(cursor, answer);
  calls.send(receiver, from, PacketKind::answer, packet.words[0], answer.bytes());
}

void ProcessCalls::on_answer(void* owner,
                             core::Worker& /*receiver*/,
                             Endpoint /*from*/,
                             const transport::Packet& packet,
                             const std::byte* payload) {
  auto& calls = *static_cast<ProcessCalls*>(owner);
  const std::scoped_lock lock(calls.mutex_);
  const auto found = calls.answers_.find(packet.words[0]);
  // The process that answers seemed to have ended.
  if (found == calls.answers_.end()) return;
  found->second.bytes.append(reinterpret_cast<const char*>(payload), packet.payload_bytes);
  found->second.is_complete = packet.words[1] != 0;
}

}  // namespace sorrel::mpi
