//! Loaded libraries - the files that the loader has mapped into this process.
//!
//! Any thread; holds the loader's lock meanwhile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sorrel::os {

/// Paths as the loader has them, in the order in which they were loaded; the program itself, which
/// has none, is left out.
[[nodiscard]] std::vector<std::string> loaded_libraries();

/// Whether a loaded object, or the program, was linked with the library of that name.
[[nodiscard]] bool is_needed(std::string_view soname);

}  // namespace sorrel::os
