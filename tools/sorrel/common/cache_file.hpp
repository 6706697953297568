//! A file of the user's cache folder, which several commands may read and write at once.
#pragma once

#include <string>

namespace sorrel::tool {

/// Its path in the cache folder; "" if there is no such folder.
[[nodiscard]] std::string cache_path(const std::string& name);

/// Writes to another name first, so that no reader sees a partial file, for this user only. What
/// cannot be written is not kept.
void keep_file(const std::string& path, const std::string& text);

}  // namespace sorrel::tool
