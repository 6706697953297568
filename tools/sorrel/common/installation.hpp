//! Installation - where this copy of Sorrel keeps its library and headers, found from the path of
//! `sorrel` itself.
//!
//! The build tree and an installed tree have the same layout: bin/sorrel, lib/libmpi_abi.so.1,
//! include/mpi/mpi.h. A tree can therefore be moved; no path is compiled in.
#pragma once

#include <string>
#include <string_view>

namespace sorrel::tool {

inline constexpr const char* library_name = "libmpi_abi.so.1";
inline constexpr const char* trace_library_name = "libsorrel-trace.so.0";
inline constexpr const char* check_library_name = "libsorrel-check.so.0";
inline constexpr const char* early_library_name = "libsorrel-early.so.0";
inline constexpr const char* python_program_name = "sorrel-python";
inline constexpr const char* runtime_library_name = "libsorrel-runtime.so.0";

struct Installation {
  std::string executable;   ///< this command, symbolic links resolved
  std::string library_dir;  ///< holds libmpi_abi.so.1, or "" if it was not found
  std::string include_dir;  ///< holds mpi/mpi.h, or ""

  /// The folder of the whole: bin, lib, share, ... are in it.
  [[nodiscard]] std::string prefix() const;

  /// The folder with mpicc and mpiexec, the names of other MPIs.
  [[nodiscard]] std::string mpi_folder() const;

  [[nodiscard]] std::string library() const { return library_dir + "/" + library_name; }

  [[nodiscard]] std::string trace_library() const { return library_dir + "/" + trace_library_name; }

  [[nodiscard]] std::string check_library() const { return library_dir + "/" + check_library_name; }

  /// The library of this name that observes calls of the runtime library.
  [[nodiscard]] std::string translated_library(std::string_view name) const {
    return library_dir + "/translate/" + std::string(name);
  }

  /// Sorrel's library without the names of MPI's functions: for programs of other MPIs' interfaces.
  [[nodiscard]] std::string runtime_library() const {
    return library_dir + "/" + runtime_library_name;
  }

  /// Holds the libraries with the names of another MPI's (`family`: openmpi, mpich), or the names
  /// of the standard interface over the runtime library (standard).
  [[nodiscard]] std::string translation_folder(std::string_view family) const {
    return library_dir + "/translate/" + std::string(family);
  }

  /// Runs a shared library of Python in place of an interpreter at a fixed address.
  [[nodiscard]] std::string python_program() const {
    return library_dir + "/" + python_program_name;
  }

  /// Preloaded for programs with private libraries.
  [[nodiscard]] std::string early_library() const { return library_dir + "/" + early_library_name; }
};

[[nodiscard]] Installation find_installation();

/// The installation of the command at `executable`.
[[nodiscard]] Installation find_installation(const std::string& executable);

/// A folder of data: share/sorrel/`name` of an installed tree, or `in_sources` of the sources to
/// which the build tree's include link leads. It may not exist.
[[nodiscard]] std::string data_folder(const Installation& installation,
                                      const std::string& name,
                                      const std::string& in_sources);

/// This user's folders: for kept results, of $XDG_CACHE_HOME or ~/.cache; for what is to outlive
/// them, of $XDG_STATE_HOME or ~/.local/state. ~ is $HOME, or else that of the user data base.
/// Without a home, results are kept in /tmp/sorrel-UID, if it is this user's own and no other user
/// may write to it. "": there is none.
[[nodiscard]] std::string cache_folder();
[[nodiscard]] std::string state_folder();

/// For messages.
inline constexpr const char* no_cache_folder =
    "no folder for kept results: set HOME or XDG_CACHE_HOME to a folder of your own";

}  // namespace sorrel::tool
