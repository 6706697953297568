//! hold_over_forks - a lock of this library that all forks hold: in a child there is only the
//! thread that has forked, so no other one may have held the lock.
#pragma once

namespace sorrel::program {

/// From now on each fork calls `hold` before, and `release` behind it in parent and child, on the
/// thread that forks. What is registered first is held last.
void hold_over_forks(void (*hold)(), void (*release)());

}  // namespace sorrel::program
