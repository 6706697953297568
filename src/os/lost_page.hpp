//! Lost page - a shared page whose file another process has truncated: a touch of it is SIGBUS.
//!
//! The process goes on with zeroed memory of its own in place of the page, after one line. The
//! handler passes every other SIGBUS to the handler that was there before.
#pragma once

#include <cstddef>

namespace sorrel::os {

/// A SIGBUS in the `bytes` from `base` on makes them private zeroed memory. They must stay mapped.
/// At most eight ranges; further ones are not replaced. Any thread.
void replace_when_lost(void* base, std::size_t bytes);

}  // namespace sorrel::os
