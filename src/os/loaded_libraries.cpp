#include "os/loaded_libraries.hpp"

#include <link.h>

namespace sorrel::os {

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  const auto add = [](dl_phdr_info* info, std::size_t, void* argument) {
    if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
      static_cast<std::vector<std::string>*>(argument)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &paths);
  return paths;
}

}  // namespace sorrel::os
