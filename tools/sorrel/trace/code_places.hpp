//! CodePlaces - source lines of the addresses in a trace, from the files that held the code.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tools/sorrel/common/code_files.hpp"
#include "tools/sorrel/trace/trace_part.hpp"

namespace sorrel::tool {

class CodePlaces {
 public:
  /// For the code that the parts describe: one part of a process does it for all. The parts outlive
  /// this object.
  explicit CodePlaces(const std::vector<TracePart>& parts);

  /// The place of the call that returns to `address` in a process, or the place whose text has this
  /// hash; null if the address lies in no file. Valid as long as this object.
  [[nodiscard]] const CodePlace* of(std::uint32_t process, std::uint64_t address);

 private:
  [[nodiscard]] const CodePlace* in_script(std::uint32_t process, std::uint64_t hash);

  const std::vector<TracePart>& parts_;
  /// By the hash of its text.
  std::map<std::uint64_t, CodePlace> script_places_;
  /// By process, and begin.
  std::map<std::pair<std::uint32_t, std::uint64_t>, TracedCode> code_;
  CodeFiles files_;
};

}  // namespace sorrel::tool
