#include "program/rank/current_files.hpp"

#include <atomic>
#include <cerrno>
#include <unistd.h>

#include "os/open_files_limit.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/worker_settings.hpp"
#include "program/state/rank_files.hpp"

namespace sorrel::program {

namespace {

/// The rank that opens a file for `caller`, if its files may have to be opened again; else null.
RankProcess* opener(const void* caller) {
  if (!RankProcess::are_saved()) return nullptr;
  RankProcess* process = process_that_may_wait(caller);
  const bool is_of_rank =
      process != nullptr && process->is_own_code(caller) && !process->signals().is_in_handler();
  return is_of_rank ? process : nullptr;
}

/// The ranks of a process share its limit of open files, of which a program knows nothing.
void report_limit(const void* caller) {
  static std::atomic<bool> was_reported{false};
  const int error = errno;
  const RankProcess* process = error == EMFILE && WorkerSettings::are_ranks_separate()
                                   ? process_that_may_wait(caller)
                                   : nullptr;
  if (process != nullptr && !was_reported.exchange(true, std::memory_order_relaxed))
    ::dprintf(STDERR_FILENO,
              "sorrel: note: rank %d cannot open a file: the ranks of a process have at most %llu "
              "files open together (ulimit -Hn); --procs divides them\n",
              process->rank(), static_cast<unsigned long long>(os::open_files_max()));
  errno = error;
}

}  // namespace

int adopt_file(int descriptor, const void* caller) {
  if (descriptor < 0) report_limit(caller);
  RankProcess* process = descriptor >= 0 ? opener(caller) : nullptr;
  return process != nullptr ? process->files().adopt(descriptor) : descriptor;
}

void adopt_file(FILE* stream, const void* caller) {
  if (stream == nullptr) report_limit(caller);
  RankProcess* process = stream != nullptr ? opener(caller) : nullptr;
  if (process != nullptr) process->files().adopt(*stream);
}

}  // namespace sorrel::program
