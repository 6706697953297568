// libsorrel-early.so.0: see early_modules.hpp. Runs before the C library has initialised itself: it
// uses its arguments, memory and system calls, and nothing of a C++ library.

#include <cstring>

#include "early/early_modules.hpp"
#include "early/hold_back.hpp"
#include "early/job_text.hpp"
#include "early/wrapped_program.hpp"

extern "C" {
[[gnu::visibility("default")]] sorrel::early::Modules sorrel_early_modules_1;
}

namespace sorrel::early {

namespace {

[[nodiscard]] const char* private_names(char** arguments, char** environment) {
  const char* job = job_text(environment);
  if (field_of(job, "wrapper=") == nullptr) return field_of(job, "private=");
  return private_names_below_wrapper(job, arguments, environment);
}

/// The loader's list: the executable first.
[[nodiscard]] bool is_private(const link_map& map, const char* names) {
  if (map.l_prev == nullptr) return true;
  const char* slash = std::strrchr(map.l_name, '/');
  const char* name = slash != nullptr ? slash + 1 : map.l_name;
  return *name != '\0' && contains(names, name);
}

[[gnu::constructor]] void hold_back_constructors(int /*argc*/,
                                                 char** arguments,
                                                 char** environment) {
  const char* names = private_names(arguments, environment);
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
