#include "tools/sorrel/checkpoint/key_file.hpp"

#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

KeyFile open_key_file() {
  KeyFile file;
  const std::string folder = state_folder();
  if (folder.empty()) {
    file.error = "there is no home for it: set XDG_STATE_HOME";
    return file;
  }
  file.path = folder + "/key";
  file.error = file.key.open(file.path);
  return file;
}

}  // namespace sorrel::tool
