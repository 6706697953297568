//! DeadlockReport - who waits for what when everybody waits.
//!
//! Called when every worker sleeps, by the last one to lie down: it may read the state of every
//! rank of its process, and tells of those only.
#pragma once

#include <string>

namespace sorrel::mpi {
class World;
}

namespace sorrel::runtime {

/// A headline, a table of the waiting ranks (call, peer, tag, communicator, source line), and the
/// cycle or the dead end.
std::string deadlock_report(mpi::World& world);

}  // namespace sorrel::runtime
