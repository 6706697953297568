//! ProgramLayout - what must be equal for the memory of a rank to be valid in another process:
//! files that are loaded, where they are, and the values of the stack protector and the pointer
//! guard.
#pragma once

#include <string>

#include "runtime/config.hpp"

namespace sorrel::runtime {

/// One line for each thing that must be equal, of this process. Any thread.
[[nodiscard]] std::string layout_text(const Config& config);

}  // namespace sorrel::runtime
