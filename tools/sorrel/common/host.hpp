//! Host - the installed MPI that has started this process, if any, and the plugin for it.
//!
//! Found from what launchers leave in the environment (mpiexec of MPICH, mpirun of Open MPI, srun),
//! or named by the user. Pure, except that it checks which files exist.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

/// The hosts for which a plugin may be built.
inline constexpr const char* host_names[] = {"openmpi", "mpich", "abi"};

struct HostOptions {
  std::string host;     ///< --host; "": detect
  std::string library;  ///< --host-library
};

struct Host {
  std::string name;      ///< "": none; the job has this machine only
  std::string launcher;  ///< the launcher that started this process, for messages
  std::string library;   ///< of a host that is opened by its path, else ""
  /// Whether this is the first process of the job: it reports what concerns all processes.
  bool is_first = true;
  unsigned processes = 0;  ///< 0: only the host MPI knows
  bool is_slurm = false;   ///< a process that fails does not end the other processes
  std::string error;       ///< why it cannot be used, one line, or ""
};

/// The value of an environment variable, or null if it is not set.
using Environment = std::function<const char*(const char*)>;

[[nodiscard]] Host find_host(const HostOptions& words,
                             const Environment& environment,
                             const Installation& installation);

/// The plugins beside Sorrel's library.
[[nodiscard]] std::vector<std::string> installed_hosts(const Installation& installation);

/// The standard ABI's library of the MPI that the launcher at `executable` belongs to, or "".
[[nodiscard]] std::string abi_library_of(const std::string& executable);

}  // namespace sorrel::tool
