//! CodeFiles - source lines of calls, from the files that held the code of a run.
//!
//! The files are read when a place is asked for, so they must still be those of the run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace sorrel::tool {

struct CodePlace {
  std::string function;    ///< "" if it is not known
  std::string file;        ///< of the source, or the file of the code if that is not known
  std::uint64_t line = 0;  ///< 0: not known
};

/// "solve (heat.c:88)", or the part of it that is known; "-": nothing is.
[[nodiscard]] std::string text_of(const CodePlace* place);

/// The place that a text of this form describes, such as that of a function in Python. Other text
/// is the name of a file.
[[nodiscard]] CodePlace code_place_of(std::string_view text);

class CodeFiles {
 public:
  CodeFiles();
  ~CodeFiles();
  CodeFiles(const CodeFiles&) = delete;
  CodeFiles& operator=(const CodeFiles&) = delete;

  /// The place of the call that returns to byte `offset` of a file. Valid as long as this object.
  [[nodiscard]] const CodePlace& of(const std::string& path, std::uint64_t offset);

 private:
  struct CodeFile;
  [[nodiscard]] CodePlace find(const std::string& path, std::uint64_t offset);

  std::map<std::string, std::unique_ptr<CodeFile>> files_;
  /// By path, and offset in the file.
  std::map<std::pair<std::string, std::uint64_t>, CodePlace> places_;
};

}  // namespace sorrel::tool
