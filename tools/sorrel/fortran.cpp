// mpifort, mpif90 and their like: refused, and never another MPI's.

#include <string_view>

#include "tools/sorrel/command.hpp"
#include "tools/sorrel/complaint.hpp"

namespace sorrel::tool {

/// Two questions have an answer. Without one CMake's FindMPI withdraws this wrapper and takes the
/// Fortran part of another MPI, beside our C part, by pkg-config. A library that does not exist
/// makes it, and any linker, say that Fortran is missing, and why.
int fortran_command(Arguments arguments) {
  std::string_view question = arguments.size() == 1 ? arguments[0] : "";
  if (question.starts_with("--")) question.remove_prefix(1);
  if (question == "-showme:compile" || question == "-showme:link") {
    fmt::print("{}\n", question == "-showme:link" ? "-lSorrel_does_not_support_Fortran" : "");
    return 0;
  }
  return refuse(
      "Fortran is not supported: the library has no Fortran bindings (mpif.h, modules mpi and "
      "mpi_f08)");
}

}  // namespace sorrel::tool
