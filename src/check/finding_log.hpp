//! FindingLog - writes the findings of a checked run into a file, each at once, so that they stay
//! however the process ends. `sorrel run` reads the file (tools/sorrel/check).
//!
//! One thread at a time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "os/code_map.hpp"

namespace sorrel::check {

/// A call of MPI: of which rank, and where in the program it is.
struct CallPlace {
  std::int32_t rank = 0;
  const char* name = "";
  /// Return address in the program; null: not known.
  const void* site = nullptr;
  /// Where a script in Python makes the call, as "solve (heat.py:12)"; null: no script.
  const char* script = nullptr;
};

struct Finding {
  /// A kind of the table in tools/sorrel/check/finding_kinds.cpp.
  const char* kind = "";
  CallPlace place;
  std::string text;
};

/// Where a call is in a file of code, or in a script, as CallPlace has it; both "": not known.
struct CodeSite {
  std::string path;
  std::uint64_t offset = 0;
  std::string script;
};

class FindingLog {
 public:
  /// Creates the file of this process; if that fails, one line says so, and findings are lost.
  explicit FindingLog(const std::string& folder);

  void add(const Finding& finding);

  /// Another place that belongs to the latest finding, and what happens there.
  void add_place(const CallPlace& place, const std::string& text);

  /// add_place() for a call of a rank of another process.
  void add_place(std::int32_t rank,
                 const char* name,
                 const CodeSite& site,
                 const std::string& text);

  [[nodiscard]] CodeSite site_of(const CallPlace& place);

  /// The rank has finalized MPI after `decision_count` decisions that depend on the order in which
  /// messages arrive; `hash` is of what was decided.
  void add_outcome(std::int32_t rank, std::uint64_t decision_count, std::uint64_t hash);

 private:
  void add_line(std::string_view kind,
                std::int32_t rank,
                std::string_view call,
                const CodeSite& site,
                const std::string& text);
  [[nodiscard]] const os::CodeRange* range_of(std::uint64_t address);

  struct Close {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };

  std::unique_ptr<std::FILE, Close> file_;
  std::vector<os::CodeRange> code_;
  std::uint64_t count_ = 0;
};

}  // namespace sorrel::check
