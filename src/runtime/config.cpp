#include "runtime/config.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "loop/team/loop.hpp"
#include "runtime/host_job.hpp"

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

/// The pretend nodes in SORREL_WIRE: nodes, latency in ns, jitter in ns, bytes per second.
transport::WireOptions wire_in_environment(std::optional<std::uint64_t> seed) {
  transport::WireOptions wire{.node_count = 0};
  const char* text = std::getenv("SORREL_WIRE");
  if (text == nullptr) return wire;
  long long latency_ns = 0;
  long long jitter_ns = 0;
  double bytes_per_second = 0;
  const int count = std::sscanf(text, "%u,%lld,%lld,%lf", &wire.node_count, &latency_ns, &jitter_ns,
                                &bytes_per_second);
  SORREL_CHECK(count == 4, "SORREL_WIRE=%s is not of the form nodes,latency,jitter,bandwidth",
               text);
  wire.latency_ns = latency_ns;
  wire.jitter_ns = jitter_ns;
  wire.bytes_per_ns = bytes_per_second * 1e-9;
  wire.seed = seed.value_or(wire.seed);
  return wire;
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
  config.has_comm_worker = number_in("SORREL_COMM_WORKER", 0) != 0;
  if (config.memory != nullptr) config.process_in_memory = config.own_process;
  config.cpus = cpu_list_in("SORREL_CPUS");
  config.stack_bytes = static_cast<std::size_t>(
      number_in("SORREL_STACK", static_cast<std::int64_t>(config.stack_bytes)));
  if (std::getenv("SORREL_SEED_OF_RUN") != nullptr)
    config.seed = static_cast<std::uint64_t>(number_in("SORREL_SEED_OF_RUN", 0));
  config.wire = wire_in_environment(config.seed);
  config.has_rank_labels = number_in("SORREL_LABEL", 0) != 0;
  config.spin_ns_max = number_in("SORREL_SPIN", config.spin_ns_max);
  config.eager_bytes_max =
      static_cast<std::uint32_t>(number_in("SORREL_EAGER", config.eager_bytes_max));
  config.may_pull = number_in("SORREL_PULL", 1) != 0;
  if (has_host_in_environment()) join_host(config);
  config.loops = loop::settings_of_environment(config.worker_count);
  for (const char* name :
       {"SORREL_RANKS",       "SORREL_WORKERS",      "SORREL_CPUS",         "SORREL_STACK",
        "SORREL_LABEL",       "SORREL_SHARE",        "SORREL_PROCESSES",    "SORREL_PROCESS",
        "SORREL_SEGMENT",     "SORREL_IN_PLACE",     "SORREL_WIRE",         "SORREL_SEED_OF_RUN",
        "SORREL_HOST",        "SORREL_HOST_PLUGINS", "SORREL_HOST_LIBRARY", "SORREL_HOST_BOARD",
        "SORREL_HOST_DAEMON", "SORREL_HOST_ABORTS",  "SORREL_HOST_UNBOUND", "SORREL_HOST_MEMORY",
        "SORREL_VERBOSE",     "SORREL_SPIN",         "SORREL_EAGER",        "SORREL_PULL",
        "SORREL_COMM_WORKER"})
    unsetenv(name);
  unsetenv("LD_BIND_NOW");
  restore("LD_LIBRARY_PATH", "SORREL_OLD_LD_LIBRARY_PATH");
  // Set only when `sorrel run` had to put the library before one that the program names itself.
  if (std::getenv("SORREL_OLD_LD_PRELOAD") != nullptr)
    restore("LD_PRELOAD", "SORREL_OLD_LD_PRELOAD");
  return config;
}

}  // namespace sorrel::runtime
