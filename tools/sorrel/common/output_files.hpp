//! Folders and files that a command makes for its user.
#pragma once

#include <string>
#include <string_view>

#include <sorrel/result.hpp>

namespace sorrel::tool {

/// A new folder sorrel-NAME-XXXXXX in $TMPDIR. `option`: for messages.
[[nodiscard]] Result<std::string> make_temporary_folder(const char* option, const char* name);

/// Creates or overwrites the file, "-" is standard output; prints what went wrong.
[[nodiscard]] bool write_output_file(const std::string& path, std::string_view text);

}  // namespace sorrel::tool
