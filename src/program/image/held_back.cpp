#include "program/image/held_back.hpp"

#include <algorithm>

#include "program/base/libc.hpp"

namespace sorrel::program {

namespace {

[[nodiscard]] const early::Modules* modules() {
  static const auto* const found =
      static_cast<const early::Modules*>(loader_dlsym()(RTLD_DEFAULT, early::modules_symbol));
  return found;
}

}  // namespace

bool has_held_back_modules() {
  return modules() != nullptr && modules()->count > 0;
}

const early::Module* held_back_module(std::uintptr_t base) {
  if (!has_held_back_modules()) return nullptr;
  const early::Module* end = modules()->modules + modules()->count;
  const auto* found = std::find_if(
      modules()->modules, end, [base](const early::Module& module) { return module.base == base; });
  return found == end ? nullptr : found;
}

}  // namespace sorrel::program
