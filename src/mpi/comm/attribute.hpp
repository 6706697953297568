//! Attributes - pointers that a program attaches to a communicator or a window, under keyvals of
//! its own.
//!
//! Keyvals and attributes belong to the rank that created them. A rank numbers its keyvals in its
//! own KeyvalTable; its attributes are in the AttributeMap of its own view of the communicator.
//! Only the rank's worker accesses them; there is no lock.
//!
//! The copy and delete callbacks are the program's. They run on the calling rank's fiber, may call
//! MPI and so may suspend. A return value other than MPI_SUCCESS ends the operation, which returns
//! it.
#pragma once

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <vector>

#include "mpi/base/error_detail.hpp"
#include "mpi/base/internal_tag.hpp"
#include "mpi/base/object_memory.hpp"

namespace sorrel::mpi {

/// What a keyval is for.
enum class AttributeOwner : std::uint8_t { comm, win, type };

/// A keyval. It lives until its number is freed and no attribute uses it.
struct Keyval {
  AttributeOwner owner = AttributeOwner::comm;
  int number = MPI_KEYVAL_INVALID;
  MPI_Comm_copy_attr_function* copy = MPI_COMM_NULL_COPY_FN;
  MPI_Comm_delete_attr_function* remove = MPI_COMM_NULL_DELETE_FN;
  void* extra_state = nullptr;
  /// The program has freed the number; attributes that use it stay valid.
  bool is_freed = false;
  /// References: the number, until it is freed, and every attribute. 0: the number may be reused.
  int reference_count = 0;
};

/// The keyvals of one rank.
class KeyvalTable {
 public:
  /// One more than the largest number to which the ABI gives a meaning, rounded up.
  static constexpr int first_number = 1024;

  Keyval& create(MPI_Comm_copy_attr_function* copy,
                 MPI_Comm_delete_attr_function* remove,
                 void* extra_state);

  /// A keyval of windows. Its delete callback is called with their handles: every handle is a
  /// pointer, so the calls are the same. Windows are not copied.
  Keyval& create_for_windows(MPI_Win_delete_attr_function* remove, void* extra_state);

  /// A keyval of datatypes; their callbacks are called likewise.
  Keyval& create_for_types(MPI_Type_copy_attr_function* copy,
                           MPI_Type_delete_attr_function* remove,
                           void* extra_state);

  /// The keyval of a number, or null. A freed number is found as long as an attribute uses it.
  [[nodiscard]] Keyval* find(int number, AttributeOwner owner) const;

  /// MPI_ERR_KEYVAL: no such number, already freed, or predefined.
  [[nodiscard]] int free(int number, AttributeOwner owner, ErrorDetail& detail);

  /// By number, from first_number on; with those whose number may be reused.
  [[nodiscard]] const std::vector<std::unique_ptr<Keyval>>& all() const { return keyvals_; }

  /// The next one of all(), without the references of attributes.
  void add_restored(const Keyval& keyval);

 private:
  /// By number; addresses are stable, because attributes point to keyvals.
  std::vector<std::unique_ptr<Keyval>> keyvals_;
};

/// The attributes of one communicator, in the order in which they were set.
class AttributeMap {
 public:
  AttributeMap() = default;
  AttributeMap(const AttributeMap&) = delete;
  AttributeMap& operator=(const AttributeMap&) = delete;
  /// Drops what erase_all() has not deleted, without callbacks.
  ~AttributeMap();

  /// Whether there is an attribute under `keyval`; if so, writes its value to *value.
  [[nodiscard]] bool get(const Keyval& keyval, void** value) const;

  /// Sets an attribute, after deleting the present one of this keyval. `handle`, here and below, is
  /// passed to the callbacks: the program's handle of the communicator. May suspend.
  [[nodiscard]] int set(MPI_Comm handle, Keyval& keyval, void* value);

  /// Deletes an attribute; success if there is none. May suspend.
  [[nodiscard]] int erase(MPI_Comm handle, Keyval& keyval);

  /// Deletes all, in reverse order of setting. After an error the remaining ones stay. May suspend.
  [[nodiscard]] int erase_all(MPI_Comm handle);

  /// Copies to an empty map the attributes that the copy callbacks accept. After an error those
  /// copied before are in `to`. May suspend.
  [[nodiscard]] int copy_to(MPI_Comm handle, AttributeMap& to) const;

  struct Attribute {
    Keyval* keyval;
    void* value;
  };

  [[nodiscard]] const std::vector<Attribute>& all() const { return attributes_; }

  /// The next one of all().
  void add_restored(Keyval& keyval, void* value);

 private:
  void forget(const Keyval& keyval);

  std::vector<Attribute> attributes_;
};

/// A communicator's attributes; null until one is set.
using AttributeMapPointer = std::unique_ptr<AttributeMap>;

/// The attribute part of MPI_Comm_dup: `to` gets the attributes that the copy callbacks of `from`
/// accept. After an error the caller ends its communicator as MPI_Comm_free does. May suspend.
[[nodiscard]] int copy_attributes(MPI_Comm from_handle,
                                  const AttributeMapPointer& from,
                                  AttributeMapPointer& to);

/// First step of MPI_Comm_free and MPI_Finalize: calls the delete callbacks, in reverse order of
/// setting. After an error the communicator must stay. May suspend.
[[nodiscard]] int delete_attributes(MPI_Comm handle, const AttributeMapPointer& attributes);

/// The values of the predefined attributes. One object for each rank, because programs get pointers
/// to them.
struct PredefinedAttributes : HandleObject<ObjectType::attributes> {
  int tag_ub = tag_max;
  int io = MPI_ANY_SOURCE;
  int host = MPI_PROC_NULL;
  int wtime_is_global = 1;
  int appnum = 0;
  int universe_size = 1;
  int last_used_code = MPI_ERR_LASTCODE;

  /// The value of MPI_TAG_UB and its like; null for any other number.
  [[nodiscard]] int* find(int number);
};

}  // namespace sorrel::mpi
