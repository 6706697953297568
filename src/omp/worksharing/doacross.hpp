//! Doacross loops - loops whose iterations wait for each other (depend(sink) and depend(source)).
//!
//! posted[i] belongs to iteration i of the outermost loop. It is the number of its inner
//! iterations, in their order, up to the last posted one; 0: none. (S) is posting and checking, by
//! the rules of WaitCount. Called on an OpenMP thread of the loop.
#pragma once

#include "omp/worksharing/loop.hpp"

namespace sorrel::omp {

/// As begin_loop(); count_of(i): extent of dimension i.
template <class CountOf>
void begin_doacross(TeamThread& thread,
                    const LoopShape& shape,
                    const LoopExtras& extras,
                    unsigned dimension_count,
                    CountOf count_of) {
  begin_loop(thread, shape, extras, [&](WorkShare& share) {
    share.dimension_count = dimension_count;
    auto* counts = new std::uint64_t[dimension_count];
    for (unsigned i = 0; i < dimension_count; ++i)
      counts[i] = count_of(i);
    share.counts = counts;
    share.posted = new std::atomic<std::uint64_t>[counts[0]]();
  });
}

/// The iteration has done what later ones wait for.
void post_iteration(WorkShare& share, std::uint64_t outer, std::uint64_t inner);

/// May suspend.
void wait_for_iteration(TeamThread& thread,
                        WorkShare& share,
                        std::uint64_t outer,
                        std::uint64_t inner);

}  // namespace sorrel::omp
