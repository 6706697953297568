//! CollectiveRecord - a collective call as members in other processes see it: what all members must
//! have alike, and what a message about a difference needs. Plain data, which a broadcast carries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/fixed_text.hpp"

namespace sorrel::check {

struct CollectiveRecord {
  /// In the order in which differences are looked for.
  enum Field : std::uint8_t {
    function,  ///< Its number.
    root,
    op,     ///< The handle of a predefined operation, or one value for all others.
    bytes,  ///< Size of the data that all members must have alike.
    types,  ///< A hash of the basic types of that data.
    /// A hash of the nonblocking and persistent calls before this one on the communicator.
    earlier,
  };

  static constexpr std::size_t field_count = 6;
  /// The member has no such value: it agrees with any.
  static constexpr std::int64_t none = -1;

  /// Not negative, or `none`.
  std::array<std::int64_t, field_count> fields{none, none, none, none, none, none};
  /// In the job.
  std::int32_t rank = 0;
  FixedText<48> name;
  FixedText<48> op_name;
  FixedText<120> data;
  /// Where the call is in the program: a file of code and an offset; "": not known.
  FixedText<512> path;
  std::uint64_t offset = 0;
  /// Where the call is in a script in Python; "": in none.
  FixedText<256> script;

  /// The first field in which two members that both have it differ; field_count: none.
  [[nodiscard]] std::size_t difference_from(const CollectiveRecord& other) const {
    std::size_t i = 0;
    while (i < field_count &&
           (fields[i] == none || other.fields[i] == none || fields[i] == other.fields[i]))
      ++i;
    return i;
  }
};

}  // namespace sorrel::check
