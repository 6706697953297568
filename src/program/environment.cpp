#include "program/environment.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/auxv.h>
#include <unistd.h>

#include "program/libc.hpp"
#include "program/rank_process.hpp"

namespace sorrel::program {

namespace {

std::atomic<bool> is_any_own{false};
std::mutex environment_mutex;

[[nodiscard]] bool is_variable(const char* text, std::string_view name) {
  // Most differ in the first character.
  return text[0] == name[0] && std::strncmp(text, name.data(), name.size()) == 0 &&
         text[name.size()] == '=';
}

// The array of all ranks until they change it. The process's own array moves when it grows.
[[nodiscard]] char** values_at_start() {
  static std::vector<char*>& values = *[] {
    auto* copy = new std::vector<char*>;
    for (char** value = __environ; value != nullptr && *value != nullptr; ++value)
      copy->push_back(*value);
    copy->push_back(nullptr);
    return copy;
  }();
  return values.data();
}

// Held while the C library's environment is changed or replaced. A forked child has one thread, and
// no thread that could release the lock.
[[nodiscard]] std::unique_lock<std::mutex> lock_of_process() {
  return is_forked_child() ? std::unique_lock<std::mutex>() : std::unique_lock(environment_mutex);
}

void change_of_process(const char* name, const char* value) {
  static auto* const set = next_definition<decltype(::setenv)>("setenv");
  static auto* const unset = next_definition<decltype(::unsetenv)>("unsetenv");
  const auto lock = lock_of_process();
  if (value != nullptr) {
    set(name, value, 1);
  } else {
    unset(name);
  }
}

[[nodiscard]] char**& variable(const PrivatizedImage& copy, char**& fallback) {
  char*** found = copy.own(__environ);
  return found != nullptr ? *found : fallback;
}

}  // namespace

struct Environment::Own {
  std::vector<char*> values{nullptr};
  std::deque<std::string> texts;  // made by setenv; kept, since callers of getenv may hold pointers
};

char* find_variable(char** values, std::string_view name) {
  if (values == nullptr || name.empty()) return nullptr;
  for (; *values != nullptr; ++values) {
    if (is_variable(*values, name)) return *values + name.size() + 1;
  }
  return nullptr;
}

Environment::Environment(const PrivatizedImage& copy) : values_(variable(copy, fallback_)) {
  if (!copy.is_template()) values_ = values_at_start();
}

Environment::~Environment() = default;

bool Environment::is_any_changed() {
  // Relaxed: a rank sees its own changes, and the changes of other ranks do not concern it.
  return is_any_own.load(std::memory_order_relaxed);
}

Environment::Own& Environment::own() {
  if (own_ == nullptr) own_ = std::make_unique<Own>();
  if (values_ != own_->values.data()) {
    // The first change, or the program has set environ.
    own_->values.clear();
    for (char** value = values_; value != nullptr && *value != nullptr; ++value)
      own_->values.push_back(*value);
    own_->values.push_back(nullptr);
    values_ = own_->values.data();
  }
  is_any_own.store(true, std::memory_order_relaxed);
  return *own_;
}

void Environment::replace(std::string_view name, char* text) {
  Own& mine = own();
  for (char*& value : mine.values) {
    if (value != nullptr && is_variable(value, name)) {
      value = text;
      return;
    }
  }
  mine.values.back() = text;
  mine.values.push_back(nullptr);
  values_ = mine.values.data();
}

void Environment::set(std::string_view name, std::string_view value) {
  std::string text(name);
  text += '=';
  text += value;
  char* kept = own().texts.emplace_back(std::move(text)).data();
  replace(name, kept);
  change_of_process(std::string(name).c_str(), kept + name.size() + 1);
}

void Environment::put(char* text) {
  const char* end = std::strchr(text, '=');
  if (end == nullptr) return unset(text);
  const std::string name(text, static_cast<std::size_t>(end - text));
  replace(name, text);
  change_of_process(name.c_str(), end + 1);
}

void Environment::unset(std::string_view name) {
  Own& mine = own();
  std::erase_if(mine.values,
                [name](const char* value) { return value != nullptr && is_variable(value, name); });
  change_of_process(std::string(name).c_str(), nullptr);
}

void Environment::clear() {
  (void)own();
  values_ = nullptr;
}

Environment* environment_of_rank() {
  RankProcess* process = current_rank_process();
  return process == nullptr || process->copy().is_template() ? nullptr : &process->environment();
}

ScopedEnvironment::ScopedEnvironment() {
  const Environment* environment = environment_of_rank();
  if (environment == nullptr || !Environment::is_any_changed()) return;
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
  return find_variable(environment != nullptr ? environment->values() : __environ, name);
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
  if (overwrite != 0 || find_variable(environment->values(), name) == nullptr)
    environment->set(name, value);
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
