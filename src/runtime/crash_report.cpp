#include "runtime/crash_report.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "mpi/rank_state.hpp"
#include "runtime/job.hpp"
#include "runtime/source_lines.hpp"

namespace sorrel::runtime {

namespace {

constexpr std::size_t signal_stack_bytes = 65536;
constexpr std::array deadly_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t frame_count_max = 16;

// Set while a job runs; read by the handlers. (R) release in watch_for_crashes(), acquire in the
// handler.
std::atomic<Job*> watched_job{nullptr};

struct Frames {
  std::vector<const void*> addresses;
  /// The handler's own frames, and what the kernel put below them, are behind us.
  bool is_past_handler = false;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* argument) {
  auto& frames = *static_cast<Frames*>(argument);
  int is_interrupted = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
  frames.is_past_handler |= is_interrupted != 0;
  if (!frames.is_past_handler) return _URC_NO_REASON;
  // The interrupted frame is at an instruction, the others are behind a call, as source_lines()
  // expects.
  const std::uintptr_t after = is_interrupted != 0 ? address + 1 : address;
  frames.addresses.push_back(reinterpret_cast<const void*>(after));
  return frames.addresses.size() < frame_count_max ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void write_text(const char* text) {
  (void)!write(STDERR_FILENO, text, std::strlen(text));
}

void write_backtrace() {
  Frames frames;
  _Unwind_Backtrace(note_frame, &frames);
  int number = 0;
  for (const std::string& line : source_lines(frames.addresses)) {
    if (line == "-") break;
    char text[300];
    std::snprintf(text, sizeof text, "  #%d %s\n", number++, line.c_str());
    write_text(text);
  }
}

/// Where a signal came from.
struct Fault {
  const void* address;
  const void* stack_pointer;
};

Fault fault_of(const siginfo_t& info, const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto stack_pointer = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#else
  const auto stack_pointer = static_cast<std::uintptr_t>(machine.sp);
#endif
  return {.address = info.si_addr, .stack_pointer = reinterpret_cast<const void*>(stack_pointer)};
}

/// The address lies in a guard, or a large frame has carried the stack pointer below the rank's
/// stack.
bool is_stack_overflow(const mpi::RankState& rank, const Fault& fault, const Job& job) {
  const os::StackSlab& stacks = job.stacks();
  const auto place = stacks.place_of(fault.address);
  if (place && place->in_guard) return true;
  const auto pointer_place = stacks.place_of(fault.stack_pointer);
  return pointer_place && (pointer_place->in_guard || pointer_place->index != job.index_of(rank));
}

void describe(char* text,
              std::size_t bytes,
              const mpi::RankState& rank,
              int signal_number,
              const Fault& fault,
              const Job& job) {
  const bool is_memory_fault = signal_number == SIGSEGV || signal_number == SIGBUS;
  if (is_memory_fault && is_stack_overflow(rank, fault, job)) {
    const std::size_t kib = job.stacks().stack_bytes() >> 10;
    std::snprintf(
        text, bytes,
        "sorrel: rank %d: stack overflow: its stack has %zu KiB; enlarge it with --stack %zuK\n",
        rank.world_rank, kib, 4 * kib);
    return;
  }
  const char* name = strsignal(signal_number);
  if (signal_number == SIGABRT) {
    std::snprintf(text, bytes, "sorrel: rank %d: aborted (signal %d)\n", rank.world_rank,
                  signal_number);
  } else {
    std::snprintf(text, bytes, "sorrel: rank %d: %s (signal %d) at address %p\n", rank.world_rank,
                  name, signal_number, fault.address);
  }
}

void handle(int signal_number, siginfo_t* info, void* context) {
  // A second crash, in this very handler, ends the process at once.
  for (const int number : deadly_signals)
    signal(number, SIG_DFL);
  Job* job = watched_job.load(std::memory_order_acquire);
  const mpi::RankState* rank = mpi::current_rank();
  if (job == nullptr || rank == nullptr) {
    raise(signal_number);
    return;
  }
  // Another rank has ended the job, and says why.
  if (!job->claim_ending()) {
    for (;;)
      pause();
  }
  char text[256];
  describe(text, sizeof text, *rank, signal_number, fault_of(*info, context), *job);
  write_text(text);
  sigset_t deadly;
  sigemptyset(&deadly);
  for (const int number : deadly_signals)
    sigaddset(&deadly, number);
  pthread_sigmask(SIG_UNBLOCK, &deadly, nullptr);
  write_backtrace();
  _exit(128 + signal_number);
}

}  // namespace

void watch_for_crashes(Job& job) {
  watched_job.store(&job, std::memory_order_release);
  struct sigaction action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int number : deadly_signals) {
    // A program that runs in place may have its own.
    struct sigaction before{};
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction(number, &action, nullptr);
  }
}

void stop_watching_for_crashes() {
  for (const int number : deadly_signals)
    signal(number, SIG_DFL);
  watched_job.store(nullptr, std::memory_order_release);
}

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
