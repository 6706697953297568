#include "program/rank/current_environment.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/auxv.h>
#include <unistd.h>

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

namespace sorrel::program {

namespace {

std::mutex environment_mutex;

// Held while the C library's environment is changed or replaced. A forked child has one thread, and
// no thread that could release the lock.
[[nodiscard]] std::unique_lock<std::mutex> lock_of_process() {
  return is_forked_child() ? std::unique_lock<std::mutex>() : std::unique_lock(environment_mutex);
}

void change_of_process(const char* name, const char* value) {
  static auto* const real_set = next_definition<decltype(::setenv)>("setenv");
  static auto* const real_unset = next_definition<decltype(::unsetenv)>("unsetenv");
  const auto lock = lock_of_process();
  if (value != nullptr) {
    real_set(name, value, 1);
  } else {
    real_unset(name);
  }
}

/// In a thread that a rank has started: a variable that only the rank has, as it was at the start.
[[nodiscard]] char* value_for_thread(const char* name) {
  if (!has_ranks()) return nullptr;
  RankProcess* process = starter_of_thread();
  if (process == nullptr) return nullptr;
  return const_cast<char*>(process->environment().value_at_start(name));
}

}  // namespace

Environment* environment_of_rank() {
  RankProcess* process = current_rank_process();
  return process == nullptr || process->copy().is_template() ? nullptr : &process->environment();
}

ScopedEnvironment::ScopedEnvironment() {
  const Environment* environment = environment_of_rank();
  if (environment == nullptr) return;
  lock_ = lock_of_process();
  saved_ = __environ;
  __environ = environment->values();
}

ScopedEnvironment::~ScopedEnvironment() {
  if (lock_.owns_lock()) __environ = saved_;
}

}  // namespace sorrel::program

using namespace sorrel::program;

// Needs no loader outside of ranks: a memory allocator may call getenv before dlsym works.
SORREL_INTERPOSED char* getenv(const char* name) noexcept {
  const Environment* environment = environment_of_rank();
  if (environment != nullptr) return find_variable(environment->values(), name);
  char* value = value_for_thread(name);
  return value != nullptr ? value : find_variable(__environ, name);
}

SORREL_INTERPOSED char* secure_getenv(const char* name) noexcept {
  return getauxval(AT_SECURE) != 0 ? nullptr : getenv(name);
}

SORREL_INTERPOSED int setenv(const char* name, const char* value, int overwrite) noexcept {
  static auto* const real = next_definition<decltype(::setenv)>("setenv");
  Environment* environment = environment_of_rank();
  if (environment == nullptr) {
    const auto lock = lock_of_process();
    return real(name, value, overwrite);
  }
  if (name == nullptr || *name == '\0' || std::strchr(name, '=') != nullptr) {
    errno = EINVAL;
    return -1;
  }
  if (overwrite == 0 && find_variable(environment->values(), name) != nullptr) return 0;
  environment->set(name, value);
  change_of_process(name, value);
  return 0;
}

SORREL_INTERPOSED int unsetenv(const char* name) noexcept {
  static auto* const real = next_definition<decltype(::unsetenv)>("unsetenv");
  Environment* environment = environment_of_rank();
  if (environment == nullptr) {
    const auto lock = lock_of_process();
    return real(name);
  }
  if (*name == '\0' || std::strchr(name, '=') != nullptr) {
    errno = EINVAL;
    return -1;
  }
  environment->unset(name);
  change_of_process(name, nullptr);
  return 0;
}

SORREL_INTERPOSED int putenv(char* text) noexcept {
  static auto* const real = next_definition<decltype(::putenv)>("putenv");
  Environment* environment = environment_of_rank();
  if (environment == nullptr) {
    const auto lock = lock_of_process();
    return real(text);
  }
  environment->put(text);
  char* end = std::strchr(text, '=');
  if (end == nullptr) {
    change_of_process(text, nullptr);
  } else {
    change_of_process(std::string(text, end).c_str(), end + 1);
  }
  return 0;
}

SORREL_INTERPOSED int clearenv() noexcept {
  static auto* const real = next_definition<decltype(::clearenv)>("clearenv");
  Environment* environment = environment_of_rank();
  if (environment == nullptr) {
    const auto lock = lock_of_process();
    return real();
  }
  environment->clear();
  return 0;
}
