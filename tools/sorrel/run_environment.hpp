//! The environment in which `sorrel run` starts a program: the variables by which the command tells
//! the library what it has decided, which the library takes away again at its start.
#pragma once

#include <cstdint>
#include <string>

#include "tools/sorrel/installation.hpp"
#include "tools/sorrel/run_plan.hpp"

namespace sorrel::tool {

/// What every process of the job finds. `library_folders` (a:b) go before those of LD_LIBRARY_PATH,
/// `preloaded` (files, a:b, or none) before those of LD_PRELOAD.
void set_environment(const RunPlan& plan,
                     const std::string& library_folders,
                     const std::string& preloaded);

/// What process `index` of several finds besides.
void set_process_environment(const RunPlan& plan, std::uint32_t index, int segment_descriptor);

/// What a process finds besides that starts with a wrapper. `claims` is a descriptor of
/// runtime::JobClaims, -1 under a host MPI.
void set_wrapper_environment(const ProgramReport& program,
                             const Installation& installation,
                             int claims);

/// The last of all: without it, the library ignores the variables.
void seal_environment();

/// What a process under a host MPI finds besides. `board` is a descriptor of the memory that its
/// node's processes share.
void set_host_environment(const RunPlan& plan, const Installation& installation, int board);

}  // namespace sorrel::tool
