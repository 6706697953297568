#include "mpi/rma/address.hpp"

#include <algorithm>

#include "mpi/datatype/data_span.hpp"

namespace sorrel::mpi {

namespace {

/// As span_of(), from `displacement` on; false if the bytes cannot be counted.
[[nodiscard]] bool find_span(std::int64_t displacement,
                             std::size_t count,
                             const Datatype& type,
                             DataSpan* span) {
  const auto last = static_cast<std::int64_t>(count) - 1;
  std::int64_t reach = 0;
  if (__builtin_mul_overflow(last, type.extent(), &reach)) return false;
  const std::int64_t lowest = std::min<std::int64_t>(reach, 0);
  const std::int64_t highest = std::max<std::int64_t>(reach, 0);
  const std::int64_t true_ub = type.true_lb() + type.true_extent();
  std::int64_t begin = 0;
  std::int64_t end = 0;
  return !__builtin_add_overflow(type.true_lb(), lowest, &begin) &&
         !__builtin_add_overflow(true_ub, highest, &end) &&
         !__builtin_add_overflow(begin, displacement, &span->begin) &&
         !__builtin_add_overflow(end, displacement, &span->end);
}

[[nodiscard]] bool is_empty(std::size_t count, const Datatype& type) {
  return count == 0 || type.size() == 0;
}

/// Whether the attached regions of a dynamic window, which may be neighbours, contain the
/// addresses, all on the host or all on a device; `*device` is what the latter belong to.
[[nodiscard]] bool is_attached(Win& target, const DataSpan& span, device::OwnedMemory** device) {
  auto at = static_cast<std::uintptr_t>(span.begin);
  const auto end = static_cast<std::uintptr_t>(span.end);
  target.sync_lock.lock();
  const auto find_region = [&] {
    return std::ranges::find_if(target.regions, [&](const AttachedRegion& region) {
      return at >= region.begin && at < region.end;
    });
  };
  auto region = find_region();
  *device = region != target.regions.end() ? region->device : nullptr;
  for (; region != target.regions.end() && at < end && region->device == *device;
       region = find_region())
    at = region->end;
  target.sync_lock.unlock();
  return at >= end;
}

}  // namespace

int find_place(const Win& win, const TargetBuffer& target, TargetPlace* place) {
  const WinTarget& member = win.target(target.rank);
  RankState& self = *win.owner;
  if (target.displacement < 0)
    return self.fail(MPI_ERR_DISP, "target_disp is %lld; it must not be negative",
                     static_cast<long long>(target.displacement));
  DataSpan span;
  const bool is_counted = !__builtin_mul_overflow(target.displacement, member.displacement_unit,
                                                  &place->displacement) &&
                          find_span(place->displacement, target.count, *target.type, &span);
  const bool is_dynamic = win.shared->is_dynamic();
  bool is_inside = is_counted && (is_dynamic || (span.begin >= 0 && span.end <= member.bytes));
  if (is_empty(target.count, *target.type)) {
    is_inside = true;
  } else if (is_dynamic && is_inside && member.is_here) {
    is_inside = is_attached(*member.window, span, &place->device);
  }
  if (!is_inside) [[unlikely]] {
    if (is_dynamic)
      return self.fail(MPI_ERR_RMA_RANGE, "the target's memory at %#llx is not attached at rank %d",
                       static_cast<unsigned long long>(target.displacement), target.rank);
    return self.fail(MPI_ERR_RMA_RANGE,
                     "bytes %lld to %lld are outside the window of rank %d, which has %lld bytes",
                     static_cast<long long>(span.begin), static_cast<long long>(span.end),
                     target.rank, static_cast<long long>(member.bytes));
  }
  if (is_dynamic) {
    if (member.is_here && place->device == nullptr)
      place->address = reinterpret_cast<std::byte*>(place->displacement);
  } else if (member.address != nullptr) {
    place->address = member.address + place->displacement;
  } else {
    place->device = member.device;
  }
  return MPI_SUCCESS;
}

std::uintptr_t device_address_of(const Win& win, std::int32_t target, const TargetPlace& place) {
  SORREL_ASSERT(place.device != nullptr, "the memory of rank %d is not on a device", target);
  const auto displacement = static_cast<std::uintptr_t>(place.displacement);
  if (win.shared->is_dynamic()) return displacement;
  return reinterpret_cast<std::uintptr_t>(win.target(target).window->base) + displacement;
}

int find_own_memory(Win& win,
                    std::int64_t displacement,
                    std::size_t count,
                    const Datatype& type,
                    std::byte** address,
                    device::OwnedMemory** device) {
  const WinTarget& own = win.target(win.rank);
  DataSpan span;
  *device = own.device;
  if (!is_empty(count, type)) {
    if (!find_span(displacement, count, type, &span)) return MPI_ERR_RMA_RANGE;
    const bool is_inside = win.shared->is_dynamic() ? is_attached(win, span, device)
                                                    : span.begin >= 0 && span.end <= own.bytes;
    if (!is_inside) return MPI_ERR_RMA_RANGE;
  }
  *address = win.shared->is_dynamic() ? reinterpret_cast<std::byte*>(displacement)
                                      : static_cast<std::byte*>(win.base) + displacement;
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
