//! HandleTable - the handles that one rank has made and not freed, and where it has made them.
//!
//! The rank's worker only.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "check/checked_call.hpp"
#include "check/finding_log.hpp"

namespace sorrel::check {

struct MadeHandle {
  ArgumentKind kind;
  std::uintptr_t handle;
  CallPlace made;
};

class HandleTable {
 public:
  void add(const MadeHandle& made) { made_.insert({{made.handle, next_++}, made}); }

  /// Removes the oldest entry of the handle, if there is one.
  void remove(ArgumentKind kind, std::uintptr_t handle);

  /// In the order in which they were made.
  [[nodiscard]] std::vector<MadeHandle> take_all();

 private:
  /// By handle, and order: a handle that several calls return is made several times.
  std::map<std::pair<std::uintptr_t, std::uint64_t>, MadeHandle> made_;
  std::uint64_t next_ = 0;
};

/// Whether the handle is an object that the program must free: no constant of the standard.
[[nodiscard]] bool is_own_object(std::uintptr_t handle);

/// "communicator".
[[nodiscard]] const char* noun_of(ArgumentKind kind);

/// "leak-communicator".
[[nodiscard]] const char* leak_of(ArgumentKind kind);

/// "MPI_Comm_free"; of a request, what ends it.
[[nodiscard]] const char* end_of(ArgumentKind kind);

}  // namespace sorrel::check
