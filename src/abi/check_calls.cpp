// What the library libsorrel-check calls before and after each function of MPI (make_bindings.py
// writes that library).
#include "check/checked_job.hpp"
#include "check/checker.hpp"
#include "mpi/match/call_site.hpp"

namespace {

using sorrel::mpi::RankState;

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int sorrel_check_begin(sorrel_checked_call* call) {
  call->state = nullptr;
  RankState* self = sorrel::mpi::current_rank();
  sorrel::check::Checker* checker = self == nullptr ? nullptr : sorrel::check::checker_of(*self);
  if (checker == nullptr) return 0;
  call->site = sorrel::mpi::site_in_program(*self, call->site);
  return checker->begin(*self, *call);
}

__attribute__((visibility("default"))) void sorrel_check_end(sorrel_checked_call* call,
                                                             int error_class) {
  if (call->state == nullptr) return;
  RankState* self = sorrel::mpi::current_rank();
  sorrel::check::checker_of(*self)->end(*call, error_class);
}

}  // extern "C"
