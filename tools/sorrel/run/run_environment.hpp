//! The environment in which `sorrel run` starts a program: the job (launch/job_spec.hpp), and
//! variables of the loader. The library removes and restores them at its start.
#pragma once

#include <string>

#include "launch/job_parts.hpp"
#include "launch/job_spec.hpp"

namespace sorrel::tool {

/// Puts `first` before the value of a variable with parts a:b; returns the old value, "" if there
/// was none.
std::string prepend_to_variable(const char* name, const std::string& first);

/// Sets the variables that make the loader take Sorrel's libraries, and records in the job how to
/// restore them. `library_folders` (a:b) are put before those of LD_LIBRARY_PATH, `preloaded`
/// (files, a:b, or none) before those of LD_PRELOAD.
void set_loader_variables(launch::JobSpec& job,
                          const std::string& library_folders,
                          const std::string& preloaded);

/// Sets the variables that number a rank (launch/rank_variables.hpp) for what a process executes,
/// if that is one rank; otherwise removes those of another job. Not under a host MPI, which sets
/// its own.
void set_rank_variables(const launch::JobSpec& job, const launch::ProcessShare& share);

/// Passes the job on to the program that this process executes.
void set_job_variable(const launch::JobSpec& job);

}  // namespace sorrel::tool
