//! AddressBand - a range of addresses in which item i of some kind, one for each rank of a job,
//! lies at the same place whichever process of the job makes it.
//!
//! Nothing is reserved for items of other processes: the kernel hands out addresses from elsewhere.
//! Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::os {

struct AddressBand {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  /// The number of this process's first item.
  std::size_t first = 0;

  /// Where this process's items begin if items are `pitch` bytes apart; 0: there is no band, or
  /// `count` items and `rest` bytes behind them do not fit.
  [[nodiscard]] std::uintptr_t place(std::size_t count, std::size_t pitch, std::size_t rest) const;
};

/// Maps anonymous private memory exactly at `address`, if that is not 0 and nothing is there.
/// Otherwise, and only if `may_be_elsewhere`, anywhere. MAP_FAILED with errno if neither works.
[[nodiscard]] void* map_memory(std::uintptr_t address,
                               std::size_t bytes,
                               int protection,
                               int flags,
                               bool may_be_elsewhere = true);

}  // namespace sorrel::os
