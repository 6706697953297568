#include "os/thread_references.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::os {

namespace {

constexpr std::uintptr_t reference_bytes = sizeof(std::uint64_t);

/// glibc's size of a control block, which it has for debuggers.
std::size_t control_block_bytes() {
  const auto* const bytes =
      static_cast<const std::uint32_t*>(dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread"));
  return bytes == nullptr ? 0 : *bytes;
}

std::uintptr_t thread_pointer() {
  return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
}

/// Widens `block`, which begins at the thread pointer, to the static thread-locals of a file.
int add_locals(dl_phdr_info* info, std::size_t, void* argument) {
  auto& block = *static_cast<MemoryRange*>(argument);
  // What was loaded late lies anywhere.
  constexpr std::uintptr_t distance_max = std::uintptr_t{1} << 20;
  const std::uintptr_t pointer = thread_pointer();
  const auto begin = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
  if (begin == 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_TLS) continue;
    const std::uintptr_t end = begin + segment.p_memsz;
    const std::uintptr_t distance = begin < pointer ? pointer - begin : begin - pointer;
    if (distance > distance_max) continue;
    block.begin = std::min(block.begin, begin);
    block.end = std::max(block.end, end);
  }
  return 0;
}

}  // namespace

std::optional<ThreadIdentity> ThreadIdentity::of_calling_thread(IterateFiles iterate) {
  const std::size_t bytes = control_block_bytes();
  if (bytes == 0) return std::nullopt;
  const std::uintptr_t pointer = thread_pointer();
  ThreadIdentity thread{.block = {}, .number = thread_number()};
#if defined(__x86_64__)
  thread.block = {pointer, pointer + bytes};
#else
  // The thread pointer is at the end of the control block.
  thread.block = {pointer - bytes, pointer + 2 * sizeof(void*)};
#endif
  iterate(add_locals, &thread.block);
  SORREL_ASSERT(thread.block.begin < thread.block.end && thread.number > 0,
                "thread %d has a block from 0x%zx to 0x%zx", thread.number, thread.block.begin,
                thread.block.end);
  return thread;
}

ThreadReferences::ThreadReferences(std::vector<ThreadIdentity> threads)
    : threads_(std::move(threads)),
      blocks_{.begin = std::numeric_limits<std::uintptr_t>::max(), .end = 0},
      least_number_(std::numeric_limits<std::uint64_t>::max()),
      largest_number_(0) {
  for (const ThreadIdentity& thread : threads_) {
    const auto number = static_cast<std::uint64_t>(thread.number);
    blocks_.begin = std::min(blocks_.begin, thread.block.begin);
    blocks_.end = std::max(blocks_.end, thread.block.end);
    least_number_ = std::min(least_number_, number);
    largest_number_ = std::max(largest_number_, number);
  }
}

bool ThreadReferences::is_of_thread(std::uintptr_t address) const {
  return std::ranges::any_of(threads_, [address](const ThreadIdentity& thread) {
    return address >= thread.block.begin && address < thread.block.end;
  });
}

bool ThreadReferences::is_number(std::uint64_t number) const {
  return std::ranges::any_of(threads_, [number](const ThreadIdentity& thread) {
    return static_cast<std::uint64_t>(thread.number) == number;
  });
}

/// Whether `word`, whose lower half is the number of a thread, lies in a lock that the thread
/// holds. A mutex has the words {state 1 or 2, depth} {owner, users}; a lock for one writer has
/// {.., ..} {1 to 3, 1 to 3} {0, ..} {owner, is shared}, where states are not 0.
bool ThreadReferences::is_lock(const std::uint64_t* word, const MemoryRange& memory) const {
  constexpr std::uint64_t half = std::numeric_limits<std::uint32_t>::max();
  SORREL_ASSERT(reinterpret_cast<std::uintptr_t>(word) >= memory.begin, "a word before the memory");
  const auto words_before =
      (reinterpret_cast<std::uintptr_t>(word) - memory.begin) / reference_bytes;
  if (words_before < 1 || !is_number(*word & half)) return false;
  const std::uint64_t users = *word >> 32;
  const std::uint64_t state = word[-1] & half;
  if (users == 1 && (state == 1 || state == 2)) return true;
  if (words_before < 2 || users > 1) return false;
  const std::uint64_t phase = word[-2] & half;
  const std::uint64_t writers = word[-2] >> 32;
  return (word[-1] & half) == 0 && phase - 1 < 3 && writers - 1 < 3;
}

std::optional<ThreadReference> ThreadReferences::find(const MemoryRange& memory) const {
  const std::uint64_t block_bytes = blocks_.end - blocks_.begin;
  const std::uint64_t numbers = largest_number_ - least_number_;
  const auto* const begin = reinterpret_cast<const std::uint64_t*>(
      (memory.begin + reference_bytes - 1) / reference_bytes * reference_bytes);
  const auto* const end =
      reinterpret_cast<const std::uint64_t*>(memory.end / reference_bytes * reference_bytes);
  for (const std::uint64_t* word = begin; word < end; ++word) {
    const std::uint64_t low_half = *word & std::numeric_limits<std::uint32_t>::max();
    const bool may_be_address = *word - blocks_.begin < block_bytes;
    const bool may_be_number = low_half - least_number_ <= numbers;
    if (!may_be_address && !may_be_number) [[likely]]
      continue;
    const auto at = reinterpret_cast<std::uintptr_t>(word);
    if (may_be_address && is_of_thread(*word)) return ThreadReference{.at = at, .is_lock = false};
    if (may_be_number && is_lock(word, memory)) return ThreadReference{.at = at, .is_lock = true};
  }
  return std::nullopt;
}

}  // namespace sorrel::os
