//! Recipe - the constructor arguments of a derived datatype, for MPI_Type_get_envelope and
//! MPI_Type_get_contents.
//!
//! Filled by the binding of a constructor in the standard's order of arguments (MPI 5.0, 5.1.13);
//! belongs to its datatype and its rank. Holds references to the old datatypes: programs may free
//! them and still query them.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <utility>
#include <vector>

#include "mpi/base/integers.hpp"

namespace sorrel::mpi {

class Datatype;

class Recipe {
 public:
  /// `is_large`: made by a constructor whose counts are MPI_Count.
  Recipe(int combiner, bool is_large) : combiner_(combiner), is_large_(is_large) {}

  /// The numbers that another one has returned.
  Recipe(int combiner,
         bool is_large,
         std::vector<int> integers,
         std::vector<MPI_Aint> addresses,
         std::vector<MPI_Count> large_counts)
      : combiner_(combiner),
        is_large_(is_large),
        integers_(std::move(integers)),
        addresses_(std::move(addresses)),
        large_counts_(std::move(large_counts)) {}

  Recipe(const Recipe&) = delete;
  Recipe& operator=(const Recipe&) = delete;
  ~Recipe();

  /// A number that is an int in both forms of the constructor.
  Recipe& integer(int value);
  /// A number that is an int, or an MPI_Count in the large form.
  Recipe& count(std::int64_t value);
  Recipe& counts(Integers values, std::int64_t length);
  /// A number that is an MPI_Aint, or an MPI_Count in the large form.
  Recipe& address(std::int64_t value);
  Recipe& addresses(Integers values, std::int64_t length);
  Recipe& type(Datatype& old_type);

  [[nodiscard]] int combiner() const { return combiner_; }

  [[nodiscard]] bool is_large() const { return is_large_; }

  [[nodiscard]] const std::vector<int>& integers() const { return integers_; }

  [[nodiscard]] const std::vector<MPI_Aint>& addresses() const { return addresses_; }

  [[nodiscard]] const std::vector<MPI_Count>& large_counts() const { return large_counts_; }

  [[nodiscard]] const std::vector<Datatype*>& types() const { return types_; }

  /// The caller takes over the references to the old types.
  [[nodiscard]] std::vector<Datatype*> take_types() { return std::exchange(types_, {}); }

 private:
  const int combiner_;
  const bool is_large_;
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Count> large_counts_;
  std::vector<Datatype*> types_;
};

}  // namespace sorrel::mpi
