// mpifort, mpif90 and similar names: an error, and never another MPI's wrapper.

#include <string_view>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/diagnostic.hpp"

namespace sorrel::tool {

/// Two queries get an answer. Without one, CMake's FindMPI withdraws this wrapper and takes the
/// Fortran part of another MPI, beside Sorrel's C part, by pkg-config. The name of a library that
/// does not exist makes FindMPI, and any linker, report that Fortran is missing, and why.
int fortran_command(Arguments arguments) {
  std::string_view question = arguments.size() == 1 ? arguments[0] : "";
  if (question.starts_with("--")) question.remove_prefix(1);
  if (question == "-showme:compile" || question == "-showme:link") {
    fmt::print("{}\n", question == "-showme:link" ? "-lSorrel_does_not_support_Fortran" : "");
    return 0;
  }
  return report_error(
      "Fortran is not supported: the library has no Fortran bindings (mpif.h, modules mpi and "
      "mpi_f08)");
}

}  // namespace sorrel::tool
