//! LibraryCheck - ensures that ranks of one process never share a library's data unnoticed. It
//! checks the libraries that the loader has loaded for the program, and those that a rank opens.
//!
//! record_program_libraries() and allow_libraries() are called by the process's first thread before
//! ranks run; afterwards any thread may ask. Libraries that a host MPI has loaded do not count as
//! the program's.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "program/image/image_slab.hpp"

namespace sorrel::program {

/// Records which libraries the loader has loaded for the program. Before any other is opened.
void record_program_libraries();

/// Libraries, by name or path, that the user has declared as shared between ranks.
void allow_libraries(std::vector<std::string> declared);

/// Records that ranks are about to run: libraries loaded since the start are not the ranks'.
/// `is_single`: the process has one rank.
void record_ranks_begin(bool is_single);

/// Why ranks of one process cannot share the program and its libraries; "" if they can.
[[nodiscard]] std::string sharing_error();

/// The decision about opening a library.
struct OpenDecision {
  std::string path;              ///< the file to load; "": the name as the caller gave it
  bool is_private = false;       ///< whether each rank needs its own instance
  std::string reason;            ///< why it can have none; "" if it can
  std::string damage;            ///< why the loader must not load the file, or ""
  std::set<std::string> shared;  ///< what ranks may share of what a private library needs
  /// Libraries of Sorrel's with the names of MPI libraries that it needs (src/translate). They are
  /// opened first: an RPATH would lead to another MPI, unless a library of the name is loaded.
  std::vector<std::string> translations;
};

/// For `name` as passed to dlopen() by code of the file at `caller_path`; "": the program. Not for
/// libraries that are already loaded. `in_scope`: opened libraries to which the loader would bind
/// names of this one.
[[nodiscard]] OpenDecision check_open(const char* name,
                                      const std::string& caller_path,
                                      std::span<const ImageSlab* const> in_scope);

/// What the loader shall take for `name` as passed to dlopen(): a name that depends on the working
/// directory as an absolute path, since the loader knows a file again by the name of its first
/// opening, possibly by a rank in another directory. Else `name` itself.
[[nodiscard]] std::string name_for_loader(const char* name);

/// As check_open(), for a file that the loader has found elsewhere.
[[nodiscard]] OpenDecision check_file(const std::string& path,
                                      std::span<const ImageSlab* const> in_scope);

/// The file that holds `code`; "" for the program and for privatized images.
[[nodiscard]] std::string path_of_code(const void* code);

/// Whether code at `caller` belongs to a library that was loaded for neither the program nor a
/// rank.
[[nodiscard]] bool is_of_host(const void* caller);

}  // namespace sorrel::program
