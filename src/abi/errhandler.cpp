// Error handlers, and error classes, codes and texts. MPI 5.0, 9.3 to 9.5.
#include "mpi/comm/errhandler.hpp"

#include "abi/body.hpp"
#include "mpi/base/error_codes.hpp"
#include "mpi/comm/incomplete_comm.hpp"
#include "mpi/io/rank_files.hpp"
#include "mpi/rma/window.hpp"

namespace sorrel::abi {
namespace {

using mpi::Errhandler;

int fail_errhandler(RankState& self, MPI_Errhandler handle) {
  return self.fail(MPI_ERR_ERRHANDLER, handle == MPI_ERRHANDLER_NULL
                                           ? "invalid error handler handle: MPI_ERRHANDLER_NULL"
                                           : "invalid error handler handle");
}

/// MPI_Comm_call_errhandler and its like. raise_error(error) raises it on the object.
template <class Raise>
int call_handler(RankState& self, int errorcode, Raise&& raise_error) {
  const mpi::ErrorCodes& codes = self.services().error_codes;
  const char* text = codes.text_of(errorcode);
  if (text == nullptr)
    return self.fail(MPI_ERR_ARG, "errorcode is %d; it must be an error code", errorcode);
  const bool is_added = errorcode > MPI_ERR_LASTCODE;
  // The result of the handler is ignored: the call itself has succeeded.
  (void)raise_error(self.fail(errorcode, "%s", is_added ? text : "raised by the program"));
  return MPI_SUCCESS;
}

template <class Object>
int call_errhandler(RankState& self, Object& object, int errorcode) {
  return call_handler(self, errorcode, [&](int error) { return raise(self, object, error); });
}

/// Calls body(place) with the place of a file's error handler, which MPI_FILE_NULL has, too.
template <class Body>
int call_on_file_handler(RankState* running, MPI_File handle, const char* function, Body&& body) {
  if (handle != MPI_FILE_NULL)
    return call_on_file(running, handle, function, [&](RankState& self, mpi::File& file) {
      return body(self, file.errhandler);
    });
  return call_without_file(running, function, [&](RankState& self) {
    return body(self, mpi::RankFiles::of(self).null_errhandler);
  });
}

int set_handler(RankState& self, Comm& comm, MPI_Errhandler errhandler) {
  Errhandler* handler = mpi::errhandler_of(errhandler);
  if (handler == nullptr) return fail_errhandler(self, errhandler);
  if (handler->win_function != nullptr)
    return self.fail(MPI_ERR_ERRHANDLER, "errhandler was created for windows");
  if (handler->file_function != nullptr)
    return self.fail(MPI_ERR_ERRHANDLER, "errhandler was created for files");
  replace(comm.errhandler, *handler);
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, Comm_set_errhandler, comm, errhandler);
  if (Comm* incomplete = mpi::incomplete_comm_of(comm); incomplete != nullptr)
    return call(running, "MPI_Comm_set_errhandler",
                [&](RankState& self) { return set_handler(self, *incomplete, errhandler); });
  return call_on(running, comm, "MPI_Comm_set_errhandler",
                 [&](RankState& self, Comm& on) { return set_handler(self, on, errhandler); });
}
SORREL_WEAK(MPI_Comm_set_errhandler)

}  // extern "C"

