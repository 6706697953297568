//! ShellSettings - the environment variables by which a shell finds an installation, as commands of
//! the shell. Pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sorrel::tool {

/// A variable whose value is a list of folders, a:b.
struct FolderVariable {
  std::string name;
  std::vector<std::string> first = {};    ///< precede all others
  std::vector<std::string> present = {};  ///< follow these, if they are not in the list
};

enum class Shell { posix, fish, csh };

/// The value of `variable` with its folders. `value`: the one before; null: not set.
[[nodiscard]] std::string value_with(const FolderVariable& variable, const char* value);

/// One command for each variable whose value changes.
[[nodiscard]] std::string shell_settings(std::span<const FolderVariable> variables,
                                         Shell shell,
                                         const std::function<const char*(const char*)>& lookup);

}  // namespace sorrel::tool
