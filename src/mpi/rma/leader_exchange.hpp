//! LeaderExchange - what the first members of the processes of a communicator tell each other.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/collectives/traffic.hpp"
#include "mpi/comm/process_map.hpp"

namespace sorrel::mpi {

/// Called by the first member of each process, with one value for each member of its process: gives
/// the values of every process, by its index, except the own. T is plain data. May suspend.
template <class T>
[[nodiscard]] int exchange_of_leaders(const Member& member,
                                      std::vector<T>& own,
                                      std::vector<std::vector<T>>* all) {
  const ProcessMap& processes = *member.comm.shared->processes();
  const auto buffer_of = [](std::vector<T>& values) {
    return TypedBuffer{.buffer = values.data(),
                       .count = values.size() * sizeof(T),
                       .type = datatype_from_handle(MPI_BYTE)};
  };
  all->resize(static_cast<std::size_t>(processes.count()));
  Traffic traffic(member);
  for (std::int32_t i = 0; i < processes.count(); ++i) {
    if (i == processes.own_index()) continue;
    std::vector<T>& values = (*all)[static_cast<std::size_t>(i)];
    values.resize(processes.members(i).size());
    traffic.receive(buffer_of(values), processes.process_leader(i));
  }
  for (std::int32_t i = 0; i < processes.count(); ++i) {
    if (i != processes.own_index()) traffic.send(buffer_of(own), processes.process_leader(i));
  }
  return traffic.finish();
}

}  // namespace sorrel::mpi
