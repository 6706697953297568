#include "os/machine_name.hpp"

#include <algorithm>
#include <fstream>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include "base/text.hpp"

namespace sorrel::os {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t begin = line.find_first_not_of(" \t", line.find(':') + 1);
    return begin == std::string::npos ? "unknown" : line.substr(begin);
  }
  return "unknown";
}

std::string machine_name() {
  utsname names{};
  ::uname(&names);
  std::string name =
      text_of("%s, %s, %s, %s %s, glibc %s", names.nodename, names.machine,
              processor_name().c_str(), names.sysname, names.release, ::gnu_get_libc_version());
  std::ranges::replace_if(name, [](char letter) { return letter < ' ' || letter > '~'; }, '?');
  return name;
}

}  // namespace sorrel::os
