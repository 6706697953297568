//! SourceLines - code addresses told as people read them: function (file:line), or at least
//! file+offset.
//!
//! Addresses in a rank's privatized image are told as the executable's own. Debug information in a
//! file of its own is found by its build id or its link, as debuggers find it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sorrel::runtime {

/// What is known of one address; a longer text is cut.
using SourceText = std::array<char, 256>;

/// The most addresses that one call tells.
inline constexpr std::size_t source_text_count_max = 16;

/// One text per address, in order; empty for an address in no file. The addresses are return
/// addresses: each text is of the call before. Safe in a signal handler: no allocation, no lock of
/// the loader.
void tell_source(std::span<const void* const> addresses, std::span<SourceText> texts);

/// The same for any number of addresses; "-" for what lies in no file.
std::vector<std::string> source_lines(const std::vector<const void*>& addresses);

}  // namespace sorrel::runtime
