#include "os/tls_donor.hpp"

#include <csignal>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/futex.hpp"
#include "os/thread_locals.hpp"

namespace sorrel::os {

namespace {

/// Bytes of the stack, below the frame of run(), that the sleeping thread keeps.
constexpr std::uintptr_t kept_bytes = 8192;

/// Below the stack, in addition to its size; takes address space alone.
constexpr std::size_t guard_bytes = std::size_t{1} << 20;

std::byte* stack_bottom_of_caller() {
  pthread_attr_t attributes;
  void* bottom = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  pthread_attr_getstack(&attributes, &bottom, &bytes);
  pthread_attr_destroy(&attributes);
  return static_cast<std::byte*>(bottom);
}

}  // namespace

void* TlsDonor::run(void* self) {
  auto& donor = *static_cast<TlsDonor*>(self);
  donor.prepare_(donor.argument_);
  donor.thread_pointer_ = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  if (donor.stack_bottom_ == nullptr) donor.stack_bottom_ = stack_bottom_of_caller();
  auto* top = static_cast<std::byte*>(__builtin_frame_address(0)) - kept_bytes;
  SORREL_CHECK(donor.stack_bottom_ != nullptr && top > donor.stack_bottom_,
               "no room on the stack at %p", static_cast<void*>(donor.stack_bottom_));
  donor.stack_bytes_ = static_cast<std::size_t>(top - donor.stack_bottom_);
  // Release, pairs with the acquire in create(): publishes the fields above.
  donor.state_.store(asleep, std::memory_order_release);
  futex_wake_one(donor.state_);
  donor.sleep();
  if (donor.last_ != nullptr) donor.last_(donor.argument_);
  return nullptr;
}

/// By direct system calls, because errno in this control block belongs to the fiber.
void TlsDonor::sleep() {
  for (;;) {
    // Acquire, pairs with the destructor and with call(): the fiber has left the block.
    const std::uint32_t state = state_.load(std::memory_order_acquire);
    if (state == ending) return;
    if (state == calling) {
      // Relaxed: the next change comes from a thread that the function orders.
      state_.store(asleep, std::memory_order_relaxed);
      called_(argument_);
      continue;
    }
#if defined(__x86_64__)
    long result = SYS_futex;
    asm volatile("xor %%r10d, %%r10d\n\tsyscall"
                 : "+a"(result)
                 : "D"(&state_), "S"(FUTEX_WAIT | FUTEX_PRIVATE_FLAG), "d"(asleep)
                 : "rcx", "r10", "r11", "memory");
#else
    syscall(SYS_futex, &state_, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, asleep, nullptr, nullptr, 0);
#endif
  }
}

bool TlsDonor::create(pthread_attr_t& attributes, Prepare prepare, void* argument) {
  SORREL_CHECK(prepare_ == nullptr);
  prepare_ = prepare;
  argument_ = argument;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals_);
  const bool has_started = pthread_create(&thread_, &attributes, run, this) == 0;
  pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
  pthread_attr_destroy(&attributes);
  while (has_started && state_.load(std::memory_order_acquire) == starting)
    futex_wait(state_, starting, -1);
  return has_started;
}

bool TlsDonor::start(std::size_t stack_bytes, Prepare prepare, void* argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack_bytes == 0) pthread_attr_getstacksize(&attributes, &stack_bytes);
  pthread_attr_setguardsize(&attributes, guard_bytes);
  pthread_attr_setstacksize(&attributes, stack_bytes + 2 * kept_bytes + thread_local_bytes());
  return create(attributes, prepare, argument);
}

bool TlsDonor::start_in(void* memory, std::size_t bytes, Prepare prepare, void* argument) {
  stack_bottom_ = static_cast<std::byte*>(memory);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, memory, bytes);
  return create(attributes, prepare, argument);
}

void TlsDonor::call(Prepare function) {
  SORREL_ASSERT(function != nullptr && state_.load(std::memory_order_relaxed) == asleep,
                "the thread does not sleep: state %u", state_.load(std::memory_order_relaxed));
  called_ = function;
  // Release, pairs with sleep().
  state_.store(calling, std::memory_order_release);
  futex_wake_one(state_);
}

TlsDonor::~TlsDonor() {
  if (state_.load(std::memory_order_relaxed) == starting) return;
  state_.store(ending, std::memory_order_release);
  futex_wake_one(state_);
  pthread_join(thread_, nullptr);
}

}  // namespace sorrel::os
