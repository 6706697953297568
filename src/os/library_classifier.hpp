//! LibraryClassifier - decides which shared libraries of a program its ranks may share in one
//! process, and why the remaining ones need a process for each rank.
//!
//! Reads the files of the program and its libraries, then classifies all of them. Loads nothing.
//! `sorrel run` uses it before it starts a program, the runtime when the program is loaded
//! (program/image/library_check.hpp).
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "os/elf_file.hpp"

namespace sorrel::os {

struct NeededLibrary {
  std::string name;
  std::string path;       ///< "" if the search found none
  bool is_shared = true;  ///< whether ranks may share it in one process
  std::string reason;     ///< why ranks may share it, or why not
};

class LibraryClassifier {
 public:
  /// `declared`: names or paths of libraries that the user has declared to be shareable.
  explicit LibraryClassifier(std::span<const std::string> declared) : declared_(declared) {}

  void add_program(const std::string& name, const ElfFile& program);
  void add_library(const std::string& soname, const ElfFile& library);

  /// Completes `libraries`, whose names and paths are set. `first`: the names that the program
  /// itself needs. Returns a sentence: why ranks cannot share a process; "" if they can.
  [[nodiscard]] std::string classify(std::span<const std::string> first,
                                     std::vector<NeededLibrary>& libraries);

  /// After classify(): the reason that applies to a single rank, too; "" if there is none.
  [[nodiscard]] const std::string& callback_reason() const { return callback_reason_; }

 private:
  struct Library {
    std::string state;
    std::vector<std::string> needed;
    /// A function or variable of the program that the library uses, or "".
    std::string callback;
    /// A variable of the library of which the program has a copy (COPY relocation), or "".
    std::string copied;
  };

  [[nodiscard]] std::set<std::string> reached_without_declared(
      std::span<const std::string> first) const;
  void classify(NeededLibrary& library, bool is_reached);
  void keep_reason(std::string reason);
  [[nodiscard]] std::string describe_private(std::span<const NeededLibrary> libraries) const;

  std::span<const std::string> declared_;
  std::string program_;
  std::string program_reason_;
  std::set<std::string, std::less<>> defined_by_program_;
  std::set<std::string, std::less<>> copied_by_program_;
  std::map<std::string, Library, std::less<>> libraries_;
  std::string callback_reason_;
};

}  // namespace sorrel::os
