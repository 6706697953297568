//! Loaded libraries - the files that the loader has mapped into this process.
//!
//! Any thread; holds the loader's lock meanwhile.
#pragma once

#include <string>
#include <vector>

namespace sorrel::os {

/// Paths as the loader has them, in the order in which they were loaded; the program itself, which
/// has none, is left out.
[[nodiscard]] std::vector<std::string> loaded_libraries();

}  // namespace sorrel::os
