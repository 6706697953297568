//! SourceLines - code addresses told as people read them: function (file:line), or at least
//! file+offset.
//!
//! For reports only: it starts addr2line, where that is installed. Addresses in a rank's private
//! copy are told as the executable's own.
#pragma once

#include <string>
#include <vector>

namespace sorrel::runtime {

/// One text per address, in order; "-" for null. Return addresses are given: the call before them
/// is told.
std::vector<std::string> source_lines(const std::vector<const void*>& addresses);

}  // namespace sorrel::runtime
