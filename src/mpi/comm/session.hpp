//! Session - one of a rank's handles to MPI's resources without MPI_COMM_WORLD (MPI 5.0, 11.3).
//!
//! Belongs to the rank that made it. Its process sets are those that the standard prescribes,
//! mpi://WORLD and mpi://SELF, and so the same for every session.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "mpi/base/handle.hpp"
#include "mpi/base/object_memory.hpp"
#include "mpi/comm/errhandler.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/info.hpp"

namespace sorrel::mpi {

struct Session {
  // No base, so that its members can be initialized by name.
  static void* operator new(std::size_t bytes) {
    return HandleObject<ObjectType::session>::operator new(bytes);
  }

  static void operator delete(void* object) noexcept { release_object(object); }

  static constexpr ObjectKind object_kind = ObjectKind::session;
  ObjectHeader header{object_kind};
  /// A user's handler has a function for sessions: MPI_Session_create_errhandler.
  Errhandler* errhandler = nullptr;
  /// Its buffer; shared with the groups and communicators that are derived from it.
  std::shared_ptr<BufferedSends> sends;
  /// MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE: what it was asked for, or the highest.
  int thread_level = 0;
};

/// In the order of their numbers.
inline constexpr std::array<const char*, 2> process_sets{"mpi://WORLD", "mpi://SELF"};

/// The ranks of a process set, for a rank of the job; null if there is no such set. Names of the
/// standard's sets are case-insensitive.
[[nodiscard]] std::shared_ptr<const Group> group_of_set(std::string_view name,
                                                        const std::shared_ptr<const Group>& world,
                                                        std::int32_t world_rank);

inline MPI_Session handle_of(Session& session) {
  return reinterpret_cast<MPI_Session>(&session);
}

}  // namespace sorrel::mpi
