#include "mpi/match/device_message.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "device/direct_memory.hpp"
#include "device/direct_table.hpp"
#include "mpi/datatype/data_span.hpp"
#include "mpi/datatype/rows.hpp"
#include "mpi/match/arrival.hpp"

namespace sorrel::mpi {

namespace {

/// Memory of the host that the driver accesses directly has pieces of this length at most.
constexpr std::size_t pinned_bytes_max = std::size_t{64} << 20;

std::uintptr_t moved(std::uintptr_t address, std::int64_t by) {
  return address + static_cast<std::uintptr_t>(by);
}

PackedRange range_of(const TypedRows& rows) {
  return {.from = rows.packed, .to = rows.packed + rows.bytes * rows.count};
}

/// The first `bytes` bytes of a message, from one device buffer to another one.
class DirectCopy {
 public:
  DirectCopy(const DeviceData& from, const DeviceData& to, device::DirectMemory& memory)
      : from_(from), to_(to), memory_(memory) {}

  /// False: the driver rejects a copy.
  [[nodiscard]] bool begin(std::size_t bytes, device::CopyStreams& used) {
    used_ = &used;
    for_each_rows(*from_.type, from_.count, bytes, [&](const TypedRows& source) {
      for_each_rows_in(*to_.type, to_.count, range_of(source),
                       [&](const TypedRows& target) { copy(source, target); });
    });
    return is_good_;
  }

 private:
  /// What `target` has of `source`.
  void copy(const TypedRows& source, const TypedRows& target) {
    std::size_t part_count = 0;
    TypedRows part{};
    auto take = [&](const TypedRows& found) {
      part = found;
      ++part_count;
    };
    visit_rows_in(source, range_of(target), take);
    const bool is_one = part_count == 1;
    if (is_one && (part.count == 1 || target.count == 1 || part.bytes == target.bytes))
      return copy_alike(part, target);
    // Each row of the target by itself.
    for (std::size_t i = 0; i < target.count; ++i) {
      const TypedRows row{.displacement = moved_by_rows(target, i),
                          .packed = target.packed + i * target.bytes,
                          .bytes = target.bytes,
                          .count = 1,
                          .stride = 0};
      auto copy_part = [&](const TypedRows& found) {
        TypedRows to = row;
        to.displacement += static_cast<std::int64_t>(found.packed - row.packed);
        to.bytes = found.bytes * found.count;
        copy_alike(found, to);
      };
      visit_rows_in(source, range_of(row), copy_part);
    }
  }

  static std::int64_t moved_by_rows(const TypedRows& rows, std::size_t count) {
    return rows.displacement + static_cast<std::int64_t>(count) * rows.stride;
  }

  /// Equally many bytes, of which one side may be a single row.
  void copy_alike(const TypedRows& source, const TypedRows& target) {
    const bool is_source_split = source.count >= target.count;
    const TypedRows& shape = is_source_split ? source : target;
    const auto run = static_cast<std::int64_t>(shape.bytes);
    const auto stride_of = [&](const TypedRows& rows) {
      return rows.count == shape.count && rows.count > 1 ? rows.stride : run;
    };
    SORREL_ASSERT(source.bytes * source.count == target.bytes * target.count,
                  "%zu rows of %zu bytes to %zu of %zu", source.count, source.bytes, target.count,
                  target.bytes);
    is_good_ = is_good_ && memory_.copy_from({.from = moved(from_.address, source.displacement),
                                              .to = moved(to_.address, target.displacement),
                                              .bytes = shape.bytes,
                                              .count = shape.count,
                                              .from_stride = stride_of(source),
                                              .to_stride = stride_of(target)},
                                             *used_);
  }

  const DeviceData& from_;
  const DeviceData& to_;
  device::DirectMemory& memory_;
  device::CopyStreams* used_ = nullptr;
  bool is_good_ = true;
};

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
    if (target != nullptr && holds(target->memory(), target->data()) &&
        target->memory().is_near(target->data().address, source_, from_.address)) {
      target_ = target;
      memory_ = &target->memory();
      is_good = DirectCopy(from_, target->data(), *memory_).begin(bytes_, used);
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
      is_good = memory_->copy({.host = host + rows.packed,
                               .device = moved(from_.address, rows.displacement),
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

bool holds(device::DirectMemory& memory, const DeviceData& data) {
  const DataSpan span = span_of(*data.type, data.count);
  return memory.holds(span.begin_at(data.address), span.end_at(data.address));
}

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
