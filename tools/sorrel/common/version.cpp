#include "tools/sorrel/common/version.hpp"

#include "sorrel_commit.h"

namespace sorrel::tool {

std::string version_text() {
  const std::string commit = commit_text();
  return commit.empty() ? SORREL_VERSION : SORREL_VERSION ", commit " + commit;
}

std::string commit_text() {
  return SORREL_COMMIT;
}

}  // namespace sorrel::tool
