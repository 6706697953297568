#include "tools/sorrel/checkpoint/checkpoint_list.hpp"

#include <ctime>
#include <fmt/core.h>
#include <optional>
#include <sys/stat.h>

#include "base/printable.hpp"
#include "tools/sorrel/common/shell_line.hpp"

namespace sorrel::tool {

namespace {

/// When the last file of a checkpoint was written, in local time.
std::string time_of(const std::string& file) {
  struct stat about{};
  std::tm parts{};
  char text[32];
  if (::stat(file.c_str(), &about) != 0 || ::localtime_r(&about.st_mtime, &parts) == nullptr)
    return "-";
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

std::string line_of(const checkpoint::Generations& generations, std::uint64_t number) {
  const std::string error = generations.error_of(number);
  const std::optional<checkpoint::Manifest> manifest = generations.manifest(number);
  std::uint64_t bytes = 0;
  std::string processes = "-";
  if (manifest) {
    for (const checkpoint::FileSeal& file : manifest->files)
      bytes += file.bytes;
    processes = std::to_string(manifest->files.size());
  }
  const std::string state = !error.empty() ? "damaged: " + error
                            : generations.is_of_user(number)
                                ? "whole"
                                : "whole, and not of your jobs (--trust)";
  return fmt::format("{:>10}  {:<19}  {:>9}  {:>9}  {}\n", number,
                     time_of(generations.path_of(number, 0)), processes,
                     fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)),
                     printable(state));
}

}  // namespace

std::string list_of(const checkpoint::Generations& generations, const JobFile& job) {
  std::vector<std::string> words = {"sorrel", "run"};
  words.insert(words.end(), job.words.begin(), job.words.end());
  std::string text = fmt::format("Job         {}\nFolder      {}\nRanks       {}\nWritten by  {}\n",
                                 printable(shell_line(words)), printable(job.folder),
                                 job.rank_count, printable(job.writer));
  const std::vector<std::uint64_t> numbers = generations.numbers();
  if (numbers.empty()) return text + "There is no checkpoint.\n";
  text += fmt::format("\n{:>10}  {:<19}  {:>9}  {:>9}  {}\n", "checkpoint", "written", "processes",
                      "size", "state");
  for (const std::uint64_t number : numbers)
    text += line_of(generations, number);
  return text;
}

}  // namespace sorrel::tool
