//! OpenMP - whether a program's OpenMP calls can be answered by our libgomp.so.1, and what the
//! loader must be told so that it takes that one.
//!
//! Reads the program and the libraries it needs, as far as they are found in files; libraries that
//! a program opens while it runs (Python's modules) are not looked at. Starts nothing.
#pragma once

#include <string>
#include <vector>

#include "tools/sorrel/installation.hpp"

namespace sorrel::tool {

struct OpenmpReport {
  std::string path;                  ///< of the program; "" if there is none
  bool uses_openmp = false;          ///< some GOMP_* or omp_* is called
  std::vector<std::string> missing;  ///< functions it calls and nothing here has, sorted
  std::string llvm_user;             ///< a file built for LLVM's library, or ""
  std::string refusal;               ///< why it cannot run, one line; "" if it can
};

[[nodiscard]] OpenmpReport inspect_openmp(const std::string& name,
                                          const Installation& installation);

/// Our libgomp.so.1, or "" if it is not installed.
[[nodiscard]] std::string openmp_library(const Installation& installation);

/// Makes the loader of the next program take our library: also in place of renamed copies, such as
/// those in Python wheels, because what is preloaded is found first.
void set_openmp_environment(const Installation& installation);

/// `sorrel run --omp` of a program without MPI: becomes it; returns an exit status if it cannot.
[[nodiscard]] int run_openmp(char* const* words, const std::string& share);

}  // namespace sorrel::tool
