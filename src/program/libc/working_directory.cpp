//! chdir, fchdir and umask: a rank's working directory and file mode mask, which hold for every
//! function of the C library, of the system and of libraries. nftw and fts change the directory
//! inside of the C library: callbacks of nftw run with the rank's new one, and fts leaves it as it
//! is (FTS_NOCHDIR), since fts_accpath leads to the files in either case.
//!
//! The system keeps both for the thread (rank/worker_settings.hpp). A thread that a rank has
//! started begins with those of its rank, and its own changes are its own.

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"
#include "program/rank/worker_settings.hpp"

using namespace sorrel::program;

namespace {

void note_once(std::atomic<bool>& was_noted, int rank, const char* text) {
  if (!was_noted.exchange(true, std::memory_order_relaxed))
    ::dprintf(STDERR_FILENO, "sorrel: note: rank %d: %s\n", rank, text);
}

/// The rank to which the caller belongs, in a process of several ranks.
[[nodiscard]] RankProcess* rank_of(const void* caller) {
  return WorkerSettings::are_ranks_separate() ? process_of_caller(caller) : nullptr;
}

/// The running rank, when the calling thread has a directory and mask of its own. Null: the change
/// is made as by any thread, also by one that a rank has started, after it has its own.
[[nodiscard]] RankProcess* running_rank(RankProcess* process) {
  if (process == nullptr) return nullptr;
  if (runs_worker()) return process->settings().separate_files() ? process : nullptr;
  static_cast<void>(WorkerSettings::separate_files_of_thread());
  return nullptr;
}

void note_threads(RankProcess& process, const void* caller) {
  static std::atomic<bool> was_noted_before{false};
  static std::atomic<bool> was_noted_by_thread{false};
  // A rank's own flow is on a thread of its own after it has started another thread.
  const bool is_on_own_thread = process_on_own_thread(caller) != nullptr;
  if (!WorkerSettings::are_any_separate()) return;
  if (!runs_worker() && !is_on_own_thread)
    note_once(was_noted_by_thread, process.rank(),
              "the working directory that a thread changes is that of the thread, not of its rank");
  else if (process.started_threads().any())
    note_once(was_noted_before, process.rank(),
              "a change of working directory does not reach threads that the rank has started "
              "before");
}

template <class Change>
int change_directory(const void* caller, Change&& change) {
  RankProcess* process = rank_of(caller);
  RankProcess* running = running_rank(process);
  const int result = change();
  if (result != 0 || process == nullptr) return result;
  if (running != nullptr && !running->settings().take_directory()) return -1;
  note_threads(*process, caller);
  return 0;
}

/// What nftw() calls for each file; the running rank walks.
int call_in_directory(const char* path, const struct stat* status, int kind, FTW* place) {
  RankProcess& process = *current_rank_process();
  if (!process.settings().take_directory()) return -1;
  return process.libc_state().innermost_walk()->callback(path, status, kind, place);
}

/// Options of fts_open() for the running rank.
[[nodiscard]] int without_change(int options) {
  return rank_of(nullptr) != nullptr ? options | FTS_NOCHDIR : options;
}

}  // namespace

SORREL_INTERPOSED int chdir(const char* path) noexcept {
  static auto* const real = next_definition<decltype(::chdir)>("chdir");
  return change_directory(__builtin_return_address(0), [&] { return real(path); });
}

SORREL_INTERPOSED int fchdir(int file) noexcept {
  static auto* const real = next_definition<decltype(::fchdir)>("fchdir");
  return change_directory(__builtin_return_address(0), [&] { return real(file); });
}

SORREL_INTERPOSED mode_t umask(mode_t mask) noexcept {
  static auto* const real = next_definition<decltype(::umask)>("umask");
  RankProcess* process = running_rank(rank_of(__builtin_return_address(0)));
  const mode_t previous = real(mask);
  if (process != nullptr) process->settings().take_mask(mask & 0777);
  return previous;
}

SORREL_INTERPOSED int nftw(const char* path, __nftw_func_t callback, int depth, int flags) {
  static auto* const real = next_definition<decltype(::nftw)>("nftw");
  RankProcess* process =
      (flags & FTW_CHDIR) != 0 ? running_rank(rank_of(__builtin_return_address(0))) : nullptr;
  if (process == nullptr) return real(path, callback, depth, flags);
  DirectoryWalk*& innermost = process->libc_state().innermost_walk();
  DirectoryWalk walk{.callback = callback, .outer = innermost};
  innermost = &walk;
  const int result = real(path, call_in_directory, depth, flags);
  innermost = walk.outer;
  const int error = errno;
  const bool is_taken = process->settings().take_directory();
  if (is_taken) errno = error;
  return is_taken ? result : -1;
}

static_assert(sizeof(struct stat) == sizeof(struct stat64));

SORREL_INTERPOSED_AS(nftw)
int nftw64(const char* path, __nftw64_func_t callback, int depth, int flags);

SORREL_INTERPOSED FTS* fts_open(char* const* paths,
                                int options,
                                int (*compare)(const FTSENT**, const FTSENT**)) {
  static auto* const real = next_definition<decltype(::fts_open)>("fts_open");
  return real(paths, without_change(options), compare);
}

SORREL_INTERPOSED FTS64* fts64_open(char* const* paths,
                                    int options,
                                    int (*compare)(const FTSENT64**, const FTSENT64**)) {
  static auto* const real = next_definition<decltype(::fts64_open)>("fts64_open");
  return real(paths, without_change(options), compare);
}
