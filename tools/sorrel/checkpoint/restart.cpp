// `sorrel restart DIR`: starts a job again from the newest whole checkpoint of its folder.

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
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
  bool is_listed = false;
  bool is_trusted = false;
  app->add_flag("--list", is_listed, "Print what is in DIR, check every byte, and start nothing");
  app->add_flag("--trust", is_trusted,
                "Also start what no job of this user has written: its memory, its program and its "
                "options run with your rights");
  const SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  if (const auto status = parse_options(*app, split.options)) return *status;
  if (split.program.size() != 1)
    return report_error("one folder is needed; usage: {}", restart_usage);
  if (const std::string refusal = link_refusal(split.program.front()); !refusal.empty())
    return report_error("{}", refusal);
  char* const path = ::realpath(split.program.front(), nullptr);
  if (path == nullptr) return report_error("{}: {}", split.program.front(), std::strerror(errno));
  const std::string folder = path;
  std::free(path);
  const KeyFile key = open_key_file();
  const checkpoint::Generations generations(folder, key.key);
  if (const std::string refusal = generations.contents_refusal(); !refusal.empty()) {
    return report_error(
        "{}; a restart would run what it holds with your rights: only your own files are "
        "restarted, which no other user may write",
        refusal);
  }
  if (is_listed) {
    const Result<JobFile> listed = read_job_file(folder);
    if (!listed.has_value()) return report_error("{}", listed.error());
    fmt::print("{}", list_of(generations, listed.value()));
    return 0;
  }
  const Result<std::optional<int>> lock = lock_folder(folder);
  if (!lock.has_value()) return report_error("{}", lock.error());
  Result<JobFile> read = read_job_file(folder);
  if (!read.has_value()) return report_error("{}", read.error());
  JobFile job = std::move(read).value();
  const Result<std::uint64_t> newest = newest_checkpoint(generations);
  if (!newest.has_value()) return report_error("{}", newest.error());
  if (newest.value() == 0) return report_error("{} has no whole checkpoint", folder);
  if (!is_trusted && !generations.is_of_user(newest.value())) {
    return report_error(
        "no job of this user has written checkpoint {} of {}: {}; it was written by {}, and a "
        "restart would run its memory, its program and its options with your rights; --trust "
        "starts it nevertheless",
        newest.value(), folder,
        key.error.empty() ? fmt::format("its code does not fit the key {}", key.path) : key.error,
        job.writer);
  }
  if (!key.error.empty())
    print_diagnostic("note: checkpoints have no code, and a restart needs --trust: " + key.error);
  if (::chdir(job.folder.c_str()) != 0)
    return report_error("the folder of the job, {}: {}", job.folder, std::strerror(errno));
  std::vector<char*> words;
  for (std::string& word : job.words)
    words.push_back(word.data());
  words.push_back(nullptr);
  Restart restart{.folder = folder,
                  .lock = lock.value(),
                  .key = key.error.empty() ? key.path : "",
                  .generation = newest.value(),
                  .random = job.random,
                  .options = {fmt::format("--ranks={}", job.rank_count)}};
  if (!workers.empty()) restart.options.push_back("--workers=" + workers);
  if (!procs.empty()) restart.options.push_back("--procs=" + procs);
  return run_job(Arguments(words).first(words.size() - 1), &restart);
}

}  // namespace sorrel::tool
