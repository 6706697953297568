#include "omp/region/other_libraries.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "os/library_state.hpp"
#include "os/loaded_libraries.hpp"

namespace sorrel::omp {

namespace {

struct OtherLibraries {
  /// The libraries that were loaded before the program's own code ran; null: no lines are wanted.
  std::vector<std::string>* first = nullptr;
  std::atomic<bool> was_requested{false};
};

constinit OtherLibraries other_libraries;

bool is_openmp_library(std::string_view path) {
  return std::ranges::any_of(
      std::initializer_list<const char*>{"libgomp.so", "libomp.so", "libiomp5.so"},
      [&](const char* name) { return os::is_library(path, name); });
}

std::vector<std::string> loaded_openmp_libraries() {
  std::vector<std::string> paths = os::loaded_libraries();
  std::erase_if(paths, [](const std::string& path) { return !is_openmp_library(path); });
  return paths;
}

void report() {
  // The first one is preloaded.
  const std::vector<std::string> paths = loaded_openmp_libraries();
  for (const std::string& path : paths) {
    if (path == paths.front()) {
      std::fprintf(stderr, "sorrel: note: OpenMP: %s has run this process\n", path.c_str());
      continue;
    }
    const bool is_first =
        std::ranges::find(*other_libraries.first, path) != other_libraries.first->end();
    std::fprintf(stderr, "sorrel: note: OpenMP: %s was %s, and is not used\n", path.c_str(),
                 is_first ? "loaded" : "opened later");
  }
}

[[gnu::constructor]] void record_first_libraries() {
  const char* const setting = std::getenv("SORREL_OMP_VERBOSE");
  if (setting == nullptr || std::strcmp(setting, "1") != 0) return;
  other_libraries.first = new std::vector<std::string>(loaded_openmp_libraries());
}

}  // namespace

void report_other_libraries_at_end() {
  // Relaxed: a flag by itself.
  if (other_libraries.first == nullptr ||
      other_libraries.was_requested.exchange(true, std::memory_order_relaxed))
    return;
  std::atexit(report);
}

}  // namespace sorrel::omp
