// The target's side of messages between processes, and the answers at the origin.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/copy_bytes.hpp"
#include "mpi/datatype/copy.hpp"
#include "mpi/datatype/transfer_form.hpp"
#include "mpi/match/complete.hpp"
#include "mpi/net/packet_words.hpp"
#include "mpi/net/traced_packet.hpp"
#include "mpi/rma/address.hpp"
#include "mpi/rma/cells.hpp"
#include "mpi/rma/device_access.hpp"
#include "mpi/rma/packet_space.hpp"
#include "mpi/rma/target_sync.hpp"
#include "os/clock.hpp"

namespace sorrel::mpi {

namespace {

using transport::Packet;

RmaState& rma_state_of(SendQueue& send_queue) {
  World& world = send_queue.world();
  WorkerState& worker = world.state_of(send_queue.worker());
  if (worker.rma == nullptr) {
    worker.rma = std::make_unique<RmaState>();
    worker.rma->incoming.resize(world.layout().endpoint_count());
  }
  return *worker.rma;
}

SendQueue& queue_of(const World& world, const core::Worker& worker) {
  return *world.state_of(worker).send_queue;
}

/// Data on its way back to the origin.
struct OutgoingData : PendingSend {
  std::uint64_t token;
  /// What has not left, and where it begins in the data.
  std::span<const std::byte> rest;
  std::size_t offset = 0;
  std::unique_ptr<std::byte[]> owned;
  /// Set when all has left, while the caller of answer_with_data() is there.
  bool* has_left = nullptr;
};

bool send_data(PendingSend& pending_send, SendQueue& send_queue, Endpoint to) {
  auto& data = static_cast<OutgoingData&>(pending_send);
  const std::size_t bytes_max = send_queue.world().transport()->payload_bytes_max(to.process);
  while (!data.rest.empty()) {
    const std::size_t bytes = std::min(data.rest.size(), bytes_max);
    const Packet packet{.kind = number_of(PacketKind::rma_data),
                        .words = {low_word(data.token), high_word(data.token),
                                  low_word(data.offset), high_word(data.offset)},
                        .payload_bytes = static_cast<std::uint32_t>(bytes)};
    if (!send_queue.try_send_next(to, packet, data.rest.data())) return false;
    data.rest = data.rest.subspan(bytes);
    data.offset += bytes;
  }
  if (data.has_left != nullptr) *data.has_left = true;
  delete &data;
  return true;
}

/// Sends `data`, which is in the window or in `owned`, to the origin. What does not leave at once
/// is copied: the next message may end the epoch, and the window's memory may change.
void answer_with_data(SendQueue& send_queue,
                      Endpoint to,
                      std::uint64_t token,
                      std::span<const std::byte> data,
                      std::unique_ptr<std::byte[]> owned) {
  bool has_left = false;
  auto* answer = new OutgoingData;
  answer->token = token;
  answer->rest = data;
  answer->has_left = &has_left;
  answer->send = send_data;
  send_queue.send(to, *answer);
  if (has_left) return;
  answer->has_left = nullptr;
  if (owned == nullptr) {
    owned = std::make_unique_for_overwrite<std::byte[]>(answer->rest.size());
    copy_bytes(owned.get(), answer->rest.data(), answer->rest.size());
    answer->rest = {owned.get(), answer->rest.size()};
  }
  answer->owned = std::move(owned);
}

void answer_get_failed(SendQueue& send_queue, Endpoint to, std::uint64_t token, int error) {
  send_queue.post(
      to,
      {.kind = number_of(PacketKind::rma_failure),
       .words = {low_word(token), high_word(token), static_cast<std::uint32_t>(error), 0}},
      0);
}

[[nodiscard]] bool is_operation(MessageKind kind) {
  return kind <= MessageKind::compare_and_swap;
}

ReduceKernel kernel_for(const MessageHead& head) {
  return head.op == PredefinedOp::no_op ? nullptr : kernel_of(head.op, head.element);
}

Cells cells_of(const IncomingMessage& message) {
  const MessageHead& head = message.head;
  return {.lock = message.window->accumulate_lock_of_own_memory(),
          .target = {.buffer = message.address,
                     .count = static_cast<std::size_t>(head.count),
                     .type = message.type},
          .unit = cell_unit_of(head.element, head.element_bytes),
          .kernel = kernel_for(head)};
}

DeviceTarget device_target_of(const IncomingMessage& message) {
  return {.memory = *message.device,
          .address = reinterpret_cast<std::uintptr_t>(message.address),
          .count = static_cast<std::size_t>(message.head.count),
          .type = *message.type};
}

/// Applies packed operands to a part of the addressed elements; `result`, if not null, gets them as
/// they were.
void apply(IncomingMessage& message,
           PackedRange range,
           const std::byte* operand,
           std::byte* result) {
  if (message.device == nullptr) {
    cells_of(message).apply(range, operand, result);
    return;
  }
  const MessageHead& head = message.head;
  const DeviceCells cells{.target = device_target_of(message),
                          .unit = cell_unit_of(head.element, head.element_bytes),
                          .kernel = kernel_for(head)};
  message.error = cells.apply(range, operand, result);
}

void write(IncomingMessage& message, PackedRange range, const std::byte* packed) {
  if (message.device == nullptr) {
    unpack_range(packed, range, message.address, *message.type);
  } else {
    message.error = write_on_device(device_target_of(message), range, packed);
  }
}

/// The head and the datatype are complete.
void open_message(IncomingMessage& message, std::span<const std::byte> type_form) {
  const MessageHead& head = message.head;
  message.window = reinterpret_cast<Win*>(head.window);
  SORREL_ASSERT(message.window->header.kind == ObjectKind::win,
                "an operation on a window that has been freed");
  message.error = MPI_SUCCESS;
  message.address = nullptr;
  message.device = nullptr;
  message.arrived_data_bytes = 0;
  if (!is_operation(head.kind)) return;
  message.type = from_transfer_form(type_form);
  message.error =
      find_own_memory(*message.window, head.displacement, static_cast<std::size_t>(head.count),
                      *message.type, &message.address, &message.device);
  if (message.error != MPI_SUCCESS) return;
  if (head.kind == MessageKind::get_accumulate) {
    message.result = std::make_unique_for_overwrite<std::byte[]>(head.count * message.type->size());
  } else if (head.kind == MessageKind::compare_and_swap) {
    message.result = std::make_unique_for_overwrite<std::byte[]>(head.data_bytes);
  }
}

/// Applies data that has come.
void take_piece(IncomingMessage& message, std::span<const std::byte> data) {
  const PackedRange range{.from = message.arrived_data_bytes,
                          .to = message.arrived_data_bytes + data.size()};
  SORREL_ASSERT(range.to <= message.head.data_bytes, "a message is longer than its head says");
  message.arrived_data_bytes = range.to;
  if (message.error != MPI_SUCCESS || data.empty()) return;
  switch (message.head.kind) {
    case MessageKind::put:
      write(message, range, data.data());
      break;
    case MessageKind::accumulate:
      apply(message, range, data.data(), nullptr);
      break;
    case MessageKind::get_accumulate:
      apply(message, range, data.data(), message.result.get() + range.from);
      break;
    case MessageKind::compare_and_swap:
      copy_bytes(message.result.get() + range.from, data.data(), data.size());
      break;
    default:
      SORREL_ASSERT(false, "data of a message that has none");
  }
}

/// Applies data that is in the origin's memory.
void read_data(SendQueue& send_queue, Endpoint from, IncomingMessage& message) {
  const MessageHead& head = message.head;
  transport::Transport& transport = *send_queue.world().transport();
  const auto pull = [&](void* target, std::size_t offset, std::size_t bytes) {
    if (transport.pull(from.process, target, head.data_address + offset, bytes)) return;
    // The launcher knows how the process ended: time for it to report that, and to end this one.
    constexpr std::int64_t launcher_grace_ns = 1'000'000'000;
    os::sleep_ns(launcher_grace_ns);
    send_queue.world().job().end_job(
        nullptr, 1, "cannot read the data of a one-sided operation: its process has ended");
  };
  const bool is_run_of_host = message.error == MPI_SUCCESS && message.device == nullptr;
  void* run = is_run_of_host && head.kind == MessageKind::put
                  ? single_run(message.address, head.count, *message.type)
                  : nullptr;
  if (run != nullptr) {
    pull(run, 0, head.data_bytes);
    message.arrived_data_bytes = head.data_bytes;
  } else {
    constexpr std::size_t chunk_bytes_max = 65536;
    const std::size_t step = chunk_bytes_max - chunk_bytes_max % head.element_bytes;
    const auto chunk = std::make_unique_for_overwrite<std::byte[]>(step);
    while (message.arrived_data_bytes < head.data_bytes) {
      const std::size_t bytes = std::min(step, head.data_bytes - message.arrived_data_bytes);
      if (message.error == MPI_SUCCESS) pull(chunk.get(), message.arrived_data_bytes, bytes);
      take_piece(message, {chunk.get(), bytes});
    }
  }
  post_ack(send_queue, from, head.read_token, MPI_SUCCESS);
}

void answer_get(SendQueue& send_queue, Endpoint to, IncomingMessage& message) {
  const MessageHead& head = message.head;
  const std::size_t bytes = head.count * message.type->size();
  const void* run =
      message.device == nullptr ? single_run(message.address, head.count, *message.type) : nullptr;
  std::unique_ptr<std::byte[]> packed;
  if (run == nullptr) {
    packed = std::make_unique_for_overwrite<std::byte[]>(bytes);
    if (message.device == nullptr) {
      pack(message.address, head.count, *message.type, packed.get());
    } else {
      message.error =
          read_from_device(device_target_of(message), {.from = 0, .to = bytes}, packed.get());
    }
    if (message.error != MPI_SUCCESS) return;
    run = packed.get();
  }
  answer_with_data(send_queue, to, head.token, {static_cast<const std::byte*>(run), bytes},
                   std::move(packed));
}

void answer_get_accumulate(SendQueue& send_queue, Endpoint to, IncomingMessage& message) {
  const MessageHead& head = message.head;
  const std::size_t bytes = head.count * message.type->size();
  if (head.data_bytes == 0) apply(message, {.from = 0, .to = bytes}, nullptr, message.result.get());
  if (message.error != MPI_SUCCESS) return;
  const std::span<const std::byte> result(message.result.get(), bytes);
  answer_with_data(send_queue, to, head.token, result, std::move(message.result));
}

/// The data is the new value and the value to compare with; the old value replaces the latter.
void answer_swap(SendQueue& send_queue, Endpoint to, IncomingMessage& message) {
  const std::size_t bytes = message.head.data_bytes / 2;
  std::byte* old = message.result.get() + bytes;
  const SwapValues values{.origin = message.result.get(), .compare = old, .result = old};
  if (message.device == nullptr) {
    compare_and_swap_in(message.window->accumulate_lock_of_own_memory(), message.address, values,
                        bytes);
  } else {
    message.error =
        compare_and_swap_on_device(device_target_of(message), values, device::Waiting::blocking);
  }
  if (message.error != MPI_SUCCESS) return;
  answer_with_data(send_queue, to, message.head.token, {old, bytes}, std::move(message.result));
}

/// The last byte of an operation has come.
void close_operation(SendQueue& send_queue, Endpoint from, IncomingMessage& message) {
  const MessageHead& head = message.head;
  if (message.error == MPI_SUCCESS) {
    if (head.kind == MessageKind::get) answer_get(send_queue, from, message);
    if (head.kind == MessageKind::get_accumulate) answer_get_accumulate(send_queue, from, message);
    if (head.kind == MessageKind::compare_and_swap) answer_swap(send_queue, from, message);
  }
  if (message.error != MPI_SUCCESS) {
    if (head.token != 0) {
      answer_get_failed(send_queue, from, head.token, message.error);
    } else {
      record_failure(*message.window, head.origin, message.error);
    }
  }
  message.type->release();
  message.type = nullptr;
}

void close_message(SendQueue& send_queue, Endpoint from, IncomingMessage& message) {
  message.is_open = false;
  message.begin.clear();
  const MessageHead& head = message.head;
  Win& win = *message.window;
  switch (head.kind) {
    case MessageKind::lock_shared:
    case MessageKind::lock_exclusive:
      lock_for_remote(win, head.kind == MessageKind::lock_exclusive, head.origin, from, head.token);
      break;
    case MessageKind::unlock:
      release_lock(win);
      post_ack(send_queue, from, head.token, take_failure(win, head.origin));
      break;
    case MessageKind::flush:
      post_ack(send_queue, from, head.token, take_failure(win, head.origin));
      break;
    case MessageKind::post:
      record_post(win, head.origin);
      break;
    case MessageKind::complete:
      record_complete(win);
      if (head.token != 0) post_ack(send_queue, from, head.token, take_failure(win, head.origin));
      break;
    default:
      close_operation(send_queue, from, message);
  }
}

/// Collects the head and the datatype; returns the bytes behind them.
std::span<const std::byte> take_begin(IncomingMessage& message, std::span<const std::byte> bytes) {
  message.begin.insert(message.begin.end(), bytes.begin(), bytes.end());
  if (message.begin.size() < sizeof message.head) return {};
  std::memcpy(&message.head, message.begin.data(), sizeof message.head);
  const std::size_t wanted = sizeof message.head + message.head.type_bytes;
  if (message.begin.size() < wanted) return {};
  open_message(message,
               std::span(message.begin).subspan(sizeof message.head, message.head.type_bytes));
  message.is_open = true;
  const std::size_t rest = message.begin.size() - wanted;
  return bytes.last(rest);
}

void take_message(void* owner,
                  core::Worker& receiver,
                  Endpoint from,
                  const Packet& packet,
                  const std::byte* payload) {
  World& world = *static_cast<World*>(owner);
  SendQueue& send_queue = queue_of(world, receiver);
  IncomingMessage& message = rma_state_of(send_queue).incoming[world.layout().index_of(from)];
  std::span<const std::byte> bytes(payload, packet.payload_bytes);
  SORREL_ASSERT((packet.words[0] == 1) == (!message.is_open && message.begin.empty()),
                "a packet of a message is missing");
  if (!message.is_open) bytes = take_begin(message, bytes);
  if (!message.is_open) return;
  if (message.head.data_address != 0) {
    read_data(send_queue, from, message);
  } else {
    take_piece(message, bytes);
  }
  if (message.arrived_data_bytes == message.head.data_bytes)
    close_message(send_queue, from, message);
}

/// The operation is complete at the origin.
void end_get(PendingGet& get, int error) {
  Win& win = *get.window;
  if (get.request != nullptr) {
    get.request->error = error;
    complete(*get.request);
  } else if (error != MPI_SUCCESS) {
    win.late_error = error;
  }
  const_cast<Datatype*>(get.into.type)->release();
  delete &get;
}

void take_data(void*, core::Worker&, Endpoint, const Packet& packet, const std::byte* payload) {
  auto& get = *reinterpret_cast<PendingGet*>(joined(packet.words[0], packet.words[1]));
  const std::uint64_t offset = joined(packet.words[2], packet.words[3]);
  SORREL_ASSERT(offset == get.arrived_bytes && packet.payload_bytes <= get.bytes - offset);
  unpack_range(payload, {.from = offset, .to = offset + packet.payload_bytes}, get.into.buffer,
               *get.into.type);
  get.arrived_bytes += packet.payload_bytes;
  if (get.arrived_bytes == get.bytes) end_get(get, MPI_SUCCESS);
}

void take_failure_packet(void*, core::Worker&, Endpoint, const Packet& packet, const std::byte*) {
  auto& get = *reinterpret_cast<PendingGet*>(joined(packet.words[0], packet.words[1]));
  end_get(get, static_cast<int>(packet.words[2]));
}

void take_ack(void*, core::Worker&, Endpoint, const Packet& packet, const std::byte*) {
  auto& ack = *reinterpret_cast<Ack*>(joined(packet.words[0], packet.words[1]));
  count_answer(ack, static_cast<int>(packet.words[2]));
}

}  // namespace

std::span<std::byte> packet_space(SendQueue& send_queue, std::uint32_t process) {
  std::vector<std::byte>& space = rma_state_of(send_queue).packet_space;
  const std::size_t bytes = send_queue.world().transport()->payload_bytes_max(process);
  if (space.size() < bytes) space.resize(bytes);
  return {space.data(), bytes};
}

void set_rma_handlers(transport::Transport& transport, World& world) {
  set_packet_handler<take_message>(transport, PacketKind::rma, world);
  set_packet_handler<take_data>(transport, PacketKind::rma_data, world);
  set_packet_handler<take_failure_packet>(transport, PacketKind::rma_failure, world);
  set_packet_handler<take_ack>(transport, PacketKind::rma_ack, world);
}

}  // namespace sorrel::mpi
