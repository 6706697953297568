#include "mpi/comm/session.hpp"

#include "base/ascii_case.hpp"

namespace sorrel::mpi {

std::shared_ptr<const Group> group_of_set(std::string_view name,
                                          const std::shared_ptr<const Group>& world,
                                          std::int32_t world_rank) {
  if (equal_ignoring_case(name, process_sets[0])) return world;
  return equal_ignoring_case(name, process_sets[1]) ? Group::of({world_rank}) : nullptr;
}

}  // namespace sorrel::mpi
