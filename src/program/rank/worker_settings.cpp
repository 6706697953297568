#include "program/rank/worker_settings.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "core/worker.hpp"
#include "program/base/libc.hpp"
#include "program/state/rank_locale.hpp"

namespace sorrel::program {

namespace {

/// Directory and mask of the process before any rank changed them; directory null until then.
struct ProcessFiles {
  std::mutex mutex;
  std::shared_ptr<const WorkingDirectory> directory;
  int mask = 0;
};

ProcessFiles& process_files() {
  static ProcessFiles& files = *new ProcessFiles;
  return files;
}

// Written before the first rank runs.
std::vector<WorkerSettings>& all_settings() {
  static auto& settings = *new std::vector<WorkerSettings>;
  return settings;
}

// Release and acquire: process_files() is written before.
std::atomic<bool> is_any_separate{false};

mode_t set_mask(mode_t mask) {
  static auto* const real = next_definition<decltype(::umask)>("umask");
  return real(mask);
}

void report_refusal() {
  static std::atomic<bool> was_reported{false};
  if (was_reported.exchange(true)) return;
  ::dprintf(
      STDERR_FILENO,
      "sorrel: note: a change of working directory or umask holds for all ranks of the "
      "process: the system does not allow unshare() (%s); --procs gives each rank a process\n",
      std::strerror(errno));
}

/// On a thread whose directory and mask no rank has changed.
bool record_process_files() {
  ProcessFiles& files = process_files();
  const std::scoped_lock lock(files.mutex);
  if (files.directory != nullptr) return true;
  files.directory = WorkingDirectory::of_thread();
  if (files.directory == nullptr) return false;
  const mode_t mask = set_mask(0);
  set_mask(mask);
  files.mask = static_cast<int>(mask);
  is_any_separate.store(true, std::memory_order_release);
  return true;
}

}  // namespace

void WorkerSettings::begin(std::uint32_t worker_count) {
  static_cast<void>(RankLocale::initial());
  all_settings() = std::vector<WorkerSettings>(worker_count);
}

bool WorkerSettings::are_ranks_separate() {
  return !all_settings().empty();
}

WorkerSettings& WorkerSettings::of(const core::Worker& worker) {
  SORREL_ASSERT(worker.index() < all_settings().size(), "worker %u of %zu", worker.index(),
                all_settings().size());
  return all_settings()[worker.index()];
}

void WorkerSettings::use_initial_locale() {
  use_locale(RankLocale::initial().object());
}

bool WorkerSettings::are_any_separate() {
  return is_any_separate.load(std::memory_order_acquire);
}

bool WorkerSettings::separate_files(const core::Worker& worker) {
  const int thread = worker.thread_number();
  if (thread == separate_thread_) return true;
  // A thread that runs all ranks can do without a group of its own.
  const bool is_only_one = all_settings().size() == 1;
  if (::unshare(CLONE_FS) != 0 && !is_only_one) {
    report_refusal();
    return false;
  }
  if (!record_process_files()) return false;
  separate_thread_ = thread;
  return true;
}

bool WorkerSettings::separate_files_of_thread() {
  if (::unshare(CLONE_FS) == 0) return record_process_files();
  report_refusal();
  return false;
}

locale_t WorkerSettings::use_locale(locale_t locale) {
  static auto* const real = next_definition<decltype(::uselocale)>("uselocale");
  return real(locale);
}

bool WorkerSettings::take_directory() {
  std::shared_ptr<const WorkingDirectory> directory = WorkingDirectory::of_thread();
  if (directory == nullptr) return false;
  if (directory == process_files().directory) directory.reset();
  now_.directory = std::move(directory);
  return true;
}

void WorkerSettings::take_mask(mode_t mask) {
  const int bits = static_cast<int>(mask);
  now_.mask = bits == process_files().mask ? -1 : bits;
}

void WorkerSettings::enter_files(const ThreadSettings& wanted) {
  const ProcessFiles& files = process_files();
  SORREL_ASSERT(files.directory != nullptr, "the process's directory is not known");
  (wanted.directory != nullptr ? wanted.directory : files.directory)->enter();
  set_mask(static_cast<mode_t>(wanted.mask >= 0 ? wanted.mask : files.mask));
}

void WorkerSettings::apply(const core::Worker& worker,
                           const ThreadSettings* wanted,
                           bool has_own_locale) {
  static const ThreadSettings none;
  const ThreadSettings& next = wanted != nullptr ? *wanted : none;
  if (next.directory != now_.directory || next.mask != now_.mask) {
    SORREL_CHECK(separate_files(worker), "the system does not allow unshare() any more: %s",
                 std::strerror(errno));
    const ProcessFiles& files = process_files();
    if (next.directory != now_.directory) {
      (next.directory != nullptr ? next.directory : files.directory)->enter();
      now_.directory = next.directory;
    }
    if (next.mask != now_.mask) {
      set_mask(static_cast<mode_t>(next.mask >= 0 ? next.mask : files.mask));
      now_.mask = next.mask;
    }
  }
  if (!has_own_locale && next.locale != now_.locale) {
    use_locale(next.locale != nullptr ? next.locale : RankLocale::initial().object());
    now_.locale = next.locale;
  }
}

}  // namespace sorrel::program
