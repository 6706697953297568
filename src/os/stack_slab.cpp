#include "os/stack_slab.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace sorrel::os {

namespace {

// Linux 6.13; Debian 12's headers do not name it.
constexpr int madv_guard_install = 102;

// A function with a large array steps over a single page before it touches anything.
constexpr std::size_t guard_page_count = 16;

// No advice of any Linux.
constexpr int madv_nonsense = 0x5a5a;

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

StackSlab::StackSlab(std::size_t count, std::size_t stack_bytes)
    : count_(count), guard_bytes_(guard_page_count * page_bytes()), pitch_(0) {
  const std::size_t page = page_bytes();
  pitch_ = (stack_bytes + page - 1) / page * page + guard_bytes_;
  void* range = mmap(nullptr, count_ * pitch_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (range == MAP_FAILED) return;
  base_ = static_cast<std::byte*>(range);
  // A huge page would commit 2 MiB for the first touched byte of a stack.
  madvise(base_, count_ * pitch_, MADV_NOHUGEPAGE);
  if (!install_guards()) {
    munmap(base_, count_ * pitch_);
    base_ = nullptr;
  }
}

StackSlab::~StackSlab() {
  if (base_ != nullptr) munmap(base_, count_ * pitch_);
}

bool StackSlab::install_guards() {
  // An emulator may accept any advice and do nothing: one that accepts nonsense is not believed.
  const bool is_advice_obeyed = madvise(base_, guard_bytes_, madv_nonsense) != 0;
  for (std::size_t i = 0; i < count_; ++i) {
    std::byte* guard = base_ + i * pitch_;
    if (is_advice_obeyed && madvise(guard, guard_bytes_, madv_guard_install) == 0) continue;
    if (mprotect(guard, guard_bytes_, PROT_NONE) != 0) return false;
  }
  return true;
}

std::optional<StackSlab::Place> StackSlab::place_of(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  if (base_ == nullptr || byte < base_ || byte >= base_ + count_ * pitch_) return std::nullopt;
  const auto offset = static_cast<std::size_t>(byte - base_);
  return Place{.index = offset / pitch_, .in_guard = offset % pitch_ < guard_bytes_};
}

}  // namespace sorrel::os
