#include "mpi/match/generalized.hpp"

#include "core/worker.hpp"
#include "mpi/base/status.hpp"

namespace sorrel::mpi {

GeneralizedRequest::GeneralizedRequest(RankState& self, const GeneralizedFunctions& functions)
    : functions_(functions), request_(make_operation_request(self, self.self_comm, *this)) {}

Request& GeneralizedRequest::start(RankState& self, const GeneralizedFunctions& functions) {
  // Owned by its request.
  auto* made = new GeneralizedRequest(self, functions);
  activate(made->request_);
  return made->request_;
}

GeneralizedRequest* GeneralizedRequest::of(const Request& request) {
  return request.kind == Request::Kind::operation ? request.operation->generalized() : nullptr;
}

void GeneralizedRequest::complete() {
  mpi::complete(request_);
  // No later call could report an error of `free`.
  if (is_freed_) (void)conclude(MPI_STATUS_IGNORE);
}

int GeneralizedRequest::query(MPI_Status* status) const {
  const core::PinnedFiber pinned;
  MPI_Status unused;
  MPI_Status* to = status == MPI_STATUS_IGNORE ? &unused : status;
  set_empty_status(*to, MPI_ANY_SOURCE);
  return functions_.query(functions_.extra_state, to);
}

int GeneralizedRequest::conclude(MPI_Status* status) {
  const core::PinnedFiber pinned;
  int error = is_freed_ ? MPI_SUCCESS : query(status);
  const int free_error = functions_.free(functions_.extra_state);
  if (error == MPI_SUCCESS) error = free_error;
  end_operation(request_);
  return error;
}

int GeneralizedRequest::free() {
  is_freed_ = true;
  return request_.completion.is_done() ? conclude(MPI_STATUS_IGNORE) : MPI_SUCCESS;
}

int GeneralizedRequest::cancel() const {
  const core::PinnedFiber pinned;
  const int is_complete = request_.completion.is_done() ? 1 : 0;
  return functions_.cancel(functions_.extra_state, is_complete);
}

int GeneralizedRequest::start() {
  SORREL_CHECK(false, "a generalized request is started once");
  return MPI_ERR_INTERN;
}

int GeneralizedRequest::explain(RankState& self, int error_class) const {
  return self.fail(error_class, "a function of the generalized request returned %d", error_class);
}

void GeneralizedRequest::name(OperationName& to) const {
  to.add("MPI_Grequest_complete");
}

void GeneralizedRequest::end() {
  delete this;
}

}  // namespace sorrel::mpi
