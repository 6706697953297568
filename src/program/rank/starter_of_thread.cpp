#include "program/rank/starter_of_thread.hpp"

#include <memory>
#include <optional>
#include <pthread.h>
#include <utility>

#include "program/base/libc.hpp"
#include "program/base/program_calls.hpp"
#include "program/heap/heap_sharing.hpp"
#include "program/image/thread_image.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/worker_settings.hpp"

namespace sorrel::program {

namespace {

/// The function of a thread, and the rank that starts it.
struct Start {
  void* (*routine)(void*);
  void* argument;
  RankProcess* process;
  /// Directory and mask, if the starter is a rank: any other thread passes on its own.
  std::optional<ThreadSettings> files;
  /// Of the rank, if the thread may use it.
  heap::RegionHeap* heap;
};

/// For each started thread: its rank. The destructor runs at the end of the thread.
pthread_key_t starter_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    const auto note_end = [](void* process) {
      stop_sharing(std::exchange(heap_of_thread, nullptr));
      static_cast<RankProcess*>(process)->started_threads().remove();
    };
    const int error =
        next_definition<decltype(::pthread_key_create)>("pthread_key_create")(&made, note_end);
    SORREL_CHECK(error == 0, "the C library has no more keys of thread-specific values");
    return made;
  }();
  return key;
}

/// The new thread shares directory and mask with its starter, and has the process's locale.
void take_settings(const Start& start) {
  if (!WorkerSettings::are_ranks_separate()) return;
  WorkerSettings::use_locale(start.process->settings().global_locale().object());
  if (!WorkerSettings::are_any_separate() || !WorkerSettings::separate_files_of_thread()) return;
  if (start.files) WorkerSettings::enter_files(*start.files);
}

void* run(void* argument) {
  const Start start = *std::unique_ptr<Start>(static_cast<Start*>(argument));
  static auto* const set = next_definition<decltype(::pthread_setspecific)>("pthread_setspecific");
  heap_of_thread = start.heap;
  set(starter_key(), start.process);
  fill_thread_locals(start.process->copy());
  take_settings(start);
  return call_program(start.routine, start.argument);
}

}  // namespace

RankProcess* starter_of_thread() {
  static auto* const get = next_definition<decltype(::pthread_getspecific)>("pthread_getspecific");
  return static_cast<RankProcess*>(get(starter_key()));
}

RankProcess* process_of_thread() {
  RankProcess* process = current_rank_process();
  return process != nullptr ? process : starter_of_thread();
}

RankProcess* process_of_caller(const void* caller) {
  if (is_of_this_library(caller)) return nullptr;
  RankProcess* process = process_of_thread();
  return process == nullptr || is_forked_child() ? nullptr : process;
}

}  // namespace sorrel::program

SORREL_INTERPOSED int pthread_create(pthread_t* thread,
                                     const pthread_attr_t* attributes,
                                     void* (*routine)(void*),
                                     void* argument) noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<decltype(::pthread_create)>("pthread_create");
  const bool is_own_thread = is_of_this_library(__builtin_return_address(0));
  RankProcess* process = is_own_thread ? nullptr : process_of_thread();
  if (process == nullptr) return real(thread, attributes, routine, argument);
  auto start = std::make_unique<Start>(routine, argument, process, std::nullopt,
                                       share_heap_with_new_thread());
  if (current_rank_process() != nullptr) start->files = process->settings().files();
  process->started_threads().add();
  const int error = real(thread, attributes, run, start.get());
  if (error == 0) {
    static_cast<void>(start.release());
  } else {
    process->started_threads().remove();
    stop_sharing(start->heap);
  }
  return error;
}
