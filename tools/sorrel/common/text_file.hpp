//! Files that this command writes for users.
#pragma once

#include <string>
#include <string_view>

namespace sorrel::tool {

/// Creates or overwrites the file, "-" is standard output; prints what went wrong.
[[nodiscard]] bool write_text_file(const std::string& path, std::string_view text);

}  // namespace sorrel::tool
