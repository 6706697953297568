#include "mpi/rma/regions.hpp"

#include <algorithm>

namespace sorrel::mpi {

int attach(Win& win, const void* base, std::size_t bytes, device::OwnedMemory* device) {
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  const std::uintptr_t end = begin + bytes;
  win.sync_lock.lock();
  const bool overlaps = std::ranges::any_of(win.regions, [&](const AttachedRegion& region) {
    return begin < region.end && region.begin < end;
  });
  if (!overlaps) win.regions.push_back({.begin = begin, .end = end, .device = device});
  win.sync_lock.unlock();
  if (!overlaps) return MPI_SUCCESS;
  return win.owner->fail(MPI_ERR_RMA_ATTACH,
                         "a part of the %zu bytes at %p is attached to the window already", bytes,
                         base);
}

int detach(Win& win, const void* base) {
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  win.sync_lock.lock();
  const auto found =
      std::ranges::find(win.regions, begin, [](const AttachedRegion& r) { return r.begin; });
  const bool is_found = found != win.regions.end();
  if (is_found) win.regions.erase(found);
  win.sync_lock.unlock();
  if (is_found) return MPI_SUCCESS;
  return win.owner->fail(MPI_ERR_RMA_ATTACH, "no memory attached to the window begins at %p", base);
}

}  // namespace sorrel::mpi
