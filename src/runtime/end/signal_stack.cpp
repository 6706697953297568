#include "runtime/end/signal_stack.hpp"

#include <cstddef>
#include <signal.h>
#include <sys/mman.h>

namespace sorrel::runtime {

namespace {

// The demangler uses up to a third of it; untouched pages take no memory.
constexpr std::size_t signal_stack_bytes = std::size_t{256} << 10;

}  // namespace

void install_signal_stack() {
  void* memory =
      mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  const stack_t stack{.ss_sp = memory, .ss_flags = 0, .ss_size = signal_stack_bytes};
  sigaltstack(&stack, nullptr);
}

void remove_signal_stack() {
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  stack_t old{};
  sigaltstack(&none, &old);
  if (old.ss_sp != nullptr) munmap(old.ss_sp, old.ss_size);
}

}  // namespace sorrel::runtime
