#include "os/cgroup.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/small_file.hpp"

namespace sorrel::os {

namespace {

/// Small files of the kernel only; /proc/self/mountinfo of a container host may have some hundred
/// KiB.
constexpr std::size_t file_size_bytes_max = 4u << 20;

/// Nothing if the file cannot be read.
std::optional<std::string> text_of_file(const std::string& path) {
  std::string text;
  if (!read_small_file(path, file_size_bytes_max, text).empty()) return std::nullopt;
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool contains(std::string_view list, std::string_view wanted) {
  const auto parts = split(list, ',');
  return std::find(parts.begin(), parts.end(), wanted) != parts.end();
}

/// A hierarchy that can have a limit: its mount point, and the group that is the mount's root.
struct Hierarchy {
  bool version_2 = false;
  std::string mount_root;
  std::string mount_point;
  std::string group;
};

/// Lines are "number:controllers:path"; version 2 is the line "0::path".
void find_groups(std::string_view text,
                 std::string_view controller,
                 std::optional<std::string>& v1,
                 std::optional<std::string>& v2) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      v2 = path;
    } else if (contains(controllers, controller)) {
      v1 = path;
    }
  }
}

/// Lines are "id parent device root mountpoint options [tags…] - type source super-options".
std::vector<Hierarchy> find_hierarchies(const std::string& root, std::string_view controller) {
  const auto groups = text_of_file(root + "/proc/self/cgroup");
  const auto mounts = text_of_file(root + "/proc/self/mountinfo");
  std::vector<Hierarchy> hierarchies;
  if (!groups || !mounts) return hierarchies;
  std::optional<std::string> v1;
  std::optional<std::string> v2;
  find_groups(*groups, controller, v1, v2);
  for (const std::string_view line : split(*mounts, '\n')) {
    const auto words = split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 5 || words.end() - dash < 4) continue;
    const bool is_v2 = dash[1] == "cgroup2";
    const bool is_v1 = dash[1] == "cgroup" && contains(dash[3], controller);
    const auto& group = is_v2 ? v2 : v1;
    if ((!is_v1 && !is_v2) || !group) continue;
    hierarchies.push_back({.version_2 = is_v2,
                           .mount_root = std::string(words[3]),
                           .mount_point = std::string(words[4]),
                           .group = *group});
  }
  return hierarchies;
}

/// The group's path below the mount point. In a container the mount shows only a subtree, whose
/// name in /proc/self/cgroup may be the host's. A group outside of the mount counts as its root.
std::string path_below_mount(const Hierarchy& hierarchy) {
  std::string_view path = hierarchy.group;
  std::string_view root = hierarchy.mount_root;
  if (root != "/") {
    const bool inside = path.substr(0, root.size()) == root &&
                        (path.size() == root.size() || path[root.size()] == '/');
    if (!inside) return "";
    path.remove_prefix(root.size());
  }
  if (path.find("/..") != path.npos) return "";
  return path == "/" ? "" : std::string(path);
}

/// Nothing if the numbers do not form a limit.
std::optional<double> ratio(double quota_us, double period_us) {
  const double cpus = quota_us / period_us;
  if (!(quota_us > 0) || !(period_us > 0) || !(cpus > 0) || !std::isfinite(cpus))
    return std::nullopt;
  return cpus;
}

std::optional<double> quota_of_v2(const std::string& file) {
  const auto text = text_of_file(file);
  if (!text) return std::nullopt;
  const auto words = split(std::string_view(*text).substr(0, text->find('\n')), ' ');
  if (words.size() < 2 || words[0] == "max") return std::nullopt;
  return ratio(std::strtod(std::string(words[0]).c_str(), nullptr),
               std::strtod(std::string(words[1]).c_str(), nullptr));
}

std::optional<double> quota_of_v1(const std::string& quota_file, const std::string& period_file) {
  const auto quota = text_of_file(quota_file);
  const auto period = text_of_file(period_file);
  if (!quota || !period) return std::nullopt;
  // -1 means unlimited.
  return ratio(std::strtod(quota->c_str(), nullptr), std::strtod(period->c_str(), nullptr));
}

