#include "program/state/environment.hpp"

#include <atomic>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace sorrel::program {

namespace {

std::atomic<bool> is_any_own{false};

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
  replace(name, own().texts.emplace_back(std::move(text)).data());
}

void Environment::put(char* text) {
  const char* end = std::strchr(text, '=');
  if (end == nullptr) return unset(text);
  replace({text, static_cast<std::size_t>(end - text)}, text);
}

void Environment::unset(std::string_view name) {
  Own& mine = own();
  std::erase_if(mine.values,
                [name](const char* value) { return value != nullptr && is_variable(value, name); });
}

void Environment::clear() {
  (void)own();
  values_ = nullptr;
}

}  // namespace sorrel::program
