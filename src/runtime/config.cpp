#include "runtime/config.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "loop/team/loop.hpp"

namespace sorrel::runtime {

namespace {

/// The number in a variable, or `fallback` when it is not set. `sorrel run` has checked what people
/// wrote.
std::int64_t number_in(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr) return fallback;
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text, &end, 10);
  SORREL_CHECK(end != text && *end == '\0' && value >= 0, "%s=%s is no number", name, text);
  return value;
}

std::vector<int> cpu_list_in(const char* name) {
  std::vector<int> cpus;
  const char* text = std::getenv(name);
  while (text != nullptr && *text != '\0') {
    char* end = nullptr;
    cpus.push_back(static_cast<int>(std::strtol(text, &end, 10)));
    if (end == text) break;
    text = *end == ',' ? end + 1 : end;
  }
  return cpus;
}

void restore(const char* name, const char* saved_name) {
  const char* saved = std::getenv(saved_name);
  if (saved != nullptr && *saved != '\0') {
    setenv(name, saved, 1);
  } else {
    unsetenv(name);
  }
  unsetenv(saved_name);
}

/// Maps the memory that `sorrel run` has made, for good.
core::JobMemory* adopt_memory(const Config& config) {
  if (std::getenv("SORREL_SEGMENT") == nullptr) return nullptr;
  const core::JobShape shape{.process_count = config.process_count,
                             .workers_per_process = config.worker_count};
  auto segment = os::SharedSegment::adopt(static_cast<int>(number_in("SORREL_SEGMENT", -1)),
                                          core::JobMemory::bytes_needed(shape));
  SORREL_CHECK(segment.is_valid(), "the memory of the job cannot be mapped: %s",
               std::strerror(errno));
  return new core::JobMemory(shape, std::move(segment));
}

}  // namespace

const Config& process_config() {
  // Never destroyed: it is asked for until the process's last moment.
  static const Config& config = *new Config(take_config_from_environment());
  return config;
}

Config take_config_from_environment() {
  Config config;
  if (std::getenv("SORREL_RANKS") == nullptr) return config;
  config.rank_count = static_cast<std::int32_t>(number_in("SORREL_RANKS", config.rank_count));
  config.worker_count =
      static_cast<std::uint32_t>(number_in("SORREL_WORKERS", config.worker_count));
  config.process_count =
      static_cast<std::uint32_t>(number_in("SORREL_PROCESSES", config.process_count));
  config.own_process = static_cast<std::uint32_t>(number_in("SORREL_PROCESS", config.own_process));
  config.in_place = number_in("SORREL_IN_PLACE", 0) != 0;
  config.memory = adopt_memory(config);
  config.cpus = cpu_list_in("SORREL_CPUS");
  config.stack_bytes = static_cast<std::size_t>(
      number_in("SORREL_STACK", static_cast<std::int64_t>(config.stack_bytes)));
  config.has_rank_labels = number_in("SORREL_LABEL", 0) != 0;
  config.loops = loop::settings_of_environment(config.worker_count);
  for (const char* name :
       {"SORREL_RANKS", "SORREL_WORKERS", "SORREL_CPUS", "SORREL_STACK", "SORREL_LABEL",
        "SORREL_SHARE", "SORREL_PROCESSES", "SORREL_PROCESS", "SORREL_SEGMENT", "SORREL_IN_PLACE"})
    unsetenv(name);
  unsetenv("LD_BIND_NOW");
  restore("LD_LIBRARY_PATH", "SORREL_OLD_LD_LIBRARY_PATH");
  // Set only when `sorrel run` had to put the library before one that the program names itself.
  if (std::getenv("SORREL_OLD_LD_PRELOAD") != nullptr)
    restore("LD_PRELOAD", "SORREL_OLD_LD_PRELOAD");
  return config;
}

}  // namespace sorrel::runtime
