#include "runtime/checkpoint/program_memory.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <link.h>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.hpp"
#include "program/base/libc.hpp"
#include "program/base/stream_list.hpp"
#include "program/heap/rank_heaps.hpp"

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

std::string target_of(int descriptor) {
  std::array<char, PATH_MAX> target{};
  const ssize_t bytes =
      ::readlink(text_of("/proc/self/fd/%d", descriptor).c_str(), target.data(), target.size());
  return bytes <= 0 ? "" : std::string(target.data(), static_cast<std::size_t>(bytes));
}

struct ThreadLocals {
  const program::PrivatizedImage& copy;
  std::uintptr_t thread_pointer;
  std::vector<os::MemoryRange> ranges;
};

/// Static thread-locals lie at the same distance from each thread pointer.
int add_thread_locals(dl_phdr_info* info, std::size_t, void* argument) {
  auto& found = *static_cast<ThreadLocals*>(argument);
  const auto own = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  for (const program::Module& module : found.copy.image().modules) {
    if (module.segments != info->dlpi_phdr || module.thread_local_segment == nullptr ||
        info->dlpi_tls_data == nullptr)
      continue;
    const std::uintptr_t begin =
        found.thread_pointer + (reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data) - own);
    found.ranges.push_back({begin, begin + module.thread_local_segment->p_memsz});
  }
  return 0;
}

}  // namespace

std::vector<os::MemoryRange> memory_of(const program::PrivatizedImage& copy, std::uint64_t index) {
  std::vector<os::MemoryRange> ranges;
  for (const program::Piece& piece : copy.image().pieces) {
    if ((piece.protection & PROT_WRITE) != 0)
      ranges.push_back({copy.base() + piece.begin, copy.base() + piece.end});
  }
  for (const os::MemoryRange& part : program::rank_heaps().written_parts(index))
    ranges.push_back(part);
  return ranges;
}

std::vector<os::MemoryRange> thread_locals_of(const program::PrivatizedImage& copy,
                                              const core::Fiber& fiber) {
  static auto* const iterate =
      program::next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  ThreadLocals found{.copy = copy, .thread_pointer = fiber.thread_pointer, .ranges = {}};
  iterate(add_thread_locals, &found);
  return found.ranges;
}

void KnownDescriptors::read() {
  known_.clear();
  for_each_descriptor([&](int descriptor) { known_.push_back(descriptor); });
}

std::string KnownDescriptors::find_new(std::vector<int> files) const {
  files.insert(files.end(), known_.begin(), known_.end());
  std::ranges::sort(files);
  std::string found;
  for_each_descriptor([&](int descriptor) {
    if (std::ranges::binary_search(files, descriptor)) return;
    const std::string target = target_of(descriptor);
    // The input of all ranks but the first; what this library reads about its threads (StallWatch).
    if (found.empty() && target != "/dev/null" && !target.ends_with("/schedstat"))
      found = text_of("descriptor %d (%s)", descriptor, target.c_str());
  });
  return found;
}

OpenStreams find_open_streams(const std::vector<program::RankProcess*>& ranks) {
  // With many ranks most streams are theirs.
  std::vector<const FILE*> made;
  for (program::RankProcess* rank : ranks)
    rank->streams().add_made_to(made);
  std::ranges::sort(made);
  OpenStreams found;
  program::StreamList::for_each([&](FILE& stream) {
    if (std::ranges::binary_search(made, &stream) || &stream == stdin || &stream == stdout ||
        &stream == stderr)
      return;
    const program::RankHeaps& heaps = program::rank_heaps();
    if (heaps.contains(&stream)) {
      found.of_ranks.emplace_back(heaps.owner_of(&stream), &stream);
    } else if (stream._fileno < 0 || target_of(stream._fileno) != "/dev/null") {
      // Else the input of all ranks but the first.
      ++found.other_count;
    }
  });
  std::ranges::sort(found.of_ranks);
  return found;
}

}  // namespace sorrel::runtime
