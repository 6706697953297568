//! sigsetjmp, siglongjmp and longjmp, getcontext, setcontext and swapcontext: with the rank's mask,
//! where the C library's have that of the worker's thread. A jump out of a handler ends it.
//!
//! By the rank; other threads have the C library's functions. makecontext() is the C library's: so
//! is the end of a context with a uc_link.

#include <bit>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <pthread.h>
#include <ucontext.h>

#include "arch/interrupted.hpp"
#include "arch/stack_pointer.hpp"
#include "program/base/libc.hpp"
#include "program/base/user_memory.hpp"
#include "program/rank/rank_process.hpp"
#include "program/state/signal_mask.hpp"

using namespace sorrel::program;

extern "C" void* sorrel_call_setjmp(void* function, __jmp_buf_tag* buffer);

namespace {

/// Where the stack pointer is among the registers, exclusive or with a secret of the thread's, and
/// by how many bits it is rotated.
#if defined(__x86_64__)
constexpr int stack_register = 6;
constexpr int stack_rotation = 17;
#else
constexpr int stack_register = 13;
constexpr int stack_rotation = 0;
#endif

/// The last words of the mask of a buffer or context, which the C library neither reads nor writes.
constexpr std::size_t thread_word = 13;
constexpr std::size_t mark_word = 14;
constexpr std::size_t mask_word = 15;
static_assert(sizeof(sigset_t) == 16 * sizeof(unsigned long));

/// The mask word is a rank's mask.
constexpr unsigned long mark_of_rank = 0x736f'7272'656c'0001;

RankProcess* calling_rank() {
  RankProcess* process = current_rank_process();
  return process == nullptr || is_forked_child() ? nullptr : process;
}

void* real_setjmp() {
  static void* const real = libc_function("__sigsetjmp");
  return real;
}

/// As the system reads and writes a mask: its first word. A set of the system may end there.
SignalMask& system_mask(sigset_t& set) {
  return *reinterpret_cast<SignalMask*>(&set);
}

SignalMask thread_mask() {
  static auto* const real = next_definition<decltype(::pthread_sigmask)>("pthread_sigmask");
  sigset_t set{};
  real(SIG_SETMASK, nullptr, &set);
  return system_mask(set);
}

std::uintptr_t protected_stack(const __jmp_buf_tag& buffer) {
  return std::rotr(static_cast<std::uintptr_t>(buffer.__jmpbuf[stack_register]), stack_rotation);
}

/// The stack pointer after a jump to `buffer`.
std::uintptr_t stack_of(const __jmp_buf_tag& buffer) {
  jmp_buf own;
  const auto stack = reinterpret_cast<std::uintptr_t>(sorrel_call_setjmp(real_setjmp(), own));
  return protected_stack(buffer) ^ protected_stack(own[0]) ^ stack;
}

/// The mask of a rank in `context`, with the signals that the program has added and removed since.
SignalMask mask_of_context(const ucontext_t& context) {
  const auto& words = context.uc_sigmask.__val;
  // A context that the system has shown to a handler has one word.
  if (words[mark_word] != mark_of_rank) return words[0];
  return (words[mask_word] | (words[0] & ~words[thread_word])) & ~(words[thread_word] & ~words[0]);
}

/// The calling rank has the mask from now on; signals that it unblocks are handled here, as by the
/// system before the jump.
void take_mask(RankProcess& process, SignalMask mask) {
  if (mask == process.signals().blocked()) return;
  process.signals().change_mask(mask & ~mask_of(SIGKILL) & ~mask_of(SIGSTOP));
  process.end_if_signalled();
}

[[noreturn]] void jump(void (*real)(__jmp_buf_tag*, int), __jmp_buf_tag* buffer, int value) {
  if (RankProcess* process = calling_rank()) {
    if (process->signals().is_in_handler())
      process->leave_handlers(sorrel::arch::stack_pointer(), stack_of(*buffer));
    sigset_t& saved = buffer->__saved_mask;
    if (buffer->__mask_was_saved != 0 && saved.__val[mark_word] == mark_of_rank) {
      take_mask(*process, saved.__val[mask_word]);
      // The rank may have changed its worker.
      system_mask(saved) = thread_mask();
    }
  }
  real(buffer, value);
  __builtin_unreachable();
}

}  // namespace

