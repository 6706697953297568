// Environment variables of OpenMP and of parallel loops: lines of NAME=VALUE.
#include <map>
#include <string>

#include "fuzz/harness.hpp"
#include "omp/icv/affinity_text.hpp"
#include "omp/icv/environment.hpp"

using sorrel::fuzz::require;
using namespace sorrel::omp;

extern "C" const char* const sorrel_fuzz_tokens[];
const char* const sorrel_fuzz_tokens[] = {"OMP_NUM_THREADS=",
                                          "OMP_SCHEDULE=",
                                          "OMP_PROC_BIND=",
                                          "OMP_PLACES=",
                                          "OMP_STACKSIZE=",
                                          "OMP_AFFINITY_FORMAT=",
                                          "OMP_THREAD_LIMIT=",
                                          "OMP_MAX_ACTIVE_LEVELS=",
                                          "OMP_WAIT_POLICY=",
                                          "OMP_DISPLAY_ENV=",
                                          "MP_SET_NUMTHREADS=",
                                          "MP_SUGNUMTHD=",
                                          "MP_SUGNUMTHD_MIN=",
                                          "MP_SUGNUMTHD_MAX=",
                                          "MP_BLOCKTIME=",
                                          "SORREL_SHARE=",
                                          "GOMP_STACKSIZE=",
                                          "nonmonotonic:",
                                          "{0:4}:2:4",
                                          "cores(2)",
                                          "!",
                                          "%0.99999999999999999999{thread_num}",
                                          "%{",
                                          "%",
                                          "true",
                                          "verbose",
                                          ",",
                                          "\n",
                                          nullptr};

namespace {

/// A diagnostic must begin with the name of the variable.
void require_name(const std::string& diagnostic, const std::map<std::string, std::string>& set) {
  require(!diagnostic.empty(), "a diagnostic has a text");
  const std::string name = diagnostic.substr(0, diagnostic.find(' '));
  require(set.contains(name), "a diagnostic begins with the variable's name");
}

void check_environment(const std::map<std::string, std::string>& set, std::uint32_t cpus) {
  const auto lookup = [&](const char* name) -> const char* {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  };
  const Environment environment = read_environment(lookup, cpus);
  require(environment.icv.thread_count >= 1, "a team has at least one thread");
  for (const std::uint32_t count : environment.thread_counts)
    require(count >= 1, "a team of each level has at least one thread");
  require(environment.icv.chunk >= 0, "a chunk is not negative");
  require(environment.icv.active_levels_max <= active_levels_supported, "levels are bounded");
  require(environment.stack_bytes == 0 || environment.stack_bytes >= 16 * 1024,
          "a stack is not too small");
  const auto& limits = environment.loop_settings.limits;
  require(limits.width_min >= 1 && limits.width_min <= limits.width_max,
          "the number of threads has a least and a most");
  for (const std::string& diagnostic : environment.diagnostics)
    require_name(diagnostic, set);
  require(describe(environment, true).size() > describe(environment, false).size(),
          "verbose says more");
  (void)format_affinity(environment.affinity_format, AffinityFields{});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::map<std::string, std::string> set;
  std::string_view text = sorrel::fuzz::text_of(data, size);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    // The value of a variable ends at its first zero.
    const std::string_view before_zero = line.substr(0, line.find('\0'));
    const std::size_t equals = before_zero.find('=');
    if (equals != std::string_view::npos)
      set[std::string(before_zero.substr(0, equals))] = before_zero.substr(equals + 1);
  }
  check_environment(set, 1);
  check_environment(set, 8);
  return 0;
}
