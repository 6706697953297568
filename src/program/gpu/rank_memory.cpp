#include "program/gpu/rank_memory.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"

namespace sorrel::program::gpu {

void RankMemory::count(const Allocation& allocation, bool is_added) {
  if (allocation.kind == MemoryKind::pinned || allocation.kind == MemoryKind::registered ||
      allocation.kind == MemoryKind::imported)
    return;
  const std::uint64_t before = in_use_.load(std::memory_order_relaxed);
  SORREL_ASSERT(is_added || before >= allocation.bytes, "%llu bytes in use",
                static_cast<unsigned long long>(before));
  const std::uint64_t now = is_added ? before + allocation.bytes : before - allocation.bytes;
  in_use_.store(now, std::memory_order_relaxed);
  most_.store(std::max(most_.load(std::memory_order_relaxed), now), std::memory_order_relaxed);
}

void RankMemory::add(const Allocation& allocation) {
  const std::scoped_lock lock(mutex_);
  SORREL_ASSERT(allocation.begin + allocation.bytes >= allocation.begin,
                "%zu bytes end behind the last address", allocation.bytes);
  const auto [place, is_new] = all_.try_emplace(allocation.begin, allocation);
  if (!is_new) {
    count(place->second, false);
    place->second = allocation;
  }
  count(allocation, true);
}

bool RankMemory::remove(std::uintptr_t begin) {
  const std::scoped_lock lock(mutex_);
  const auto found = all_.find(begin);
  if (found == all_.end()) return false;
  count(found->second, false);
  all_.erase(found);
  return true;
}

void RankMemory::remove_maps(std::uintptr_t begin, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  auto at = all_.lower_bound(begin);
  while (at != all_.end() && at->first - begin < bytes) {
    if (at->second.kind != MemoryKind::mapped) {
      ++at;
      continue;
    }
    count(at->second, false);
    at = all_.erase(at);
  }
}

std::optional<Allocation> RankMemory::find(std::uintptr_t address) const {
  const std::scoped_lock lock(mutex_);
  auto after = all_.upper_bound(address);
  if (after == all_.begin()) return std::nullopt;
  const Allocation& before = std::prev(after)->second;
  if (address - before.begin >= before.bytes) return std::nullopt;
  return before;
}

std::optional<Allocation> RankMemory::find_on_device(std::uintptr_t begin,
                                                     std::uintptr_t end) const {
  const std::scoped_lock lock(mutex_);
  auto at = all_.upper_bound(begin);
  if (at != all_.begin()) --at;
  for (; at != all_.end() && at->first < end; ++at) {
    const Allocation& allocation = at->second;
    if (allocation.is_on_device() && allocation.begin + allocation.bytes > begin) return allocation;
  }
  return std::nullopt;
}

bool RankMemory::holds_on_device(std::uintptr_t begin, std::uintptr_t end) const {
  const std::scoped_lock lock(mutex_);
  auto at = all_.upper_bound(begin);
  if (at == all_.begin()) return false;
  --at;
  const bool is_map = at->second.kind == MemoryKind::mapped;
  std::uintptr_t held_end = at->first + at->second.bytes;
  if (!at->second.is_on_device() || held_end <= begin) return false;
  for (++at; is_map && held_end < end; ++at) {
    if (at == all_.end() || at->first != held_end || at->second.kind != MemoryKind::mapped)
      return false;
    held_end += at->second.bytes;
  }
  return held_end >= end;
}

std::vector<Allocation> RankMemory::take_all_of(Context context) {
  const std::scoped_lock lock(mutex_);
  std::vector<Allocation> taken;
  for (auto at = all_.begin(); at != all_.end();) {
    if (at->second.context != context) {
      ++at;
      continue;
    }
    taken.push_back(at->second);
    count(at->second, false);
    at = all_.erase(at);
  }
  return taken;
}

}  // namespace sorrel::program::gpu
