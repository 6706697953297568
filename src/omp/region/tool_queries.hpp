//! What a tool (tool/tool.hpp) may ask of the calling thread: its state, its regions and tasks, the
//! machine. Any thread.
#pragma once

#include "omp/tool/tool.hpp"

namespace sorrel::omp {

/// The inquiry function of that name; null: there is none.
[[nodiscard]] ompt::Function find_tool_query(const char* name);

}  // namespace sorrel::omp
