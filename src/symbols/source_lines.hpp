//! SourceLines - code addresses as function (file:line), or at least as file+offset.
//!
//! Addresses in a rank's privatized image are shown as the executable's own. Separate files with
//! debug information are found by build id or link, as debuggers find them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sorrel::symbols {

/// The text for one address; a longer text is cut.
using SourceText = std::array<char, 256>;

/// The maximal number of addresses of one call.
inline constexpr std::size_t source_text_count_max = 16;

/// One text per address, in order; empty for an address in no file. The addresses are return
/// addresses: each text describes the call before. Safe in a signal handler: no allocation, no lock
/// of the loader.
void describe_source(std::span<const void* const> addresses, std::span<SourceText> texts);

/// As describe_source(), for any number of addresses, of which equal places are looked up once, as
/// the images of ranks are equal. "-" for an address in no file, and for places after the first
/// `place_count_max`.
std::vector<std::string> source_lines(const std::vector<const void*>& addresses,
                                      std::size_t place_count_max = 64);

}  // namespace sorrel::symbols
