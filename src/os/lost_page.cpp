#include "os/lost_page.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.hpp"

namespace sorrel::os {

namespace {

struct Range {
  std::atomic<std::uintptr_t> base{0};
  std::atomic<std::size_t> bytes{0};  ///< (B) release, acquire in the handler; 0: none
};

constexpr std::size_t range_count_max = 8;
std::array<Range, range_count_max> ranges;
std::atomic<bool> has_reported{false};
/// Written before the handler is installed.
struct sigaction previous_handler{};

/// Async-signal-safe. Returns whether `address` was in a lost page; it is private memory now.
bool replace_page(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  for (Range& range : ranges) {
    // (B) acquire: the base was stored before the size.
    const std::size_t bytes = range.bytes.load(std::memory_order_acquire);
    const std::uintptr_t base = range.base.load(std::memory_order_relaxed);
    if (number < base || number - base >= bytes) continue;
    if (mmap(reinterpret_cast<void*>(base), bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      return false;
    if (!has_reported.exchange(true, std::memory_order_relaxed)) {
      constexpr std::string_view line =
          "sorrel: the page of peer jobs in /dev/shm has been truncated; this job goes on without "
          "it\n";
      (void)!write(STDERR_FILENO, line.data(), line.size());
    }
    return true;
  }
  return false;
}

void handle(int number, siginfo_t* info, void* context) {
  const int error = errno;
  // A signal sent by a process has no address.
  const bool is_fault = info->si_code > 0;
  if (is_fault && replace_page(info->si_addr)) {
    errno = error;
    return;
  }
  if ((previous_handler.sa_flags & SA_SIGINFO) != 0) {
    previous_handler.sa_sigaction(number, info, context);
  } else if (previous_handler.sa_handler == SIG_IGN && !is_fault) {
    return;
  } else if (previous_handler.sa_handler == SIG_DFL || previous_handler.sa_handler == SIG_IGN) {
    // A faulting instruction faults again; a sent signal is delivered when this handler returns.
    signal(number, SIG_DFL);
    if (!is_fault) raise(number);
  } else {
    previous_handler.sa_handler(number);
  }
}

void install_handler() {
  if (sigaction(SIGBUS, nullptr, &previous_handler) != 0) return;
  struct sigaction action = previous_handler;
  action.sa_sigaction = handle;
  action.sa_flags = static_cast<int>(
      (static_cast<unsigned>(action.sa_flags) & ~unsigned{SA_RESETHAND}) | SA_SIGINFO | SA_ONSTACK);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

void replace_when_lost(void* base, std::size_t bytes) {
  SORREL_ASSERT(base != nullptr && bytes != 0, "%zu bytes at %p", bytes, base);
  static std::mutex lock;
  const std::lock_guard guard(lock);
  for (Range& range : ranges) {
    // Relaxed: the lock orders the writers.
    if (range.bytes.load(std::memory_order_relaxed) != 0) continue;
    range.base.store(reinterpret_cast<std::uintptr_t>(base), std::memory_order_relaxed);
    range.bytes.store(bytes, std::memory_order_release);
    static const bool is_installed = (install_handler(), true);
    (void)is_installed;
    return;
  }
}

}  // namespace sorrel::os
