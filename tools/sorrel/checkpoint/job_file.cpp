#include "tools/sorrel/checkpoint/job_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "base/small_file.hpp"
#include "checkpoint/generations.hpp"
#include "os/disk_file.hpp"
#include "os/disk_folder.hpp"

namespace sorrel::tool {

namespace {

constexpr int version = 1;
constexpr std::size_t file_bytes_max = std::size_t{16} << 20;

std::string path_of(const std::string& folder) {
  return folder + "/JOB";
}

std::string write(const std::string& path, const std::string& text) {
  os::DiskFile file;
  int error = file.open(path.c_str(), {.reads = false, .writes = true, .creates = true});
  if (error == 0) error = file.set_size(0);
  if (error == 0) error = file.write(text.data(), text.size(), 0).error;
  if (error == 0) error = file.sync();
  return error == 0 ? "" : fmt::format("{}: {}", path, std::strerror(error));
}

}  // namespace

std::string begin_checkpoints(const std::string& folder, const JobFile& job) {
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return fmt::format("--checkpoint: cannot make the folder {}: {}", folder, std::strerror(errno));
  if (checkpoint::Generations(folder).next() != 1) {
    return fmt::format(
        "--checkpoint: {} has the checkpoints of a job: `sorrel restart {}` goes on with it; "
        "another job needs an empty folder",
        folder, folder);
  }
  const nlohmann::json text = {{"version", version},
                               {"words", job.words},
                               {"folder", job.folder},
                               {"ranks", job.rank_count},
                               {"random", job.random}};
  std::string bytes;
  try {
    bytes = text.dump(2) + "\n";
  } catch (const nlohmann::json::exception&) {
    return "--checkpoint: the arguments of the job must be UTF-8";
  }
  const std::string path = path_of(folder);
  const std::string made = path + ".tmp";
  if (std::string error = write(made, bytes); !error.empty()) return "--checkpoint: " + error;
  if (std::rename(made.c_str(), path.c_str()) != 0)
    return fmt::format("--checkpoint: {}: {}", path, std::strerror(errno));
  if (const int error = os::sync_folder(folder.c_str()); error != 0)
    return fmt::format("--checkpoint: {}: {}", folder, std::strerror(error));
  return "";
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
      return Error{fmt::format("{} was written by another version of Sorrel", path)};
    JobFile job;
    job.words = json.at("words").get<std::vector<std::string>>();
    job.folder = json.at("folder").get<std::string>();
    job.rank_count = json.at("ranks").get<std::uint64_t>();
    job.random = json.at("random").get<RandomBytes>();
    return job;
  } catch (const nlohmann::json::exception&) {
    return Error{fmt::format("{} is damaged", path)};
  }
}

}  // namespace sorrel::tool
