//! LibraryCheck - ensures that ranks of one process never share a library's data unnoticed. It
//! checks the libraries that the loader has loaded for the program, and those that a rank opens.
//!
//! record_program_libraries() and allow_libraries() are called by the process's first thread before
//! ranks run; afterwards any thread may ask. Libraries that a host MPI has loaded do not count as
//! the program's.
#pragma once

#include <string>
#include <vector>

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
  std::string path;    ///< the file to load; "": the name as the caller gave it
  std::string reason;  ///< why a rank may not open it; "" if it may
};

/// For `name` as passed to dlopen() by code at `caller`. Not for libraries that are already loaded.
[[nodiscard]] OpenDecision check_open(const char* name, const void* caller);

/// Why a rank may not open a library that the loader has found elsewhere; "" if it may.
[[nodiscard]] std::string open_error(const std::string& path);

/// Whether code at `caller` belongs to a library that was loaded for neither the program nor a
/// rank.
[[nodiscard]] bool is_of_host(const void* caller);

}  // namespace sorrel::program
