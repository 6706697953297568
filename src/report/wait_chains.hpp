//! WaitChains - which rank each waiting rank waits for, and where such a chain ends. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "report/wait_table.hpp"

namespace sorrel::report {

class WaitChains {
 public:
  /// The end of a chain of ranks that wait.
  struct End {
    /// Each rank waits for the next one, and the last for the first; empty if the chain ends at a
    /// rank that has ended.
    std::vector<std::int32_t> cycle;
    std::optional<std::int32_t> ended;
    /// The rank that waits for the ended one.
    std::int32_t waiting = 0;
  };

  explicit WaitChains(const WaitTable& table) : table_(table) {}

  /// The rank that a rank waits for; the search for a collective's absent member is made once.
  [[nodiscard]] std::optional<std::int32_t> awaited_by(const RankWait& wait);

  /// The end of the first chain that has one.
  [[nodiscard]] std::optional<End> first_end(std::int32_t rank_count);

 private:
  const WaitTable& table_;
  std::map<std::uint32_t, std::optional<std::int32_t>> absent_;
};

}  // namespace sorrel::report
