#include "checkpoint/generations.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/check.hpp"
#include "base/text.hpp"
#include "os/disk_folder.hpp"
#include "os/file_owner.hpp"
#include "os/machine_name.hpp"

namespace sorrel::checkpoint {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "ckpt.";
constexpr std::string_view in_making = ".tmp";
constexpr const char* manifest_name = "MANIFEST";

std::string error_text(const std::string& path, const std::error_code& error) {
  return path + ": " + error.message();
}

std::string error_text(const std::string& path, int error) {
  return path + ": " + std::strerror(error);
}

std::string file_name(std::uint32_t process) {
  return text_of("process.%04u", process);
}

/// The number in the name of a visible generation.
std::optional<std::uint64_t> number_in(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_whole = error == std::errc() && end == name.data() + name.size();
  return is_whole && number != 0 ? std::optional(number) : std::nullopt;
}

std::string write_file(const std::string& path, const std::string& text) {
  os::DiskFile file;
  int error = file.open(
      path.c_str(),
      {.reads = false, .writes = true, .creates = true, .is_exclusive = true, .is_private = true});
  if (error == 0) error = file.write(text.data(), text.size(), 0).error;
  if (error == 0) error = file.sync();
  return error == 0 ? "" : error_text(path, error);
}

}  // namespace

std::string text_of_writer() {
  return "Sorrel " SORREL_VERSION " on " + os::machine_name();
}

std::string Generations::folder_refusal() const {
  const std::string error = os::folder_owner_error(folder_);
  return error.empty() ? "" : folder_ + ' ' + error;
}

std::string Generations::contents_refusal() const {
  const auto refusal_of = [](const fs::path& path) {
    const std::string error = os::owner_error(path.string());
    return error.empty() ? "" : path.string() + ' ' + error;
  };
  std::string refusal = folder_refusal();
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; refusal.empty() && !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name != job_name && name != lock_name && !number_in(name)) continue;
    refusal = refusal_of(entry->path());
    // A link is an error, so none is followed.
    for (fs::directory_iterator file(entry->path(), error);
         refusal.empty() && !error && file != end; file.increment(error))
      refusal = refusal_of(file->path());
    // No folder: the checkpoint is damaged.
    if (error == std::errc::not_a_directory) error.clear();
  }
  if (refusal.empty() && error) refusal = error_text(folder_, error);
  return refusal;
}

std::vector<std::uint64_t> Generations::numbers() const {
  std::vector<std::uint64_t> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (const auto number = number_in(entry->path().filename().string())) found.push_back(*number);
  }
  std::ranges::sort(found, std::greater());
  return found;
}

std::string Generations::folder_of(std::uint64_t generation) const {
  return folder_ + '/' + std::string(prefix) + std::to_string(generation);
}

std::string Generations::path_of(std::uint64_t generation, std::uint32_t process) const {
  return folder_of(generation) + '/' + file_name(process);
}

std::string Generations::manifest_of(std::uint64_t generation) const {
  return folder_of(generation) + '/' + manifest_name;
}

std::string Generations::path_to_write(std::uint64_t generation, std::uint32_t process) const {
  return folder_of(generation) + std::string(in_making) + '/' + file_name(process);
}

std::string Generations::begin(std::uint64_t generation) const {
  std::error_code error;
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(in_making)) left.push_back(entry->path());
  }
  if (error) return error_text(folder_, error);
  for (const fs::path& path : left) {
    fs::remove_all(path, error);
    if (error) return error_text(path.string(), error);
  }
  const std::string folder = folder_of(generation) + std::string(in_making);
  const int failed = os::make_private_folder(folder);
  return failed == 0 ? "" : error_text(folder, failed);
}

std::string Generations::commit(std::uint64_t generation,
                                const std::vector<FileSeal>& files) const {
  SORREL_ASSERT(generation != 0 && !files.empty(), "generation %llu of %zu files",
                static_cast<unsigned long long>(generation), files.size());
  const std::string folder = folder_of(generation);
  const std::string making = folder + std::string(in_making);
  Manifest manifest{
      .writer = text_of_writer(), .generation = generation, .files = files, .code = ""};
  manifest.code = code_of(manifest);
  if (std::string error = write_file(making + '/' + manifest_name, encode_manifest(manifest));
      !error.empty())
    return error;
  if (const int error = os::sync_folder(making.c_str()); error != 0)
    return error_text(making, error);
  std::error_code error;
  fs::rename(making, folder, error);
  if (error) return error_text(folder, error);
  // Before anything older is removed.
  if (const int failed = os::sync_folder(folder_.c_str()); failed != 0)
    return error_text(folder_, failed);
  const auto found = numbers();
  for (std::size_t i = 2; i < found.size(); ++i)
    fs::remove_all(folder_of(found[i]), error);
  // What cannot be removed takes room, but harms nothing.
  return "";
}

/// The code of the manifest and of the file JOB: how the job is started is as safe as its memory.
std::string Generations::code_of(Manifest manifest) const {
  manifest.code.clear();
  std::string job;
  os::DiskFile file;
  if (file.open((folder_ + '/' + job_name).c_str(), {.is_private = true}) == 0) {
    std::int64_t bytes = 0;
    if (file.get_size(&bytes) == 0) job.resize(static_cast<std::size_t>(bytes));
    job.resize(file.read(job.data(), job.size(), 0).bytes);
  }
  const std::string text = encode_manifest(manifest);
  return key_.code_of(std::array<std::string_view, 2>{job, text});
}

bool Generations::is_of_user(std::uint64_t generation) const {
  const std::optional<Manifest> found = manifest(generation);
  if (!found || !key_.is_there() || found->code != code_of(*found)) return false;
  for (std::uint32_t process = 0; process < found->files.size(); ++process) {
    SegmentReader file;
    if (!file.open(path_of(generation, process)).empty() || !file.is_of(key_)) return false;
  }
  return true;
}

void Generations::discard(std::uint64_t generation) const {
  std::error_code error;
  fs::remove_all(folder_of(generation) + std::string(in_making), error);
}

std::string Generations::set_aside(std::uint64_t generation) const {
  const std::string folder = folder_of(generation);
  std::error_code error;
  fs::rename(folder, folder + ".damaged", error);
  return error ? error_text(folder, error) : "";
}

}  // namespace sorrel::checkpoint
