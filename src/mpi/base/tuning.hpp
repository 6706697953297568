//! TuningTable - the sizes at which collectives change their algorithm, by the shape of a
//! communicator.
//!
//! Rows are searched in order; the first whose bounds the shape does not exceed counts. A user's
//! rows come before the built-in ones (tuning_defaults.cpp), so a user's table may have a few rows.
//! All members of a communicator must find the same limits, so a shape is made of what all of them
//! know. No limit changes the bits of a result. Pure. docs/collectives.md has the text form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::mpi {

/// Each is a number of bytes.
enum class Limit : std::uint8_t {
  bcast_staged,      ///< in a process, up to here: a copy to a buffer, one barrier, a copy from it
  allgather_staged,  ///< up to here such copies, for the block of a member
  reduce_segment,    ///< a long reduction: a member computes at least this part
  allreduce_direct,  ///< over processes, up to here: all is sent to all, in one step
  reduce_direct,     ///< over processes, up to here: all is sent to the root's process, in one step
  allreduce_repeated,  ///< in a process, operands of all members together: each computes all
  reduce_on_arrival,  ///< in a process, up to here: combined when the members of a worker are there
};

inline constexpr std::size_t limit_count = 7;

/// Each limit's number of bytes.
using CollectiveLimits = std::array<std::size_t, limit_count>;

/// The shape of a communicator.
struct CollectiveShape {
  /// Rounded up.
  std::uint32_t ranks_per_worker = 1;
  std::uint32_t processes = 1;
  std::uint32_t nodes = 1;
};

class TuningTable {
 public:
  struct Row {
    Limit limit;
    std::size_t bytes;
    /// The largest shape that it is for.
    CollectiveShape bounds;
  };

  /// The built-in rows.
  TuningTable();

  /// Puts the rows of a text before the present ones. Returns what is wrong with the text, or
  /// nothing; then the table is unchanged.
  [[nodiscard]] std::optional<std::string> add(std::string_view text);

  [[nodiscard]] CollectiveLimits limits_of(const CollectiveShape& shape) const;

 private:
  std::vector<Row> rows_;
};

/// The built-in rows; the last one of each limit is for every shape.
[[nodiscard]] std::span<const TuningTable::Row> default_tuning();

/// The name in texts.
[[nodiscard]] std::string_view name_of(Limit limit);

}  // namespace sorrel::mpi
