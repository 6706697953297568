// Functions of the standard that the library does not support.
//
// An executable or a Python module built against another library of this ABI refers to all
// functions that it might call. The loader rejects it if one is missing, so the library defines
// each of them. A call does nothing but fail with MPI_ERR_UNSUPPORTED_OPERATION, through the error
// handler of MPI_COMM_SELF. Unless the program has set another handler, that one ends the job and
// names the function.
//
// The symbols carry the version SORREL_UNSUPPORTED and are hidden in it. The loader binds
// unversioned references to them, while linkers, dlsym(), and so the checks of build systems, do
// not find them. Part of the shared library alone, because a static library has no versions.
#include <mpi.h>
#include <string_view>

#include "abi/call.hpp"

namespace sorrel::abi {

namespace {

int fail_unsupported(const char* function, const char* subject, const char* chapter) {
  // Some of these functions, such as those of sessions, may be called before the caller is a rank.
  if (mpi::current_rank() == nullptr) return MPI_ERR_UNSUPPORTED_OPERATION;
  return call_any_time(function, [&](RankState& self) {
    return self.fail(MPI_ERR_UNSUPPORTED_OPERATION,
                     "Sorrel does not support %s (MPI 5.0, chapter %s)", subject, chapter);
  });
}

/// The tool information interface has its own codes, and no error handlers.
int fail_tool(std::string_view function) {
  return function == "MPI_T_init_thread" ? MPI_T_ERR_CANNOT_INIT : MPI_T_ERR_NOT_INITIALIZED;
}

int answer(const char* function, const char* subject, const char* chapter) {
  if (std::string_view(function).starts_with("MPI_T_")) return fail_tool(function);
  return fail_unsupported(function, subject, chapter);
}

}  // namespace

extern "C" {

// The parameters do not matter: in the calling convention the caller passes and removes them.
#define SORREL_ABSENT(name, subject, chapter)                                               \
  int sorrel_unsupported_##name(void);                                                      \
  int sorrel_unsupported_##name(void) {                                                     \
    return answer("MPI_" #name, subject, chapter);                                          \
  }                                                                                         \
  __asm__(".symver sorrel_unsupported_" #name ", MPI_" #name "@SORREL_UNSUPPORTED, local"); \
  int sorrel_unsupported_profiled_##name(void);                                             \
  int sorrel_unsupported_profiled_##name(void) {                                            \
    return answer("MPI_" #name, subject, chapter);                                          \
  }                                                                                         \
  __asm__(".symver sorrel_unsupported_profiled_" #name ", PMPI_" #name                      \
          "@SORREL_UNSUPPORTED, local");
// Written by make_bindings.py.
#include "abi_absent.inc"
#undef SORREL_ABSENT

}  // extern "C"

}  // namespace sorrel::abi
