// libsorrel-early.so.0: see early_modules.hpp. Runs before the C library has initialised itself: it
// uses its arguments, memory and mprotect(), and nothing of a C++ library.

#include <cstring>

#include "early/early_modules.hpp"
#include "early/hold_back.hpp"

extern "C" {
[[gnu::visibility("default")]] sorrel::early::Modules sorrel_early_modules_1;
}

namespace sorrel::early {

namespace {

constexpr char job_prefix[] = "SORREL_JOB=";
constexpr char field[] = "private=";

/// The list of names in the job's text (launch/job_spec.hpp), up to the field's end; or null.
[[nodiscard]] const char* private_names(char** environment) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, job_prefix, sizeof job_prefix - 1) != 0) continue;
    const char* at = *environment + sizeof job_prefix - 1;
    while (std::strncmp(at, field, sizeof field - 1) != 0) {
      at = std::strchr(at, ':');
      if (at == nullptr) return nullptr;
      ++at;
    }
    return at + sizeof field - 1;
  }
  return nullptr;
}

[[nodiscard]] int hexadecimal(char digit) {
  return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

/// Whether the encoded list contains `name`.
[[nodiscard]] bool contains(const char* list, const char* name) {
  const char* at = name;
  for (; *list != '\0' && *list != ':'; ++list) {
    if (*list == ',') {
      if (at != nullptr && *at == '\0') return true;
      at = name;
      continue;
    }
    char letter = *list;
    if (letter == '%' && list[1] != '\0' && list[2] != '\0') {
      letter = static_cast<char>(hexadecimal(list[1]) << 4 | hexadecimal(list[2]));
      list += 2;
    }
    if (at != nullptr) at = *at == letter && letter != '\0' ? at + 1 : nullptr;
  }
  return at != nullptr && *at == '\0';
}

/// The loader's list: the executable first.
[[nodiscard]] bool is_private(const link_map& map, const char* names) {
  if (map.l_prev == nullptr) return true;
  const char* slash = std::strrchr(map.l_name, '/');
  const char* name = slash != nullptr ? slash + 1 : map.l_name;
  return *name != '\0' && contains(names, name);
}

[[gnu::constructor]] void hold_back_constructors(int /*argc*/,
                                                 char** /*argv*/,
                                                 char** environment) {
  const char* names = private_names(environment);
  if (names == nullptr) return;
  Modules& modules = sorrel_early_modules_1;
  std::size_t count = 0;
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next)
    count += is_private(*map, names) ? 1 : 0;
  modules.are_too_many = count > Modules::count_max;
  if (modules.are_too_many) return;
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    if (is_private(*map, names)) hold_back(*map, modules.modules[modules.count++]);
  }
}

}  // namespace

}  // namespace sorrel::early
