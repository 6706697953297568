//! key_file - the key of this user (checkpoint/user_key.hpp), where the commands keep it.
#pragma once

#include <string>

#include "checkpoint/user_key.hpp"

namespace sorrel::tool {

struct KeyFile {
  /// In $XDG_STATE_HOME or ~/.local/state; "": the user has no home.
  std::string path;
  checkpoint::UserKey key;
  /// Why there is no key; "": there is one.
  std::string error;
};

/// Makes it on first use.
[[nodiscard]] KeyFile open_key_file();

}  // namespace sorrel::tool
