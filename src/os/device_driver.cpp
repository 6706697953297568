#include "os/device_driver.hpp"

#include <algorithm>
#include <iterator>

#include "os/library_state.hpp"

namespace sorrel::os {

bool is_device_driver(std::string_view path) {
  static constexpr std::string_view names[] = {"libcuda.so", "libcudadebugger.so", "libnvidia-"};
  return std::any_of(std::begin(names), std::end(names),
                     [path](std::string_view name) { return is_library(path, name); });
}

}  // namespace sorrel::os
