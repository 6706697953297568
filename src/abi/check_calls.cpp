// What the library libsorrel-check calls before and after each function of MPI (make_bindings.py
// writes that library).
#include <array>
#include <cstdint>
#include <limits>

#include "abi/script_place.hpp"
#include "check/checked_job.hpp"
#include "check/checker.hpp"
#include "mpi/match/call_site.hpp"

namespace {

using sorrel::check::Checker;
using sorrel::check::CollectiveRecord;
using sorrel::mpi::RankState;

/// Whether members of a communicator differ in a field that both have. All members take part, and
/// have the same answer.
bool have_differences(const CollectiveRecord& own, MPI_Comm comm) {
  constexpr std::size_t count = CollectiveRecord::field_count;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  // Largest values, then smallest ones with the other sign.
  std::array<std::int64_t, 2 * count> values;
  for (std::size_t i = 0; i < count; ++i) {
    const bool has_value = own.fields[i] != CollectiveRecord::none;
    values[i] = has_value ? own.fields[i] : least;
    values[count + i] = has_value ? -own.fields[i] : least;
  }
  PMPI_Allreduce(MPI_IN_PLACE, values.data(), 2 * count, MPI_INT64_T, MPI_MAX, comm);
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i] != least && values[i] != -values[count + i]) return true;
  }
  return false;
}

/// Compares the calls of all members of a communicator that spans processes. One of them reports a
/// difference: the first that differs from member 0.
void compare_between_processes(Checker& checker,
                               RankState& self,
                               const CollectiveRecord& own,
                               MPI_Comm comm) {
  if (!have_differences(own, comm)) return;
  CollectiveRecord first = own;
  PMPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comm);
  int rank = 0;
  int reporter = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &reporter);
  const int none = reporter;
  if (own.difference_from(first) != CollectiveRecord::field_count) reporter = rank;
  PMPI_Allreduce(MPI_IN_PLACE, &reporter, 1, MPI_INT, MPI_MIN, comm);
  // Where member 0 has no such value: it reports that others differ.
  if (reporter == none) reporter = 0;
  if (rank == reporter) {
    // The calls have ended, and the rank may compute on another worker: back to its own.
    sorrel::mpi::current_rank();
    checker.add_difference(self, own, first);
  }
  // If the calls cannot match, the reporter ends the job.
  PMPI_Barrier(comm);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int sorrel_check_begin(sorrel_checked_call* call) {
  call->state = nullptr;
  RankState* self = sorrel::mpi::current_rank();
  Checker* checker = self == nullptr ? nullptr : sorrel::check::checker_of(*self);
  if (checker == nullptr) return 0;
  call->site = sorrel::mpi::site_in_program(*self, call->site);
  call->script = checker->kept_place(sorrel::abi::ScriptPlace().text());
  const int change = checker->begin(*self, *call);
  MPI_Comm comm = MPI_COMM_NULL;
  if (const auto record = checker->record_between_processes(*self, &comm))
    compare_between_processes(*checker, *self, *record, comm);
  return change;
}

__attribute__((visibility("default"))) void sorrel_check_end(sorrel_checked_call* call,
                                                             int error_class) {
  if (call->state == nullptr) return;
  RankState* self = sorrel::mpi::current_rank();
  sorrel::check::checker_of(*self)->end(*call, error_class);
}

}  // extern "C"
