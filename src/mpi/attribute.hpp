//! Attributes - pointers that a program hangs on a communicator, under keys of its own.
//!
//! Keys and attributes belong to the rank that made them: a rank's keys are numbered in its own
//! KeyvalTable, its attributes lie in the AttributeMap of its own view of the communicator. Only
//! the rank's worker touches them; there is nothing to lock.
//!
//! The copy and delete callbacks are the program's. They run on the calling rank's fiber, may call
//! MPI themselves and so may suspend. What they return when it is not MPI_SUCCESS ends the
//! operation and is what it returns.
#pragma once

#include <memory>
#include <mpi.h>
#include <vector>

#include "mpi/error_detail.hpp"
#include "mpi/internal_tag.hpp"

namespace sorrel::mpi {

struct Comm;

/// A key of attributes. It lives as long as its number is not freed or an attribute uses it.
struct Keyval {
  int number = MPI_KEYVAL_INVALID;
  MPI_Comm_copy_attr_function* copy = MPI_COMM_NULL_COPY_FN;
  MPI_Comm_delete_attr_function* remove = MPI_COMM_NULL_DELETE_FN;
  void* extra_state = nullptr;
  /// The program has freed the number; attributes that have it go on.
  bool is_freed = false;
  /// The number, until it is freed, and every attribute. 0: may be given out again.
  int reference_count = 0;
};

/// The keys of one rank.
class KeyvalTable {
 public:
  /// One more than the largest number that the ABI gives a meaning to, rounded up.
  static constexpr int first_number = 1024;

  Keyval& create(MPI_Comm_copy_attr_function* copy,
                 MPI_Comm_delete_attr_function* remove,
                 void* extra_state);

  /// The key of a number, or null. A freed number is found as long as an attribute uses it.
  [[nodiscard]] Keyval* find(int number) const;

  /// MPI_ERR_KEYVAL: no such number, freed already, or one of the library's own.
  [[nodiscard]] int free(int number, ErrorDetail& detail);

 private:
  /// By number; each stays where it is, because attributes point to it.
  std::vector<std::unique_ptr<Keyval>> keyvals_;
};

/// The attributes of one communicator, in the order in which they were set.
class AttributeMap {
 public:
  AttributeMap() = default;
  AttributeMap(const AttributeMap&) = delete;
  AttributeMap& operator=(const AttributeMap&) = delete;
  /// Forgets what erase_all() has not deleted, without callbacks.
  ~AttributeMap();

  /// Whether there is an attribute under `keyval`; its value to *value if so.
  [[nodiscard]] bool get(const Keyval& keyval, void** value) const;

  /// Sets an attribute, after deleting the one that has the key. `handle` is for the callbacks,
  /// here and below: the communicator as the program names it. May suspend.
  [[nodiscard]] int set(MPI_Comm handle, Keyval& keyval, void* value);

  /// Deletes an attribute; no attribute there is a success. May suspend.
  [[nodiscard]] int erase(MPI_Comm handle, Keyval& keyval);

  /// Deletes all, the last set first. After an error those not yet deleted are still there. May
  /// suspend.
  [[nodiscard]] int erase_all(MPI_Comm handle);

  /// Copies to an empty map what the copy callbacks want copied. After an error those copied before
  /// are in `to`. May suspend.
  [[nodiscard]] int copy_to(MPI_Comm handle, AttributeMap& to) const;

 private:
  struct Attribute {
    Keyval* keyval;
    void* value;
  };

  void forget(const Keyval& keyval);

  std::vector<Attribute> attributes_;
};

/// What MPI_Comm_dup does with attributes: `to` gets what the copy callbacks of `from` let through.
/// After an error the caller ends `to` as MPI_Comm_free does. May suspend.
[[nodiscard]] int copy_attributes(MPI_Comm from_handle, const Comm& from, Comm& to);

/// What MPI_Comm_free and MPI_Finalize do first: the delete callbacks, the last set first. After an
/// error the communicator must stay. May suspend.
[[nodiscard]] int delete_attributes(MPI_Comm handle, Comm& comm);

/// The values behind the attributes that the library itself sets. One for each rank, because
/// programs get pointers to them.
struct PredefinedAttributes {
  int tag_ub = tag_max;
  int io = MPI_ANY_SOURCE;
  int host = MPI_PROC_NULL;
  int wtime_is_global = 1;
  int appnum = 0;
  int universe_size = 1;
  int last_used_code = MPI_ERR_LASTCODE;

  /// The value of MPI_TAG_UB and its like; null when the number is none of them.
  [[nodiscard]] int* find(int number);
};

}  // namespace sorrel::mpi
