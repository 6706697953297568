#include "runtime/rank_environment.hpp"

#include <algorithm>
#include <vector>

#include "launch/rank_variables.hpp"
#include "mpi/comm/world.hpp"
#include "mpi/match/rank_state.hpp"
#include "runtime/config.hpp"
#include "transport/host/host_transport.hpp"

namespace sorrel::runtime {

std::string variables_of(const mpi::RankState& rank) {
  const mpi::World& world = *rank.world;
  const mpi::RankLayout& layout = world.layout();
  launch::RankNumbers numbers{.rank = rank.world_comm.rank,
                              .rank_count = rank.world_comm.size(),
                              .local_rank = rank.world_comm.rank - world.first_own_rank(),
                              .local_rank_count = 0};
  for (std::uint32_t process = 0; process < layout.process_count(); ++process) {
    if (world.transport() != nullptr && world.transport()->node_of(process) != world.own_node())
      continue;
    const std::int32_t count =
        layout.first_rank_of_process(process + 1) - layout.first_rank_of_process(process);
    numbers.local_rank_count += count;
    if (process < world.own_process()) numbers.local_rank += count;
  }
  return launch::text_of_rank_variables(numbers);
}

void set_variables_under_host(const Config& config) {
  const std::vector<std::uint32_t> neighbours = config.host->neighbours();
  const auto own = std::ranges::find(neighbours, config.own_process);
  launch::set_rank_variables({.rank = static_cast<std::int32_t>(config.own_process),
                              .rank_count = config.rank_count,
                              .local_rank = static_cast<std::int32_t>(own - neighbours.begin()),
                              .local_rank_count = static_cast<std::int32_t>(neighbours.size())});
}

}  // namespace sorrel::runtime