namespace body {

int Comm_create_errhandler(RankState& self,
                           MPI_Comm_errhandler_function* comm_errhandler_fn,
                           MPI_Errhandler* errhandler) {
  if (comm_errhandler_fn == nullptr)
    return self.fail(MPI_ERR_ARG, "comm_errhandler_fn is a null pointer");
  *errhandler = mpi::make_errhandler(comm_errhandler_fn);
  return MPI_SUCCESS;
}

int Comm_get_errhandler(RankState& /*self*/, Comm& comm, MPI_Errhandler* errhandler) {
  // The program frees the handle.
  retain(*comm.errhandler);
  *errhandler = mpi::handle_of(*comm.errhandler);
  return MPI_SUCCESS;
}

int Comm_call_errhandler(RankState& self, Comm& comm, int errorcode) {
  return call_errhandler(self, comm, errorcode);
}

int Win_create_errhandler(RankState& self,
                          MPI_Win_errhandler_function* win_errhandler_fn,
                          MPI_Errhandler* errhandler) {
  if (win_errhandler_fn == nullptr)
    return self.fail(MPI_ERR_ARG, "win_errhandler_fn is a null pointer");
  *errhandler = mpi::make_win_errhandler(win_errhandler_fn);
  return MPI_SUCCESS;
}

int Win_set_errhandler(RankState& self, mpi::Win& win, MPI_Errhandler errhandler) {
  Errhandler* handler = mpi::errhandler_of(errhandler);
  if (handler == nullptr) return fail_errhandler(self, errhandler);
  if (handler->function != nullptr)
    return self.fail(MPI_ERR_ERRHANDLER, "errhandler was created for communicators");
  if (handler->file_function != nullptr)
    return self.fail(MPI_ERR_ERRHANDLER, "errhandler was created for files");
  replace(win.errhandler, *handler);
  return MPI_SUCCESS;
}

int Win_get_errhandler(RankState& /*self*/, mpi::Win& win, MPI_Errhandler* errhandler) {
  retain(*win.errhandler);
  *errhandler = mpi::handle_of(*win.errhandler);
  return MPI_SUCCESS;
}

int Win_call_errhandler(RankState& self, mpi::Win& win, int errorcode) {
  return call_errhandler(self, win, errorcode);
}

int File_create_errhandler(RankState& self,
                           MPI_File_errhandler_function* file_errhandler_fn,
                           MPI_Errhandler* errhandler) {
  if (file_errhandler_fn == nullptr)
    return self.fail(MPI_ERR_ARG, "file_errhandler_fn is a null pointer");
  *errhandler = mpi::make_file_errhandler(file_errhandler_fn);
  return MPI_SUCCESS;
}

int Errhandler_free(RankState& self, MPI_Errhandler* errhandler) {
  Errhandler* handler = mpi::errhandler_of(*errhandler);
  if (handler == nullptr) return fail_errhandler(self, *errhandler);
  release(*handler);
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

int Error_class(RankState& self, int errorcode, int* errorclass) {
  return self.services().error_codes.class_of(errorcode, errorclass, self.detail());
}

int Error_string(RankState& self, int errorcode, char* string, int* resultlen) {
  const char* text = self.services().error_codes.text_of(errorcode);
  if (text == nullptr)
    return self.fail(MPI_ERR_ARG, "errorcode is %d; it must be an error code", errorcode);
  give_text(text, string, resultlen);
  return MPI_SUCCESS;
}

int Add_error_class(RankState& self, int* errorclass) {
  *errorclass = self.services().error_codes.add_class();
  return MPI_SUCCESS;
}

int Add_error_code(RankState& self, int errorclass, int* errorcode) {
  return self.services().error_codes.add_code(errorclass, errorcode, self.detail());
}

int Remove_error_class(RankState& self, int errorclass) {
  return self.services().error_codes.remove_class(errorclass, self.detail());
}

int Remove_error_code(RankState& self, int errorcode) {
  return self.services().error_codes.remove_code(errorcode, self.detail());
}

int Remove_error_string(RankState& self, int errorcode) {
  return self.services().error_codes.remove_text(errorcode, self.detail());
}

int Add_error_string(RankState& self, int errorcode, const char* string) {
  return self.services().error_codes.set_text(errorcode, string, self.detail());
}

}  // namespace body

extern "C" {

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, File_set_errhandler, file, errhandler);
  return call_on_file_handler(
      running, file, "MPI_File_set_errhandler", [&](RankState& self, Errhandler*& place) {
        Errhandler* handler = mpi::errhandler_of(errhandler);
        if (handler == nullptr) return fail_errhandler(self, errhandler);
        if (handler->function != nullptr || handler->win_function != nullptr)
          return self.fail(MPI_ERR_ERRHANDLER,
                           "errhandler was created for communicators or windows");
        replace(place, *handler);
        return MPI_SUCCESS;
      });
}
SORREL_WEAK(MPI_File_set_errhandler)

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, File_get_errhandler, file, errhandler);
  return call_on_file_handler(running, file, "MPI_File_get_errhandler",
                              [&](RankState& self, Errhandler*& place) {
                                SORREL_NOT_NULL(errhandler);
                                retain(*place);
                                *errhandler = mpi::handle_of(*place);
                                return MPI_SUCCESS;
                              });
}
SORREL_WEAK(MPI_File_get_errhandler)

int PMPI_File_call_errhandler(MPI_File fh, int errorcode) {
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, File_call_errhandler, fh, errorcode);
  if (fh != MPI_FILE_NULL)
    return call_on_file(
        running, fh, "MPI_File_call_errhandler",
        [&](RankState& self, mpi::File& file) { return call_errhandler(self, file, errorcode); });
  return call_without_file(running, "MPI_File_call_errhandler", [&](RankState& self) {
    return call_handler(self, errorcode,
                        [&](int error) { return raise_without_file(self, error); });
  });
}
SORREL_WEAK(MPI_File_call_errhandler)

}  // extern "C"

}  // namespace sorrel::abi
