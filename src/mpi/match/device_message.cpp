#include "mpi/match/device_message.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "device/direct_memory.hpp"
#include "device/direct_table.hpp"
#include "mpi/datatype/rows.hpp"
#include "mpi/match/arrival.hpp"

namespace sorrel::mpi {

namespace {

/// Memory of the host that the driver accesses directly has pieces of this length at most.
constexpr std::size_t pinned_bytes_max = std::size_t{64} << 20;

/// One message between its match and its end. Deletes itself.
class Delivery final : public device::CopyEnd {
 public:
  Delivery(Request& receive, Request& send)
      : receive_(receive),
        send_(send),
        source_(device::direct_table().memory_of(send.owner)),
        from_{.address = reinterpret_cast<std::uintptr_t>(send.buffer),
              .count = send.element_count,
              .type = send.type},
        bytes_(std::min(send.message.bytes, receive.element_count * receive.type->size())) {}

  void begin() {
    if (bytes_ == 0) return finish(MPI_SUCCESS);
    if (!holds(source_, from_)) return finish(MPI_ERR_BUFFER);
    DeviceReceive* const target = DeviceReceive::find(receive_);
    device::CopyStreams used;
    bool is_good = false;
    if (target != nullptr && is_within_device(from_, source_, target->data(), target->memory())) {
      target_ = target;
      memory_ = &target->memory();
      is_good = begin_copy_within_device(from_, target->data(), *memory_, bytes_, used);
    } else {
      memory_ = &source_;
      // The receive's own memory is packed, and known to the driver.
      if (target == nullptr) host_ = take_host();
      if (target == nullptr && host_ == nullptr) return finish(MPI_ERR_NO_MEM);
      is_good =
          copy_to_host(target == nullptr ? host_ : static_cast<std::byte*>(receive_.buffer), used);
    }
    has_failed_ = !is_good;
    // Also then: what was begun must be over before the buffers are free.
    memory_->finish_later(used, *this);
  }

  void end(bool is_good) override {
    is_good &= !has_failed_;
    if (is_good && host_ != nullptr)
      copy(host_, bytes_, *datatype_from_handle(MPI_BYTE), receive_.buffer, receive_.element_count,
           *receive_.type);
    if (host_ != nullptr) give_host();
    // The rank may have ended meanwhile.
    if (is_good && target_ != nullptr && DeviceReceive::find(receive_) == target_)
      target_->set_filled();
    finish(is_good ? MPI_SUCCESS : MPI_ERR_OTHER);
  }

 private:
  [[nodiscard]] bool copy_to_host(std::byte* host, device::CopyStreams& used) {
    bool is_good = true;
    for_each_rows(*from_.type, from_.count, bytes_, [&](const TypedRows& rows) {
      if (!is_good) return;
      is_good =
          memory_->copy({.host = host + rows.packed,
                         .device = from_.address + static_cast<std::uintptr_t>(rows.displacement),
                         .bytes = rows.bytes,
                         .count = rows.count,
                         .host_stride = static_cast<std::int64_t>(rows.bytes),
                         .device_stride = rows.stride},
                        device::Direction::to_host, used);
    });
    return is_good;
  }

  [[nodiscard]] std::byte* take_host() {
    return bytes_ > pinned_bytes_max ? static_cast<std::byte*>(std::malloc(bytes_))
                                     : memory_->take_host(bytes_, from_.address);
  }

  void give_host() {
    if (bytes_ > pinned_bytes_max) {
      std::free(host_);
    } else {
      memory_->give_host(host_, bytes_);
    }
  }

  void finish(int error) {
    if (error != MPI_SUCCESS) {
      receive_.error = error;
      send_.error = error;
    } else if (bytes_ < send_.message.bytes) {
      receive_.error = MPI_ERR_TRUNCATE;
      receive_.status_bytes = bytes_;
      receive_.truncated_bytes = send_.message.bytes;
    }
    core::Worker& here = *receive_.owner->worker;
    complete(receive_);
    finish_send(send_, here);
    delete this;
  }

  Request& receive_;
  Request& send_;
  device::DirectMemory& source_;
  const DeviceData from_;
  const std::size_t bytes_;
  /// In whose streams the copies are.
  device::DirectMemory* memory_ = nullptr;
  std::byte* host_ = nullptr;
  /// For a copy within the device; else null.
  DeviceReceive* target_ = nullptr;
  bool has_failed_ = false;
};

/// Into the receive that waits for it, or the table of unexpected messages.
void enter(Request& request) {
  RankState& self = *request.owner;
  Comm& comm = *request.comm;
  RankState& to = comm.shared->member(request.peer);
  const std::size_t bytes = request.element_count * request.type->size();
  SORREL_ASSERT(to.worker != nullptr, "a message to another process");
  self.worker_state->sent.add(bytes);
  if (self.worker->tracer() != nullptr) [[unlikely]]
    trace_send(self, comm, request.peer, request.tag, bytes);
  Request* receive =
      to.worker == self.worker ? take_posted(to, envelope_of(comm, request.tag)) : nullptr;
  if (receive == nullptr) return start_send_by_reference(request);
  request.message.envelope = envelope_of(comm, request.tag);
  request.message.bytes = bytes;
  request.message.request = &request;
  request.handoff.request = &request;
  request.handoff.destination = &to;
  deliver_and_dispose(*receive, request.message);
}

}  // namespace

DeviceReceive::DeviceReceive(const void* host, const DeviceData& data, device::DirectMemory& memory)
    : host_(host), data_(data), memory_(memory) {
  device::direct_table().add(host_, *this);
}

DeviceReceive::~DeviceReceive() {
  device::direct_table().remove(host_);
}

DeviceReceive* DeviceReceive::find(const Request& receive) {
  return static_cast<DeviceReceive*>(device::direct_table().target_at(receive.buffer));
}

bool DeviceReceive::take_filled() {
  return std::exchange(is_filled_, false);
}

bool can_send_from_device(const RankState& self, const RankState& to, std::size_t bytes) {
  if (to.worker == nullptr || bytes <= self.world->limits().eager_bytes_max) return false;
  // Written by the other rank: it has memory on a device before it can receive there, and stays on
  // its worker from then on.
  return __atomic_load_n(&to.phase, __ATOMIC_RELAXED) == Phase::running_with_device;
}

Request& start_send_from_device(RankState& self,
                                Comm& comm,
                                const SendArguments& arguments,
                                device::DirectMemory& memory) {
  device::direct_table().set_memory(&self, memory);
  Request& request = make_send(self, comm, arguments, SendMode::from_device);
  activate(request);
  enter(request);
  return request;
}

void deliver_from_device(Request& receive, Request& send) {
  SORREL_ASSERT(send.mode == SendMode::from_device && !receive.message.is_linked());
  record_arrival(receive, send.message.envelope, send.message.bytes);
  (new Delivery(receive, send))->begin();
}

int explain_device_error(RankState& self, int error) {
  switch (error) {
    case MPI_ERR_BUFFER:
      return self.fail(error, "the sender has freed the message's buffer in the memory of a GPU");
    case MPI_ERR_NO_MEM:
      return self.fail(error, "no memory of the host for a message from the memory of a GPU");
    default:
      return self.fail(error, "the driver of the GPU rejects a copy of the message");
  }
}

}  // namespace sorrel::mpi
