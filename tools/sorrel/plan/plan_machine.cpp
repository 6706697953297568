#include "tools/sorrel/plan/plan_machine.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <sorrel/grid/machine_file.hpp>

#include "os/file_owner.hpp"
#include "os/library_search.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/program_file.hpp"
#include "tools/sorrel/machine/other_work.hpp"
#include "tools/sorrel/machine/worker_plan.hpp"

namespace sorrel::tool {

namespace {

namespace files = std::filesystem;

std::vector<std::string> known_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : files::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "host";
  gethostname(name, sizeof name - 1);
  return name;
}

/// Starts a command and waits for its end; returns its exit status, or 126 if it cannot be started.
int run_and_wait(std::vector<std::string> words) {
  pid_t child = 0;
  if (posix_spawnp(&child, words[0].c_str(), nullptr, nullptr, pointers_to(words).data(),
                   environ) != 0)
    return exit_cannot_execute;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : exit_cannot_execute;
}

// Beyond these limits a plan would describe the other work, not the machine.
constexpr double other_work_limit = 0.10;
constexpr double spread_max = 0.25;

/// What a measurement starts.
struct Launch {
  std::vector<std::string> launcher;  ///< none: `sorrel run` alone
  std::int64_t process_count = 1;
  std::string machine_name;
};

/// Two ranks on each processor, so that both kinds of neighbours are measured.
std::string measure_into(const std::string& path,
                         const Launch& launch,
                         const Installation& installation) {
  const std::string program = os::folder_of(installation.executable) + "/../libexec/sorrel/measure";
  if (access(program.c_str(), X_OK) != 0)
    return "this installation cannot measure (libexec/sorrel/measure is missing); give --machine";
  if (const int error = os::make_private_folders(os::folder_of(path)); error != 0)
    return fmt::format("cannot make the folder {}: {}", os::folder_of(path), std::strerror(error));
  const std::int64_t workers = default_workers(read_machine_limits());
  const std::int64_t processors = workers * launch.process_count;
  print_diagnostic(fmt::format("note: measuring {} for some seconds; nothing else should run",
                               launch.launcher.empty() ? "this machine" : "the nodes"));
  std::vector<std::string> words = launch.launcher;
  for (const std::string& word :
       {installation.executable, std::string("run"), std::string("--share"), std::string("fixed"),
        std::string("-n"), std::to_string(2 * processors), std::string("--workers"),
        std::to_string(workers), program, launch.machine_name, std::to_string(processors), path})
    words.push_back(word);
  const int status = run_and_wait(words);
  if (status == exit_cannot_execute && !launch.launcher.empty())
    return fmt::format("--launch: cannot start {}", launch.launcher.front());
  return status == 0 ? "" : fmt::format("measuring ended with status {}; give --machine", status);
}

Result<grid::Machine> measured_machine(const std::string& path,
                                       const Launch& launch,
                                       const Installation& installation) {
  const OtherWork other_work;
  std::string trouble = measure_into(path, launch, installation);
  const double share = other_work.share();
  Result<grid::Machine> machine =
      trouble.empty() ? grid::load_machine(path) : Error{std::move(trouble)};
  std::error_code error;
  files::remove(path, error);
  if (!machine.has_value()) return machine;
  grid::Machine measured = machine.value();
  if (!measured.measurement) measured.measurement.emplace();
  measured.measurement->date = date_now();
  measured.measurement->other_work = share;
  return measured;
}

/// Measures into a file of its own first, so that a failure leaves the earlier result.
Result<grid::Machine> measured_and_kept(const std::string& path,
                                        const Launch& launch,
                                        bool is_kept_anyway,
                                        const Installation& installation) {
  Result<grid::Machine> machine =
      measured_machine(fmt::format("{}.{}", path, getpid()), launch, installation);
  if (!machine.has_value()) return machine;
  const grid::Measurement& measurement = *machine.value().measurement;
  if (was_busy(measurement) && !is_kept_anyway) {
    print_diagnostic(fmt::format(
        "note: the machine was busy, so this is not kept: {} (limits {:.0f} % and {:.0f} %); "
        "measure again when it is quiet, or keep it with --measure --force",
        describe(measurement), 100 * spread_max, 100 * other_work_limit));
    return machine;
  }
  if (const Result<void> saved = grid::save_machine(machine.value(), path); !saved)
    return Error{saved.error()};
  return machine;
}

}  // namespace

bool was_busy(const grid::Measurement& measurement) {
  return measurement.other_work.value_or(0) > other_work_limit ||
         measurement.spread.value_or(0) > spread_max;
}

std::string describe(const grid::Measurement& measurement) {
  std::string text = "measured";
  if (!measurement.date.empty()) text += " " + measurement.date;
  if (measurement.spread) text += fmt::format(", spread {:.0f} %", 100 * *measurement.spread);
  if (measurement.other_work)
    text += fmt::format(", other work {:.0f} %", 100 * *measurement.other_work);
  return text;
}

std::string kept_machine_path() {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/machine-" + host_name() + ".json";
}

Result<grid::Machine> named_machine(const std::string& name, const Installation& installation) {
  std::error_code error;
  if (files::exists(name, error)) return grid::load_machine(name);
  const std::string folder = data_folder(installation, "machines", "machines");
  const std::string path = folder + "/" + name + ".json";
  if (name.find('/') == std::string::npos && files::exists(path, error))
    return grid::load_machine(path);
  return Error{fmt::format("no machine file {}; give a file or one of {}", name,
                           fmt::join(known_names(folder), ", "))};
}

Result<grid::Machine> this_machine(const MeasureRequest& request,
                                   const Installation& installation) {
  const std::string path = kept_machine_path();
  if (path.empty()) return Error{no_cache_folder};
  std::error_code error;
  if (!request.is_anew && files::exists(path, error)) {
    // A result kept by another version may lack a number.
    Result<grid::Machine> kept = grid::load_machine(path);
    if (kept.has_value()) return kept;
  }
  return measured_and_kept(path, {.launcher = {}, .process_count = 1, .machine_name = host_name()},
                           request.is_kept_anyway, installation);
}

Result<grid::Machine> measured_cluster(const ClusterRequest& request,
                                       const Installation& installation) {
  return measured_and_kept(files::absolute(request.file).string(),
                           {.launcher = request.launcher,
                            .process_count = request.process_count,
                            .machine_name = files::path(request.file).stem().string()},
                           request.is_kept_anyway, installation);
}

}  // namespace sorrel::tool