// ---- called by jumps.S
// -----------------------------------------------------------------------------

extern "C" {

/// Returns the C library's function.
[[gnu::visibility("hidden")]] void* sorrel_before_setjmp(__jmp_buf_tag* buffer, int saves_mask) {
  // The buffer of pthread_cleanup_push(), which saves no mask, ends before these words.
  if (saves_mask == 0) return real_setjmp();
  RankProcess* process = calling_rank();
  unsigned long* const words = buffer->__saved_mask.__val;
  words[mark_word] = process != nullptr ? mark_of_rank : 0;
  words[mask_word] = process != nullptr ? process->signals().blocked() : 0;
  return real_setjmp();
}

[[gnu::visibility("hidden")]] void* sorrel_real_getcontext() {
  static void* const real = libc_function("getcontext");
  return real;
}

/// The context is that of the caller of getcontext(): returns to `caller`, with `stack`.
[[gnu::visibility("hidden")]] int sorrel_after_getcontext(ucontext_t* context,
                                                          int result,
                                                          std::uintptr_t caller,
                                                          std::uintptr_t stack) {
  if (result != 0) return result;
  auto& machine = context->uc_mcontext;
#if defined(__x86_64__)
  machine.gregs[REG_RIP] = static_cast<greg_t>(caller);
  machine.gregs[REG_RSP] = static_cast<greg_t>(stack);
#else
  machine.pc = caller;
  machine.regs[30] = caller;
  machine.sp = stack;
#endif
  RankProcess* process = calling_rank();
  // The system's word has the thread's mask, to which the C library returns by itself (uc_link).
  auto& words = context->uc_sigmask.__val;
  words[thread_word] = words[0];
  words[mark_word] = process != nullptr ? mark_of_rank : 0;
  words[mask_word] = process != nullptr ? process->signals().blocked() : 0;
  return 0;
}

/// As setcontext(), also the second step of swapcontext().
[[gnu::visibility("hidden")]] int sorrel_enter_context(const ucontext_t* context) {
  static auto* const real = next_definition<decltype(::setcontext)>("setcontext");
  RankProcess* process = calling_rank();
  ucontext_t to;
  if (process == nullptr || !copy_from_user(&to, context, sizeof to)) return real(context);
  const void* stack = sorrel::arch::interrupted_stack(&to);
  process->leave_handlers(sorrel::arch::stack_pointer(), reinterpret_cast<std::uintptr_t>(stack));
  take_mask(*process, mask_of_context(to));
  system_mask(to.uc_sigmask) = thread_mask();
  return real(&to);
}

/// The C library's swapcontext(), where it does what is right for the caller: no mask is involved.
[[gnu::visibility("hidden")]] void* sorrel_plain_swapcontext(ucontext_t* from,
                                                             const ucontext_t* to) {
  static void* const real = libc_function("swapcontext");
  RankProcess* process = calling_rank();
  if (process == nullptr) return real;
  const RankSignals& signals = process->signals();
  const bool is_plain = signals.blocked() == 0 && !signals.is_in_handler() && can_read(to) &&
                        mask_of_context(*to) == 0;
  if (is_plain) from->uc_sigmask.__val[mark_word] = 0;
  return is_plain ? real : nullptr;
}

}  // extern "C"

SORREL_INTERPOSED int setcontext(const ucontext_t* context) noexcept {
  return sorrel_enter_context(context);
}

SORREL_INTERPOSED void siglongjmp(sigjmp_buf environment, int value) noexcept {
  static auto* const real = next_definition<void(sigjmp_buf, int)>("siglongjmp");
  jump(real, environment, value);
}

SORREL_INTERPOSED void longjmp(jmp_buf environment, int value) noexcept {
  static auto* const real = next_definition<void(jmp_buf, int)>("longjmp");
  jump(real, environment, value);
}

SORREL_INTERPOSED void _longjmp(jmp_buf environment, int value) noexcept {
  static auto* const real = next_definition<void(jmp_buf, int)>("_longjmp");
  jump(real, environment, value);
}

// Called by programs that were compiled with _FORTIFY_SOURCE.
SORREL_INTERPOSED void __longjmp_chk(jmp_buf environment, int value) noexcept {
  static auto* const real = next_definition<void(jmp_buf, int)>("__longjmp_chk");
  jump(real, environment, value);
}
