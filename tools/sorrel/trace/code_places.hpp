//! CodePlaces - source lines of the addresses in a trace, from the files that held the code.
//!
//! The files are read when a place is asked for, so they must still be those of the run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/sorrel/trace/trace_part.hpp"

namespace sorrel::tool {

struct CodePlace {
  std::string function;    ///< "" if it is not known
  std::string file;        ///< of the source, or the file of the code if that is not known
  std::uint64_t line = 0;  ///< 0: not known
};

/// "solve (heat.c:88)", or the part of it that is known; "-": nothing is.
[[nodiscard]] std::string text_of(const CodePlace* place);

class CodePlaces {
 public:
  /// Of the code that the parts describe: one part of a process does it for all. The parts outlive
  /// this object.
  explicit CodePlaces(const std::vector<TracePart>& parts);
  ~CodePlaces();
  CodePlaces(const CodePlaces&) = delete;
  CodePlaces& operator=(const CodePlaces&) = delete;

  /// The place of the call that returns to `address` in a process; null if the address lies in no
  /// file. Valid as long as this object.
  [[nodiscard]] const CodePlace* of(std::uint32_t process, std::uint64_t address);

 private:
  struct CodeFile;
  [[nodiscard]] CodePlace find(const std::string& path, std::uint64_t offset);

  /// By process, and begin.
  std::map<std::pair<std::uint32_t, std::uint64_t>, TracedCode> code_;
  std::map<std::string, std::unique_ptr<CodeFile>> files_;
  /// By path, and offset in the file.
  std::map<std::pair<std::string, std::uint64_t>, CodePlace> places_;
};

}  // namespace sorrel::tool
