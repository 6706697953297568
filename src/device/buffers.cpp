#include "device/buffers.hpp"

namespace sorrel::device {

std::atomic<Buffers*> known_buffers{nullptr};

namespace {

bool (*is_driver_found_by_process)() = nullptr;

}  // namespace

void set_buffers(Buffers& buffers) {
  // Relaxed: the object was constructed before any rank could know an address on a device.
  known_buffers.store(&buffers, std::memory_order_relaxed);
}

bool are_buffers_supported() {
  return is_driver_found_by_process != nullptr && is_driver_found_by_process();
}

void set_buffers_supported(bool (*is_driver_found)()) {
  is_driver_found_by_process = is_driver_found;
}

}  // namespace sorrel::device
