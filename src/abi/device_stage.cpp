#include "abi/device_stage.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "mpi/datatype/data_span.hpp"
#include "mpi/datatype/rows.hpp"

namespace sorrel::abi {

namespace {

constexpr std::size_t whole_block_bytes = std::numeric_limits<std::size_t>::max();

struct AddressRange {
  std::uintptr_t begin;
  std::uintptr_t end;
};

std::uintptr_t moved(std::uintptr_t address, std::int64_t by) {
  return address + static_cast<std::uintptr_t>(by);
}

/// From the first to the last byte of data.
AddressRange range_of(const DeviceBlock& block) {
  SORREL_ASSERT(block.count != 0 && block.type != nullptr && block.type->size() != 0,
                "a block of %zu elements", block.count);
  const mpi::DataSpan span = mpi::span_of(*block.type, block.count);
  return {span.begin_at(block.address), span.end_at(block.address)};
}

/// Where a block lies that is not within one allocation: decided by each of its rows.
DevicePlace place_of_rows(const DeviceBlock& block) {
  bool is_any_on_host = false;
  bool is_any_on_device = false;
  mpi::for_each_rows(*block.type, block.count, whole_block_bytes, [&](const mpi::TypedRows& rows) {
    for (std::size_t i = 0; i < rows.count; ++i) {
      const std::uintptr_t begin =
          moved(block.address, rows.displacement + static_cast<std::int64_t>(i) * rows.stride);
      const bool is_on_device = device::buffers().holds(begin, begin + rows.bytes);
      is_any_on_device |= is_on_device || device::buffers().overlaps(begin, begin + rows.bytes);
      is_any_on_host |= !is_on_device;
    }
  });
  if (!is_any_on_device) return DevicePlace::host;
  return is_any_on_host ? DevicePlace::mixed : DevicePlace::device;
}

DevicePlace place_of(const DeviceBlock& block) {
  const AddressRange range = range_of(block);
  if (!device::buffers().overlaps(range.begin, range.end)) return DevicePlace::host;
  if (device::buffers().holds(range.begin, range.end)) return DevicePlace::device;
  return place_of_rows(block);
}

}  // namespace

DevicePlace place_of(std::span<const DeviceBlock> blocks) {
  if (blocks.empty()) return DevicePlace::host;
  const DevicePlace first = place_of(blocks.front());
  const bool is_uniform = std::ranges::all_of(
      blocks, [first](const DeviceBlock& block) { return place_of(block) == first; });
  return is_uniform ? first : DevicePlace::mixed;
}

DeviceStage::DeviceStage(Use use, std::vector<DeviceBlock> blocks)
    : use_(use), blocks_(std::move(blocks)) {
  for (const DeviceBlock& block : blocks_)
    block.type->retain();
}

DeviceStage::DeviceStage(DeviceStage&& other) noexcept
    : use_(other.use_),
      blocks_(std::exchange(other.blocks_, {})),
      host_(std::exchange(other.host_, nullptr)),
      host_bytes_(other.host_bytes_),
      begin_(other.begin_),
      receive_(std::move(other.receive_)) {}

DeviceStage::~DeviceStage() {
  receive_.reset();
  if (host_ != nullptr) device::buffers().give_host(host_, host_bytes_);
  for (const DeviceBlock& block : blocks_)
    block.type->release();
}

std::size_t DeviceStage::bytes() const {
  std::size_t sum = 0;
  for (const DeviceBlock& block : blocks_)
    sum += block.bytes();
  return sum;
}

bool DeviceStage::prepare() {
  SORREL_ASSERT(host_ == nullptr && !blocks_.empty(), "%zu blocks", blocks_.size());
  AddressRange all{.begin = std::numeric_limits<std::uintptr_t>::max(), .end = 0};
  for (const DeviceBlock& block : blocks_) {
    const AddressRange range = range_of(block);
    all = {std::min(all.begin, range.begin), std::max(all.end, range.end)};
  }
  SORREL_ASSERT(all.begin < all.end, "data from 0x%zx to 0x%zx", all.begin, all.end);
  begin_ = all.begin;
  host_bytes_ = use_.form == Form::packed ? bytes() : all.end - all.begin;
  host_ = device::buffers().take_host(host_bytes_, all.begin);
  return host_ != nullptr;
}

void DeviceStage::offer(device::DirectMemory& memory) {
  SORREL_ASSERT(use_.form == Form::packed && blocks_.size() == 1 && host_ != nullptr, "%zu blocks",
                blocks_.size());
  const DeviceBlock& block = blocks_.front();
  const mpi::DeviceData data{.address = block.address, .count = block.count, .type = block.type};
  receive_ = std::make_unique<mpi::DeviceReceive>(host_, data, memory);
}

std::intptr_t DeviceStage::host_of(std::uintptr_t address) const {
  SORREL_ASSERT(host_ != nullptr, "a buffer that is not prepared");
  const auto host = reinterpret_cast<std::uintptr_t>(host_);
  return static_cast<std::intptr_t>(use_.form == Form::packed ? host : host + (address - begin_));
}

/// Begins the copies of the first `bytes` bytes of a block, whose packed bytes are at `packed`.
bool DeviceStage::copy_block(const DeviceBlock& block,
                             std::size_t packed,
                             std::size_t bytes,
                             device::Direction direction,
                             device::CopyStreams& used) {
  bool is_good = true;
  mpi::for_each_rows(*block.type, block.count, bytes, [&](const mpi::TypedRows& rows) {
    if (!is_good) return;
    const std::uintptr_t address = moved(block.address, rows.displacement);
    const bool is_packed = use_.form == Form::packed;
    SORREL_ASSERT(!is_packed || packed + rows.packed + rows.bytes <= host_bytes_,
                  "%zu bytes behind %zu of %zu", rows.bytes, packed + rows.packed, host_bytes_);
    SORREL_ASSERT(is_packed || address - begin_ + rows.bytes <= host_bytes_,
                  "%zu bytes at 0x%zx, of %zu from 0x%zx on", rows.bytes, address, host_bytes_,
                  begin_);
    const device::Rows copied{
        .host = is_packed ? host_ + packed + rows.packed : host_ + (address - begin_),
        .device = address,
        .bytes = rows.bytes,
        .count = rows.count,
        .host_stride = is_packed ? static_cast<std::int64_t>(rows.bytes) : rows.stride,
        .device_stride = rows.stride};
    is_good = device::buffers().copy(copied, direction, used);
  });
  return is_good;
}

bool DeviceStage::copy(device::Direction direction, std::size_t bytes) {
  device::CopyStreams used;
  bool is_good = true;
  std::size_t packed = 0;
  for (const DeviceBlock& block : blocks_) {
    is_good = is_good && copy_block(block, packed, bytes, direction, used);
    packed += block.bytes();
  }
  return device::buffers().finish(used) && is_good;
}

bool DeviceStage::copy_elements(device::Direction direction, std::size_t first, std::size_t count) {
  SORREL_ASSERT(use_.form == Form::mirror && blocks_.size() == 1, "%zu blocks", blocks_.size());
  DeviceBlock part = blocks_.front();
  SORREL_ASSERT(first + count <= part.count, "elements %zu to %zu of %zu", first, first + count,
                part.count);
  part.address = moved(part.address, static_cast<std::int64_t>(first) * part.type->extent());
  part.count = count;
  device::CopyStreams used;
  const bool is_good = copy_block(part, 0, whole_block_bytes, direction, used);
  return device::buffers().finish(used) && is_good;
}

bool DeviceStage::copy_in() {
  // A receive that has failed has left it set.
  if (receive_ != nullptr) static_cast<void>(receive_->take_filled());
  return !use_.is_read || copy(device::Direction::to_host, whole_block_bytes);
}

bool DeviceStage::copy_out(std::size_t bytes) {
  if (receive_ != nullptr && receive_->take_filled()) return true;
  return !use_.is_written || bytes == 0 || copy(device::Direction::to_device, bytes);
}

}  // namespace sorrel::abi
