#include "os/peer_memory.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "base/check.hpp"

namespace sorrel::os {

static_assert(piece_count_max <= IOV_MAX);

void let_descendants_read(pid_t ancestor) {
  prctl(PR_SET_PTRACER, static_cast<unsigned long>(ancestor), 0, 0, 0);
}

namespace {

/// `copy` is process_vm_readv or process_vm_writev.
template <class Copy>
bool copy_peer_memory(
    pid_t pid, std::uintptr_t here, std::uintptr_t there, std::size_t bytes, Copy&& copy) {
  while (bytes > 0) {
    const iovec local{.iov_base = reinterpret_cast<void*>(here), .iov_len = bytes};
    const iovec remote{.iov_base = reinterpret_cast<void*>(there), .iov_len = bytes};
    const ssize_t count = copy(pid, &local, 1UL, &remote, 1UL, 0UL);
    // The kernel copies at most 2 GiB a call, and stops at an unmapped address.
    if (count <= 0) return false;
    SORREL_ASSERT(static_cast<std::size_t>(count) <= bytes, "%zd bytes of %zu", count, bytes);
    here += static_cast<std::uintptr_t>(count);
    there += static_cast<std::uintptr_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

bool read_peer_memory(pid_t pid, void* target, std::uintptr_t source, std::size_t bytes) {
  return copy_peer_memory(pid, reinterpret_cast<std::uintptr_t>(target), source, bytes,
                          process_vm_readv);
}

bool read_equal_memory(pid_t pid, std::span<const MemoryRange> ranges) {
  std::array<iovec, piece_count_max> parts{};
  // Bytes of the first range that are here.
  std::size_t done = 0;
  while (!ranges.empty()) {
    const std::size_t count = std::min(ranges.size(), piece_count_max);
    SORREL_ASSERT(done < ranges[0].end - ranges[0].begin || ranges[0].begin == ranges[0].end,
                  "%zu bytes of 0x%zx to 0x%zx are here", done, ranges[0].begin, ranges[0].end);
    for (std::size_t i = 0; i < count; ++i) {
      parts[i] = {.iov_base = reinterpret_cast<void*>(ranges[i].begin),
                  .iov_len = ranges[i].end - ranges[i].begin};
    }
    parts[0] = {.iov_base = reinterpret_cast<void*>(ranges[0].begin + done),
                .iov_len = ranges[0].end - ranges[0].begin - done};
    const ssize_t copied = process_vm_readv(pid, parts.data(), count, parts.data(), count, 0);
    if (copied <= 0) return false;
    done += static_cast<std::size_t>(copied);
    while (!ranges.empty() && done >= ranges[0].end - ranges[0].begin) {
      done -= ranges[0].end - ranges[0].begin;
      ranges = ranges.subspan(1);
    }
  }
  return true;
}

bool read_peer_pieces(pid_t pid, void* target, std::span<const MemoryRange> pieces) {
  SORREL_CHECK(pieces.size() <= piece_count_max, "%zu pieces in one call", pieces.size());
  std::array<iovec, piece_count_max> parts{};
  std::size_t bytes = 0;
  const std::size_t count = pieces.size();
  for (std::size_t i = 0; i < count; ++i) {
    parts[i] = {.iov_base = reinterpret_cast<void*>(pieces[i].begin),
                .iov_len = pieces[i].end - pieces[i].begin};
    bytes += parts[i].iov_len;
  }
  const iovec local{.iov_base = target, .iov_len = bytes};
  const ssize_t copied = process_vm_readv(pid, &local, 1, parts.data(), count, 0);
  return copied >= 0 && static_cast<std::size_t>(copied) == bytes;
}

bool write_peer_memory(pid_t pid, std::uintptr_t target, const void* source, std::size_t bytes) {
  return copy_peer_memory(pid, reinterpret_cast<std::uintptr_t>(source), target, bytes,
                          process_vm_writev);
}

}  // namespace sorrel::os