/// Nothing for the text "max", which means no limit.
std::optional<std::uint64_t> number_of_file(const std::string& file) {
  const auto text = text_of_file(file);
  if (!text || text->empty() || (*text)[0] < '0' || (*text)[0] > '9') return std::nullopt;
  return std::strtoull(text->c_str(), nullptr, 10);
}

std::optional<std::uint64_t> memory_limit_of(const std::string& folder, bool is_version_2) {
  const auto bytes =
      number_of_file(folder + (is_version_2 ? "/memory.max" : "/memory.limit_in_bytes"));
  // Version 1 writes a number for "no limit": the largest of 63 bits, in whole pages.
  constexpr std::uint64_t limit_max = std::uint64_t{1} << 62;
  return bytes && *bytes < limit_max ? bytes : std::nullopt;
}

/// Memory that caches files, by a group's memory.stat: the system takes it when memory is short.
std::uint64_t cached_bytes(const std::string& file) {
  const auto text = text_of_file(file);
  if (!text) return 0;
  std::uint64_t bytes = 0;
  for (const std::string_view line : split(*text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() == 2 && (words[0] == "active_file" || words[0] == "inactive_file"))
      bytes += std::strtoull(std::string(words[1]).c_str(), nullptr, 10);
  }
  return bytes;
}

/// Calls `visit(folder, is_version_2)` for the process's group and every group above it.
template <class Visit>
void for_each_folder(const std::string& root, std::string_view controller, Visit&& visit) {
  for (const Hierarchy& hierarchy : find_hierarchies(root, controller)) {
    std::string path = path_below_mount(hierarchy);
    while (true) {
      visit(hierarchy.mount_point + path, hierarchy.version_2);
      if (path.empty()) break;
      path.resize(path.rfind('/') == path.npos ? 0 : path.rfind('/'));
    }
  }
}

}  // namespace

std::optional<CpuQuota> cpu_quota(const std::string& root) {
  std::optional<CpuQuota> least;
  for_each_folder(root, "cpu", [&](const std::string& folder, bool is_version_2) {
    const std::string file = folder + (is_version_2 ? "/cpu.max" : "/cpu.cfs_quota_us");
    const auto cpus = is_version_2 ? quota_of_v2(root + file)
                                   : quota_of_v1(root + file, root + folder + "/cpu.cfs_period_us");
    if (cpus && (!least || *cpus < least->cpus)) least = CpuQuota{.cpus = *cpus, .file = file};
  });
  return least;
}

std::optional<PidsLimit> pids_limit(const std::string& root) {
  std::optional<PidsLimit> least;
  for_each_folder(root, "pids", [&](const std::string& folder, bool /*is_version_2*/) {
    const std::string file = folder + "/pids.max";
    const auto threads = number_of_file(root + file);
    if (threads && (!least || *threads < least->threads))
      least = PidsLimit{.threads = *threads, .file = file};
  });
  return least;
}

std::optional<std::uint64_t> memory_limit(const std::string& root) {
  std::optional<std::uint64_t> least;
  for_each_folder(root, "memory", [&](const std::string& folder, bool is_version_2) {
    const auto bytes = memory_limit_of(root + folder, is_version_2);
    if (bytes && (!least || *bytes < *least)) least = bytes;
  });
  return least;
}

std::optional<std::uint64_t> memory_left(const std::string& root) {
  std::optional<std::uint64_t> least;
  for_each_folder(root, "memory", [&](const std::string& folder, bool is_version_2) {
    const auto limit = memory_limit_of(root + folder, is_version_2);
    const auto used = number_of_file(root + folder +
                                     (is_version_2 ? "/memory.current" : "/memory.usage_in_bytes"));
    if (!limit || !used) return;
    const std::uint64_t kept =
        *used - std::min(*used, cached_bytes(root + folder + "/memory.stat"));
    const std::uint64_t left = *limit - std::min(*limit, kept);
    if (!least || left < *least) least = left;
  });
  return least;
}

int whole_cpus(const CpuQuota& quota) {
  return static_cast<int>(std::clamp(quota.cpus, 1.0, 1e6));
}

}  // namespace sorrel::os
