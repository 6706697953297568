//! CodeMap - the files from which this process has code, and where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sorrel::os {

/// Code of a file: addresses [begin, end) are its bytes from `offset` on.
struct CodeRange {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t offset;
  std::string path;
};

/// All of this process, ascending by address; empty if the system does not say.
[[nodiscard]] std::vector<CodeRange> read_code_map();

}  // namespace sorrel::os
