//! LineTable - the source lines of addresses, from the line number programs that compilers write
//! into an executable (DWARF 2 to 5, section .debug_line).
//!
//! Pure and safe in a signal handler: it reads the given bytes and allocates nothing. Damaged bytes
//! end the search in their unit. The order of the queries does not matter; all of them take one
//! pass, whose time grows with the section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sorrel::symbols {

/// The sections, as in the file; those that are absent are empty.
struct LineSections {
  std::span<const std::byte> lines;         ///< .debug_line
  std::span<const std::byte> line_strings;  ///< .debug_line_str
  std::span<const std::byte> strings;       ///< .debug_str
};

struct LineQuery {
  std::uint64_t address = 0;   ///< As the file counts, before it was loaded.
  const char* file = nullptr;  ///< Its name without folders, in the sections; null: not found.
  std::uint64_t line = 0;
};

void find_lines(const LineSections& sections, std::span<LineQuery> queries);

}  // namespace sorrel::symbols
