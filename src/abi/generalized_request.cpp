// Generalized requests. MPI 5.0, 13.2.
#include "abi/body.hpp"
#include "mpi/match/generalized.hpp"

namespace sorrel::abi {
namespace body {

int Grequest_start(RankState& self,
                   MPI_Grequest_query_function* query_fn,
                   MPI_Grequest_free_function* free_fn,
                   MPI_Grequest_cancel_function* cancel_fn,
                   void* extra_state,
                   MPI_Request* request) {
  if (query_fn == nullptr) return fail_null(self, "query_fn");
  if (free_fn == nullptr) return fail_null(self, "free_fn");
  if (cancel_fn == nullptr) return fail_null(self, "cancel_fn");
  *request =
      handle_of(mpi::GeneralizedRequest::start(self, {query_fn, free_fn, cancel_fn, extra_state}));
  return MPI_SUCCESS;
}

int Grequest_complete(RankState& self, MPI_Request request) {
  auto* object = mpi::object_of<mpi::Request>(request);
  mpi::GeneralizedRequest* generalized =
      object == nullptr ? nullptr : mpi::GeneralizedRequest::of(*object);
  if (generalized == nullptr)
    return self.fail(MPI_ERR_REQUEST, "request is not a generalized request");
  if (object->owner != &self)
    return self.fail(MPI_ERR_REQUEST, "request belongs to another rank; handles are not shared");
  if (object->completion.is_done())
    return self.fail(MPI_ERR_REQUEST, "request is already complete");
  generalized->complete();
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
