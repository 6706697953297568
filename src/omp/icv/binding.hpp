//! Binding - the places and the policies in effect for this process, if its threads are bound.
//!
//! The environment requests them (environment.hpp). Threads are bound if no other job shares the
//! machine, or with the share `fixed`; not in ranks. Decided once, at the first use; one line says
//! why a request is ignored. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "omp/icv/places.hpp"

namespace sorrel::omp {

struct Binding {
  std::vector<Place> places;  ///< empty: threads are not bound
  std::vector<Bind> binds;    ///< by level of nesting
  std::vector<int> all_cpus;  ///< those of the process before

  [[nodiscard]] bool is_on() const { return !places.empty(); }
};

/// `is_rank`: the process is one of a job.
[[nodiscard]] const Binding& binding(bool is_rank);

/// While it exists, the calling thread may run on all processors of the process: threads that it
/// makes inherit that.
class Unbound {
 public:
  Unbound();
  ~Unbound();
  Unbound(const Unbound&) = delete;
  Unbound& operator=(const Unbound&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace sorrel::omp
