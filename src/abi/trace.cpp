// What the library libsorrel-trace calls before and after each function of MPI (make_bindings.py
// writes that library): the calls of a trace.
#include "mpi.h"
#include "mpi/match/call_site.hpp"
#include "trace/tracer.hpp"

namespace {

using sorrel::mpi::RankState;
using sorrel::trace::Kind;
using sorrel::trace::name_of;
using sorrel::trace::Record;

/// The calling rank, if it is traced.
RankState* traced_rank() {
  RankState* self = sorrel::mpi::current_rank();
  return self != nullptr && self->worker->tracer() != nullptr ? self : nullptr;
}

}  // namespace

extern "C" {

/// `name` is a constant. `comm`: the communicator of the call, if it has one; `root`: if there is a
/// root, else negative.
__attribute__((visibility("default"))) void sorrel_trace_call(const char* name,
                                                              const void* site,
                                                              const MPI_Comm* comm,
                                                              int root) {
  RankState* self = traced_rank();
  if (self == nullptr) return;
  sorrel::trace::Tracer& tracer = *self->worker->tracer();
  self->services().traced_site = site;
  tracer.add_named(Record::now(Kind::call, name_of(self), name_of(name),
                               name_of(sorrel::mpi::site_in_program(*self, site))));
  if (comm == nullptr || self->phase != sorrel::mpi::Phase::running) return;
  const sorrel::mpi::Comm* object = self->comm_of(*comm);
  if (object == nullptr) return;
  const sorrel::mpi::CommShared& shared = *object->shared;
  const bool has_root = root >= 0 && root < shared.size();
  const auto root_and_one =
      has_root ? static_cast<std::uint64_t>(shared.group()->world_rank(root)) + 1 : 0;
  tracer.add(Record::now(Kind::on_comm, name_of(self), shared.context(), root_and_one));
}

__attribute__((visibility("default"))) void sorrel_trace_result(void) {
  RankState* self = traced_rank();
  if (self == nullptr) return;
  self->services().traced_site = nullptr;
  self->worker->tracer()->add(Record::now(Kind::result, name_of(self)));
}

}  // extern "C"
