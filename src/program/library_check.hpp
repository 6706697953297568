//! LibraryCheck - that ranks of one process share no library's data in silence: judges what the
//! loader has loaded for the program, and what a rank opens.
//!
//! note_program_libraries() and allow_libraries() are called by the process's first thread before
//! ranks run; afterwards any thread may ask. Libraries that a host MPI has brought along are none
//! of the program's.
#pragma once

#include <string>
#include <vector>

namespace sorrel::program {

/// Notes which libraries the loader has loaded for the program. Before anything else is opened.
void note_program_libraries();

/// Libraries that ranks may share by the user's word, names or paths.
void allow_libraries(std::vector<std::string> declared);

/// Notes that ranks are about to run: what has been loaded since the start was none of theirs.
/// `is_single`: the process has one.
void note_ranks_begin(bool is_single);

/// Why ranks of one process cannot have the program and its libraries, a sentence; "" if they can.
[[nodiscard]] std::string why_own_process();

/// What opening a library comes to.
struct OpenVerdict {
  std::string path;    ///< the file to load; "": as the caller named it
  std::string reason;  ///< why a rank may not open it; "" if it may
};

/// For `name` as given to dlopen() by code at `caller`. Not for names that are loaded.
[[nodiscard]] OpenVerdict judge_open(const char* name, const void* caller);

/// For a library that the loader has found elsewhere.
[[nodiscard]] std::string why_not_open(const std::string& path);

/// Whether code at `caller` belongs to a library that was loaded for neither the program nor a
/// rank.
[[nodiscard]] bool is_of_host(const void* caller);

}  // namespace sorrel::program
