//! give_way() - a rank that asks again and again for what another rank of its worker will do.
#pragma once

namespace sorrel::program {

/// The other ready ranks of the worker run first, if the program's own code has made the call that
/// returns to `caller`: a library's may come from a host MPI. May suspend. Nothing outside of
/// ranks.
void give_way(const void* caller);

}  // namespace sorrel::program
