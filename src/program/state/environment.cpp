#include "program/state/environment.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace sorrel::program {

namespace {

std::atomic<bool> is_any_own{false};

[[nodiscard]] bool is_variable(const char* text, std::string_view name) {
  // Most differ in the first character.
  return text[0] == name[0] && std::strncmp(text, name.data(), name.size()) == 0 &&
         text[name.size()] == '=';
}

/// Calls `take(text)` for each text of `variables`, which are ended by null characters.
template <class Take>
void for_each_text(const std::string& variables, Take&& take) {
  const char* const end = variables.data() + variables.size();
  for (const char* text = variables.data(); text != end; text += std::strlen(text) + 1)
    take(text);
}

// The variables of all ranks: those of the process at start, without those that each rank has for
// itself. The process's own array moves when it grows.
[[nodiscard]] const std::vector<char*>& common_values(const std::string& own_variables) {
  static const std::vector<char*>& values = *[&] {
    auto* copy = new std::vector<char*>;
    for (char** value = __environ; value != nullptr && *value != nullptr; ++value) {
      bool is_own = false;
      for_each_text(own_variables, [&](const char* text) {
        is_own |= is_variable(*value, {text, std::strcspn(text, "=")});
      });
      if (!is_own) copy->push_back(*value);
    }
    return copy;
  }();
  return values;
}

/// The array of a rank: the common variables, then its own, then a null pointer.
[[nodiscard]] std::unique_ptr<char*[]> array_with(const std::string& own_variables) {
  const std::vector<char*>& common = common_values(own_variables);
  const auto own_count = std::ranges::count(own_variables, '\0');
  std::unique_ptr<char*[]> array(
      new char*[common.size() + static_cast<std::size_t>(own_count) + 1]);
  char** at = std::ranges::copy(common, array.get()).out;
  for_each_text(own_variables, [&](const char* text) { *at++ = const_cast<char*>(text); });
  *at = nullptr;
  return array;
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

Environment::Environment(const PrivatizedImage& copy, std::string own_variables)
    : own_variables_(std::move(own_variables)), values_(variable(copy, fallback_)) {
  if (copy.is_template()) return;
  values_at_start_ = array_with(own_variables_);
  values_ = values_at_start_.get();
}

Environment::~Environment() = default;

const char* Environment::value_at_start(std::string_view name) const {
  const char* value = nullptr;
  for_each_text(own_variables_, [&](const char* text) {
    if (is_variable(text, name)) value = text + name.size() + 1;
  });
  return value;
}

std::size_t Environment::bytes() const {
  std::size_t bytes = sizeof(char*);
  for (char** value = values_; *value != nullptr; ++value)
    bytes += sizeof(char*) + std::strlen(*value) + 1;
  return bytes;
}

void Environment::move_to(void* place) {
  SORREL_ASSERT(own_ == nullptr, "the environment is moved after it was changed");
  std::size_t count = 0;
  while (values_[count] != nullptr)
    ++count;
  auto** array = static_cast<char**>(place);
  char* next = reinterpret_cast<char*>(array + count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = std::strlen(values_[i]) + 1;
    array[i] = static_cast<char*>(std::memcpy(next, values_[i], size));
    next += size;
  }
  array[count] = nullptr;
  values_ = array;
}

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
  SORREL_ASSERT(!mine.values.empty() && mine.values.back() == nullptr,
                "%zu variables without an end", mine.values.size());
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
