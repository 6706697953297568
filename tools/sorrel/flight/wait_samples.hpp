//! WaitSamples - what the ranks of a job did at moments spread evenly over its time. Pure.
//!
//! A fixed number of samples is kept: when there are as many, every second one is dropped, and the
//! distance between those that follow is doubled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/wait_table.hpp"

namespace sorrel::tool {

class WaitSamples {
 public:
  static constexpr std::size_t sample_count_max = 64;
  static constexpr std::int64_t first_distance_ns = 1'000'000'000;

  /// What some ranks did.
  struct Row {
    std::string state;  ///< "waits", "runs"
    std::string call;
    std::string place;
    std::uint64_t count = 0;  ///< Ranks, of all samples together.

    /// The part of all ranks in all samples, from 0 to 1.
    double share = 0;
  };

  void add(const report::WaitTable& table);

  /// From one sample to the next.
  [[nodiscard]] std::int64_t distance_ns() const { return distance_ns_; }

  [[nodiscard]] std::size_t count() const { return samples_.size(); }

  /// The most frequent first.
  [[nodiscard]] std::vector<Row> rows() const;

 private:
  struct Key {
    std::string state;
    std::string call;
    std::string place;
    auto operator<=>(const Key&) const = default;
  };

  std::vector<std::map<Key, std::uint64_t>> samples_;
  std::int64_t distance_ns_ = first_distance_ns;
};

/// A heading and a line for each of the first rows; "" without rows.
[[nodiscard]] std::string text_of(const std::vector<WaitSamples::Row>& rows,
                                  std::size_t row_count_max);

}  // namespace sorrel::tool
