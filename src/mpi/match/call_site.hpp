//! CallSite - where the program has made a call.
#pragma once

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

/// The place of a call that returns to `site`: of a Fortran binding, where the program called that.
[[nodiscard]] inline const void* site_in_program(const RankState& rank, const void* site) {
  const RankServices* services = rank.services_if_used.get();
  const sorrel_fortran_calls* fortran = services == nullptr ? nullptr : services->fortran_calls;
  const auto* address = static_cast<const char*>(site);
  const bool is_in_binding =
      fortran != nullptr && address >= fortran->begin && address < fortran->end;
  return is_in_binding ? fortran->site : site;
}

}  // namespace sorrel::mpi
