//! TypeNames - names that a rank has given to predefined datatypes (MPI 5.0, 7.8). All ranks share
//! those datatypes, so their names cannot lie in them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

class TypeNames {
 public:
  struct Name {
    const Datatype* type;
    std::string text;
  };

  void set(const Datatype& type, std::string text) {
    for (Name& name : names_)
      if (name.type == &type) {
        name.text = std::move(text);
        return;
      }
    names_.push_back({.type = &type, .text = std::move(text)});
  }

  /// The name by which the rank knows `type`.
  [[nodiscard]] const char* of(const Datatype& type) const {
    for (const Name& name : names_)
      if (name.type == &type) return name.text.c_str();
    return type.name();
  }

  [[nodiscard]] const std::vector<Name>& all() const { return names_; }

 private:
  std::vector<Name> names_;
};

}  // namespace sorrel::mpi
