#include "transport/sim/wire.hpp"

#include <algorithm>
#include <cmath>

#include "base/prng.hpp"

namespace sorrel::transport {

namespace {

/// Takes the line for `duration_ns`, from `earliest_ns` on or when it is free; returns from when.
std::int64_t occupy(std::atomic<std::int64_t>& free_ns,
                    std::int64_t earliest_ns,
                    std::int64_t duration_ns) {
  std::int64_t free = free_ns.load(std::memory_order_relaxed);
  std::int64_t begin = 0;
  do {
    begin = std::max(free, earliest_ns);
  } while (!free_ns.compare_exchange_weak(free, begin + duration_ns, std::memory_order_relaxed));
  return begin;
}

/// At least 1, so that no two things arrive at the same time and their order is known.
std::int64_t duration_of(std::size_t bytes, double bytes_per_ns) {
  if (bytes_per_ns <= 0) return 1;
  return std::max<std::int64_t>(std::llround(static_cast<double>(bytes) / bytes_per_ns), 1);
}

}  // namespace

Wire::Wire(const WireOptions& options) : options_(options), lines_(new Lines[options.node_count]) {}

std::int64_t Wire::jitter_ns(std::uint32_t from) {
  if (options_.jitter_ns == 0) return 0;
  const std::uint64_t number = lines_[from].packet_count.fetch_add(1, std::memory_order_relaxed);
  Prng prng(options_.seed ^ (std::uint64_t{from} << 40) ^ number);
  return static_cast<std::int64_t>(prng.below(static_cast<std::uint64_t>(options_.jitter_ns) + 1));
}

std::int64_t Wire::arrival_ns(std::uint32_t from,
                              std::uint32_t to,
                              std::int64_t now_ns,
                              std::size_t bytes) {
  const std::int64_t duration_ns = duration_of(bytes, options_.bytes_per_ns);
  const std::int64_t leaves_ns = occupy(lines_[from].out_free_ns, now_ns, duration_ns);
  const std::int64_t first_ns = leaves_ns + options_.latency_ns + jitter_ns(from);
  return occupy(lines_[to].in_free_ns, first_ns, duration_ns) + duration_ns;
}

std::int64_t Wire::answer_ns(std::uint32_t by,
                             std::uint32_t of,
                             std::int64_t now_ns,
                             std::size_t bytes) {
  return arrival_ns(of, by, arrival_ns(by, of, now_ns, header_bytes), bytes);
}

}  // namespace sorrel::transport
