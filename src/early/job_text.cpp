#include "early/job_text.hpp"

namespace sorrel::early {

namespace {

constexpr char job_prefix[] = "SORREL_JOB=";

[[nodiscard]] bool is_in_value(char letter) {
  return letter != '\0' && letter != ':';
}

[[nodiscard]] int hexadecimal(char digit) {
  return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

/// The letter at `at`, which is moved behind it.
[[nodiscard]] char take_letter(const char*& at) {
  const char letter = *at++;
  if (letter != '%' || at[0] == '\0' || at[1] == '\0') return letter;
  const int code = hexadecimal(at[0]) << 4 | hexadecimal(at[1]);
  at += 2;
  return static_cast<char>(code);
}

}  // namespace

bool begins_with(const char* text, const char* prefix) {
  while (*prefix != '\0' && *text == *prefix) {
    ++text;
    ++prefix;
  }
  return *prefix == '\0';
}

const char* job_text(char** environment) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (begins_with(*environment, job_prefix)) return *environment + sizeof job_prefix - 1;
  }
  return nullptr;
}

const char* field_of(const char* text, const char* name) {
  if (text == nullptr) return nullptr;
  while (!begins_with(text, name)) {
    while (is_in_value(*text))
      ++text;
    if (*text == '\0') return nullptr;
    ++text;
  }
  while (*name++ != '\0')
    ++text;
  return text;
}

bool contains(const char* list, const char* name) {
  const char* at = name;
  while (is_in_value(*list)) {
    if (*list == ',') {
      if (at != nullptr && *at == '\0') return true;
      at = name;
      ++list;
      continue;
    }
    const char letter = take_letter(list);
    if (at != nullptr) at = *at == letter && letter != '\0' ? at + 1 : nullptr;
  }
  return at != nullptr && *at == '\0';
}

bool decode(const char* value, char* text, std::size_t bytes) {
  std::size_t length = 0;
  for (; is_in_value(*value) && length < bytes; ++length)
    text[length] = take_letter(value);
  if (length == bytes) return false;
  text[length] = '\0';
  return true;
}

}  // namespace sorrel::early
