#include "mpi/rma/device_access.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "base/copy_bytes.hpp"
#include "device/buffers.hpp"
#include "device/direct_memory.hpp"
#include "mpi/datatype/data_span.hpp"
#include "mpi/datatype/rows.hpp"
#include "mpi/match/device_copy.hpp"

namespace sorrel::mpi {

namespace {

using device::Direction;
using device::Waiting;

/// An operation needs as much memory of the host, and locks as much at a time.
constexpr std::size_t piece_bytes_max = std::size_t{1} << 20;

/// Memory of the host for a piece of the data.
class HostPiece {
 public:
  HostPiece(const DeviceTarget& target, std::size_t bytes)
      : memory_(target.memory), bytes_(bytes), host_(memory_.take_host(bytes, target.address)) {}

  HostPiece(const HostPiece&) = delete;
  HostPiece& operator=(const HostPiece&) = delete;

  ~HostPiece() {
    if (host_ != nullptr) memory_.give_host(host_, bytes_);
  }

  [[nodiscard]] std::byte* host() const { return host_; }

 private:
  device::OwnedMemory& memory_;
  const std::size_t bytes_;
  std::byte* const host_;
};

DeviceData data_of(const TypedBuffer& origin) {
  return {.address = reinterpret_cast<std::uintptr_t>(origin.buffer),
          .count = origin.count,
          .type = origin.type};
}

DeviceData data_of(const DeviceTarget& target) {
  return {.address = target.address, .count = target.count, .type = &target.type};
}

/// What the calling rank has on devices, if other ranks of the process can copy there; else null.
device::DirectMemory* own_memory() {
  return device::has_buffers() ? device::direct_part_of(device::buffers().owned()) : nullptr;
}

/// Whether all data of the target is still the owner's memory on a device.
bool is_there(const DeviceTarget& target) {
  const DataSpan span = span_of(target.type, target.count);
  return target.memory.holds(span.begin_at(target.address), span.end_at(target.address));
}

/// Where a piece of the packed stream, which is at `host`, is on the device.
std::vector<device::Rows> rows_of(const DeviceTarget& target, PackedRange piece, std::byte* host) {
  std::vector<device::Rows> found;
  for_each_rows_in(target.type, target.count, piece, [&](const TypedRows& rows) {
    found.push_back({.host = host + (rows.packed - piece.from),
                     .device = target.address + static_cast<std::uintptr_t>(rows.displacement),
                     .bytes = rows.bytes,
                     .count = rows.count,
                     .host_stride = static_cast<std::int64_t>(rows.bytes),
                     .device_stride = rows.stride});
  });
  return found;
}

[[nodiscard]] int transfer(const DeviceTarget& target,
                           PackedRange piece,
                           std::byte* host,
                           Direction direction,
                           Waiting waiting) {
  device::CopyStreams used;
  const bool is_good = std::ranges::all_of(
      rows_of(target, piece, host),
      [&](const device::Rows& rows) { return target.memory.copy(rows, direction, used); });
  return target.memory.finish(used, waiting) && is_good ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/// Elements come to `host`, `step` changes them there, and if they are written, they go back.
[[nodiscard]] int update(const DeviceTarget& target,
                         PackedRange piece,
                         std::byte* host,
                         device::HostStep& step,
                         bool is_written,
                         Waiting waiting) {
  device::CopyStreams used;
  const bool is_good = target.memory.update(rows_of(target, piece, host), step, is_written, used);
  return target.memory.finish(used, waiting) && is_good ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/// What an accumulate does with elements on the host, packed.
class Combination final : public device::HostStep {
 public:
  Combination(const DeviceCells& of, std::byte* cells, std::size_t bytes)
      : of_(of), cells_(cells), bytes_(bytes) {}

  void run() override {
    if (result != nullptr) copy_bytes(result, cells_, bytes_);
    if (of_.kernel != nullptr) combine_packed(of_.unit, of_.kernel, operand, cells_, bytes_);
  }

  const std::byte* operand = nullptr;
  std::byte* result = nullptr;

 private:
  const DeviceCells& of_;
  std::byte* const cells_;
  const std::size_t bytes_;
};

/// What MPI_Compare_and_swap does with an element there.
class Swap final : public device::HostStep {
 public:
  Swap(const SwapValues& values, std::byte* cell, std::size_t bytes)
      : values_(values), cell_(cell), bytes_(bytes) {}

  void run() override {
    std::array<std::byte, 32> old;
    SORREL_ASSERT(bytes_ <= old.size(), "an element of %zu bytes", bytes_);
    std::memcpy(old.data(), cell_, bytes_);
    if (std::memcmp(old.data(), values_.compare, bytes_) == 0)
      std::memcpy(cell_, values_.origin, bytes_);
    // It may be the expected value's memory.
    std::memcpy(values_.result, old.data(), bytes_);
  }

 private:
  const SwapValues& values_;
  std::byte* const cell_;
  const std::size_t bytes_;
};

/// Calls each(piece, host) for the pieces of a part of the target, `unit` bytes at least, until one
/// returns an error. `host` has room for a piece.
template <class Each>
[[nodiscard]] int for_each_piece(const DeviceTarget& target,
                                 PackedRange range,
                                 std::size_t unit,
                                 Each&& each) {
  SORREL_ASSERT(range.from <= range.to && range.to <= target.bytes() && unit != 0,
                "bytes %zu to %zu of %zu", range.from, range.to, target.bytes());
  if (range.from == range.to) return MPI_SUCCESS;
  if (!is_there(target)) return MPI_ERR_RMA_RANGE;
  const std::size_t step = std::min(piece_bytes_max / unit * unit, range.to - range.from);
  const HostPiece memory(target, step);
  if (memory.host() == nullptr) return MPI_ERR_NO_MEM;
  for (std::size_t at = range.from; at < range.to; at += step) {
    const PackedRange piece{.from = at, .to = std::min(at + step, range.to)};
    if (const int error = each(piece, memory.host()); error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

bool is_within_device(const DeviceTarget& target, const TypedBuffer& origin) {
  device::DirectMemory* theirs = device::direct_part_of(&target.memory);
  device::DirectMemory* own = own_memory();
  return theirs != nullptr && own != nullptr &&
         is_within_device(data_of(origin), *own, data_of(target), *theirs);
}

bool is_on_device(const TypedBuffer& origin) {
  device::DirectMemory* own = own_memory();
  return own != nullptr && holds(*own, data_of(origin));
}

int put_within_device(const DeviceTarget& target,
                      const TypedBuffer& origin,
                      device::CopyStreams& pending) {
  const bool is_good =
      begin_copy_within_device(data_of(origin), data_of(target),
                               *device::direct_part_of(&target.memory), origin.bytes(), pending);
  return is_good ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int get_within_device(const DeviceTarget& target,
                      const TypedBuffer& origin,
                      device::CopyStreams& pending) {
  const bool is_good = begin_copy_within_device(data_of(target), data_of(origin), *own_memory(),
                                                target.bytes(), pending);
  return is_good ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int finish_within_device(const device::CopyStreams& pending) {
  return device::buffers().owned()->finish(pending, Waiting::suspending) ? MPI_SUCCESS
                                                                         : MPI_ERR_OTHER;
}

int put_on_device(const DeviceTarget& target, const TypedBuffer& origin) {
  const std::size_t bytes = std::min(target.bytes(), origin.bytes());
  return for_each_piece(
      target, {.from = 0, .to = bytes}, 1, [&](PackedRange piece, std::byte* host) {
        pack_range(origin.buffer, *origin.type, piece, host);
        return transfer(target, piece, host, Direction::to_device, Waiting::suspending);
      });
}

int get_from_device(const DeviceTarget& target, const TypedBuffer& origin) {
  const std::size_t bytes = std::min(target.bytes(), origin.bytes());
  return for_each_piece(
      target, {.from = 0, .to = bytes}, 1, [&](PackedRange piece, std::byte* host) {
        const int error = transfer(target, piece, host, Direction::to_host, Waiting::suspending);
        if (error == MPI_SUCCESS) unpack_range(host, piece, origin.buffer, *origin.type);
        return error;
      });
}

int write_on_device(const DeviceTarget& target, PackedRange range, const std::byte* packed) {
  return for_each_piece(target, range, 1, [&](PackedRange piece, std::byte* host) {
    copy_bytes(host, packed + (piece.from - range.from), piece.to - piece.from);
    return transfer(target, piece, host, Direction::to_device, Waiting::blocking);
  });
}

int read_from_device(const DeviceTarget& target, PackedRange range, std::byte* packed) {
  return for_each_piece(target, range, 1, [&](PackedRange piece, std::byte* host) {
    const int error = transfer(target, piece, host, Direction::to_host, Waiting::blocking);
    if (error == MPI_SUCCESS)
      copy_bytes(packed + (piece.from - range.from), host, piece.to - piece.from);
    return error;
  });
}

int DeviceCells::apply(PackedRange range,
                       const std::byte* operand,
                       std::byte* result,
                       Waiting waiting) const {
  return for_each_piece(target, range, unit.packed_bytes, [&](PackedRange piece, std::byte* cells) {
    const std::size_t done = piece.from - range.from;
    Combination step(*this, cells, piece.to - piece.from);
    if (operand != nullptr) step.operand = operand + done;
    if (result != nullptr) step.result = result + done;
    return update(target, piece, cells, step, kernel != nullptr, waiting);
  });
}

int DeviceCells::apply(PackedRange range, const std::byte* operand, std::byte* result) const {
  return apply(range, operand, result, Waiting::blocking);
}

int DeviceCells::apply_all(const TypedBuffer* operand, const TypedBuffer* result) const {
  const std::size_t total = target.bytes();
  SORREL_ASSERT(kernel == nullptr || (operand != nullptr && operand->bytes() == total),
                "operands for %zu bytes", total);
  SORREL_ASSERT(result == nullptr || result->bytes() == total, "a result of %zu bytes", total);
  const std::size_t step = piece_bytes_max / unit.packed_bytes * unit.packed_bytes;
  std::vector<std::byte> operands(operand != nullptr ? std::min(step, total) : 0);
  std::vector<std::byte> results(result != nullptr ? std::min(step, total) : 0);
  for (std::size_t at = 0; at < total; at += step) {
    const PackedRange piece{.from = at, .to = std::min(at + step, total)};
    if (operand != nullptr) pack_range(operand->buffer, *operand->type, piece, operands.data());
    const int error = apply(piece, operand != nullptr ? operands.data() : nullptr,
                            result != nullptr ? results.data() : nullptr, Waiting::suspending);
    if (error != MPI_SUCCESS) return error;
    if (result != nullptr) unpack_range(results.data(), piece, result->buffer, *result->type);
  }
  return MPI_SUCCESS;
}

int compare_and_swap_on_device(const DeviceTarget& target,
                               const SwapValues& values,
                               Waiting waiting) {
  const PackedRange all{.from = 0, .to = target.bytes()};
  return for_each_piece(target, all, all.to, [&](PackedRange piece, std::byte* cell) {
    Swap step(values, cell, piece.to);
    return update(target, piece, cell, step, true, waiting);
  });
}

const char* text_of_device_error(int error) {
  switch (error) {
    case MPI_ERR_RMA_RANGE:
      return "the memory of the window is not the target's memory on a GPU any more";
    case MPI_ERR_NO_MEM:
      return "no memory of the host for a copy of the window's memory on a GPU";
    default:
      return "the driver of the GPU rejects a copy of the window's memory";
  }
}

}  // namespace sorrel::mpi
