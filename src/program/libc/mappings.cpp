//! mmap, mremap, munmap, mprotect, pkey_mprotect, madvise, shmat, shmdt, sbrk: recorded for the
//! rank, in a job that may be saved. In others, that there was writable memory.

#include <cstdarg>
#include <cstdint>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program/base/driver_code.hpp"
#include "program/base/libc.hpp"
#include "program/rank/mapped_memory.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

using namespace sorrel::program;

namespace {

/// The mappings of the rank whose code calls; null if nothing is recorded.
RankMappings* mappings_of(const void* caller) {
  RankProcess* process = saved_process_of_caller(caller);
  return process == nullptr ? nullptr : &process->mappings();
}

/// Where nothing else is recorded. The rank stays where it is.
void note_memory(const void* caller) {
  if (RankProcess::are_saved() || is_of_process(caller)) return;
  if (const RankProcess* process = peek_rank_process(); process != nullptr)
    MappedMemory::note(process->rank());
}

}  // namespace

SORREL_INTERPOSED void* mmap(
    void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  auto* mapped =
      reinterpret_cast<void*>(::syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
  if (mapped == MAP_FAILED) return mapped;
  if ((protection & PROT_WRITE) != 0) note_memory(__builtin_return_address(0));
  if (RankMappings* mappings = mappings_of(__builtin_return_address(0)); mappings != nullptr)
    mappings->add(mapped, bytes);
  return mapped;
}

SORREL_INTERPOSED_AS(mmap)
void* mmap64(
    void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept;

SORREL_INTERPOSED int munmap(void* address, std::size_t bytes) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_munmap, address, bytes));
  if (result != 0) return result;
  if (RankMappings* mappings = mappings_of(__builtin_return_address(0)); mappings != nullptr)
    mappings->remove(address, bytes);
  return result;
}

SORREL_INTERPOSED void* mremap(
    void* address, std::size_t bytes, std::size_t new_bytes, int flags, ...) noexcept {
  va_list rest;
  va_start(rest, flags);
  void* const place = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  auto* mapped =
      reinterpret_cast<void*>(::syscall(SYS_mremap, address, bytes, new_bytes, flags, place));
  if (mapped == MAP_FAILED) return mapped;
  if (RankMappings* mappings = mappings_of(__builtin_return_address(0)); mappings != nullptr) {
    mappings->remove(address, bytes);
    mappings->add(mapped, new_bytes);
  }
  return mapped;
}

SORREL_INTERPOSED int mprotect(void* address, std::size_t bytes, int protection) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_mprotect, address, bytes, protection));
  if (result != 0) return result;
  if ((protection & PROT_WRITE) != 0) note_memory(__builtin_return_address(0));
  if (RankMappings* mappings = mappings_of(__builtin_return_address(0)); mappings != nullptr)
    mappings->add_protected(address, bytes);
  return result;
}

SORREL_INTERPOSED int pkey_mprotect(void* address,
                                    std::size_t bytes,
                                    int protection,
                                    int key) noexcept {
  const auto result =
      static_cast<int>(::syscall(SYS_pkey_mprotect, address, bytes, protection, key));
  if (result != 0) return result;
  if (RankMappings* mappings = mappings_of(__builtin_return_address(0)); mappings != nullptr)
    mappings->add_protected(address, bytes);
  return result;
}

SORREL_INTERPOSED int madvise(void* address, std::size_t bytes, int advice) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_madvise, address, bytes, advice));
  if (result != 0) return result;
  if (RankMappings* mappings = mappings_of(__builtin_return_address(0)); mappings != nullptr)
    mappings->note_advice(address, bytes, advice);
  return result;
}

SORREL_INTERPOSED void* sbrk(std::intptr_t bytes) noexcept {
  static auto* const real = next_definition<decltype(::sbrk)>("sbrk");
  void* before = real(bytes);
  // The ranks of a process have one program break: what is returned to it may be another rank's.
  if (bytes == 0 || before == reinterpret_cast<void*>(-1)) return before;
  note_memory(__builtin_return_address(0));
  if (RankMappings* mappings = mappings_of(__builtin_return_address(0)); mappings != nullptr)
    mappings->add(before, 1);
  return before;
}

SORREL_INTERPOSED void* shmat(int segment, const void* address, int flags) noexcept {
  static auto* const real = next_definition<decltype(::shmat)>("shmat");
  void* attached = real(segment, address, flags);
  if (attached == MAP_FAILED) return attached;
  if (RankMappings* mappings = mappings_of(__builtin_return_address(0)); mappings != nullptr) {
    shmid_ds description{};
    const bool is_known = ::shmctl(segment, IPC_STAT, &description) == 0;
    mappings->add(attached, is_known ? description.shm_segsz : 1);
  }
  return attached;
}

SORREL_INTERPOSED int shmdt(const void* address) noexcept {
  static auto* const real = next_definition<decltype(::shmdt)>("shmdt");
  const int result = real(address);
  if (result != 0) return result;
  if (RankMappings* mappings = mappings_of(__builtin_return_address(0)); mappings != nullptr)
    mappings->remove_whole(address);
  return result;
}
