#include "runtime/thread_bonds.hpp"

#include <cstdint>
#include <link.h>
#include <optional>

#include "base/check.hpp"
#include "core/worker.hpp"
#include "os/touched_pages.hpp"
#include "program/base/libc.hpp"
#include "program/base/stream_list.hpp"
#include "program/rank/mapped_memory.hpp"

namespace sorrel::runtime {

namespace {

/// Memory of a rank that is searched: a tenth of a second, in which its worker runs no rank.
constexpr std::uint64_t searched_bytes_max = std::uint64_t{512} << 20;

/// glibc's _IO_lock_t.
struct StreamLock {
  int state;
  int depth;
  void* owner;
};

/// Whether a rank has locked a stream (flockfile), or uses it at this moment.
bool has_locked_stream(const os::ThreadReferences& references) {
  bool has_any = false;
  program::StreamList::for_each([&](const FILE& stream) {
    const auto* lock = static_cast<const StreamLock*>(static_cast<const void*>(stream._lock));
    if (lock == nullptr) return;
    has_any |= references.is_of_thread(reinterpret_cast<std::uintptr_t>(lock->owner));
  });
  return has_any;
}

std::string text_of_reference(const os::ThreadReference& found, const char* where) {
  return found.is_lock ? std::string("it holds a lock that names its worker's thread, in ") + where
                       : std::string("an address of its worker's thread is in ") + where;
}

}  // namespace

void ThreadBonds::add_calling_thread() {
  static auto* const real_iterate =
      program::next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  const std::optional<os::ThreadIdentity> thread =
      os::ThreadIdentity::of_calling_thread(real_iterate);
  if (thread) threads_.push_back(*thread);
  has_unknown_ |= !thread;
}

std::string ThreadBonds::reason_bound(program::RankProcess& process,
                                      std::span<const os::MemoryRange> memory) const {
  if (has_unknown_) return "the size of a thread control block is not known";
  if (const char* reason = reason_in_process(process); reason != nullptr) return reason;
  const os::ThreadReferences references(threads_);
  // First what lasts, so that it is what a user reads.
  std::string reason = reason_in_memory(memory, references);
  return reason.empty() ? reason_in_fiber(process, references) : reason;
}

const char* ThreadBonds::reason_in_process(program::RankProcess& process) {
  if (process.settings().are_changed() || process.fiber()->settings != nullptr)
    return "it has a working directory, file mode mask, locale or GPU of its own";
  if (process.signals().is_in_handler()) return "it is in a handler of a signal";
  if (process.started_threads().any() || process.own_thread() != 0)
    return "it has threads of its own";
  if (process.thread_keys().has_value_of_library())
    return "a library of the process keeps a thread-specific value for it (pthread_setspecific)";
  if (program::MappedMemory::has_any(process.rank()))
    return "it has mapped memory of its own (mmap)";
  return nullptr;
}

std::string ThreadBonds::reason_in_fiber(const program::RankProcess& process,
                                         const os::ThreadReferences& references) {
  SORREL_ASSERT(process.fiber() != nullptr, "rank %d has no fiber", process.rank());
  const core::Fiber& fiber = *process.fiber();
  const bool is_suspended =
      (fiber.state == core::FiberState::waiting || fiber.state == core::FiberState::ready) &&
      &fiber.worker->running() != &fiber;
  if (!is_suspended) return "its worker waits in its call, or it runs";
  if (fiber.pin_count != 0) return "it is in a callback";
  if (fiber.saved_exceptions.caught != nullptr || fiber.saved_exceptions.uncaught_count != 0)
    return "it handles a C++ exception";
  if (!process.is_on_stack(fiber.context)) return "it is on another stack than its own";
  if (has_locked_stream(references)) return "a stream is locked (flockfile)";
  // The saved registers lie there, too.
  const auto lowest = reinterpret_cast<std::uintptr_t>(fiber.context);
  const auto top = reinterpret_cast<std::uintptr_t>(process.stack_bottom()) + process.stack_bytes();
  SORREL_ASSERT(lowest < top, "a stack from 0x%zx to 0x%zx", lowest, top);
  const auto found = references.find({lowest, top});
  return found ? text_of_reference(*found, "its stack") : "";
}

std::string ThreadBonds::reason_in_memory(std::span<const os::MemoryRange> memory,
                                          const os::ThreadReferences& references) {
  const os::TouchedPages pages;
  std::vector<os::MemoryRange> runs;
  for (const os::MemoryRange& range : memory) {
    if (!pages.add_runs(range, runs).empty())
      return "the system does not tell which memory it uses";
  }
  std::uint64_t bytes = 0;
  for (const os::MemoryRange& run : runs)
    bytes += run.end - run.begin;
  if (bytes > searched_bytes_max) return "it has more than 512 MiB of memory";
  for (const os::MemoryRange& run : runs) {
    if (const auto found = references.find(run))
      return text_of_reference(*found, "its globals or heap");
  }
  return "";
}

}  // namespace sorrel::runtime
