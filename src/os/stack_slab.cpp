#include "os/stack_slab.hpp"

#include <algorithm>
#include <sys/mman.h>
#include <sys/resource.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "base/check.hpp"
#include "os/cleared_memory.hpp"
#include "os/page_bytes.hpp"

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

// A page of the page table has 512 entries, a cache line of it 8. If the pitch were a multiple of
// what a page of it maps, the used pages of all stacks would compete for the same sets of every
// cache that is indexed by addresses or by entries: a switch among 8 ranks took 12 % longer then.
// Among eight remainders tried this one was best, with 8 ranks and with 512; it is prime.
constexpr std::size_t table_pages = 512;
constexpr std::size_t table_line_pages = 64;
constexpr std::size_t pitch_remainder_pages = 281;

constexpr std::size_t default_stack_bytes_min = std::size_t{1} << 20;
// The default limit of Linux.
constexpr std::size_t usual_stack_bytes = std::size_t{8} << 20;

static_assert(guard_bytes_min <= guard_bytes_max && default_stack_bytes_min <= usual_stack_bytes);
static_assert(pitch_remainder_pages < table_pages, "a remainder");

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::size_t guard_bytes_of(std::size_t stack_bytes) {
  return rounded_up(std::clamp(stack_bytes, guard_bytes_min, guard_bytes_max), page_bytes());
}

/// The address sanitizer's records of frames that never returned stay behind, and would be taken
/// for those of the next map at these addresses. Pages of zeros say that all may be accessed.
void clear_shadow([[maybe_unused]] const std::byte* begin, [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  std::size_t scale = 0;
  std::size_t offset = 0;
  __asan_get_shadow_mapping(&scale, &offset);
  const auto shadow_of = [&](std::uintptr_t address) { return (address >> scale) + offset; };
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t shadow = rounded_up(shadow_of(first), page_bytes());
  const std::uintptr_t end = shadow_of(first + bytes) / page_bytes() * page_bytes();
  if (end > shadow) madvise(reinterpret_cast<void*>(shadow), end - shadow, MADV_DONTNEED);
#endif
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
  if (stack_bytes < default_stack_bytes_min) return bytes;
  const bool is_large = stack_bytes >= table_pages * page_bytes();
  const std::size_t unit_pages = is_large ? table_pages : table_line_pages;
  const std::size_t remainder_bytes = pitch_remainder_pages % unit_pages * page_bytes();
  return rounded_up(bytes - remainder_bytes, unit_pages * page_bytes()) + remainder_bytes;
}

StackSlab::StackSlab(std::size_t count,
                     std::size_t stack_bytes,
                     Guards guards,
                     const AddressBand& band)
    : count_(count) {
  if (count == 0) return;
  if (stack_bytes != 0) {
    reserve(stack_bytes, guards, band);
    return;
  }
  for (std::size_t bytes = default_stack_bytes(); !reserve(bytes, guards, band);
       bytes = std::max(bytes / 2, default_stack_bytes_min)) {
    if (bytes == default_stack_bytes_min) return;
  }
}

StackSlab::~StackSlab() {
  release();
}

void StackSlab::release() {
  if (base_ == nullptr) return;
  SORREL_ASSERT(count_ != 0 && range_bytes() >= count_ * pitch_, "%zu stacks in %zu bytes", count_,
                range_bytes());
  clear_shadow(base_, range_bytes());
  munmap(base_, range_bytes());
  base_ = nullptr;
}

bool StackSlab::reserve(std::size_t stack_bytes, Guards guards, const AddressBand& band) {
  SORREL_ASSERT(base_ == nullptr, "%zu stacks are reserved twice", count_);
  guard_bytes_ = guard_bytes_of(stack_bytes);
  pitch_ = pitch_of(stack_bytes);
  SORREL_ASSERT(pitch_ >= stack_bytes + guard_bytes_ && pitch_ % page_bytes() == 0,
                "%zu bytes from one stack of %zu to the next", pitch_, stack_bytes);
  std::size_t all_bytes = 0;
  if (__builtin_mul_overflow(count_, pitch_, &all_bytes) ||
      __builtin_add_overflow(all_bytes, guard_bytes_, &all_bytes))
    return false;
  const std::uintptr_t place = band.place(count_, pitch_, guard_bytes_);
  void* range = map_memory(place, all_bytes, PROT_READ | PROT_WRITE, MAP_NORESERVE | MAP_STACK);
  if (range == MAP_FAILED) return false;
  base_ = static_cast<std::byte*>(range);
  is_in_band_ = reinterpret_cast<std::uintptr_t>(range) == place;
  // A huge page would commit 2 MiB for the first touched byte of a stack.
  madvise(base_, range_bytes(), MADV_NOHUGEPAGE);
  are_guards_effective_ = madvise(base_, guard_bytes_, madv_nonsense) != 0;
  if (install_guards(guards)) return true;
  release();
  return false;
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
  SORREL_ASSERT(base_ != nullptr && index <= count_, "guard %zu of %zu stacks", index, count_);
  std::byte* guard = base_ + index * pitch_;
  if (are_guards_effective_ && madvise(guard, guard_bytes_, madv_guard_install) == 0) return true;
  return mprotect(guard, guard_bytes_, PROT_NONE) == 0;
}

void StackSlab::clear(std::size_t index) const {
  SORREL_ASSERT(base_ != nullptr && index < count_, "stack %zu of %zu", index, count_);
  clear_memory(bottom(index), stack_bytes());
}

std::optional<StackSlab::Location> StackSlab::location_of(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  if (base_ == nullptr || byte < base_ || byte >= base_ + range_bytes()) return std::nullopt;
  const auto offset = static_cast<std::size_t>(byte - base_);
  return Location{.index = offset / pitch_, .in_guard = offset % pitch_ < guard_bytes_};
}

}  // namespace sorrel::os
