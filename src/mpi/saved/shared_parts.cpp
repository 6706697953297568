#include "mpi/saved/shared_parts.hpp"

#include <algorithm>
#include <utility>

#include "mpi/saved/lists.hpp"

namespace sorrel::mpi {

namespace {

struct Run {
  std::int32_t first;
  std::int32_t distance;
  std::int32_t count;
};

}  // namespace

void save_group(const Group& group, ByteWriter& to) {
  to.add(group.is_world());
  if (group.is_world()) return;
  std::vector<Run> runs;
  for (std::int32_t i = 0; i < group.size(); ++i) {
    const std::int32_t rank = group.world_rank(i);
    if (!runs.empty()) {
      Run& run = runs.back();
      if (run.count == 1) run.distance = rank - run.first;
      if (rank == run.first + run.distance * run.count) {
        ++run.count;
        continue;
      }
    }
    runs.push_back({.first = rank, .distance = 0, .count = 1});
  }
  add_list<Run>(to, runs);
}

std::shared_ptr<const Group> SharedParts::group(ByteCursor& from) {
  if (from.take<bool>()) return world_.group();
  std::vector<std::int32_t> ranks;
  for (const Run& run : take_list<Run>(from)) {
    for (std::int64_t i = 0; i < run.count; ++i)
      ranks.push_back(static_cast<std::int32_t>(run.first + i * run.distance));
  }
  std::shared_ptr<const Group>& found = groups_[ranks];
  if (found == nullptr) found = Group::of(std::move(ranks));
  return found;
}

CommShared& SharedParts::comm(std::uint32_t context,
                              CommKind kind,
                              const std::shared_ptr<const Group>& group) {
  CommShared*& found = comms_[{.context = context, .kind = kind, .group = group.get()}];
  if (found == nullptr) found = present_comm(context, kind, *group);
  if (found == nullptr) found = new CommShared(world_, context, group, kind);
  return *found;
}

/// That of ranks which have not been restored; null: they have none.
CommShared* SharedParts::present_comm(std::uint32_t context,
                                      CommKind kind,
                                      const Group& group) const {
  const auto is_it = [&](const CommShared* comm) {
    if (comm->context() != context || comm->kind() != kind || comm->size() != group.size())
      return false;
    for (std::int32_t i = 0; i < group.size(); ++i) {
      if (comm->group()->world_rank(i) != group.world_rank(i)) return false;
    }
    return true;
  };
  const auto present = std::ranges::find_if(world_.comms(), is_it);
  return present == world_.comms().end() ? nullptr : *present;
}

FileShared* SharedParts::file(const Comm& own_comm,
                              const std::string& path,
                              int amode,
                              int* error) {
  FileShared*& found = files_[own_comm.shared->context()];
  if (found != nullptr) return found;
  auto* made = new FileShared(path, own_comm.size());
  *error =
      made->disk.open(path.c_str(), {.reads = (amode & MPI_MODE_WRONLY) == 0,
                                     .writes = (amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0});
  if (*error == 0) {
    found = made;
  } else {
    for (std::int32_t i = 0; i < own_comm.size(); ++i)
      made->release();
  }
  return found;
}

}  // namespace sorrel::mpi
