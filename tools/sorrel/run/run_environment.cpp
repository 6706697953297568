#include "tools/sorrel/run/run_environment.hpp"

#include <cstdlib>

#include "launch/process_mark.hpp"
#include "launch/rank_variables.hpp"

namespace sorrel::tool {

std::string prepend_to_variable(const char* name, const std::string& first) {
  const char* variable = std::getenv(name);
  std::string before = variable == nullptr ? "" : variable;
  setenv(name, (first + (before.empty() ? "" : ":") + before).c_str(), 1);
  return before;
}

void set_loader_variables(launch::JobSpec& job,
                          const std::string& library_folders,
                          const std::string& preloaded) {
  setenv("LD_BIND_NOW", "1", 1);
  job.old_library_path = prepend_to_variable("LD_LIBRARY_PATH", library_folders);
  job.preloaded = preloaded;
  if (!preloaded.empty()) prepend_to_variable("LD_PRELOAD", preloaded);
}

void set_rank_variables(const launch::JobSpec& job, const launch::ProcessShare& share) {
  if (share.rank_count != 1) return launch::unset_rank_variables();
  launch::set_rank_variables({.rank = share.first_rank,
                              .rank_count = job.rank_count,
                              .local_rank = share.first_rank,
                              .local_rank_count = job.rank_count});
}

void set_job_variable(const launch::JobSpec& job) {
  setenv(launch::job_variable, launch::encode(job).c_str(), 1);
  const auto mark = launch::encode(launch::ProcessMark{});
  setenv(launch::mark_variable, std::string(mark.data(), mark.size()).c_str(), 1);
}

}  // namespace sorrel::tool
