//! The version of this command, as `--version` prints it.
#pragma once

#include <string>

namespace sorrel::tool {

/// "0.2.0", with the commit if it was built in a repository: "0.2.0, commit 1a2b3c4d5e-dirty".
[[nodiscard]] std::string version_text();

/// The commit, "-dirty" behind it if files had changed; empty if it is not known.
[[nodiscard]] std::string commit_text();

}  // namespace sorrel::tool
