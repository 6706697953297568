#include "os/thread_rights.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <sstream>
#include <string_view>
#include <unistd.h>

#include "base/small_file.hpp"
#include "base/text.hpp"

namespace sorrel::os {

namespace {

/// Without pointers, so that a table of them is a constant of the library's file.
struct Setting {
  char name[24];  ///< in the folder of a thread
  char what[64];
};

/// Lines of `status` (proc_pid_status(5)).
constexpr Setting in_status[] = {
    {"Uid:", "the user (setuid)"},
    {"Gid:", "the group (setgid)"},
    {"Groups:", "the groups (setgroups)"},
    {"CapInh:", "the capabilities"},
    {"CapPrm:", "the capabilities"},
    {"CapEff:", "the capabilities"},
    {"CapBnd:", "the capabilities"},
    {"CapAmb:", "the capabilities"},
    {"NoNewPrivs:", "the rights of programs that it executes (no_new_privs)"},
    {"Seccomp:", "the filter of system calls (seccomp)"},
    {"Seccomp_filters:", "the filter of system calls (seccomp)"},
};

constexpr Setting links[] = {
    {"ns/cgroup", "a namespace (unshare, setns)"},
    {"ns/ipc", "a namespace (unshare, setns)"},
    {"ns/mnt", "a namespace (unshare, setns)"},
    {"ns/net", "a namespace (unshare, setns)"},
    {"ns/pid_for_children", "a namespace (unshare, setns)"},
    {"ns/time_for_children", "a namespace (unshare, setns)"},
    {"ns/user", "a namespace (unshare, setns)"},
    {"ns/uts", "a namespace (unshare, setns)"},
    {"root", "the root directory (chroot)"},
};

std::string read(const std::string& path) {
  constexpr std::size_t bytes_max = std::size_t{1} << 16;
  std::string text;
  return read_small_file(path, bytes_max, text).empty() ? text : "";
}

std::string target_of(const std::string& link) {
  std::array<char, PATH_MAX> text{};
  const ssize_t bytes = ::readlink(link.c_str(), text.data(), text.size());
  return bytes <= 0 ? "" : std::string(text.data(), static_cast<std::size_t>(bytes));
}

}  // namespace

ThreadRights ThreadRights::of(pid_t thread) {
  const std::string folder = text_of("/proc/self/task/%d/", static_cast<int>(thread));
  ThreadRights rights;
  std::istringstream status(read(folder + "status"));
  for (std::string line; std::getline(status, line);) {
    for (const Setting& setting : in_status) {
      if (line.starts_with(setting.name)) rights.values_.emplace_back(setting.what, line);
    }
  }
  if (rights.values_.empty()) return rights;
  for (const Setting& link : links)
    rights.values_.emplace_back(link.what, target_of(folder + link.name));
  rights.values_.emplace_back("the personality", read(folder + "personality"));
  return rights;
}

std::string ThreadRights::difference(const ThreadRights& other) const {
  // The kernel writes the same lines for each thread.
  for (std::size_t i = 0; i < std::min(values_.size(), other.values_.size()); ++i) {
    if (values_[i] != other.values_[i]) return values_[i].first;
  }
  return "";
}

}  // namespace sorrel::os
