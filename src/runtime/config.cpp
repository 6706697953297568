#include "runtime/config.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"
#include "loop/team/loop.hpp"
#include "os/library_search.hpp"
#include "os/standard_descriptors.hpp"
#include "runtime/host_job.hpp"
#include "runtime/job_variables.hpp"

namespace sorrel::runtime {

namespace {

constexpr int refused_status = 2;
/// Longer than any wait.
constexpr std::int64_t spin_ns_most = 1'000'000'000'000;
constexpr std::int64_t eager_bytes_most = 16384;

/// Null in a process that runs with other rights than its caller, which ignores the environment.
const char* variable(const char* name) {
  return ::secure_getenv(name);
}

/// Ends the process: one process of the job prints the line.
[[noreturn]] void fail(const Config& config, const std::string& text) {
  record_failure(config.wrapped);
  const bool is_reporter =
      config.memory == nullptr || config.memory->claim_ending(config.own_process);
  if (is_reporter) std::fprintf(stderr, "sorrel: %s\n", text.c_str());
  ::_exit(refused_status);
}

/// Whether `sorrel run` has started this process. Variables without a seal are ignored.
bool has_job() {
  const char* seal = variable(seal_variable);
  if (seal == nullptr) return false;
  if (seal == seal_of(variable)) return true;
  fail({},
       "the SORREL_* variables in the environment are not those of one `sorrel run`: unset them");
}

/// The number in a variable of the job, or `fallback` when it is not set.
std::int64_t number_in(const char* name, std::int64_t fallback) {
  const char* text = variable(name);
  if (text == nullptr) return fallback;
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text, &end, 10);
  SORREL_CHECK(end != text && *end == '\0' && value >= 0, "%s=%s is not a number", name, text);
  return value;
}

/// The same for a variable that users may set: a wrong value is named and not used.
std::int64_t user_number_in(const char* name, std::int64_t fallback, std::int64_t most) {
  const char* text = variable(name);
  if (text == nullptr) return fallback;
  char* end = nullptr;
  errno = 0;
  const std::int64_t value = std::strtoll(text, &end, 10);
  if (end != text && *end == '\0' && errno == 0 && value >= 0 && value <= most) return value;
  std::fprintf(stderr,
               "sorrel: %s must be a whole number from 0 to %lld, not '%s'; using the default\n",
               name, static_cast<long long>(most), text);
  return fallback;
}

std::string text_in(const char* name) {
  const char* text = variable(name);
  return text == nullptr ? "" : text;
}

std::vector<int> cpu_list_in(const char* name) {
  std::vector<int> cpus;
  const char* text = variable(name);
  while (text != nullptr && *text != '\0') {
    char* end = nullptr;
    cpus.push_back(static_cast<int>(std::strtol(text, &end, 10)));
    if (end == text) break;
    text = *end == ',' ? end + 1 : end;
  }
  return cpus;
}

void restore(const char* name, const char* saved_name) {
  const std::string saved = text_in(saved_name);
  if (!saved.empty()) {
    setenv(name, saved.c_str(), 1);
  } else {
    unsetenv(name);
  }
}

/// Restores what `sorrel run` has changed for the loader, unless a wrapper has changed it since.
void restore_loader_variables() {
  unsetenv("LD_BIND_NOW");
  const std::string given = text_in("SORREL_OWN_LD_LIBRARY_PATH");
  if (given.empty() || given == text_in("LD_LIBRARY_PATH"))
    restore("LD_LIBRARY_PATH", "SORREL_OLD_LD_LIBRARY_PATH");
  // Set only if `sorrel run` had to put the library before one that the program names itself.
  if (variable("SORREL_OLD_LD_PRELOAD") != nullptr) restore("LD_PRELOAD", "SORREL_OLD_LD_PRELOAD");
}

void remove_job_variables() {
  for (const char* name : job_variables)
    unsetenv(name);
  for (const char* name : {seal_variable, "SORREL_SHARE", "SORREL_HOST_MEMORY", "SORREL_SPIN",
                           "SORREL_EAGER", "SORREL_PULL"})
    unsetenv(name);
}

/// The simulated nodes in SORREL_WIRE: nodes, latency in ns, jitter in ns, bytes per second.
transport::WireOptions wire_in_environment(std::optional<std::uint64_t> seed) {
  transport::WireOptions wire{.node_count = 0};
  const char* text = variable("SORREL_WIRE");
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

/// Maps the memory that `sorrel run` has made. It stays mapped.
core::JobMemory* adopt_memory(const Config& config) {
  if (variable("SORREL_SEGMENT") == nullptr) return nullptr;
  const core::JobShape shape{.process_count = config.process_count,
                             .workers_per_process = config.worker_count};
  const int descriptor = static_cast<int>(number_in("SORREL_SEGMENT", -1));
  auto segment = os::SharedSegment::adopt(descriptor, core::JobMemory::bytes_needed(shape));
  if (!segment.is_valid()) {
    fail(config, text_of("the job's memory (descriptor %d) cannot be mapped: %s%s%s", descriptor,
                         std::strerror(errno),
                         config.wrapped.wrapper.empty() ? "" : "; it must stay open below ",
                         config.wrapped.wrapper.c_str()));
  }
  return new core::JobMemory(shape, std::move(segment));
}

void join_wrapped_job(Config& config) {
  if (config.wrapped.wrapper.empty() || variable("SORREL_CLAIMS") == nullptr) return;
  const std::string error = claim_job(config, static_cast<int>(number_in("SORREL_CLAIMS", -1)));
  if (!error.empty()) fail(config, error);
}

}  // namespace

const Config& process_config() {
  // Never destroyed: it is used until the process ends.
  static const Config& config = *new Config(take_config_from_environment());
  return config;
}

Config take_config_from_environment() {
  os::reserve_standard_descriptors();
  Config config;
  if (!has_job()) return config;
  config.rank_count = static_cast<std::int32_t>(number_in("SORREL_RANKS", config.rank_count));
  config.worker_count =
      static_cast<std::uint32_t>(number_in("SORREL_WORKERS", config.worker_count));
  config.process_count =
      static_cast<std::uint32_t>(number_in("SORREL_PROCESSES", config.process_count));
  config.own_process = static_cast<std::uint32_t>(number_in("SORREL_PROCESS", config.own_process));
  config.process_mode = number_in("SORREL_IN_PLACE", 0) != 0;
  config.launcher = static_cast<pid_t>(number_in("SORREL_LAUNCHER", 0));
  config.wrapped = {.wrapper = text_in("SORREL_WRAPPER"),
                    .program = text_in("SORREL_WRAPPED"),
                    .command = text_in("SORREL_COMMAND")};
  config.memory = adopt_memory(config);
  join_wrapped_job(config);
  config.has_comm_worker = number_in("SORREL_COMM_WORKER", 0) != 0;
  if (config.memory != nullptr) config.process_in_memory = config.own_process;
  config.cpus = cpu_list_in("SORREL_CPUS");
  config.stack_bytes = static_cast<std::size_t>(
      number_in("SORREL_STACK", static_cast<std::int64_t>(config.stack_bytes)));
  if (variable("SORREL_SEED_OF_RUN") != nullptr)
    config.seed = static_cast<std::uint64_t>(number_in("SORREL_SEED_OF_RUN", 0));
  config.wire = wire_in_environment(config.seed);
  config.has_rank_labels = number_in("SORREL_LABEL", 0) != 0;
  config.is_verbose = variable("SORREL_VERBOSE") != nullptr;
  config.spin_ns_max = user_number_in("SORREL_SPIN", config.spin_ns_max, spin_ns_most);
  config.eager_bytes_max = static_cast<std::uint32_t>(
      user_number_in("SORREL_EAGER", config.eager_bytes_max, eager_bytes_most));
  config.may_pull = user_number_in("SORREL_PULL", 1, 1) != 0;
  const char* shared = variable("SORREL_SHARED");
  config.shared_libraries = os::split_path(shared == nullptr ? "" : shared, ',');
  if (has_host_in_environment()) join_host(config);
  config.loops = loop::settings_of_environment(config.worker_count);
  config.loops.is_quiet = config.own_process != 0;
  config.loops.stack_bytes = config.stack_bytes;
  restore_loader_variables();
  remove_job_variables();
  return config;
}

}  // namespace sorrel::runtime
