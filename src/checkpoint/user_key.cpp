#include "checkpoint/user_key.hpp"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/check.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "os/disk_file.hpp"
#include "os/file_owner.hpp"
#include "os/random_bytes.hpp"

namespace sorrel::checkpoint {

namespace {

namespace fs = std::filesystem;

/// Under a name of its own first, so that no process finds a part of it. The first one is kept.
std::string make(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const int not_made = os::make_private_folders(folder.string());
  if (not_made != 0) return os::private_open_error(folder.string(), not_made);
  std::error_code error;
  std::array<std::uint8_t, 32> bytes{};
  std::uint64_t name = 0;
  if (!os::fill_random(bytes.data(), bytes.size()) || !os::fill_random(&name, sizeof name))
    return "the system has no random numbers";
  const std::string own = text_of("%s.%llx", path.c_str(), static_cast<unsigned long long>(name));
  os::DiskFile file;
  int failed = file.open(
      own.c_str(),
      {.reads = false, .writes = true, .creates = true, .is_exclusive = true, .is_private = true});
  if (failed != 0) return os::private_open_error(own, failed);
  failed = file.write(bytes.data(), bytes.size(), 0).error;
  if (failed == 0) failed = file.sync();
  if (failed == 0) fs::create_hard_link(own, path, error);
  (void)os::delete_file(own.c_str());
  if (failed != 0) return os::private_open_error(own, failed);
  // Another process was first.
  if (error == std::errc::file_exists) error.clear();
  return error ? path + ": " + error.message() : "";
}

}  // namespace

std::string UserKey::open(const std::string& path) {
  os::DiskFile file;
  int failed = file.open(path.c_str(), {.is_private = true});
  if (failed == ENOENT) {
    if (std::string error = make(path); !error.empty()) return error;
    failed = file.open(path.c_str(), {.is_private = true});
  }
  if (failed != 0) return os::private_open_error(path, failed);
  if (const std::string error = os::owner_error(file.descriptor()); !error.empty())
    return path + ' ' + error;
  is_there_ = file.read(bytes_.data(), bytes_.size(), 0).bytes == bytes_.size();
  return is_there_ ? "" : path + " is damaged: remove it";
}

std::string UserKey::code_of(std::span<const std::string_view> parts) const {
  if (!is_there_) return "";
  // Each part follows its length.
  std::vector<std::uint64_t> lengths;
  lengths.reserve(parts.size());
  std::vector<std::string_view> text;
  for (const std::string_view part : parts) {
    // The texts point into it.
    SORREL_CHECK(lengths.size() < lengths.capacity(), "%zu parts", parts.size());
    lengths.push_back(part.size());
    text.emplace_back(reinterpret_cast<const char*>(&lengths.back()), sizeof lengths.back());
    text.push_back(part);
  }
  std::string code;
  for (const std::uint8_t byte : hmac_sha256(bytes_, text))
    code += text_of("%02x", byte);
  return code;
}

std::string UserKey::code_of(const KeyedHash::Numbers& numbers) const {
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
  return code_of(std::array<std::string_view, 2>{"contents", bytes});
}

}  // namespace sorrel::checkpoint
