#include "tools/sorrel/flight/wait_samples.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <functional>

#include "base/printable.hpp"

namespace sorrel::tool {

void WaitSamples::add(const report::WaitTable& table) {
  if (samples_.size() == sample_count_max) {
    for (std::size_t i = 0; 2 * i < samples_.size(); ++i)
      samples_[i] = std::move(samples_[2 * i]);
    samples_.resize(sample_count_max / 2);
    distance_ns_ *= 2;
  }
  auto& sample = samples_.emplace_back();
  for (const report::RankWait& wait : table.waits())
    ++sample[{wait.state.substr(0, wait.state.find(" on worker ")), wait.call, wait.place}];
}

std::vector<WaitSamples::Row> WaitSamples::rows() const {
  std::map<Key, std::uint64_t> sums;
  std::uint64_t all = 0;
  for (const auto& sample : samples_) {
    for (const auto& [key, count] : sample) {
      sums[key] += count;
      all += count;
    }
  }
  std::vector<Row> rows;
  for (const auto& [key, count] : sums) {
    rows.push_back({.state = key.state,
                    .call = key.call,
                    .place = key.place,
                    .count = count,
                    .share = static_cast<double>(count) / static_cast<double>(all)});
  }
  std::ranges::stable_sort(rows, std::greater(), &Row::count);
  return rows;
}

std::string text_of(const std::vector<WaitSamples::Row>& rows, std::size_t row_count_max) {
  if (rows.empty()) return "";
  std::string text = fmt::format("{:>7}  {:<10} {:<22} {}\n", "share", "state", "in", "at");
  const std::size_t count = std::min(rows.size(), row_count_max);
  for (std::size_t i = 0; i < count; ++i) {
    const WaitSamples::Row& row = rows[i];
    text += fmt::format("{:>5.0f} %  {:<10} {:<22} {}\n", 100 * row.share, row.state,
                        printable(row.call), printable(row.place));
  }
  const std::size_t more = rows.size() - count;
  if (more > 0) text += fmt::format("         … and {} more row{}\n", more, more == 1 ? "" : "s");
  return text;
}

}  // namespace sorrel::tool
