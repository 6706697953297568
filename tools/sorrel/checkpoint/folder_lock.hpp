//! folder_lock - keeps a second job out of a folder of checkpoints.
#pragma once

#include <optional>
#include <string>

#include <sorrel/result.hpp>

namespace sorrel::tool {

/// The descriptor of the folder's lock, which the processes of the job inherit: the folder is free
/// again when the last of them and this process have ended. Nothing, with a note: the file system
/// has no locks. An error names the job that uses the folder.
[[nodiscard]] Result<std::optional<int>> lock_folder(const std::string& folder);

}  // namespace sorrel::tool
