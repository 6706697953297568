#include "runtime/process_config.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <poll.h>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "launch/exit_status.hpp"
#include "launch/job_parts.hpp"
#include "loop/team/loop.hpp"
#include "os/shared_segment.hpp"
#include "os/standard_descriptors.hpp"
#include "program/base/restart_note.hpp"
#include "runtime/host/host_job.hpp"
#include "runtime/own_mark.hpp"
#include "runtime/wrapped_job.hpp"

namespace sorrel::runtime {

namespace {

/// Longer than any wait.
constexpr std::int64_t spin_ns_most = 1'000'000'000'000;
constexpr std::int64_t eager_bytes_most = 16384;
constexpr std::int64_t move_seed_most = std::int64_t{1} << 62;

/// Null in a process that runs with other rights than its caller, which ignores the environment.
const char* variable(const char* name) {
  return ::secure_getenv(name);
}

/// Ends the process: one process of the job prints the line.
[[noreturn]] void fail(const Config& config, const std::string& text) {
  record_failure(config);
  const bool is_reporter =
      config.memory == nullptr || config.memory->claim_ending(config.own_process);
  if (is_reporter) std::fprintf(stderr, "sorrel: %s\n", printable(text).c_str());
  ::_exit(exit_invalid_input);
}

/// The job of this process as `sorrel run` has launched it; nothing without `run`.
std::optional<launch::JobSpec> launched_job() {
  const char* text = variable(launch::job_variable);
  if (text == nullptr) return std::nullopt;
  auto spec = launch::decode(text);
  if (!spec) {
    fail({}, text_of("%s in the environment is not that of one `sorrel run`: unset it",
                     launch::job_variable));
  }
  return spec;
}

/// The number from 0 to `most` in a variable that users may set; a wrong value is named and not
/// used.
std::optional<std::int64_t> user_number_in(const char* name, std::int64_t most) {
  const char* text = variable(name);
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const std::int64_t value = std::strtoll(text, &end, 10);
  if (end != text && *end == '\0' && errno == 0 && value >= 0 && value <= most) return value;
  std::fprintf(stderr,
               "sorrel: %s must be a whole number from 0 to %lld, not '%s'; using the default\n",
               name, static_cast<long long>(most), text);
  return std::nullopt;
}

std::string text_in(const char* name) {
  const char* text = variable(name);
  return text == nullptr ? "" : text;
}

/// The settings that users make by hand. What `sorrel run` has decided goes before.
void read_user_settings(Config& config) {
  config.spin_ns_max = user_number_in("SORREL_SPIN", spin_ns_most);
  if (!config.eager_bytes_max) {
    if (const auto bytes = user_number_in("SORREL_EAGER", eager_bytes_most))
      config.eager_bytes_max = static_cast<std::uint32_t>(*bytes);
  }
  config.may_pull = user_number_in("SORREL_PULL", 1).value_or(1) != 0;
  if (const auto seed = user_number_in("SORREL_MOVE_SEED", move_seed_most))
    config.move_seed = static_cast<std::uint64_t>(*seed);
  config.begins_balance_at_once = user_number_in("SORREL_BALANCE_START", 1).value_or(0) != 0;
  config.may_share_memory = text_in("SORREL_HOST_MEMORY") != "0";
  config.has_recorder = !text_in("SORREL_FLIGHT").empty();
}

void restore(const char* name, const std::string& old_value) {
  if (!old_value.empty()) {
    setenv(name, old_value.c_str(), 1);
  } else {
    unsetenv(name);
  }
}

/// Removes what `sorrel run` has put into LD_PRELOAD. What a wrapper has put there stays.
void remove_preloaded(const std::string& preloaded) {
  std::string list = ":" + text_in("LD_PRELOAD") + ":";
  const std::size_t at = preloaded.empty() ? list.npos : list.find(":" + preloaded + ":");
  if (at == list.npos) return;
  list.erase(at, preloaded.size() + 1);
  restore("LD_PRELOAD", list.size() > 2 ? list.substr(1, list.size() - 2) : "");
}

/// Removes this library from LD_PRELOAD: libsorrel-early has put it there below a wrapper.
void remove_own_library() {
  const std::string list = text_in("LD_PRELOAD");
  std::string kept;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    const std::string file = list.substr(at, end - at);
    if (file.find("/libsorrel-runtime.so.") == file.npos) kept += (kept.empty() ? "" : ":") + file;
    at = end + 1;
  }
  restore("LD_PRELOAD", kept);
}

/// Restores what `sorrel run` has changed for the loader, unless a wrapper has changed it since.
void restore_loader_variables(const Config& config) {
  unsetenv("LD_BIND_NOW");
  const std::string& given = config.wrapper.library_path;
  if (given.empty() || given == text_in("LD_LIBRARY_PATH"))
    restore("LD_LIBRARY_PATH", config.old_library_path);
  remove_preloaded(config.preloaded);
  if (!config.wrapper.name.empty()) remove_own_library();
}

void remove_job_variables() {
  for (const char* name :
       {launch::job_variable, "SORREL_SHARE", "SORREL_HOST_MEMORY", "SORREL_SPIN", "SORREL_EAGER",
        "SORREL_PULL", "SORREL_MOVE_SEED", "SORREL_BALANCE_START", "SORREL_FLIGHT"})
    unsetenv(name);
}

/// Maps the memory that `sorrel run` has made. It stays mapped.
core::JobMemory* adopt_memory(const Config& config) {
  if (!config.memory_descriptor) return nullptr;
  SORREL_CHECK(config.own_process < config.process_count, "process %u of %u", config.own_process,
               config.process_count);
  const core::JobShape shape{.process_count = config.process_count,
                             .workers_per_process = launch::workers_per_process(config)};
  const int descriptor = *config.memory_descriptor;
  auto segment = os::SharedSegment::adopt(descriptor, core::JobMemory::bytes_needed(shape));
  if (!segment.is_valid()) {
    fail(config, text_of("the job's memory (descriptor %d) cannot be mapped: %s%s%s", descriptor,
                         std::strerror(errno),
                         config.wrapper.name.empty() ? "" : "; it must stay open below ",
                         config.wrapper.name.c_str()));
  }
  return new core::JobMemory(shape, std::move(segment));
}

/// Maps what `sorrel run` reads when a process was killed. It stays mapped.
void adopt_restart_note(const Config& config) {
  if (!config.restart_note_descriptor) return;
  static os::SharedSegment& segment = *new os::SharedSegment(
      os::SharedSegment::adopt(*config.restart_note_descriptor, sizeof(launch::RestartNote)));
  if (!segment.is_valid()) fail(config, text_of("a segment of the job: %s", std::strerror(errno)));
  program::restart_note = reinterpret_cast<launch::RestartNote*>(segment.base());
}

void join_wrapped_job(Config& config) {
  if (config.wrapper.name.empty() || !config.wrapper.claims_descriptor) return;
  const std::string error = claim_job(config, *config.wrapper.claims_descriptor);
  if (!error.empty()) fail(config, error);
}

}  // namespace

