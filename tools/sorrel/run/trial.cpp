#include "tools/sorrel/run/trial.hpp"

#include <filesystem>
#include <fmt/core.h>
#include <sys/stat.h>
#include <system_error>

#include "base/small_file.hpp"
#include "os/cpu_set.hpp"
#include "tools/sorrel/common/cache_file.hpp"

namespace sorrel::tool {

namespace {

FormTable read_table(const std::string& path) {
  constexpr std::size_t bytes_max = std::size_t{1} << 20;
  std::string text;
  return read_small_file(path, bytes_max, text).empty() ? FormTable::parse(text) : FormTable();
}

/// What makes runs comparable: the program's file, its arguments, the folder, and where it runs.
std::string describe_job(const RunPlan& plan, const ProgramReport& program, Arguments words) {
  struct stat file{};
  stat(program.path.c_str(), &file);
  std::error_code error;
  std::string text = fmt::format("{};{};{}.{};{};{};{};{}", program.path, file.st_size,
                                 file.st_mtim.tv_sec, file.st_mtim.tv_nsec, plan.job.rank_count,
                                 SORREL_VERSION, os::format_cpu_ranges(os::allowed_cpus()),
                                 std::filesystem::current_path(error).string());
  for (const char* word : words)
    text += fmt::format(";{}", word);
  return text;
}

}  // namespace

void Trial::keep(double seconds, double other_work) const {
  constexpr double other_work_max = 0.25;
  if (other_work > other_work_max) return;
  // Read again: other runs may have ended meanwhile.
  FormTable table = read_table(path);
  table.add(job, choice.form, seconds);
  keep_file(path, table.text());
}

std::optional<Trial> find_trial(const RunPlan& plan,
                                const RunOptions& options,
                                const RunRequest& request,
                                const ProgramReport& program,
                                Arguments words) {
  const bool needs_form = request.workers || plan.job.wire || plan.job.seed ||
                          options.comm_worker || options.omp || options.trace.any() ||
                          options.check.any() || !options.checkpoint.empty() ||
                          request.balance != launch::Balance::off || !program.wrapper.empty() ||
                          !plan.host.name.empty();
  if (needs_form || !plan.choice || !plan.choice->is_free) return std::nullopt;
  Trial trial{.path = cache_path("forms"),
              .job = number_of(describe_job(plan, program, words)),
              .choice = {}};
  if (trial.path.empty()) return std::nullopt;
  trial.choice = choose_form(read_table(trial.path).find(trial.job));
  return trial;
}

}  // namespace sorrel::tool
