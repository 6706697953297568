// `sorrel bench`: starts the Python package python/sorrel_bench.

#include <cerrno>
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

}  // namespace

int bench_command(Arguments arguments) {
  const Installation installation = find_installation();
  const std::string folder = data_folder(installation, "python", "python");
  if (access((folder + package).c_str(), R_OK) != 0)
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
