//! Host - the installed MPI that has started this process, if any, its library, and the plugin for
//! its binary interface.
//!
//! Found from what launchers leave in the environment (mpiexec of MPICH, mpirun of Open MPI, srun),
//! or named by the user. Pure, except that it looks for files.
#pragma once

#include <string>
#include <vector>

#include "launch/split_job.hpp"
#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

struct HostOptions {
  std::string host;     ///< --host: a name or the path of a plugin; "": detect
  std::string library;  ///< --host-library
};

struct Host {
  std::string name;      ///< "": none; the job has this machine only
  std::string launcher;  ///< the launcher that started this process, for messages
  std::string plugin;    ///< path of the plugin
  std::string library;   ///< path of the host's library; "": the plugin is linked with it
  /// Whether this is the first process of the job: it reports what concerns all processes.
  bool is_first = true;
  unsigned processes = 0;  ///< 0: only the host MPI knows
  bool is_slurm = false;   ///< a process that fails does not end the other processes
  std::string error;       ///< why it cannot be used, one line, or ""
};

using launch::Environment;

[[nodiscard]] Host find_host(const HostOptions& words,
                             const Environment& environment,
                             const Installation& installation);

/// A host for which there is a plugin, and its library.
struct InstalledHost {
  std::string name;
  std::string library;
};

/// The hosts whose libraries the loader finds.
[[nodiscard]] std::vector<InstalledHost> installed_hosts(const Environment& environment,
                                                         const Installation& installation);

/// The library of the host `name` (openmpi, mpich, abi): in LD_LIBRARY_PATH, beside the launcher at
/// `launcher`, or where the loader finds it; "" if there is none. That of the standard ABI only
/// beside the launcher.
[[nodiscard]] std::string host_library(const std::string& name,
                                       const std::string& launcher,
                                       const Environment& environment,
                                       const Installation& installation);

}  // namespace sorrel::tool
