//! Disk folder - makes changes of a folder's entries last.
#pragma once

namespace sorrel::os {

/// Returns when the names of a folder's entries are on the device; errno. Blocks the thread.
[[nodiscard]] int sync_folder(const char* path);

}  // namespace sorrel::os
