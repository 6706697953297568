//! JobFile - the file JOB in a folder of checkpoints: how the job was started, so that it can be
//! started in the same way again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sorrel/result.hpp>

#include "tools/sorrel/run/equal_process.hpp"

namespace sorrel::tool {

struct JobFile {
  /// Arguments of `sorrel run`.
  std::vector<std::string> words;
  /// The working directory.
  std::string folder;
  std::uint64_t rank_count = 0;
  RandomBytes random{};
  /// The version of Sorrel and the machine, in words.
  std::string writer;
};

/// Why the path of a folder of checkpoints is not followed: it is a symbolic link of another user,
/// which would choose the folder that is written or run. "": it is none, or this user's or the
/// administrator's.
[[nodiscard]] std::string link_refusal(const std::string& path);

/// Makes the folder if it is missing, takes its lock, and writes the file. Returns the lock
/// (lock_folder()), or an error: for example, the folder has checkpoints of another job.
[[nodiscard]] Result<std::optional<int>> begin_checkpoints(const std::string& folder,
                                                           const JobFile& job);

[[nodiscard]] Result<JobFile> read_job_file(const std::string& folder);

}  // namespace sorrel::tool
