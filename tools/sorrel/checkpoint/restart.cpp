// `sorrel restart DIR`: starts a job again from the newest whole checkpoint of its folder.

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "checkpoint/generations.hpp"
#include "tools/sorrel/checkpoint/job_file.hpp"
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
    "  sorrel restart --workers 1 save             on one core";

}  // namespace

int restart_command(Arguments arguments) {
  std::string workers;
  std::string procs;
  const auto app = make_app(restart_usage, restart_description, restart_footer);
  app->add_option("-w,--workers", workers,
                  "Workers (OS threads) that run the ranks (default: as the job was started)")
      ->type_name("W");
  app->add_option(
         "--procs", procs,
         "Processes that share the ranks, fewer than ranks (default: as the job was started)")
      ->type_name("P");
  const SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  if (const auto status = parse_options(*app, split.options)) return *status;
  if (split.program.size() != 1)
    return report_error("one folder is needed; usage: {}", restart_usage);
  char* const path = ::realpath(split.program.front(), nullptr);
  if (path == nullptr) return report_error("{}: {}", split.program.front(), std::strerror(errno));
  const std::string folder = path;
  std::free(path);
  Result<JobFile> read = read_job_file(folder);
  if (!read.has_value()) return report_error("{}", read.error());
  JobFile job = std::move(read).value();
  const Result<std::uint64_t> newest = newest_checkpoint(checkpoint::Generations(folder));
  if (!newest.has_value()) return report_error("{}", newest.error());
  if (newest.value() == 0) return report_error("{} has no whole checkpoint", folder);
  if (::chdir(job.folder.c_str()) != 0)
    return report_error("the folder of the job, {}: {}", job.folder, std::strerror(errno));
  std::vector<char*> words;
  for (std::string& word : job.words)
    words.push_back(word.data());
  words.push_back(nullptr);
  Restart restart{.folder = folder,
                  .generation = newest.value(),
                  .random = job.random,
                  .options = {fmt::format("--ranks={}", job.rank_count)}};
  if (!workers.empty()) restart.options.push_back("--workers=" + workers);
  if (!procs.empty()) restart.options.push_back("--procs=" + procs);
  return run_job(Arguments(words).first(words.size() - 1), &restart);
}

}  // namespace sorrel::tool
