#include "runtime/checkpoint/known_descriptors.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <dirent.h>
#include <string_view>
#include <unistd.h>

#include "base/text.hpp"
#include "os/clock.hpp"

namespace sorrel::runtime {

namespace {

/// Calls visit(descriptor) for each open descriptor of the process but that of this search.
template <class Visit>
void for_each_descriptor(Visit&& visit) {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name(entry->d_name);
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (descriptor >= 0 && descriptor != ::dirfd(folder)) visit(descriptor);
  }
  ::closedir(folder);
}

}  // namespace

std::string target_of_descriptor(int descriptor) {
  std::array<char, PATH_MAX> target{};
  const ssize_t bytes =
      ::readlink(text_of("/proc/self/fd/%d", descriptor).c_str(), target.data(), target.size());
  return bytes <= 0 ? "" : std::string(target.data(), static_cast<std::size_t>(bytes));
}

void KnownDescriptors::read() {
  known_.clear();
  for_each_descriptor([&](int descriptor) { known_.push_back(descriptor); });
}

void KnownDescriptors::wait_a_moment() {
  os::sleep_ns(5'000'000);
}

std::string KnownDescriptors::first_but(const std::vector<int>& files) {
  std::string found;
  for_each_descriptor([&](int descriptor) {
    if (std::ranges::binary_search(files, descriptor)) return;
    const std::string target = target_of_descriptor(descriptor);
    // The input of all ranks but the first; what this library reads about its threads (StallWatch).
    if (found.empty() && target != "/dev/null" && !target.ends_with("/schedstat"))
      found = text_of("descriptor %d (%s)", descriptor, target.c_str());
  });
  return found;
}

std::string KnownDescriptors::find_new(std::vector<int> files,
                                       const std::function<void()>& wait) const {
  constexpr int wait_count_max = 10;
  files.insert(files.end(), known_.begin(), known_.end());
  std::ranges::sort(files);
  std::string found = first_but(files);
  for (int waits = 0; !found.empty() && waits < wait_count_max; ++waits) {
    wait();
    found = first_but(files);
  }
  return found;
}

}  // namespace sorrel::runtime
