#include "os/stack_slab.hpp"

#include <algorithm>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sorrel::os {

namespace {

// Linux 6.13; Debian 12's headers lack the constant.
constexpr int madv_guard_install = 102;

// No Linux knows this advice.
constexpr int madv_nonsense = 0x5a5a;

// A frame with a large array would step over a guard of one page. Each page of a guard takes time
// at the start and at the end of a job: guards of 1 MiB would make both a tenth longer.
constexpr std::size_t guard_bytes_min = std::size_t{64} << 10;
constexpr std::size_t guard_bytes_max = std::size_t{256} << 10;

// Memory that a page of the page table maps. If the pitch is a multiple of it, each guard ends
// where such a page begins, and shares the page before with the used part of the stack below.
constexpr std::size_t table_bytes = std::size_t{2} << 20;

constexpr std::size_t default_stack_bytes_min = std::size_t{1} << 20;
// The default limit of Linux.
constexpr std::size_t usual_stack_bytes = std::size_t{8} << 20;

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::size_t guard_bytes_of(std::size_t stack_bytes) {
  return rounded_up(std::clamp(stack_bytes, guard_bytes_min, guard_bytes_max), page_bytes());
}

}  // namespace

std::size_t default_stack_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return usual_stack_bytes;
  return std::max<std::size_t>(limit.rlim_cur, default_stack_bytes_min);
}

std::size_t StackSlab::pitch_of(std::size_t stack_bytes) {
  const std::size_t guard_bytes = guard_bytes_of(stack_bytes);
  const std::size_t bytes = rounded_up(stack_bytes, page_bytes()) + guard_bytes;
  return stack_bytes < table_bytes / 2 ? bytes : rounded_up(bytes, table_bytes);
}

StackSlab::StackSlab(std::size_t count, std::size_t stack_bytes, Guards guards) : count_(count) {
  if (count == 0) return;
  if (stack_bytes != 0) {
    reserve(stack_bytes, guards);
    return;
  }
  for (std::size_t bytes = default_stack_bytes(); !reserve(bytes, guards);
       bytes = std::max(bytes / 2, default_stack_bytes_min)) {
    if (bytes == default_stack_bytes_min) return;
  }
}

StackSlab::~StackSlab() {
  release();
}

void StackSlab::release() {
  if (base_ != nullptr) munmap(base_, range_bytes());
  base_ = nullptr;
}

bool StackSlab::reserve(std::size_t stack_bytes, Guards guards) {
  guard_bytes_ = guard_bytes_of(stack_bytes);
  pitch_ = pitch_of(stack_bytes);
  page_bytes_ = page_bytes();
  page_color_count_ = page_color_count_of(stack_bytes);
  std::size_t all_bytes = 0;
  if (__builtin_mul_overflow(count_, pitch_, &all_bytes) ||
      __builtin_add_overflow(all_bytes, guard_bytes_ + table_bytes, &all_bytes))
    return false;
  void* range = mmap(nullptr, all_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (range == MAP_FAILED) return false;
  auto* begin = static_cast<std::byte*>(range);
  // The lowest stack begins where a page of the page table does; the rest is unmapped.
  const auto lowest = reinterpret_cast<std::uintptr_t>(begin) + guard_bytes_;
  const std::size_t front_bytes = rounded_up(lowest, table_bytes) - lowest;
  base_ = begin + front_bytes;
  if (front_bytes != 0) munmap(begin, front_bytes);
  if (front_bytes != table_bytes) munmap(base_ + range_bytes(), table_bytes - front_bytes);
  // A huge page would commit 2 MiB for the first touched byte of a stack.
  madvise(base_, range_bytes(), MADV_NOHUGEPAGE);
  are_guards_effective_ = madvise(base_, guard_bytes_, madv_nonsense) != 0;
  if (install_guards(guards)) return true;
  release();
  return false;
}

std::size_t StackSlab::page_color_count_of(std::size_t wanted_bytes) const {
  const std::size_t added_bytes = stack_bytes() - rounded_up(wanted_bytes, page_bytes_);
  if (added_bytes < page_bytes_) return 1;
  // Of the page of the page table that the guard above is in, for most of what a stack uses.
  return std::min(added_bytes, table_bytes - 2 * guard_bytes_) / page_bytes_;
}

bool StackSlab::install_guards(Guards guards) const {
  // The guard above the last stack is installed in any case: it belongs to no stack.
  if (!install_guard(count_)) return false;
  for (std::size_t i = 0; guards == Guards::at_once && i < count_; ++i) {
    if (!install_guard(i)) return false;
  }
  return true;
}

bool StackSlab::install_guard(std::size_t index) const {
  std::byte* guard = base_ + index * pitch_;
  if (are_guards_effective_ && madvise(guard, guard_bytes_, madv_guard_install) == 0) return true;
  return mprotect(guard, guard_bytes_, PROT_NONE) == 0;
}

std::optional<StackSlab::Location> StackSlab::location_of(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  if (base_ == nullptr || byte < base_ || byte >= base_ + range_bytes()) return std::nullopt;
  const auto offset = static_cast<std::size_t>(byte - base_);
  return Location{.index = offset / pitch_, .in_guard = offset % pitch_ < guard_bytes_};
}

}  // namespace sorrel::os
