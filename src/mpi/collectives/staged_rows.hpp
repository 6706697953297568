//! StagedRows - a row of the staging buffer for each member, so that one barrier separates writing
//! from reading. No two members write to one pair of cache lines.
//!
//! What is too long for a row stays where it is, and is read there: every member sees this in the
//! rows, and enters a second barrier for it. So members agree without knowing each other's counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/line_pair.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/slots.hpp"

namespace sorrel::mpi {

class StagedRows {
 public:
  /// A row holds so many bytes of data.
  static constexpr std::size_t row_bytes = 624;

  struct alignas(LinePair) Row {
    /// Where the member's data are; null: in the row.
    const void* elsewhere;
    std::size_t bytes;
    std::array<std::byte, row_bytes> data;
  };

  /// Whether rows are used in communicators of so many members: their memory grows with it.
  [[nodiscard]] static bool are_for(std::int32_t rank_count) { return rank_count <= 64; }

  /// The members are those of one process; all call it. May suspend. Fails as
  /// CollectiveSlots::staging() does.
  [[nodiscard]] int open(const Member& member) {
    auto& [self, comm] = member;
    std::byte* begin = nullptr;
    const std::size_t bytes = sizeof(Row) * static_cast<std::size_t>(comm.size());
    if (const int error = comm.shared->slots().staging(self, comm, bytes, &begin);
        error != MPI_SUCCESS)
      return error;
    rows_ = reinterpret_cast<Row*>(begin);
    own_ = comm.rank;
    return MPI_SUCCESS;
  }

  /// The caller's row, whose data it writes before the next barrier.
  Row& begin_own(std::size_t bytes, const void* elsewhere = nullptr) const {
    Row& row = rows_[own_];
    row.elsewhere = elsewhere;
    row.bytes = bytes;
    return row;
  }

  /// Read between that barrier and the one after it.
  [[nodiscard]] const Row& of(std::int32_t rank) const { return rows_[rank]; }

  /// A part of the caller's data.
  [[nodiscard]] TypedBuffer own_part(std::size_t first, std::size_t bytes) const {
    return part(own_, first, bytes);
  }

  /// A part of a member's data.
  [[nodiscard]] TypedBuffer part(std::int32_t rank, std::size_t first, std::size_t bytes) const {
    return {.buffer = rows_[rank].data.data() + first,
            .count = bytes,
            .type = datatype_from_handle(MPI_BYTE)};
  }

 private:
  Row* rows_ = nullptr;
  std::int32_t own_ = 0;
};

}  // namespace sorrel::mpi
