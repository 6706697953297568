//! KindTypes - the datatypes that MPI_Type_create_f90_real and its like have returned to a rank:
//! the same arguments give the same datatype, which programs do not free (MPI 5.0, 19.1.9).
//!
//! The rank's worker only.
#pragma once

#include <vector>

#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

class KindTypes {
 public:
  /// The function's combiner and arguments.
  struct Key {
    int combiner;
    int first;
    int second;

    friend bool operator==(const Key&, const Key&) = default;
  };

  /// The datatype that a key's one duplicates; MPI_DATATYPE_NULL: no kind has this precision
  /// and range.
  [[nodiscard]] static MPI_Datatype base_of(const Key& key);

  KindTypes() = default;
  KindTypes(const KindTypes&) = delete;
  KindTypes& operator=(const KindTypes&) = delete;

  ~KindTypes() {
    for (const Entry& entry : entries_)
      entry.type->release();
  }

  /// Null if there is none.
  [[nodiscard]] const Datatype* find(const Key& key) const {
    for (const Entry& entry : entries_)
      if (entry.key == key) return entry.type;
    return nullptr;
  }

  /// Takes over the only reference to `type`.
  void add(const Key& key, Datatype& type) { entries_.push_back({key, &type}); }

  [[nodiscard]] bool has(const Datatype& type) const {
    for (const Entry& entry : entries_)
      if (entry.type == &type) return true;
    return false;
  }

  struct Entry {
    Key key;
    Datatype* type;
  };

  [[nodiscard]] const std::vector<Entry>& all() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace sorrel::mpi
