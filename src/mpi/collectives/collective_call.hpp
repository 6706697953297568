//! CollectiveCall - which collective a member is in, and what its arguments must have in common
//! with those of the other members. Two words, compared where members meet.
#pragma once

#include <bit>
#include <cstdint>

namespace sorrel::mpi {

class ErrorDetail;

/// Each has one name, with or without _c.
enum class CollectiveKind : std::uint8_t {
  none,
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  comm_dup,
  comm_split,  ///< And what is made by it: MPI_Comm_create, grids.
  finalize,
};

inline constexpr std::int32_t collective_kind_count = 21;

struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::none;
  /// Of reductions: the Element of the datatype, and the constant of a predefined operation.
  std::uint8_t element = 0;
  std::uint16_t op = 0;
  /// Of rooted collectives.
  std::int32_t root = 0;
  /// Where the standard wants the same amount of data of all members.
  std::uint64_t bytes = 0;

  friend bool operator==(const CollectiveCall& a, const CollectiveCall& b) {
    return std::bit_cast<Words>(a) == std::bit_cast<Words>(b);
  }

  /// Sixteen bits that differ, most likely, where the calls do; the low ones are the kind.
  [[nodiscard]] std::uint16_t digest() const;

 private:
  struct Words {
    std::uint64_t what;
    std::uint64_t bytes;
    friend bool operator==(const Words&, const Words&) = default;
  };
};

/// The kind in a digest.
[[nodiscard]] CollectiveKind kind_of_digest(std::uint16_t digest);

/// As in the standard: "MPI_Gather".
[[nodiscard]] const char* name_of(CollectiveKind kind);

/// A member's call.
struct MemberCall {
  CollectiveCall call;
  std::int32_t rank = 0;
};

/// Two members of a meeting whose calls differ.
struct CollectiveMismatch {
  /// The meeting, as Comm::meeting_count counts; 0 for none.
  std::uint32_t meeting = 0;
  MemberCall first;
  MemberCall other;

  /// Says which argument differs, or which calls, and returns the error class.
  [[nodiscard]] int explain(ErrorDetail& detail) const;
};

}  // namespace sorrel::mpi
