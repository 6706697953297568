// Handles as integers. MPI 5.0, 20.3. Unchecked: an invalid handle stays invalid.
#include "mpi/base/integer_handles.hpp"

#include "abi/call.hpp"

namespace sorrel::abi {

namespace {

/// Returns `null_handle` for an integer that this rank has not assigned.
template <class Handle>
Handle handle_of_number(RankState& self, int number, Handle null_handle) {
  const std::uintptr_t handle = self.services().integer_handles.handle_of(number);
  return handle == 0 ? null_handle : reinterpret_cast<Handle>(handle);
}

}  // namespace

extern "C" {

#define SORREL_INTEGER_BINDINGS(kind, Handle, null_handle)               \
  int PMPI_##kind##_toint(Handle handle) {                               \
    RankState* running = mpi::current_rank();                            \
    SORREL_CALL_ON_THREAD(running, kind##_toint, handle);                \
    const AnyTimeCall caller(running, "MPI_" #kind "_toint", nullptr);   \
    return caller.rank().services().integer_handles.number_of(           \
        reinterpret_cast<std::uintptr_t>(handle));                       \
  }                                                                      \
  Handle PMPI_##kind##_fromint(int number) {                             \
    RankState* running = mpi::current_rank();                            \
    SORREL_CALL_ON_THREAD(running, kind##_fromint, number);              \
    const AnyTimeCall caller(running, "MPI_" #kind "_fromint", nullptr); \
    return handle_of_number(caller.rank(), number, null_handle);         \
  }                                                                      \
  SORREL_WEAK(MPI_##kind##_toint)                                        \
  SORREL_WEAK(MPI_##kind##_fromint)

SORREL_INTEGER_BINDINGS(Comm, MPI_Comm, MPI_COMM_NULL)
SORREL_INTEGER_BINDINGS(Errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL)
SORREL_INTEGER_BINDINGS(File, MPI_File, MPI_FILE_NULL)
SORREL_INTEGER_BINDINGS(Group, MPI_Group, MPI_GROUP_NULL)
SORREL_INTEGER_BINDINGS(Info, MPI_Info, MPI_INFO_NULL)
SORREL_INTEGER_BINDINGS(Message, MPI_Message, MPI_MESSAGE_NULL)
SORREL_INTEGER_BINDINGS(Op, MPI_Op, MPI_OP_NULL)
SORREL_INTEGER_BINDINGS(Request, MPI_Request, MPI_REQUEST_NULL)
SORREL_INTEGER_BINDINGS(Session, MPI_Session, MPI_SESSION_NULL)
SORREL_INTEGER_BINDINGS(Type, MPI_Datatype, MPI_DATATYPE_NULL)
SORREL_INTEGER_BINDINGS(Win, MPI_Win, MPI_WIN_NULL)

}  // extern "C"

}  // namespace sorrel::abi
