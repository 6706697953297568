#include "runtime/checkpoint/program_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <link.h>
#include <sys/mman.h>

#include "program/base/libc.hpp"
#include "program/base/stream_list.hpp"
#include "program/heap/rank_heaps.hpp"
#include "runtime/checkpoint/known_descriptors.hpp"

namespace sorrel::runtime {

namespace {

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
  if (index >= program::rank_heaps().count()) return ranges;
  for (const os::MemoryRange& part : program::rank_heaps().written_parts(index))
    ranges.push_back(part);
  return ranges;
}

std::vector<os::MemoryRange> thread_locals_of(const program::PrivatizedImage& copy,
                                              const core::Fiber& fiber) {
  static auto* const real_iterate =
      program::next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  ThreadLocals found{.copy = copy, .thread_pointer = fiber.thread_pointer, .ranges = {}};
  real_iterate(add_thread_locals, &found);
  return found.ranges;
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
    } else if (stream._fileno < 0 || target_of_descriptor(stream._fileno) != "/dev/null") {
      // Else the input of all ranks but the first.
      ++found.other_count;
    }
  });
  std::ranges::sort(found.of_ranks);
  return found;
}

}  // namespace sorrel::runtime
