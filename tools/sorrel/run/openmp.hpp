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

struct OpenmpReport {
  std::string path;                  ///< of the program; "" if it does not exist
  bool uses_openmp = false;          ///< calls a GOMP_* or omp_* function
  std::vector<std::string> missing;  ///< functions that it calls and that are not provided, sorted
  std::string llvm_user;             ///< a file built for LLVM's library, or ""
  std::string refusal;               ///< why it cannot run, one line; "" if it can
};

[[nodiscard]] OpenmpReport inspect_openmp(const std::string& name,
                                          const Installation& installation);

/// Path of Sorrel's libgomp.so.1, or "" if it is not installed.
[[nodiscard]] std::string openmp_library(const Installation& installation);

/// Makes the loader of the next program take Sorrel's library, also in place of renamed copies
/// such as those in Python wheels: preloaded libraries are found first.
void set_openmp_environment(const Installation& installation);

/// `sorrel run --omp` of a program without MPI: executes it in this process; returns an exit
/// status if it cannot.
[[nodiscard]] int run_openmp(char* const* arguments, const std::string& share);

}  // namespace sorrel::tool
