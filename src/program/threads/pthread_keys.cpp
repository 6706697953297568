//! pthread_key_create and related functions: a rank's keys.

#include <cerrno>
#include <cstdint>
#include <pthread.h>

#include "program/base/libc.hpp"
#include "program/base/program_calls.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

using namespace sorrel::program;

SORREL_INTERPOSED int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  static auto* const real = next_definition<decltype(::pthread_key_create)>("pthread_key_create");
  RankProcess* process = process_of_thread();
  const void* caller = __builtin_return_address(0);
  // A function that pthread_once() runs, and whose last action is this call, is known by its key.
  const auto is_of_rank = [process](const void* address) {
    return process->contains(reinterpret_cast<std::uintptr_t>(address));
  };
  if (process == nullptr || !(is_program_call(caller) || is_of_rank(caller) || is_of_rank(key)))
    return real(key, destructor);
  return process->thread_keys().create(*key, destructor);
}

SORREL_INTERPOSED int pthread_key_delete(pthread_key_t key) noexcept {
  static auto* const real = next_definition<decltype(::pthread_key_delete)>("pthread_key_delete");
  const auto slot = ThreadKeys::slot_of(key);
  if (!slot) return real(key);
  RankProcess* process = process_of_thread();
  return process == nullptr ? EINVAL : process->thread_keys().remove(*slot);
}

SORREL_INTERPOSED void* pthread_getspecific(pthread_key_t key) noexcept {
  const auto slot = ThreadKeys::slot_of(key);
  if (!slot) {
    static auto* const real =
        next_definition<decltype(::pthread_getspecific)>("pthread_getspecific");
    return real(key);
  }
  if (RankProcess* process = current_rank_process()) return process->thread_keys().value(*slot);
  return ThreadKeys::value_in_thread(key);
}

SORREL_INTERPOSED int pthread_setspecific(pthread_key_t key, const void* value) noexcept {
  const auto slot = ThreadKeys::slot_of(key);
  if (!slot) {
    static auto* const real =
        next_definition<decltype(::pthread_setspecific)>("pthread_setspecific");
    return real(key, value);
  }
  auto* const own = const_cast<void*>(value);
  if (RankProcess* process = current_rank_process())
    return process->thread_keys().set_value(*slot, own);
  RankProcess* starter = starter_of_thread();
  return ThreadKeys::set_value_in_thread(starter == nullptr ? nullptr : &starter->thread_keys(),
                                         key, own);
}
