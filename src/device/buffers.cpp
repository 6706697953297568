#include "device/buffers.hpp"

namespace sorrel::device {

std::atomic<Buffers*> known_buffers{nullptr};

namespace {

Support support_of_process;

}  // namespace

void give_buffers(Buffers& buffers) {
  // Relaxed: the object was constructed before any rank could know an address on a device.
  if (!has_buffers()) known_buffers.store(&buffers, std::memory_order_relaxed);
  if (support_of_process.note_rank != nullptr) support_of_process.note_rank();
}

void set_support(const Support& support) {
  support_of_process = support;
}

bool are_buffers_supported() {
  return support_of_process.is_driver_found != nullptr && support_of_process.is_driver_found();
}

}  // namespace sorrel::device
