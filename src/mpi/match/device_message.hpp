//! Messages from memory of a device to ranks of the same process that use devices, too: the data
//! goes from device to device, or through memory of the host where it must.
//!
//! Such a message is one by reference (README.md) that no worker reads as memory of the host. When
//! it has met its receive, the receiver's worker begins the copy, and both requests stay incomplete
//! until the driver has made it. Never suspends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/direct_table.hpp"
#include "mpi/match/device_copy.hpp"
#include "mpi/match/send.hpp"

namespace sorrel::mpi {

/// A receive into memory of the host, packed, whose data belongs on a device: a message from a
/// device may go there at once. While the object exists. On the rank's worker.
class DeviceReceive final : public device::DirectTarget {
 public:
  DeviceReceive(const void* host, const DeviceData& data, device::DirectMemory& memory);
  DeviceReceive(const DeviceReceive&) = delete;
  DeviceReceive& operator=(const DeviceReceive&) = delete;
  ~DeviceReceive();

  /// That of a request, by its buffer; null: none.
  [[nodiscard]] static DeviceReceive* find(const Request& receive);

  [[nodiscard]] const DeviceData& data() const { return data_; }

  [[nodiscard]] device::DirectMemory& memory() const { return memory_; }

  /// The data of a message is on the device.
  void set_filled() { is_filled_ = true; }

  /// Whether set_filled() was called since the last call.
  [[nodiscard]] bool take_filled();

 private:
  const void* const host_;
  const DeviceData data_;
  device::DirectMemory& memory_;
  bool is_filled_ = false;
};

/// Whether a message of `bytes` bytes from a device may be sent to that rank from there. Shorter
/// ones are copied to the host at once, since a send of them must not wait for its receive.
[[nodiscard]] bool can_send_from_device(const RankState& self,
                                        const RankState& to,
                                        std::size_t bytes);

/// Starts a send from `memory`, on whose device the buffer is; can_send_from_device() holds. With a
/// new request for the user.
[[nodiscard]] Request& start_send_from_device(RankState& self,
                                              Comm& comm,
                                              const SendArguments& arguments,
                                              device::DirectMemory& memory);

/// On the receiver's worker, for a message that is in no table: begins its copy. Both requests are
/// complete when it is over.
[[gnu::cold]] void deliver_from_device(Request& receive, Request& send);

/// Sets the error detail for an error of deliver_from_device(), and returns it.
[[nodiscard, gnu::cold]] int explain_device_error(RankState& self, int error);

}  // namespace sorrel::mpi
