//! Installation - where this copy of Sorrel keeps its library and headers, found from the path of
//! `sorrel` itself.
//!
//! The build tree and an installed tree have the same layout: bin/sorrel, lib/libmpi_abi.so.1,
//! include/mpi/mpi.h. A tree can therefore be moved; no path is compiled in.
#pragma once

#include <string>

namespace sorrel::tool {

inline constexpr const char* library_name = "libmpi_abi.so.1";
inline constexpr const char* trace_library_name = "libsorrel-trace.so.0";
inline constexpr const char* check_library_name = "libsorrel-check.so.0";
inline constexpr const char* early_library_name = "libsorrel-early.so.0";

struct Installation {
  std::string executable;   ///< this command, symbolic links resolved
  std::string library_dir;  ///< holds libmpi_abi.so.1, or "" if it was not found
  std::string include_dir;  ///< holds mpi/mpi.h, or ""

  [[nodiscard]] std::string library() const { return library_dir + "/" + library_name; }

  [[nodiscard]] std::string trace_library() const { return library_dir + "/" + trace_library_name; }

  [[nodiscard]] std::string check_library() const { return library_dir + "/" + check_library_name; }

  /// Preloaded for programs with private libraries.
  [[nodiscard]] std::string early_library() const { return library_dir + "/" + early_library_name; }
};

[[nodiscard]] Installation find_installation();

/// The same for the command at `executable`.
[[nodiscard]] Installation find_installation(const std::string& executable);

/// A folder of data: share/sorrel/`name` of an installed tree, or `in_sources` of the sources to
/// which the build tree's include link leads. It may not exist.
[[nodiscard]] std::string data_folder(const Installation& installation,
                                      const std::string& name,
                                      const std::string& in_sources);

/// The user's folder for kept results: of $XDG_CACHE_HOME or ~/.cache; "" without either.
[[nodiscard]] std::string cache_folder();

}  // namespace sorrel::tool
