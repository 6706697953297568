#include "mpi/comm/errhandler.hpp"

#include <array>

#include "base/check.hpp"

namespace sorrel::mpi {
namespace {

using Action = Errhandler::Action;

// In the order of their handles. Shared by every rank, so they are never changed.
constinit std::array<Errhandler, 3> predefined{Errhandler{.action = Action::fatal},
                                               Errhandler{.action = Action::abort},
                                               Errhandler{.action = Action::give_back}};

std::uintptr_t value_of(MPI_Errhandler handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

bool is_predefined(const Errhandler& errhandler) {
  return errhandler.action != Action::call;
}

}  // namespace

Errhandler* errhandler_of(MPI_Errhandler handle) {
  const std::uintptr_t index = value_of(handle) - value_of(MPI_ERRORS_ARE_FATAL);
  return index < predefined.size() ? &predefined[index] : object_of<Errhandler>(handle);
}

MPI_Errhandler handle_of(Errhandler& errhandler) {
  switch (errhandler.action) {
    case Action::fatal:
      return MPI_ERRORS_ARE_FATAL;
    case Action::abort:
      return MPI_ERRORS_ABORT;
    case Action::give_back:
      return MPI_ERRORS_RETURN;
    case Action::call:
      break;
  }
  return reinterpret_cast<MPI_Errhandler>(&errhandler);
}

MPI_Errhandler make_errhandler(MPI_Comm_errhandler_function* function) {
  return handle_of(*new Errhandler{.action = Action::call, .function = function});
}

MPI_Errhandler make_win_errhandler(MPI_Win_errhandler_function* function) {
  return handle_of(*new Errhandler{.action = Action::call, .win_function = function});
}

MPI_Errhandler make_file_errhandler(MPI_File_errhandler_function* function) {
  return handle_of(*new Errhandler{.action = Action::call, .file_function = function});
}

void retain(Errhandler& errhandler) {
  if (!is_predefined(errhandler)) ++errhandler.reference_count;
}

void release(Errhandler& errhandler) {
  if (is_predefined(errhandler)) return;
  SORREL_ASSERT(errhandler.reference_count > 0, "released more often than retained");
  if (--errhandler.reference_count != 0) return;
  errhandler.header.kind = ObjectKind::freed;
  delete &errhandler;
}

void replace(Errhandler*& place, Errhandler& errhandler) {
  retain(errhandler);
  release(*place);
  place = &errhandler;
}

}  // namespace sorrel::mpi
