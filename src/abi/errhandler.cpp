// Error handlers, and error classes, codes and texts. MPI 5.0, 9.3 to 9.5.
#include "mpi/comm/errhandler.hpp"

#include <cstring>

#include "abi/call.hpp"
#include "mpi/base/error_codes.hpp"

namespace sorrel::abi {
namespace {

using mpi::Errhandler;

int fail_errhandler(RankState& self, MPI_Errhandler handle) {
  return self.fail(MPI_ERR_ERRHANDLER, handle == MPI_ERRHANDLER_NULL
                                           ? "invalid error handler handle: MPI_ERRHANDLER_NULL"
                                           : "invalid error handler handle");
}

}  // namespace

extern "C" {

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn,
                                MPI_Errhandler* errhandler) {
  return call_any_time("MPI_Comm_create_errhandler", [&](RankState& self) {
    SORREL_NOT_NULL(errhandler);
    if (comm_errhandler_fn == nullptr)
      return self.fail(MPI_ERR_ARG, "comm_errhandler_fn is a null pointer");
    *errhandler = mpi::make_errhandler(comm_errhandler_fn);
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  return call_on(comm, "MPI_Comm_set_errhandler", [&](RankState& self, Comm& c) {
    Errhandler* handler = mpi::errhandler_of(errhandler);
    if (handler == nullptr) return fail_errhandler(self, errhandler);
    // Retain before release, because both handlers may be the same.
    retain(*handler);
    release(*c.errhandler);
    c.errhandler = handler;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return call_on(comm, "MPI_Comm_get_errhandler", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(errhandler);
    // The program frees the handle.
    retain(*c.errhandler);
    *errhandler = mpi::handle_of(*c.errhandler);
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
  return call_on(comm, "MPI_Comm_call_errhandler", [&](RankState& self, Comm& c) {
    const mpi::ErrorCodes& codes = self.services().error_codes;
    const char* text = codes.text_of(errorcode);
    if (text == nullptr)
      return self.fail(MPI_ERR_ARG, "errorcode is %d; it must be an error code", errorcode);
    const bool is_added = errorcode > MPI_ERR_LASTCODE;
    // The result of the handler is ignored: the call itself has succeeded.
    (void)raise(self, c, self.fail(errorcode, "%s", is_added ? text : "raised by the program"));
    return MPI_SUCCESS;
  });
}

int PMPI_Errhandler_free(MPI_Errhandler* errhandler) {
  return call_any_time("MPI_Errhandler_free", [&](RankState& self) {
    SORREL_NOT_NULL(errhandler);
    Errhandler* handler = mpi::errhandler_of(*errhandler);
    if (handler == nullptr) return fail_errhandler(self, *errhandler);
    release(*handler);
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
  });
}

int PMPI_Error_class(int errorcode, int* errorclass) {
  return call_any_time("MPI_Error_class", [&](RankState& self) {
    SORREL_NOT_NULL(errorclass);
    return self.services().error_codes.class_of(errorcode, errorclass, self.detail());
  });
}

int PMPI_Error_string(int errorcode, char* string, int* resultlen) {
  return call_any_time("MPI_Error_string", [&](RankState& self) {
    SORREL_NOT_NULL(string);
    SORREL_NOT_NULL(resultlen);
    const char* text = self.services().error_codes.text_of(errorcode);
    if (text == nullptr)
      return self.fail(MPI_ERR_ARG, "errorcode is %d; it must be an error code", errorcode);
    const std::size_t length = std::strlen(text);
    std::memcpy(string, text, length + 1);
    *resultlen = static_cast<int>(length);
    return MPI_SUCCESS;
  });
}

int PMPI_Add_error_class(int* errorclass) {
  return call_any_time("MPI_Add_error_class", [&](RankState& self) {
    SORREL_NOT_NULL(errorclass);
    *errorclass = self.services().error_codes.add_class();
    return MPI_SUCCESS;
  });
}

int PMPI_Add_error_code(int errorclass, int* errorcode) {
  return call_any_time("MPI_Add_error_code", [&](RankState& self) {
    SORREL_NOT_NULL(errorcode);
    return self.services().error_codes.add_code(errorclass, errorcode, self.detail());
  });
}

int PMPI_Add_error_string(int errorcode, const char* string) {
  return call_any_time("MPI_Add_error_string", [&](RankState& self) {
    return self.services().error_codes.set_text(errorcode, string, self.detail());
  });
}

SORREL_WEAK(int,
            MPI_Comm_create_errhandler,
            (MPI_Comm_errhandler_function * comm_errhandler_fn, MPI_Errhandler* errhandler))
SORREL_WEAK(int, MPI_Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler))
SORREL_WEAK(int, MPI_Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler* errhandler))
SORREL_WEAK(int, MPI_Comm_call_errhandler, (MPI_Comm comm, int errorcode))
SORREL_WEAK(int, MPI_Errhandler_free, (MPI_Errhandler * errhandler))
SORREL_WEAK(int, MPI_Error_class, (int errorcode, int* errorclass))
SORREL_WEAK(int, MPI_Error_string, (int errorcode, char* string, int* resultlen))
SORREL_WEAK(int, MPI_Add_error_class, (int* errorclass))
SORREL_WEAK(int, MPI_Add_error_code, (int errorclass, int* errorcode))
SORREL_WEAK(int, MPI_Add_error_string, (int errorcode, const char* string))

}  // extern "C"

}  // namespace sorrel::abi
