// What the library libsorrel-trace calls before and after each function of MPI (make_bindings.py
// writes that library): the calls of a trace.
#include "abi/script_place.hpp"
#include "mpi.h"
#include "mpi/match/call_site.hpp"
#include "trace/job_trace.hpp"
#include "trace/tracer.hpp"

namespace {

using sorrel::mpi::RankState;
using sorrel::trace::Kind;
using sorrel::trace::name_of;
using sorrel::trace::Record;
using sorrel::trace::Tracer;

/// The calling rank, if it is traced.
RankState* traced_rank() {
  RankState* self = sorrel::mpi::current_rank();
  return self != nullptr && self->worker->tracer() != nullptr ? self : nullptr;
}

/// The place of a call in a record: in a script in Python the hash of its text, which the file
/// gets, else an address.
std::uint64_t place_of(const RankState& self, const void* site, Tracer& tracer) {
  const sorrel::abi::ScriptPlace script;
  if (script.text().empty()) return name_of(sorrel::mpi::site_in_program(self, site));
  const std::uint64_t hash = sorrel::trace::hash_of(script.text());
  tracer.add_hashed_text(hash, script.text());
  return hash;
}

/// Adds an event of the rank that calls, or of the worker if that is none. A fiber that another
/// worker runs stays there: only the worker's own tracer is used.
template <class Add>
void add_here(Add&& add) {
  const sorrel::core::Worker* worker = sorrel::core::Worker::current();
  if (worker != nullptr && worker->tracer() != nullptr)
    add(*worker->tracer(), name_of(sorrel::core::Worker::peek_user()));
}

void begin_region(std::uintptr_t body, std::uint32_t thread_count) {
  add_here([&](Tracer& tracer, std::uint64_t user) {
    tracer.add(Record::now(Kind::region, user, body, thread_count));
  });
}

void end_region() {
  add_here(
      [](Tracer& tracer, std::uint64_t user) { tracer.add(Record::now(Kind::region_end, user)); });
}

void begin_task(const sorrel::trace::TaskName& name, std::int64_t step, std::int64_t index) {
  const sorrel::trace::TaskRecord task{.step = static_cast<std::uint32_t>(step),
                                       .index = static_cast<std::uint32_t>(index)};
  add_here([&](Tracer& tracer, std::uint64_t user) {
    tracer.add_hashed(Record::now(Kind::task, user, name.hash, task.word()),
                      {name.text, name.bytes});
  });
}

void end_task() {
  add_here(
      [](Tracer& tracer, std::uint64_t user) { tracer.add(Record::now(Kind::task_end, user)); });
}

}  // namespace

extern "C" {

/// Called by this project's OpenMP library and by task graphs; see trace/job_trace.hpp.
__attribute__((visibility("default"))) const sorrel::trace::JobTrace* sorrel_job_trace_1(void) {
  static constexpr sorrel::trace::JobTrace functions{begin_region, end_region, begin_task,
                                                     end_task};
  const sorrel::core::Worker* worker = sorrel::core::Worker::current();
  return worker != nullptr && worker->tracer() != nullptr ? &functions : nullptr;
}

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
  const std::uint64_t place = place_of(*self, site, tracer);
  const Record call = Record::now(Kind::call, name_of(self), name_of(name), place);
  tracer.add_named(call);
  if (comm == nullptr || !sorrel::mpi::is_running(self->phase)) return;
  const sorrel::mpi::Comm* object = self->comm_of(*comm);
  if (object == nullptr) return;
  const sorrel::mpi::CommShared& shared = *object->shared;
  const bool has_root = root >= 0 && root < shared.size();
  const auto root_and_one =
      has_root ? static_cast<std::uint64_t>(shared.group()->world_rank(root)) + 1 : 0;
  tracer.add(Record::like(call, Kind::on_comm, name_of(self), shared.context(), root_and_one));
}

/// Does not end the burst that the call has begun, perhaps on another worker.
__attribute__((visibility("default"))) void sorrel_trace_result(void) {
  add_here([](Tracer& tracer, std::uint64_t user) {
    if (user == 0) return;
    auto* self = reinterpret_cast<RankState*>(user);
    if (self->services_if_used != nullptr) self->services_if_used->traced_site = nullptr;
    tracer.add(Record::now(Kind::result, user));
  });
}

}  // extern "C"
