//! layout_difference - compares what must be equal in two processes (program_layout.hpp). Pure.
#pragma once

#include <string>

namespace sorrel::runtime {

/// For a user: the first difference between two texts of layout_text(); "": they are equal.
[[nodiscard]] std::string layout_difference(const std::string& saved, const std::string& own);

}  // namespace sorrel::runtime
