//! TypeSignature - the sequence of basic datatypes in a buffer, which must be the same where data
//! is sent and where it is received (MPI 5.0, 3.3.1).
//!
//! Holds no reference to the datatype. Runs of equal elements are one entry; beyond a limit of
//! entries the rest is unknown and counts as equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpi/datatype/datatype.hpp"

namespace sorrel::check {

/// What distinguishes basic datatypes: MPI_INT and MPI_INTEGER are one, as MPI_INT and MPI_INT32_T.
struct BasicType {
  /// A predefined datatype of this kind, for messages.
  const mpi::Datatype* example = nullptr;

  [[nodiscard]] bool is_packed() const;
  [[nodiscard]] bool matches(const BasicType& other) const;
};

struct SignatureRun {
  BasicType basic;
  std::uint64_t count = 0;
};

class TypeSignature {
 public:
  /// The signature of no data.
  TypeSignature() = default;
  TypeSignature(const mpi::Datatype& type, std::uint64_t count);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  /// "4 MPI_INT", "2 x {1 MPI_INT, 2 MPI_DOUBLE}".
  [[nodiscard]] std::string text() const;

  struct Difference {
    enum class Kind : std::uint8_t { none, type, shorter, longer };
    Kind kind = Kind::none;
    /// Index of the first basic element that differs.
    std::uint64_t position = 0;
    BasicType here = {};
    BasicType there = {};
  };

  /// Equal sequences have equal hashes in all processes; nothing where the sequence is not known
  /// entirely, or matches others.
  [[nodiscard]] std::optional<std::uint64_t> hash() const;

  /// `shorter`: this is the beginning of `other`.
  [[nodiscard]] Difference compared_with(const TypeSignature& other) const;

 private:
  struct Unit {
    std::vector<SignatureRun> runs;
    bool is_cut = false;
    bool is_packed = false;
  };

  static void add(Unit& unit, const mpi::Datatype& type, std::uint64_t count);
  static void add(Unit& unit, BasicType basic, std::uint64_t count);

  std::shared_ptr<const Unit> unit_;
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace sorrel::check
