#include "tools/sorrel/checkpoint/job_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/small_file.hpp"
#include "checkpoint/generations.hpp"
#include "os/disk_file.hpp"
#include "os/disk_folder.hpp"
#include "os/file_owner.hpp"
#include "tools/sorrel/checkpoint/folder_lock.hpp"

namespace sorrel::tool {

namespace {

constexpr int version = 3;
constexpr std::size_t file_bytes_max = std::size_t{16} << 20;

std::string path_of(const std::string& folder) {
  return folder + '/' + checkpoint::job_name;
}

std::string write(const std::string& path, const std::string& text) {
  os::DiskFile file;
  // What an interrupted start has left.
  int error = os::delete_file(path.c_str());
  if (error == 0 || error == ENOENT) {
    error = file.open(path.c_str(), {.reads = false,
                                     .writes = true,
                                     .creates = true,
                                     .is_exclusive = true,
                                     .is_private = true});
  }
  if (error == 0) error = file.write(text.data(), text.size(), 0).error;
  if (error == 0) error = file.sync();
  return error == 0 ? "" : fmt::format("{}: {}", path, std::strerror(error));
}

}  // namespace

std::string link_refusal(const std::string& path) {
  // With a slash at its end the path would be that of the folder.
  const std::string link = path.substr(0, path.find_last_not_of('/') + 1);
  struct stat about{};
  const bool is_link = ::lstat(link.c_str(), &about) == 0 && S_ISLNK(about.st_mode);
  if (!is_link || about.st_uid == 0 || about.st_uid == ::geteuid()) return "";
  return fmt::format(
      "{} is a symbolic link of user {}, which is not followed: give the folder itself", link,
      about.st_uid);
}

Result<std::optional<int>> begin_checkpoints(const std::string& folder, const JobFile& job) {
  if (const int error = os::make_private_folder(folder); error != 0 && error != EEXIST)
    return Error{fmt::format("cannot make the folder {}: {}", folder, std::strerror(error))};
  const checkpoint::Generations generations(folder);
  if (const std::string refusal = generations.folder_refusal(); !refusal.empty()) {
    return Error{
        fmt::format("{}; the memory of the job would be in the hands of other users: give a folder "
                    "of your own that only you may write (chmod go-w)",
                    refusal)};
  }
  Result<std::optional<int>> lock = lock_folder(folder);
  if (!lock.has_value()) return lock;
  if (generations.next() != 1) {
    return Error{
        fmt::format("{} has the checkpoints of a job: `sorrel restart {}` goes on with it; another "
                    "job needs an empty folder",
                    folder, folder)};
  }
  const nlohmann::json text = {{"version", version},   {"words", job.words},
                               {"folder", job.folder}, {"ranks", job.rank_count},
                               {"random", job.random}, {"writer", checkpoint::text_of_writer()}};
  std::string bytes;
  try {
    bytes = text.dump(2) + "\n";
  } catch (const nlohmann::json::exception&) {
    return Error{"the arguments of the job must be UTF-8"};
  }
  const std::string path = path_of(folder);
  const std::string made = path + ".tmp";
  if (std::string error = write(made, bytes); !error.empty()) return Error{std::move(error)};
  if (std::rename(made.c_str(), path.c_str()) != 0)
    return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  if (const int error = os::sync_folder(folder.c_str()); error != 0)
    return Error{fmt::format("{}: {}", folder, std::strerror(error))};
  return lock;
}

Result<JobFile> read_job_file(const std::string& folder) {
  const std::string path = path_of(folder);
  std::string text;
  if (const std::string error = read_small_file(path, file_bytes_max, text); !error.empty())
    return Error{
        fmt::format("{} {}; it is not a folder of `sorrel run --checkpoint`", path, error)};
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.at("version").get<int>() != version)
      return Error{
          fmt::format("{} was written by {}: checkpoints go on with the version that has written "
                      "them, and this is Sorrel {}",
                      path, json.value("writer", "an earlier version of Sorrel"), SORREL_VERSION)};
    JobFile job;
    job.words = json.at("words").get<std::vector<std::string>>();
    job.folder = json.at("folder").get<std::string>();
    job.rank_count = json.at("ranks").get<std::uint64_t>();
    job.writer = json.at("writer").get<std::string>();
    job.random = json.at("random").get<RandomBytes>();
    return job;
  } catch (const nlohmann::json::exception&) {
    return Error{fmt::format("{} is damaged", path)};
  }
}

}  // namespace sorrel::tool
