#include "os/thread_pointer.hpp"

#include <atomic>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <asm/prctl.h>
#endif

#include "base/check.hpp"

namespace sorrel::os {

namespace {

std::atomic<BlockUse> block_use{BlockUse::undecided};

}  // namespace

bool can_write_thread_pointer() {
#if defined(__x86_64__)
  constexpr unsigned long hwcap2_fsgsbase = 1UL << 1;
  return (getauxval(AT_HWCAP2) & hwcap2_fsgsbase) != 0;
#else
  return true;
#endif
}

void set_thread_pointer([[maybe_unused]] std::uintptr_t value) {
#if defined(__x86_64__)
  SORREL_CHECK(syscall(SYS_arch_prctl, ARCH_SET_FS, value) == 0);
#else
  SORREL_CHECK(false, "the processor has an instruction");
#endif
}

bool claim_blocks(BlockUse use) {
  SORREL_ASSERT(use != BlockUse::undecided);
  BlockUse decided = BlockUse::undecided;
  // Relaxed: nothing is read through it.
  return block_use.compare_exchange_strong(decided, use, std::memory_order_relaxed) ||
         decided == use;
}

}  // namespace sorrel::os
