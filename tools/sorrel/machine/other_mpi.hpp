//! OtherMpi - an MPI of this machine beside Sorrel: its launcher, and how that starts a program.
//!
//! Launchers are found in PATH by their names, and asked for their version.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sorrel/common/host.hpp"
#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

struct OtherMpi {
  std::string name = {};              ///< "Open MPI 4.1.4"
  std::string family = {};            ///< of its libraries: "openmpi" or "mpich"
  std::string launcher = {};          ///< the path of its mpiexec
  std::string library = {};           ///< of its own interface; "": not found
  bool is_library_of_loader = false;  ///< the loader finds `library` without help
  std::string standard_library = {};  ///< its libmpi_abi.so.1; "": it has none

  /// The launcher and its options for `ranks` on a machine with `cores`.
  [[nodiscard]] std::vector<std::string> start(std::uint64_t ranks, std::uint64_t cores) const;

  /// Settings NAME=value for a program that is linked with the interface of this family, or with
  /// the standard's, or opens an MPI while it runs.
  [[nodiscard]] std::vector<std::string> environment(bool is_standard, bool is_python) const;
};

/// Name and family from what a launcher prints for --version; an empty name if it is not known.
struct MpiVersion {
  std::string name;
  std::string family;
};

[[nodiscard]] MpiVersion mpi_of(std::string_view version_text);

/// In the order of PATH, each launcher once. Starts each for its version.
[[nodiscard]] std::vector<OtherMpi> find_other_mpis(const Environment& environment,
                                                    const Installation& installation);

}  // namespace sorrel::tool
