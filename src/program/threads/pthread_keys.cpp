//! pthread_key_create, tss_create and related functions: a rank's keys.

#include <cerrno>
#include <cstdint>
#include <pthread.h>
#include <threads.h>

#include "program/base/driver_code.hpp"
#include "program/base/libc.hpp"
#include "program/base/program_calls.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

using namespace sorrel::program;

namespace {

/// As pthread_key_create(). A function that pthread_once() runs, and whose last action is this
/// call, is known by its key.
int create(pthread_key_t* key, void (*destructor)(void*), const void* caller) {
  static auto* const real = next_definition<decltype(::pthread_key_create)>("pthread_key_create");
  RankProcess* process = process_of_thread();
  const auto is_of_rank = [process](const void* address) {
    return process->contains(reinterpret_cast<std::uintptr_t>(address));
  };
  if (process == nullptr || !(is_program_call(caller) || is_of_rank(caller) || is_of_rank(key)))
    return real(key, destructor);
  return process->thread_keys().create(*key, destructor);
}

/// As pthread_key_delete().
int remove(pthread_key_t key) {
  static auto* const real = next_definition<decltype(::pthread_key_delete)>("pthread_key_delete");
  const auto slot = ThreadKeys::slot_of(key);
  if (!slot) return real(key);
  RankProcess* process = process_of_thread();
  return process == nullptr ? EINVAL : process->thread_keys().remove(*slot);
}

void* value_of(pthread_key_t key) {
  const auto slot = ThreadKeys::slot_of(key);
  if (!slot) {
    static auto* const real =
        next_definition<decltype(::pthread_getspecific)>("pthread_getspecific");
    return real(key);
  }
  if (RankProcess* process = current_rank_process()) return process->thread_keys().value(*slot);
  return ThreadKeys::value_in_thread(*slot);
}

/// As pthread_setspecific(), for a key of the process.
int set_of_process(pthread_key_t key, const void* value, const void* caller) {
  static auto* const real = next_definition<decltype(::pthread_setspecific)>("pthread_setspecific");
  RankProcess* process = is_of_process(caller) ? nullptr : current_rank_process();
  if (process != nullptr) process->thread_keys().note_value_of_library();
  return real(key, value);
}

/// As pthread_setspecific().
int set_value(pthread_key_t key, void* value, const void* caller) {
  const auto slot = ThreadKeys::slot_of(key);
  if (!slot) return set_of_process(key, value, caller);
  if (RankProcess* process = current_rank_process())
    return process->thread_keys().set_value(*slot, value);
  RankProcess* starter = starter_of_thread();
  return ThreadKeys::set_value_in_thread(starter == nullptr ? nullptr : &starter->thread_keys(),
                                         *slot, value);
}

[[nodiscard]] int standard_result(int error) {
  return error == 0 ? thrd_success : thrd_error;
}

}  // namespace

SORREL_INTERPOSED int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  return create(key, destructor, __builtin_return_address(0));
}

SORREL_INTERPOSED int pthread_key_delete(pthread_key_t key) noexcept {
  return remove(key);
}

SORREL_INTERPOSED void* pthread_getspecific(pthread_key_t key) noexcept {
  return value_of(key);
}

SORREL_INTERPOSED int pthread_setspecific(pthread_key_t key, const void* value) noexcept {
  return set_value(key, const_cast<void*>(value), __builtin_return_address(0));
}

// The tss_* of the C library call aliases of the functions above, not the functions by name.

SORREL_INTERPOSED int tss_create(tss_t* key, tss_dtor_t destructor) {
  return standard_result(create(key, destructor, __builtin_return_address(0)));
}

SORREL_INTERPOSED void tss_delete(tss_t key) {
  static_cast<void>(remove(key));
}

SORREL_INTERPOSED void* tss_get(tss_t key) {
  return value_of(key);
}

SORREL_INTERPOSED int tss_set(tss_t key, void* value) {
  return standard_result(set_value(key, value, __builtin_return_address(0)));
}
