//! DeviceStage - one buffer of a call in the memory of a device, and the memory of the host that
//! takes its place in the call.
//!
//! Only bytes of the datatypes are read and written on the device. The rank, or a thread of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/buffers.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/match/device_message.hpp"

namespace sorrel::abi {

/// A part of a buffer: `count` elements. Neither the count nor the size of the type is 0.
struct DeviceBlock {
  std::uintptr_t address;
  std::size_t count;
  mpi::Datatype* type;

  [[nodiscard]] std::size_t bytes() const { return count * type->size(); }
};

enum class DevicePlace : std::uint8_t {
  host,
  device,
  mixed,  ///< partly on a device
};

[[nodiscard]] DevicePlace place_of(std::span<const DeviceBlock> blocks);

class DeviceStage {
 public:
  enum class Form : std::uint8_t {
    packed,  ///< the bytes of the blocks, without gaps
    mirror,  ///< a range of the host that is laid out as the buffer
  };

  /// `is_read`: the call reads data of the buffer. `is_written`: it writes some.
  struct Use {
    Form form;
    bool is_read;
    bool is_written;
  };

  DeviceStage(Use use, std::vector<DeviceBlock> blocks);
  DeviceStage(DeviceStage&& other) noexcept;
  DeviceStage& operator=(DeviceStage&&) = delete;
  ~DeviceStage();

  /// Takes memory of the host. False: there is none.
  [[nodiscard]] bool prepare();

  /// The call receives a message: one from a device may go past the memory of the host. A stage of
  /// one block, packed, that is prepared.
  void offer(device::DirectMemory& memory);

  /// Where the call finds what is at `address` of the buffer.
  [[nodiscard]] std::intptr_t host_of(std::uintptr_t address) const;

  [[nodiscard]] bool is_written() const { return use_.is_written; }

  /// The bytes of all blocks, without gaps.
  [[nodiscard]] std::size_t bytes() const;

  /// Before the call: copies what it reads from the device. False: the driver has failed. May
  /// suspend.
  [[nodiscard]] bool copy_in();

  /// After the call: copies the first `bytes` of what it writes to the device, if they are not
  /// there. False: the driver has failed. May suspend.
  [[nodiscard]] bool copy_out(std::size_t bytes);

  /// A part of a mirror of one block, in elements, to or from the device. False: the driver has
  /// failed. May suspend.
  [[nodiscard]] bool copy_elements(device::Direction direction,
                                   std::size_t first,
                                   std::size_t count);

 private:
  [[nodiscard]] bool copy(device::Direction direction, std::size_t bytes);
  [[nodiscard]] bool copy_block(const DeviceBlock& block,
                                std::size_t packed,
                                std::size_t bytes,
                                device::Direction direction,
                                device::CopyStreams& used);

  const Use use_;
  std::vector<DeviceBlock> blocks_;
  std::byte* host_ = nullptr;
  std::size_t host_bytes_ = 0;
  /// The address of which host_ is the mirror.
  std::uintptr_t begin_ = 0;
  /// Null: not offered.
  std::unique_ptr<mpi::DeviceReceive> receive_;
};

}  // namespace sorrel::abi
