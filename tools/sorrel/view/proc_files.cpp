#include "tools/sorrel/view/proc_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fmt/core.h>
#include <iterator>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/small_file.hpp"

namespace sorrel::tool {

namespace {

/// Environments are the longest files.
constexpr std::size_t bytes_max = std::size_t{8} << 20;

/// Empty if the file cannot be read, as that of a process that ends meanwhile.
std::string content_of(const std::string& path) {
  std::string text;
  return read_small_file(path, bytes_max, text).empty() ? text : "";
}

/// The fields of a stat file from the third one, the state, on.
std::vector<std::string> stat_fields(const std::string& folder) {
  const std::string text = content_of(folder + "/stat");
  // The name before the state may contain any character, but the last parenthesis ends it.
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos) return {};
  std::istringstream rest(text.substr(name_end + 2));
  return {std::istream_iterator<std::string>(rest), {}};
}

// By the numbers of proc(5), which count from 1.
enum StatField : std::size_t {
  state = 3,
  parent = 4,
  user_time = 14,
  system_time = 15,
  start_time = 22,
  resident_pages = 24,
  processor = 39,
};

template <class Number = std::uint64_t>
Number number_at(const std::vector<std::string>& fields, StatField field) {
  Number number{};
  const std::string& text = fields[field - state];
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string folder_of(pid_t pid) {
  return fmt::format("/proc/{}", pid);
}

std::string folder_of(pid_t pid, pid_t thread) {
  return fmt::format("/proc/{}/task/{}", pid, thread);
}

double seconds_since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (failure == std::errc{} && end == name.data() + name.size()) pids.push_back(pid);
  }
  std::ranges::sort(pids);
  return pids;
}

std::optional<ProcessFacts> facts_of(pid_t pid) {
  struct stat status{};
  const std::string folder = folder_of(pid);
  const std::vector<std::string> fields = stat_fields(folder);
  if (fields.size() <= resident_pages - state || stat(folder.c_str(), &status) != 0)
    return std::nullopt;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto seconds_at = [&](StatField field) {
    return static_cast<double>(number_at(fields, field)) / ticks;
  };
  return ProcessFacts{.pid = pid,
                      .parent = number_at<pid_t>(fields, parent),
                      .user = status.st_uid,
                      .state = fields.front().front(),
                      .age_seconds = std::max(0.0, seconds_since_boot() - seconds_at(start_time)),
                      .cpu_seconds = seconds_at(user_time) + seconds_at(system_time),
                      .resident_bytes = number_at(fields, resident_pages) *
                                        static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
}

std::optional<ThreadFacts> thread_facts_of(pid_t pid, pid_t thread) {
  const std::string folder = folder_of(pid, thread);
  const std::vector<std::string> fields = stat_fields(folder);
  if (fields.size() <= processor - state) return std::nullopt;
  ThreadFacts facts{.cpu = number_at<int>(fields, processor)};
  std::int64_t delay_ns = 0;
  std::istringstream(content_of(folder + "/schedstat")) >> facts.run_ns >> delay_ns >>
      facts.slice_count;
  return facts;
}

bool has_blocked(pid_t pid, pid_t thread, int signal_number) {
  std::istringstream status(content_of(folder_of(pid, thread) + "/status"));
  for (std::string field; status >> field;) {
    if (field != "SigBlk:") continue;
    std::uint64_t mask = 0;
    status >> std::hex >> mask;
    return (mask >> (signal_number - 1) & 1) != 0;
  }
  return false;
}

std::string environment_of(pid_t pid) {
  return content_of(folder_of(pid) + "/environ");
}

std::vector<std::string> words_of(pid_t pid) {
  std::istringstream text(content_of(folder_of(pid) + "/cmdline"));
  std::vector<std::string> words;
  for (std::string word; std::getline(text, word, '\0');)
    words.push_back(word);
  return words;
}

bool is_in_own_pid_namespace(pid_t pid) {
  struct stat own{};
  struct stat other{};
  return stat("/proc/self/ns/pid", &own) == 0 &&
         stat((folder_of(pid) + "/ns/pid").c_str(), &other) == 0 && own.st_ino == other.st_ino &&
         own.st_dev == other.st_dev;
}

}  // namespace sorrel::tool
