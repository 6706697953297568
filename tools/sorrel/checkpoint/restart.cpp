// `sorrel restart DIR`: starts a job again from the newest whole checkpoint of its folder.

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "checkpoint/generations.hpp"
#include "tools/sorrel/checkpoint/checkpoint_list.hpp"
#include "tools/sorrel/checkpoint/folder_lock.hpp"
#include "tools/sorrel/checkpoint/job_file.hpp"
#include "tools/sorrel/checkpoint/key_file.hpp"
#include "tools/sorrel/checkpoint/newest_checkpoint.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/run/run_job.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* restart_usage = "sorrel restart [options] DIR";
constexpr const char* restart_description =
    "Starts a job again that was run by `sorrel run --checkpoint DIR`, from\n"
    "the newest whole checkpoint in DIR: the same program, arguments and\n"
    "ranks, in the same folder. What has changed since the checkpoint was\n"
    "made is an error: the executable, its libraries, the size of stacks.\n";
constexpr const char* restart_footer =
    "Examples:\n"
    "  sorrel run -n 64 --checkpoint save ./heat   saves where ./heat calls\n"
    "                                              sorrel_checkpoint()\n"
    "  sorrel restart save                         after a crash\n"
    "  sorrel restart --procs 2 save               in two processes\n"
    "  sorrel restart --workers 1 save             on one core\n"
    "  sorrel restart --list save                  what is there";

struct RestartOptions {
  std::string workers;
  std::string procs;
  bool is_listed = false;
  bool is_trusted = false;
  std::string folder;
  /// The command ends with this status: the parser of options has printed the help or the error.
  std::optional<int> status;
};

Result<RestartOptions> parse_restart(Arguments arguments) {
  RestartOptions options;
  const auto app = make_app(restart_usage, restart_description, restart_footer);
  app->add_option("-w,--workers", options.workers,
                  "Workers (OS threads) that run the ranks (default: as the job was started)")
      ->type_name("W");
  app->add_option(
         "--procs", options.procs,
         "Processes that share the ranks, fewer than ranks (default: as the job was started)")
      ->type_name("P");
  app->add_flag("--list", options.is_listed,
                "Print what is in DIR, check every byte, and start nothing");
  app->add_flag("--trust", options.is_trusted,
                "Also start what no job of this user has written: its memory, its program and its "
                "options run with your rights");
  const SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return Error{split.error};
  options.status = parse_options(*app, split.options);
  if (options.status) return options;
  if (split.program.size() != 1)
    return Error{fmt::format("one folder is needed; usage: {}", restart_usage)};
  const char* const given = split.program.front();
  if (const std::string refusal = link_refusal(given); !refusal.empty()) return Error{refusal};
  char* const path = ::realpath(given, nullptr);
  if (path == nullptr) return Error{fmt::format("{}: {}", given, std::strerror(errno))};
  options.folder = path;
  std::free(path);
  return options;
}

Result<int> list(const checkpoint::Generations& generations, const std::string& folder) {
  const Result<JobFile> job = read_job_file(folder);
  if (!job.has_value()) return Error{job.error()};
  fmt::print("{}", list_of(generations, job.value()));
  return 0;
}

/// The newest checkpoint that may be started.
Result<std::uint64_t> trusted_generation(const checkpoint::Generations& generations,
                                         const RestartOptions& options,
                                         const KeyFile& key,
                                         const JobFile& job) {
  const Result<std::uint64_t> newest = newest_checkpoint(generations);
  if (!newest.has_value()) return newest;
  if (*newest == 0) return Error{fmt::format("{} has no whole checkpoint", options.folder)};
  if (options.is_trusted || generations.is_of_user(*newest)) return newest;
  return Error{fmt::format(
      "no job of this user has written checkpoint {} of {}: {}; it was written by {}, and a "
      "restart would run its memory, its program and its options with your rights; --trust "
      "starts it nevertheless",
      *newest, options.folder,
      key.error.empty() ? fmt::format("its code does not fit the key {}", key.path) : key.error,
      job.writer)};
}

/// Runs the job in its folder; returns the exit status of the command.
Result<int> start_again(const checkpoint::Generations& generations,
                        const RestartOptions& options,
                        const KeyFile& key) {
  const Result<std::optional<int>> lock = lock_folder(options.folder);
  if (!lock.has_value()) return Error{lock.error()};
  Result<JobFile> job = read_job_file(options.folder);
  if (!job.has_value()) return Error{job.error()};
  const Result<std::uint64_t> generation = trusted_generation(generations, options, key, *job);
  if (!generation.has_value()) return Error{generation.error()};
  if (!key.error.empty())
    print_diagnostic("note: checkpoints have no code, and a restart needs --trust: " + key.error);
  if (::chdir(job->folder.c_str()) != 0)
    return Error{fmt::format("the folder of the job, {}: {}", job->folder, std::strerror(errno))};
  std::vector<char*> words;
  for (std::string& word : job->words)
    words.push_back(word.data());
  words.push_back(nullptr);
  Restart restart{.folder = options.folder,
                  .lock = lock.value(),
                  .key = key.error.empty() ? key.path : "",
                  .generation = *generation,
                  .random = job->random,
                  .options = {fmt::format("--ranks={}", job->rank_count)}};
  if (!options.workers.empty()) restart.options.push_back("--workers=" + options.workers);
  if (!options.procs.empty()) restart.options.push_back("--procs=" + options.procs);
  return run_job(Arguments(words).first(words.size() - 1), &restart);
}

Result<int> restart(const RestartOptions& options) {
  const KeyFile key = open_key_file();
  const checkpoint::Generations generations(options.folder, key.key);
  if (const std::string refusal = generations.contents_refusal(); !refusal.empty()) {
    return Error{fmt::format(
        "{}; a restart would run what it holds with your rights: only your own files are "
        "restarted, which no other user may write",
        refusal)};
  }
  return options.is_listed ? list(generations, options.folder)
                           : start_again(generations, options, key);
}

}  // namespace

int restart_command(Arguments arguments) {
  const Result<RestartOptions> options = parse_restart(arguments);
  if (!options.has_value()) return report_error("{}", options.error());
  if (options->status) return *options->status;
  const Result<int> status = restart(*options);
  return status.has_value() ? *status : report_error("{}", status.error());
}

}  // namespace sorrel::tool
