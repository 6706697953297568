//! The environment in which `sorrel run` starts a program: variables that carry the command's
//! decisions to the library. The library removes them at its start.
#pragma once

#include <cstdint>
#include <string>

#include "tools/sorrel/installation.hpp"
#include "tools/sorrel/run_plan.hpp"

namespace sorrel::tool {

/// Variables of every process of the job. `library_folders` (a:b) are put before those of
/// LD_LIBRARY_PATH, `preloaded` (files, a:b, or none) before those of LD_PRELOAD.
void set_environment(const RunPlan& plan,
                     const std::string& library_folders,
                     const std::string& preloaded);

/// Additional variables of process `index` of several.
void set_process_environment(const RunPlan& plan, std::uint32_t index, int segment_descriptor);

/// Additional variables of a process that starts with a wrapper. `claims` is a descriptor of
/// runtime::JobClaims, -1 under a host MPI.
void set_wrapper_environment(const ProgramReport& program,
                             const Installation& installation,
                             int claims);

/// Must be called last: without the seal, the library ignores the variables.
void seal_environment();

/// Additional variables of a process under a host MPI. `host_status` is a descriptor of the
/// memory that this process shares with its parent.
void set_host_environment(const RunPlan& plan, const Installation& installation, int host_status);

}  // namespace sorrel::tool
