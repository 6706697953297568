//! Host - which installed MPI has started this process, if any, and which plugin rides on it.
//!
//! Found from what launchers leave in the environment (mpiexec's of MPICH and Open MPI, srun), or
//! named by the user. Pure but for looking which files exist.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/sorrel/installation.hpp"

namespace sorrel::tool {

/// The hosts that a plugin may be built for.
inline constexpr const char* host_names[] = {"openmpi", "mpich", "abi"};

struct HostWords {
  std::string host;     ///< --host; "" = find out
  std::string library;  ///< --host-library
};

struct Host {
  std::string name;      ///< "" = none: this job is this machine's own
  std::string launcher;  ///< who has started us, for people
  std::string library;   ///< of a host that is opened by its path, else ""
  /// Whether this is the first process of all: one that says what all know.
  bool is_first = true;
  unsigned processes = 0;  ///< 0 = only the host MPI knows
  bool is_slurm = false;   ///< one process that fails does not end the others
  std::string problem;     ///< why it cannot be used, one line, or ""
};

/// What the environment says about a variable: null when it is not set.
using Environment = std::function<const char*(const char*)>;

[[nodiscard]] Host find_host(const HostWords& words,
                             const Environment& environment,
                             const Installation& installation);

/// The plugins beside our library.
[[nodiscard]] std::vector<std::string> installed_hosts(const Installation& installation);

/// The standard ABI's library of the MPI that the launcher at `executable` belongs to, or "".
[[nodiscard]] std::string abi_library_of(const std::string& executable);

}  // namespace sorrel::tool
