//! TypeAttributes - the attributes of a rank's datatypes (MPI 5.0, 7.7.4).
//!
//! They are here, not in the datatypes: few datatypes have any, and predefined ones are shared by
//! all ranks. An attribute ends with the last handle of its datatype, whatever else still refers to
//! the datatype: messages, and types made from it. MPI_Type_get_contents gives further handles of
//! the old types. The rank's worker only; the functions that call the program's callbacks may
//! suspend.
#pragma once

#include <unordered_map>

#include "mpi/comm/attribute.hpp"
#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

class TypeAttributes {
 public:
  /// The attributes of a type; null if it has none.
  [[nodiscard]] AttributeMap* find(const Datatype& type) const;

  [[nodiscard]] AttributeMap& make(const Datatype& type);

  /// MPI_Type_get_contents has given the program one more handle of `type`.
  void add_handle(const Datatype& type);

  /// MPI_Type_free: deletes the attributes if this is the last handle. After an error of a delete
  /// callback the handle must stay.
  [[nodiscard]] int drop_handle(const Datatype& type);

  /// MPI_Type_dup: `to` gets the attributes that the copy callbacks of `from` accept.
  [[nodiscard]] int copy(const Datatype& from, const Datatype& to);

  struct Entry {
    AttributeMapPointer attributes;
    int further_handle_count = 0;
  };

  [[nodiscard]] const std::unordered_map<const Datatype*, Entry>& all() const { return entries_; }

 private:
  std::unordered_map<const Datatype*, Entry> entries_;
};

/// Callbacks of datatypes are called like those of communicators: every handle is a pointer.
[[nodiscard]] inline MPI_Comm attribute_handle_of(const Datatype& type) {
  return reinterpret_cast<MPI_Comm>(handle_of(type));
}

}  // namespace sorrel::mpi
