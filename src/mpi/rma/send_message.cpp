// The origin's side of messages between processes: cuts a message into packets.
#include <algorithm>
#include <span>
#include <vector>

#include "base/copy_bytes.hpp"
#include "mpi/datatype/copy.hpp"
#include "mpi/datatype/transfer_form.hpp"
#include "mpi/net/packet_words.hpp"
#include "mpi/net/send_queue.hpp"
#include "mpi/rma/message.hpp"
#include "mpi/rma/packet_space.hpp"

namespace sorrel::mpi {

namespace {

/// From here on the target reads data itself, if it can: one copy instead of two, and no packets.
constexpr std::size_t read_bytes_min = 32768;

/// A message on its way to the transport, on the stack of its rank.
struct OutgoingMessage : PendingSend {
  MessageHead head;
  std::span<const std::byte> type_form;
  const TypedBuffer* data = nullptr;
  const std::byte* data_run = nullptr;
  std::size_t sent_bytes = 0;
  core::Completion has_left;

  /// Size of the data that follows the head and the datatype.
  [[nodiscard]] std::size_t following_bytes() const {
    return head.data_address != 0 ? 0 : head.data_bytes;
  }
};

/// Copies the part of `from` that lies behind `skipped` bytes; returns its length.
std::size_t copy_rest(std::span<const std::byte> from,
                      std::size_t skipped,
                      std::byte* to,
                      std::size_t room) {
  if (skipped >= from.size()) return 0;
  const std::size_t bytes = std::min(from.size() - skipped, room);
  copy_bytes(to, from.data() + skipped, bytes);
  return bytes;
}

/// The next packet of the message: its bytes, in `space` or in the user's buffer.
std::span<const std::byte> next_piece(const OutgoingMessage& message, std::span<std::byte> space) {
  const std::size_t begin_of_data = sizeof message.head + message.type_form.size();
  const std::size_t at = message.sent_bytes;
  std::size_t used = 0;
  if (at < begin_of_data) {
    used = copy_rest(std::as_bytes(std::span(&message.head, 1)), at, space.data(), space.size());
    const std::size_t position = at + used;
    if (position >= sizeof message.head) {
      used += copy_rest(message.type_form, position - sizeof message.head, space.data() + used,
                        space.size() - used);
    }
    if (at + used < begin_of_data) return space.first(used);
  }
  const std::size_t from = at + used - begin_of_data;
  std::size_t bytes = std::min(message.following_bytes() - from, space.size() - used);
  // Between elements only, unless these are the last.
  if (from + bytes < message.following_bytes()) bytes -= bytes % message.head.element_bytes;
  if (bytes == 0) return space.first(used);
  if (used == 0 && message.data_run != nullptr) return {message.data_run + from, bytes};
  if (message.data_run != nullptr) {
    copy_bytes(space.data() + used, message.data_run + from, bytes);
  } else {
    pack_range(message.data->buffer, *message.data->type, {.from = from, .to = from + bytes},
               space.data() + used);
  }
  return space.first(used + bytes);
}

bool send_pieces(PendingSend& pending_send, SendQueue& send_queue, Endpoint to) {
  auto& message = static_cast<OutgoingMessage&>(pending_send);
  const std::span<std::byte> space = packet_space(send_queue, to.process);
  const std::size_t total =
      sizeof message.head + message.type_form.size() + message.following_bytes();
  while (message.sent_bytes < total) {
    const std::span<const std::byte> piece = next_piece(message, space);
    const transport::Packet packet{.kind = number_of(PacketKind::rma),
                                   .words = {message.sent_bytes == 0 ? 1U : 0U, 0, 0, 0},
                                   .payload_bytes = static_cast<std::uint32_t>(piece.size())};
    if (!send_queue.try_send_next(to, packet, piece.data())) return false;
    message.sent_bytes += piece.size();
  }
  message.has_left.complete(send_queue.worker());
  return true;
}

/// Whether the target can read data at one address of this process now.
bool can_be_read(const World& world,
                 const MessageHead& head,
                 const OutgoingMessage& message,
                 std::uint32_t process) {
  // A simulated network would let it read only later, when further messages have come.
  return message.data_run != nullptr && head.data_bytes >= read_bytes_min &&
         !world.is_simulated_node() && world.transport()->can_pull(process);
}

void wait_until_sent(Win& win, OutgoingMessage& message, std::int32_t target_rank) {
  if (message.has_left.is_done()) [[likely]]
    return;
  RankState& self = *win.owner;
  const RankWait wait(self, WaitRecord::Kind::window, win.comm, {.peer = target_rank});
  message.has_left.wait(*self.worker);
}

}  // namespace

void send_message(Win& win,
                  std::int32_t target_rank,
                  MessageHead head,
                  const Datatype* type,
                  const TypedBuffer* data) {
  RankState& self = *win.owner;
  const WinTarget& target = win.target(target_rank);
  SORREL_ASSERT(!target.is_here, "a message to a rank of this process");
  std::vector<std::byte> type_form;
  if (type != nullptr) append_transfer_form(*type, type_form);
  OutgoingMessage message;
  head.window = reinterpret_cast<std::uintptr_t>(target.window);
  head.origin = win.rank;
  head.type_bytes = static_cast<std::uint32_t>(type_form.size());
  head.data_bytes = data == nullptr ? 0 : data->bytes();
  message.send = send_pieces;
  message.head = head;
  message.type_form = type_form;
  message.data = data;
  if (data != nullptr) {
    message.data_run =
        static_cast<const std::byte*>(single_run(data->buffer, data->count, *data->type));
  }
  const Endpoint endpoint{.process = self.world->layout().process_of(target.world_rank),
                          .worker = target.worker};
  Ack read(win);
  const bool is_read = can_be_read(*self.world, head, message, endpoint.process);
  if (is_read) {
    message.head.data_address = reinterpret_cast<std::uintptr_t>(message.data_run);
    message.head.read_token = reinterpret_cast<std::uintptr_t>(&read);
    ++read.missing_count;
  }
  self.worker_state->send_queue->send(endpoint, message);
  wait_until_sent(win, message, target_rank);
  if (is_read) (void)wait_for_answers(read, target_rank);
}

int wait_for_answers(Ack& ack, std::int32_t peer) {
  SORREL_ASSERT(ack.missing_count > 0);
  if (--ack.missing_count != 0) suspend_for(ack.wait, peer);
  return ack.error;
}

}  // namespace sorrel::mpi
