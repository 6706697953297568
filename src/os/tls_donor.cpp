#include "os/tls_donor.hpp"

#include <atomic>
#include <csignal>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/futex.hpp"
#include "os/thread_locals.hpp"

namespace sorrel::os {

namespace {

/// Bytes of the stack, below the frame of run(), that the sleeping thread keeps.
constexpr std::uintptr_t kept_bytes = 8192;

/// Below the stack, in addition to its size; takes address space alone.
constexpr std::size_t guard_bytes = std::size_t{1} << 20;

struct DonorRequest {
  void (*prepare)(void*);
  void* argument;
  TlsDonor* donor;
  std::atomic<std::uint32_t> is_ready{0};
};

std::byte* stack_bottom_of_caller() {
  pthread_attr_t attributes;
  void* bottom = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  pthread_attr_getstack(&attributes, &bottom, &bytes);
  pthread_attr_destroy(&attributes);
  return static_cast<std::byte*>(bottom);
}

void* run(void* argument) {
  auto* request = static_cast<DonorRequest*>(argument);
  TlsDonor& donor = *request->donor;
  request->prepare(request->argument);
  donor.thread_pointer = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  donor.stack_bottom = stack_bottom_of_caller();
  auto* top = static_cast<std::byte*>(__builtin_frame_address(0)) - kept_bytes;
  donor.stack_bytes = static_cast<std::size_t>(top - donor.stack_bottom);
  // The futex word must outlive the record of the request.
  static std::atomic<std::uint32_t> forever{0};
  // Release, pairs with the acquire in make_tls_donor(): publishes the fields above. The record may
  // be gone after the store; a wake-up at its address is harmless.
  std::atomic<std::uint32_t>& is_ready = request->is_ready;
  is_ready.store(1, std::memory_order_release);
  futex_wake_one(is_ready);
  // A direct system call, because errno in this control block belongs to the fiber.
  for (;;) {
#if defined(__x86_64__)
    long result = SYS_futex;
    asm volatile("xor %%r10d, %%r10d\n\tsyscall"
                 : "+a"(result)
                 : "D"(&forever), "S"(FUTEX_WAIT | FUTEX_PRIVATE_FLAG), "d"(0)
                 : "rcx", "r10", "r11", "memory");
#else
    syscall(SYS_futex, &forever, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, nullptr, nullptr, 0);
#endif
  }
  return nullptr;
}

}  // namespace

bool make_tls_donor(std::size_t stack_bytes,
                    void (*prepare)(void* argument),
                    void* argument,
                    TlsDonor& donor) {
  DonorRequest request{.prepare = prepare, .argument = argument, .donor = &donor};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes == 0) pthread_attr_getstacksize(&attributes, &stack_bytes);
  pthread_attr_setguardsize(&attributes, guard_bytes);
  pthread_attr_setstacksize(&attributes, stack_bytes + 2 * kept_bytes + thread_local_bytes());
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const bool has_started = pthread_create(&thread, &attributes, run, &request) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (!has_started) return false;
  while (request.is_ready.load(std::memory_order_acquire) == 0)
    futex_wait(request.is_ready, 0, -1);
  return true;
}

}  // namespace sorrel::os
