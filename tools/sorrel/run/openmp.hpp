//! OpenMP - whether Sorrel's libgomp.so.1 provides a program's OpenMP calls, and the environment
//! that makes the loader take that library.
//!
//! Reads the program and the libraries it needs, as far as these are found in files. Libraries that
//! a program opens while it runs (Python's modules) are not read. Starts nothing.
#pragma once

#include <string>
#include <vector>

#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

/// An OpenMP library of a compiler, or a copy of one that a wheel brings.
struct OpenmpLibrary {
  std::string name;
  std::string path;  ///< "" if it is not found
};

struct OpenmpReport {
  std::string path;                  ///< of the program; "" if it does not exist
  bool uses_openmp = false;          ///< calls a GOMP_*, omp_* or __kmpc_* function
  std::vector<std::string> missing;  ///< functions that it calls and that are not provided, sorted
  std::vector<OpenmpLibrary> libraries;  ///< that it and its libraries need, in order
  std::string refusal;                   ///< why it cannot run, one line; "" if it can
};

[[nodiscard]] OpenmpReport inspect_openmp(const std::string& name,
                                          const Installation& installation);

/// Path of Sorrel's libgomp.so.1, or "" if it is not installed.
[[nodiscard]] std::string openmp_library(const Installation& installation);

/// Makes the loader of the next program take Sorrel's library, also in place of renamed copies
/// such as those in Python wheels: preloaded libraries are found first.
void set_openmp_environment(const Installation& installation);

/// Which OpenMP library runs the program with --omp and without: one line each.
[[nodiscard]] std::vector<std::string> describe_openmp(const OpenmpReport& program,
                                                       const Installation& installation);

struct OpenmpOptions {
  std::string share;
  /// Says which libraries are in effect, and at the end of a process that has used OpenMP, which
  /// others it has loaded.
  bool is_verbose = false;
};

/// `sorrel run --omp` of a program without MPI: executes it in this process; returns an exit
/// status if it cannot.
[[nodiscard]] int run_openmp(char* const* arguments, const OpenmpOptions& options);

}  // namespace sorrel::tool
