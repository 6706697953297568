//! LibraryClassifier - decides which shared libraries of a program its ranks may share in one
//! process, and why the remaining ones need a process for each rank.
//!
//! Reads the files of the program and its libraries, then classifies all of them. Loads nothing.
//! If the process can have private libraries, those that ranks cannot share are the private set:
//! each rank has its own. Otherwise, or if one of them cannot be private, every rank must be a
//! process. `sorrel run` uses it before it starts a program, the runtime when the program is loaded
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

  /// Before classify(): libraries that ranks cannot share can be private, those of `requested`
  /// (names or paths) are.
  void allow_private(std::span<const std::string> requested);

  /// Before classify(): this library is private to each rank.
  void set_private(const std::string& soname);

  /// Completes `libraries`, whose names and paths are set. `first`: the names that the program
  /// itself needs. Returns a sentence: why ranks cannot share a process; "" if they can.
  [[nodiscard]] std::string classify(std::span<const std::string> first,
                                     std::vector<NeededLibrary>& libraries);

  /// After classify(): names without folders.
  [[nodiscard]] std::vector<std::string> private_libraries() const {
    return {private_.begin(), private_.end()};
  }

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
    /// Why it cannot be private to a rank: "has text relocations", or "".
    std::string private_error;
  };

  using Names = std::set<std::string, std::less<>>;

  /// Fills private_, or explains why there can be no private set.
  [[nodiscard]] std::string choose_private(std::span<const std::string> first,
                                           std::span<const NeededLibrary> libraries);
  [[nodiscard]] bool must_share_cxx_library(std::span<const NeededLibrary> libraries,
                                            const Names& reached) const;
  [[nodiscard]] std::string find_private_error(std::span<const NeededLibrary> libraries,
                                               const Names& reached) const;
  [[nodiscard]] bool is_private(std::string_view name) const;
  [[nodiscard]] const std::string* needed_private(const Library& library) const;

  [[nodiscard]] Names reached_without_declared(std::span<const std::string> first) const;
  void classify(NeededLibrary& library, bool is_reached);
  void keep_reason(std::string reason);
  [[nodiscard]] std::string describe_private(std::span<const NeededLibrary> libraries) const;

  std::span<const std::string> declared_;
  std::string program_;
  std::string program_reason_;
  std::string operator_new_reason_;
  Names defined_by_program_;
  Names copied_by_program_;
  bool may_be_private_ = false;
  std::span<const std::string> requested_;
  Names private_;
  std::map<std::string, Library, std::less<>> libraries_;
  std::string callback_reason_;
};

}  // namespace sorrel::os
