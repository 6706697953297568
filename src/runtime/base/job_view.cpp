#include "runtime/base/job_view.hpp"

#include "base/check.hpp"

namespace sorrel::runtime {

std::int32_t JobView::number_at(std::size_t index) const {
  const mpi::ProcessWorld& world = *worlds_.front();
  SORREL_ASSERT(index < static_cast<std::size_t>(places_.count), "place %zu of %d", index,
                places_.count);
  const auto place = static_cast<std::int32_t>(index);
  if (world.spawned() != nullptr && place >= own_rank_count())
    return world.spawned()->number_in(place);
  return places_.first + place;
}

std::optional<std::int32_t> JobView::rank_at(std::uintptr_t address) const {
  for (const auto& world : worlds_) {
    for (std::int32_t i = world->first_own_rank(); i < world->last_own_rank(); ++i) {
      if (address == reinterpret_cast<std::uintptr_t>(&world->rank(i))) return i;
    }
    // The table of numbers is read without a lock.
    for (std::int32_t i = world->size(); i < world->rank_number_end(); ++i) {
      if (address == reinterpret_cast<std::uintptr_t>(world->ranks()[i])) return i;
    }
  }
  return std::nullopt;
}

std::optional<std::int32_t> JobView::rank_of_code(const void* address) const {
  if (place_count() == 1) return places_.first;
  const int index = body_.index_of_code(address);
  if (index < 0) return std::nullopt;
  return number_at(static_cast<std::size_t>(index));
}

}  // namespace sorrel::runtime
