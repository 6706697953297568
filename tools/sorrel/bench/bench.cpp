// `sorrel bench`: starts the Python package python/sorrel_bench.

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/common/program_file.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* package = "/sorrel_bench/__main__.py";

/// The folder that holds the package: share/ of an installed tree, or the sources to which the
/// build tree's include link leads. "" if it is in neither.
std::string find_package_folder(const Installation& installation) {
  const std::string& executable = installation.executable;
  const std::string installed =
      executable.substr(0, executable.rfind('/')) + "/../share/sorrel/python";
  if (access((installed + package).c_str(), R_OK) == 0) return installed;
  char include[PATH_MAX];
  if (realpath(installation.include_dir.c_str(), include) == nullptr) return "";
  const std::string in_sources = std::string(include) + "/../python";
  return access((in_sources + package).c_str(), R_OK) == 0 ? in_sources : "";
}

}  // namespace

int bench_command(Arguments arguments) {
  const Installation installation = find_installation();
  const std::string folder = find_package_folder(installation);
  if (folder.empty())
    return report_error(
        "bench: this installation has no benchmarks; configure with -DSORREL_BENCH=ON");

  const char* chosen = std::getenv("PYTHON");
  const std::string python = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
  // -B: the package may be in a source tree, where no compiled files may be left.
  std::vector<std::string> words = {python,         "-B",        "-m",
                                    "sorrel_bench", "--command", installation.executable};
  words.insert(words.end(), arguments.begin(), arguments.end());
  setenv("PYTHONPATH", folder.c_str(), 1);
  execvp(python.c_str(), pointers_to(words).data());
  (void)report_error("bench needs Python 3.11 or newer, but {} cannot be started: {}", python,
                     std::strerror(errno));
  return exit_cannot_execute;
}

}  // namespace sorrel::tool
