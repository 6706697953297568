//! Errhandler - the action on an error in a call on a communicator, a window or a file.
//!
//! Predefined handlers are constants; a user's handler belongs to the rank that made it.
#pragma once

#include <cstdint>

#include "mpi.h"
#include "mpi/base/handle.hpp"
#include "mpi/base/object_memory.hpp"

namespace sorrel::mpi {

struct Errhandler {
  // No base, so that its members can be initialized by name.
  static void* operator new(std::size_t bytes) {
    return HandleObject<ObjectType::errhandler>::operator new(bytes);
  }

  static void operator delete(void* object) noexcept { release_object(object); }

  static constexpr ObjectKind object_kind = ObjectKind::errhandler;
  enum class Action : std::uint32_t { fatal, abort, give_back, call };
  ObjectHeader header{object_kind};
  Action action = Action::fatal;
  /// A user's handler has one of the functions, by the objects that it is for.
  MPI_Comm_errhandler_function* function = nullptr;
  MPI_Win_errhandler_function* win_function = nullptr;
  MPI_File_errhandler_function* file_function = nullptr;
  /// References: the handle and the objects that use it; predefined ones are never freed.
  std::int32_t reference_count = 1;
};

/// MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN or a user's; null if invalid.
Errhandler* errhandler_of(MPI_Errhandler handle);

MPI_Errhandler handle_of(Errhandler& errhandler);

MPI_Errhandler make_errhandler(MPI_Comm_errhandler_function* function);
MPI_Errhandler make_win_errhandler(MPI_Win_errhandler_function* function);
MPI_Errhandler make_file_errhandler(MPI_File_errhandler_function* function);

void retain(Errhandler& errhandler);
void release(Errhandler& errhandler);

/// Sets the handler of an object; both may be the same.
void replace(Errhandler*& place, Errhandler& errhandler);

}  // namespace sorrel::mpi
