//! Lost page - a shared page whose file another process has truncated: an access raises SIGBUS.
//!
//! The process prints one line and continues with private zeroed memory in place of the page. The
//! handler passes every other SIGBUS to the previously installed handler.
#pragma once

#include <cstddef>

namespace sorrel::os {

/// After this call, a SIGBUS in the `bytes` from `base` on replaces them by private zeroed memory.
/// They must stay mapped. At most eight ranges; further ones are not replaced. Any thread.
void replace_when_lost(void* base, std::size_t bytes);

}  // namespace sorrel::os
