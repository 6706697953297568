#include "runtime/end/stack_fault.hpp"

namespace sorrel::runtime {

namespace {

// The range that a call or a small function touches below its stack pointer.
constexpr std::size_t near_bytes = 4096;

}  // namespace

std::size_t bytes_left(const os::StackSlab& stacks, std::size_t index, const void* stack_pointer) {
  const auto bottom = reinterpret_cast<std::uintptr_t>(stacks.bottom(index));
  const auto pointer = reinterpret_cast<std::uintptr_t>(stack_pointer);
  return pointer > bottom ? pointer - bottom : 0;
}

StackFault classify_fault(const os::StackSlab& stacks, std::size_t index, const Fault& fault) {
  if (!stacks.is_valid()) return StackFault::none;
  const auto pointer = stacks.location_of(fault.stack_pointer);
  const auto address = stacks.location_of(fault.address);
  const bool is_in_guard = address && address->in_guard;
  const bool is_on_own_stack = pointer && pointer->index == index && !pointer->in_guard;
  const std::size_t left = bytes_left(stacks, index, fault.stack_pointer);
  if (is_on_own_stack) {
    const bool is_at_end = left < near_bytes && is_in_guard && address->index == index;
    if (is_at_end) return StackFault::overflow;
  } else if (pointer || (left == 0 && !fault.is_pointer_mapped)) {
    // A frame larger than the guard has moved it into another stack, or below all of them.
    return StackFault::overflow;
  }
  return is_in_guard ? StackFault::wild_into_guard : StackFault::none;
}

}  // namespace sorrel::runtime
