#include "tools/sorrel/run_environment.hpp"

#include <cstdlib>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "os/cpu_set.hpp"
#include "runtime/job_variables.hpp"

namespace sorrel::tool {

namespace {

/// Puts `first` before the value of a colon-separated variable, and keeps the old value where the
/// library finds it.
void prepend_to_variable(const char* name, const std::string& first) {
  const std::string saved_name = std::string("SORREL_OLD_") + name;
  const char* before = std::getenv(name);
  if (before == nullptr) {
    setenv(name, first.c_str(), 1);
    return;
  }
  setenv(saved_name.c_str(), before, 1);
  setenv(name, (first + (*before == '\0' ? "" : ":") + before).c_str(), 1);
}

}  // namespace

void set_environment(const RunPlan& plan,
                     const std::string& library_folders,
                     const std::string& preloaded) {
  // Left by an outer job, or set by the user.
  for (const char* name : runtime::job_variables)
    unsetenv(name);
  setenv("SORREL_RANKS", std::to_string(plan.ranks).c_str(), 1);
  setenv("SORREL_WORKERS", std::to_string(plan.workers).c_str(), 1);
  if (plan.host.name.empty())
    setenv("SORREL_CPUS", os::format_cpu_list(plan.cpus_of(0)).c_str(), 1);
  if (plan.stack_bytes != 0) setenv("SORREL_STACK", std::to_string(plan.stack_bytes).c_str(), 1);
  if (plan.label && !plan.process_mode) setenv("SORREL_LABEL", "1", 1);
  if (plan.has_comm_worker) setenv("SORREL_COMM_WORKER", "1", 1);
  // Without the option, the user's variable is used.
  if (!plan.share.empty()) setenv("SORREL_SHARE", plan.share.c_str(), 1);
  if (plan.shared.empty()) {
    unsetenv("SORREL_SHARED");
  } else {
    setenv("SORREL_SHARED", fmt::format("{}", fmt::join(plan.shared, ",")).c_str(), 1);
  }
  if (plan.wire) {
    setenv("SORREL_WIRE",
           fmt::format("{},{},{},{}", plan.wire->nodes, plan.wire->latency_ns, plan.wire->jitter_ns,
                       plan.wire->bytes_per_second)
               .c_str(),
           1);
  }
  if (plan.seed) setenv("SORREL_SEED_OF_RUN", std::to_string(*plan.seed).c_str(), 1);
  if (plan.choice) {
    setenv("SORREL_SPIN", std::to_string(plan.choice->spin_ns).c_str(), 1);
    setenv("SORREL_EAGER", std::to_string(plan.choice->eager_bytes).c_str(), 1);
  }
  if (plan.verbose) setenv("SORREL_VERBOSE", "1", 1);
  setenv("LD_BIND_NOW", "1", 1);
  prepend_to_variable("LD_LIBRARY_PATH", library_folders);
  if (!preloaded.empty()) {
    prepend_to_variable("LD_PRELOAD", preloaded);
    // If it is set, even to nothing, the library restores LD_PRELOAD.
    setenv("SORREL_OLD_LD_PRELOAD", "", 0);
  }
}

void set_process_environment(const RunPlan& plan, std::uint32_t index, int segment_descriptor) {
  setenv("SORREL_CPUS", os::format_cpu_list(plan.cpus_of(index)).c_str(), 1);
  setenv("SORREL_PROCESSES", std::to_string(plan.processes).c_str(), 1);
  setenv("SORREL_PROCESS", std::to_string(index).c_str(), 1);
  setenv("SORREL_SEGMENT", std::to_string(segment_descriptor).c_str(), 1);
  setenv("SORREL_IN_PLACE", plan.process_mode ? "1" : "0", 1);
}

void set_wrapper_environment(const ProgramReport& program,
                             const Installation& installation,
                             int claims) {
  setenv("SORREL_WRAPPER", program.wrapper.c_str(), 1);
  setenv("SORREL_WRAPPED", program.wrapped_path.c_str(), 1);
  setenv("SORREL_COMMAND", installation.executable.c_str(), 1);
  // Shows the library whether a wrapper has changed LD_LIBRARY_PATH.
  setenv("SORREL_OWN_LD_LIBRARY_PATH", std::getenv("LD_LIBRARY_PATH"), 1);
  if (claims < 0) return;
  setenv("SORREL_LAUNCHER", std::to_string(getppid()).c_str(), 1);
  setenv("SORREL_CLAIMS", std::to_string(claims).c_str(), 1);
}

void seal_environment() {
  const std::string seal =
      runtime::seal_of([](const char* name) -> const char* { return std::getenv(name); });
  setenv(runtime::seal_variable, seal.c_str(), 1);
}

void set_host_environment(const RunPlan& plan, const Installation& installation, int host_status) {
  setenv("SORREL_HOST", plan.host.name.c_str(), 1);
  setenv("SORREL_HOST_PLUGINS", installation.library_dir.c_str(), 1);
  setenv("SORREL_HOST_BOARD", std::to_string(host_status).c_str(), 1);
  if (!plan.host.library.empty()) setenv("SORREL_HOST_LIBRARY", plan.host.library.c_str(), 1);
  if (plan.host.is_slurm) setenv("SORREL_HOST_ABORTS", "1", 1);
  if (!plan.is_bound) setenv("SORREL_HOST_UNBOUND", "1", 1);
  setenv("SORREL_CPUS", os::format_cpu_list(plan.cpus).c_str(), 1);
  setenv("SORREL_IN_PLACE", plan.process_mode ? "1" : "0", 1);
}

}  // namespace sorrel::tool
