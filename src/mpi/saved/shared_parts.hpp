//! SharedParts - what the objects of several ranks of a process have in common, while these ranks
//! are restored: the first one that needs a part makes it, the next ones find it. So do ranks that
//! come from another process, if ranks of this one have a communicator with them.
//!
//! One thread, while no rank runs. Every process makes its own parts.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/topology/topology.hpp"
#include "mpi/comm/world.hpp"
#include "mpi/io/file.hpp"

namespace sorrel::mpi {

/// As runs of ranks with equal distances: short for rows, columns and planes of grids.
void save_group(const Group& group, ByteWriter& to);

class SharedParts {
 public:
  explicit SharedParts(World& world) : world_(world) {}

  /// The next one of a record.
  [[nodiscard]] std::shared_ptr<const Group> group(ByteCursor& from);

  /// The part for the group, and for the remote group if it is an intercommunicator.
  [[nodiscard]] CommShared& comm(std::uint32_t context,
                                 CommKind kind,
                                 const std::shared_ptr<const Group>& group);

  /// The topology of the communicators with a context; null until it is set.
  [[nodiscard]] Topology::Pointer& topology(std::uint32_t context) { return topologies_[context]; }

  /// The file whose own communicator has the context: that of `path`, opened by the first
  /// caller; null after an error, which is a number of errno.
  [[nodiscard]] FileShared* file(const Comm& own_comm,
                                 const std::string& path,
                                 int amode,
                                 int* error);

 private:
  struct CommKey {
    std::uint32_t context;
    CommKind kind;
    const Group* group;
    auto operator<=>(const CommKey&) const = default;
  };

  [[nodiscard]] CommShared* present_comm(std::uint32_t context,
                                         CommKind kind,
                                         const Group& group) const;

  World& world_;
  std::map<std::vector<std::int32_t>, std::shared_ptr<const Group>> groups_;
  std::map<CommKey, CommShared*> comms_;
  std::map<std::uint32_t, Topology::Pointer> topologies_;
  std::map<std::uint32_t, FileShared*> files_;
};

}  // namespace sorrel::mpi
