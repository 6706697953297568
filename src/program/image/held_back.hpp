//! The modules whose constructors libsorrel-early.so.0 has held back: the private set of a program
//! with private libraries. Any thread; constant.
#pragma once

#include <cstdint>

#include "early/early_modules.hpp"

namespace sorrel::program {

/// False: the executable is the whole set, and the loader has run the constructors of libraries.
[[nodiscard]] bool has_held_back_modules();

/// The module at this base, or null.
[[nodiscard]] const early::Module* held_back_module(std::uintptr_t base);

}  // namespace sorrel::program
