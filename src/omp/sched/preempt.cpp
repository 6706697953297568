#include "omp/sched/preempt.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/interrupted.hpp"
#include "omp/sched/group.hpp"
#include "os/kernel_wait.hpp"

namespace sorrel::omp {

namespace {

/// The code that may be interrupted. Written before the signal is sent.
std::atomic<std::uintptr_t> code_begin{0};
std::atomic<std::uintptr_t> code_end{0};

struct Search {
  std::uintptr_t address;
  std::uintptr_t begin;
  std::uintptr_t end;
};

int find_segment(dl_phdr_info* info, std::size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || search.address < begin ||
        search.address >= begin + segment.p_memsz)
      continue;
    search.begin = begin;
    search.end = begin + segment.p_memsz;
    return 1;
  }
  return 0;
}

void on_signal(int, siginfo_t*, void* context) {
  Thread* thread = own_thread;
  const std::uintptr_t at = arch::interrupted_at(context);
  // Relaxed: the signal orders them.
  if (thread == nullptr || thread->is_native() ||
      thread->placement.load(std::memory_order_relaxed) != on_any_worker ||
      thread->worker->index() != 0 || at < code_begin.load(std::memory_order_relaxed) ||
      at >= code_end.load(std::memory_order_relaxed))
    return;
  const int error = errno;
  thread->group->was_preempted = true;
  Worker::switch_to_root(*thread, SuspendAction::queue);
  // The restored signal mask belongs to the OS thread, which may be another one now.
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  static_cast<ucontext_t*>(context)->uc_sigmask = mask;
  errno = error;
}

/// False if the program uses the signal.
bool install() {
  struct sigaction before{};
  if (sigaction(SIGURG, nullptr, &before) != 0) return false;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction == on_signal;
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return false;
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  // The handler is left by a switch, so the signal must not stay blocked.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGURG, &action, nullptr) == 0;
}

}  // namespace

void preempt(int native_number, std::uintptr_t code) {
  // No code: before its first region. A signal would end a sleep early.
  if (code == 0 || os::is_in_kernel_wait(native_number)) return;
  Search search{.address = code, .begin = 0, .end = 0};
  if (dl_iterate_phdr(find_segment, &search) == 0 || !install()) return;
  code_begin.store(search.begin, std::memory_order_relaxed);
  code_end.store(search.end, std::memory_order_relaxed);
  syscall(SYS_tgkill, getpid(), native_number, SIGURG);
}

}  // namespace sorrel::omp
