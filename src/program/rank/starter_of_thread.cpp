#include "program/rank/starter_of_thread.hpp"

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <pthread.h>
#include <threads.h>
#include <utility>

#include "base/check.hpp"
#include "core/worker.hpp"
#include "program/base/driver_code.hpp"
#include "program/base/libc.hpp"
#include "program/base/program_calls.hpp"
#include "program/heap/heap_sharing.hpp"
#include "program/image/thread_image.hpp"
#include "program/rank/lent_mask.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/worker_settings.hpp"

namespace sorrel::program {

namespace {

/// What a thread is started with, and of which rank it is. Until the thread ends.
struct Start {
  void* (*routine)(void*);
  void* argument;
  RankProcess* process;
  /// Directory and mask, if the starter is a rank: any other thread passes on its own.
  std::optional<ThreadSettings> files;
  /// The rank's heap, if the thread may use it.
  heap::RegionHeap* heap;
  /// How often the C library has called the destructor of the thread's value.
  int end_round = 0;
};

void end_thread(void* value);

/// For each started thread: its Start.
pthread_key_t starter_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    const int error =
        next_definition<decltype(::pthread_key_create)>("pthread_key_create")(&made, end_thread);
    SORREL_CHECK(error == 0, "the C library has no more keys of thread-specific values");
    return made;
  }();
  return key;
}

/// Returns whether the calling thread has it now; else there is no memory for the value.
bool set_start(Start* start) {
  static auto* const real = next_definition<decltype(::pthread_setspecific)>("pthread_setspecific");
  return real(starter_key(), start) == 0;
}

/// At the end of a started thread. The C library calls the destructors of keys in rounds, while one
/// of them sets a value again. This one does so until the last round: the thread is its rank's, and
/// counted, as long as destructors of the program run.
void end_thread(void* value) {
  auto* const start = static_cast<Start*>(value);
  SORREL_ASSERT(start->process->started_threads().any(), "a thread ends that was not counted");
  if (++start->end_round < PTHREAD_DESTRUCTOR_ITERATIONS && set_start(start)) return;
  const std::unique_ptr<Start> ended(start);
  stop_sharing(std::exchange(heap_of_thread, nullptr));
  ended->process->started_threads().remove();
}

void (*thread_start_hook)() = nullptr;

/// The new thread shares directory and mask with its starter, and has the process's locale.
void take_settings(const Start& start) {
  if (!WorkerSettings::are_ranks_separate()) return;
  WorkerSettings::use_locale(start.process->settings().global_locale().object());
  if (!WorkerSettings::are_any_separate() || !WorkerSettings::separate_files_of_thread()) return;
  if (start.files) WorkerSettings::enter_files(*start.files);
}

void* run(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  heap_of_thread = start.heap;
  SORREL_CHECK(set_start(&start), "no memory for a thread of rank %d", start.process->rank());
  fill_thread_locals(start.process->copy());
  take_settings(start);
  start.files.reset();
  return call_program(start.routine, start.argument);
}

int create(pthread_t* thread,
           const pthread_attr_t* attributes,
           void* (*routine)(void*),
           void* argument) {
  static auto* const real = next_definition<decltype(::pthread_create)>("pthread_create");
  return real(thread, attributes, routine, argument);
}

int create_for_program(pthread_t* thread,
                       const pthread_attr_t* attributes,
                       void* (*routine)(void*),
                       void* argument) {
  if (thread_start_hook != nullptr) thread_start_hook();
  RankProcess* process = process_of_thread();
  if (process == nullptr) return create(thread, attributes, routine, argument);
  auto start = std::make_unique<Start>(routine, argument, process, std::nullopt,
                                       share_heap_with_new_thread());
  if (core::Worker::current() != nullptr) start->files = process->settings().files();
  const LentMask inherited;
  process->started_threads().add();
  const int error = create(thread, attributes, run, start.get());
  if (error == 0) {
    static_cast<void>(start.release());
  } else {
    process->started_threads().remove();
    stop_sharing(start->heap);
  }
  return error;
}

/// A thread of C11.
struct StandardStart {
  thrd_start_t routine;
  void* argument;
};

void* run_standard(void* argument) {
  const StandardStart start =
      *std::unique_ptr<StandardStart>(static_cast<StandardStart*>(argument));
  return reinterpret_cast<void*>(std::intptr_t{start.routine(start.argument)});
}

}  // namespace

void set_thread_start_hook(void (*hook)()) {
  thread_start_hook = hook;
}

bool sees_thread_starts() {
  return is_of_this_library(loader_dlsym()(RTLD_DEFAULT, "pthread_create"));
}

void take_settings_of(const RankProcess& process) {
  if (!WorkerSettings::are_ranks_separate()) return;
  const locale_t used = process.settings().used_locale_of_fiber();
  WorkerSettings::use_locale(used != nullptr ? used : process.settings().global_locale().object());
  if (WorkerSettings::are_any_separate() && WorkerSettings::separate_files_of_thread())
    WorkerSettings::enter_files(process.settings().files());
}

RankProcess* starter_of_thread() {
  static auto* const real_get =
      next_definition<decltype(::pthread_getspecific)>("pthread_getspecific");
  const auto* start = static_cast<const Start*>(real_get(starter_key()));
  return start == nullptr ? nullptr : start->process;
}

RankProcess* process_of_thread() {
  RankProcess* process = current_rank_process();
  return process != nullptr ? process : starter_of_thread();
}

RankProcess* process_of_interrupted_thread() {
  RankProcess* process = peek_rank_process();
  return process != nullptr ? process : starter_of_thread();
}

RankProcess* process_of_caller(const void* caller) {
  if (is_of_process(caller)) return nullptr;
  RankProcess* process = process_of_thread();
  return process == nullptr || is_forked_child() ? nullptr : process;
}

RankProcess* saved_process_of_caller(const void* caller) {
  if (!RankProcess::are_saved() || is_of_process(caller) || is_forked_child()) return nullptr;
  return process_of_thread();
}

}  // namespace sorrel::program

SORREL_INTERPOSED int pthread_create(pthread_t* thread,
                                     const pthread_attr_t* attributes,
                                     void* (*routine)(void*),
                                     void* argument) noexcept {
  using namespace sorrel::program;
  if (is_of_process(__builtin_return_address(0)))
    return create(thread, attributes, routine, argument);
  return create_for_program(thread, attributes, routine, argument);
}

// The C library's own does not call pthread_create() by its name, and runs such a thread alike.
SORREL_INTERPOSED int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  using namespace sorrel::program;
  auto start = std::make_unique<StandardStart>(routine, argument);
  const int error = create_for_program(thread, nullptr, run_standard, start.get());
  if (error != 0) return error == ENOMEM || error == EAGAIN ? thrd_nomem : thrd_error;
  static_cast<void>(start.release());
  return thrd_success;
}
