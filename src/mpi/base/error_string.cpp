#include "mpi/base/error_string.hpp"

#include <algorithm>
#include <iterator>
#include <mpi.h>

namespace sorrel::mpi {
namespace {

struct ErrorText {
  int error_class;
  const char* name;
  const char* text;
};

// A macro, because only the preprocessor can make the name and the number from one word.
#define SORREL_ERROR(name, sentence) \
  ErrorText {                        \
    name, #name, #name ": " sentence \
  }
// clang-format off
constexpr ErrorText error_texts[] = {
    SORREL_ERROR(MPI_SUCCESS, "no error"),
    SORREL_ERROR(MPI_ERR_BUFFER, "invalid buffer pointer"),
    SORREL_ERROR(MPI_ERR_COUNT, "invalid count"),
    SORREL_ERROR(MPI_ERR_TYPE, "invalid datatype"),
    SORREL_ERROR(MPI_ERR_TAG, "invalid tag"),
    SORREL_ERROR(MPI_ERR_COMM, "invalid communicator"),
    SORREL_ERROR(MPI_ERR_RANK, "invalid rank"),
    SORREL_ERROR(MPI_ERR_REQUEST, "invalid request"),
    SORREL_ERROR(MPI_ERR_ROOT, "invalid root"),
    SORREL_ERROR(MPI_ERR_GROUP, "invalid group"),
    SORREL_ERROR(MPI_ERR_OP, "invalid reduction operation, or one that the datatype does not allow"),
    SORREL_ERROR(MPI_ERR_TOPOLOGY, "the communicator has no such topology"),
    SORREL_ERROR(MPI_ERR_DIMS, "invalid dimensions"),
    SORREL_ERROR(MPI_ERR_ARG, "invalid argument"),
    SORREL_ERROR(MPI_ERR_UNKNOWN, "unknown error"),
    SORREL_ERROR(MPI_ERR_TRUNCATE, "the message is longer than the receive buffer"),
    SORREL_ERROR(MPI_ERR_OTHER, "an error that has no class of its own"),
    SORREL_ERROR(MPI_ERR_INTERN, "internal error of the MPI library"),
    SORREL_ERROR(MPI_ERR_PENDING, "the request is not complete: another one of the call failed"),
    SORREL_ERROR(MPI_ERR_IN_STATUS, "a request failed: its status holds the error"),
    SORREL_ERROR(MPI_ERR_ACCESS, "permission denied"),
    SORREL_ERROR(MPI_ERR_AMODE, "invalid file access mode"),
    SORREL_ERROR(MPI_ERR_ASSERT, "invalid assertion"),
    SORREL_ERROR(MPI_ERR_BAD_FILE, "invalid file name"),
    SORREL_ERROR(MPI_ERR_BASE, "invalid base address"),
    SORREL_ERROR(MPI_ERR_CONVERSION, "a data conversion function failed"),
    SORREL_ERROR(MPI_ERR_DISP, "invalid displacement"),
    SORREL_ERROR(MPI_ERR_DUP_DATAREP, "the data representation is defined already"),
    SORREL_ERROR(MPI_ERR_FILE_EXISTS, "the file exists"),
    SORREL_ERROR(MPI_ERR_FILE_IN_USE, "the file is open in some process"),
    SORREL_ERROR(MPI_ERR_FILE, "invalid file handle"),
    SORREL_ERROR(MPI_ERR_INFO_KEY, "the info key is empty or too long"),
    SORREL_ERROR(MPI_ERR_INFO_NOKEY, "the info object has no such key"),
    SORREL_ERROR(MPI_ERR_INFO_VALUE, "the info value is too long"),
    SORREL_ERROR(MPI_ERR_INFO, "invalid info object"),
    SORREL_ERROR(MPI_ERR_IO, "input or output failed"),
    SORREL_ERROR(MPI_ERR_KEYVAL, "invalid attribute key"),
    SORREL_ERROR(MPI_ERR_LOCKTYPE, "invalid lock type"),
    SORREL_ERROR(MPI_ERR_NAME, "no service is published under this name"),
    SORREL_ERROR(MPI_ERR_NO_MEM, "out of memory"),
    SORREL_ERROR(MPI_ERR_NOT_SAME, "an argument or the order of calls differs between ranks"),
    SORREL_ERROR(MPI_ERR_NO_SPACE, "no space left"),
    SORREL_ERROR(MPI_ERR_NO_SUCH_FILE, "no such file"),
    SORREL_ERROR(MPI_ERR_PORT, "invalid port"),
    SORREL_ERROR(MPI_ERR_QUOTA, "disk quota exceeded"),
    SORREL_ERROR(MPI_ERR_READ_ONLY, "the file or file system is read-only"),
    SORREL_ERROR(MPI_ERR_RMA_ATTACH, "the memory cannot be attached to the window"),
    SORREL_ERROR(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    SORREL_ERROR(MPI_ERR_RMA_RANGE, "the target memory is not part of the window"),
    SORREL_ERROR(MPI_ERR_RMA_SHARED, "the ranks cannot share memory"),
    SORREL_ERROR(MPI_ERR_RMA_SYNC, "window calls are in the wrong order"),
    SORREL_ERROR(MPI_ERR_SERVICE, "the service name is not published by this program"),
    SORREL_ERROR(MPI_ERR_SIZE, "invalid size"),
    SORREL_ERROR(MPI_ERR_SPAWN, "the processes could not be started"),
    SORREL_ERROR(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
    SORREL_ERROR(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
    SORREL_ERROR(MPI_ERR_WIN, "invalid window"),
    SORREL_ERROR(MPI_ERR_RMA_FLAVOR, "this kind of window does not allow the call"),
    SORREL_ERROR(MPI_ERR_PROC_ABORTED, "a peer has ended"),
    SORREL_ERROR(MPI_ERR_VALUE_TOO_LARGE, "the result does not fit into the type of the argument"),
    SORREL_ERROR(MPI_ERR_SESSION, "invalid session"),
    SORREL_ERROR(MPI_ERR_ERRHANDLER, "invalid error handler"),
    SORREL_ERROR(MPI_ERR_ABI, "the program and the library differ in their ABI"),
    SORREL_ERROR(MPI_T_ERR_CANNOT_INIT, "the tool interface cannot be initialized"),
    SORREL_ERROR(MPI_T_ERR_NOT_ACCESSIBLE, "the tool interface cannot be used here"),
    SORREL_ERROR(MPI_T_ERR_NOT_INITIALIZED, "the tool interface is not initialized"),
    SORREL_ERROR(MPI_T_ERR_NOT_SUPPORTED, "the tool interface does not support this"),
    SORREL_ERROR(MPI_T_ERR_MEMORY, "out of memory in the tool interface"),
    SORREL_ERROR(MPI_T_ERR_INVALID, "invalid use of the tool interface"),
    SORREL_ERROR(MPI_T_ERR_INVALID_INDEX, "no variable or category has this index"),
    SORREL_ERROR(MPI_T_ERR_INVALID_ITEM, "no item of the enumeration has this index"),
    SORREL_ERROR(MPI_T_ERR_INVALID_SESSION, "invalid session of the tool interface"),
    SORREL_ERROR(MPI_T_ERR_INVALID_HANDLE, "invalid handle of the tool interface"),
    SORREL_ERROR(MPI_T_ERR_INVALID_NAME, "no variable or category has this name"),
    SORREL_ERROR(MPI_T_ERR_OUT_OF_HANDLES, "no more handles in the tool interface"),
    SORREL_ERROR(MPI_T_ERR_OUT_OF_SESSIONS, "no more sessions in the tool interface"),
    SORREL_ERROR(MPI_T_ERR_CVAR_SET_NOT_NOW, "the control variable cannot be set at this moment"),
    SORREL_ERROR(MPI_T_ERR_CVAR_SET_NEVER, "the control variable cannot be set any more"),
    SORREL_ERROR(MPI_T_ERR_PVAR_NO_WRITE, "the performance variable cannot be written"),
    SORREL_ERROR(MPI_T_ERR_PVAR_NO_STARTSTOP, "the performance variable cannot be started or stopped"),
    SORREL_ERROR(MPI_T_ERR_PVAR_NO_ATOMIC, "the performance variable cannot be read and reset in one step"),
};
// clang-format on
#undef SORREL_ERROR

static_assert(std::is_sorted(std::begin(error_texts),
                             std::end(error_texts),
                             [](const ErrorText& a, const ErrorText& b) {
                               return a.error_class < b.error_class;
                             }));

const ErrorText* find(int error_class) {
  const ErrorText* found = std::lower_bound(
      std::begin(error_texts), std::end(error_texts), error_class,
      [](const ErrorText& entry, int wanted) { return entry.error_class < wanted; });
  return found != std::end(error_texts) && found->error_class == error_class ? found : nullptr;
}

const ErrorText& find_or_unknown(int error_class) {
  const ErrorText* found = find(error_class);
  return found != nullptr ? *found : *find(MPI_ERR_UNKNOWN);
}

}  // namespace

bool is_error_class(int error_class) {
  return find(error_class) != nullptr;
}

const char* error_name(int error_class) {
  return find_or_unknown(error_class).name;
}

const char* error_string(int error_class) {
  return find_or_unknown(error_class).text;
}

}  // namespace sorrel::mpi