void refuse_split_job() {
  const launch::Launched& launched = process_config().launched;
  if (launched.text.empty()) return;
  // The first one reports for all, and its launcher ends the others with it.
  if (!launched.is_first) ::poll(nullptr, 0, 1000);
  fail(process_config(),
       launched.text +
           " without `sorrel run`, and each would be a job of its own: put `sorrel run -n RANKS` "
           "before the program; SORREL_HOST=none in the environment makes each a job of one rank");
}

const Config& process_config() {
  // Never destroyed: it is used until the process ends.
  static const Config& config = *new Config(take_config_from_environment());
  return config;
}

Config take_config_from_environment() {
  os::reserve_standard_descriptors();
  take_mark_from_environment();
  Config config;
  auto spec = launched_job();
  if (!spec) {
    if (text_in("SORREL_HOST") != "none") config.launched = launch::launched_in(variable);
    return config;
  }
  static_cast<launch::JobSpec&>(config) = *std::move(spec);
  config.is_launched = true;
  config.memory = adopt_memory(config);
  adopt_restart_note(config);
  join_wrapped_job(config);
  if (config.memory != nullptr) config.process_in_memory = config.own_process;
  read_user_settings(config);
  if (!config.host_mpi.name.empty()) join_host(config);
  config.loops = loop::settings_of_environment(config.worker_count);
  config.loops.is_quiet = config.own_process != 0;
  config.loops.stack_bytes = config.stack_bytes;
  restore_loader_variables(config);
  remove_job_variables();
  return config;
}

}  // namespace sorrel::runtime
