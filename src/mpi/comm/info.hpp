//! Info - a list of (key, value) hints, in the order in which the keys were first set.
//!
//! An Info belongs to the rank that created it. MPI_INFO_ENV is one constant list that every rank
//! may read. The meaning of a key is defined by the function that reads it.
//!
//! Limits: MPI_MAX_INFO_KEY and MPI_MAX_INFO_VAL, both with the terminating zero; a longer text is
//! an error and leaves the list unchanged.
#pragma once

#include <memory>
#include <mpi.h>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "mpi/base/error_detail.hpp"
#include "mpi/base/handle.hpp"
#include "mpi/base/object_memory.hpp"

namespace sorrel::mpi {

class Info : public HandleObject<ObjectType::info> {
 public:
  static constexpr ObjectKind object_kind = ObjectKind::info;
  ObjectHeader header{object_kind};

  [[nodiscard]] int size() const { return static_cast<int>(entries_.size()); }

  /// The n-th key.
  [[nodiscard]] const std::string& key(int n) const {
    SORREL_ASSERT(n >= 0 && n < size());
    return entries_[static_cast<std::size_t>(n)].key;
  }

  /// The value of a key, or null if it is not in the list.
  [[nodiscard]] const std::string* find(std::string_view key) const;

  /// Adds the key or replaces its value. MPI_ERR_INFO_KEY, MPI_ERR_INFO_VALUE: null, empty key, or
  /// too long.
  [[nodiscard]] int set(const char* key, const char* value, ErrorDetail& detail);

  /// MPI_ERR_INFO_NOKEY: it is not in the list.
  [[nodiscard]] int erase(const char* key, ErrorDetail& detail);

 private:
  struct Entry {
    std::string key;
    std::string value;
  };

  std::vector<Entry> entries_;
};

/// MPI_SUCCESS if `key` may be the key of a hint, else MPI_ERR_INFO_KEY.
[[nodiscard]] int check_info_key(const char* key, ErrorDetail& detail);

/// The list behind a handle that the caller may change; null for MPI_INFO_NULL, MPI_INFO_ENV
/// (environment_info.hpp) and invalid handles.
Info* changeable_info_of(MPI_Info handle);

/// A handle for `info`, which it owns.
MPI_Info make_info_handle(std::unique_ptr<Info> info);

/// Ends a list of changeable_info_of(); its handle is detected as stale for a while.
void free_info(Info* info);

}  // namespace sorrel::mpi
