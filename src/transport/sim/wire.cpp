#include "transport/sim/wire.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"
#include "base/prng.hpp"

namespace sorrel::transport {

namespace {

/// At least 1, so that arrival times are distinct and their order is defined.
std::int64_t duration_of(std::size_t bytes, double bytes_per_ns) {
  if (bytes_per_ns <= 0) return 1;
  return std::max<std::int64_t>(std::llround(static_cast<double>(bytes) / bytes_per_ns), 1);
}

}  // namespace

Wire::Wire(const WireOptions& options) : options_(options), nodes_(new Node[options.node_count]) {}

std::int64_t Wire::jitter_ns(std::uint32_t from) {
  if (options_.jitter_ns == 0) return 0;
  const std::uint64_t number = nodes_[from].packet_count.fetch_add(1, std::memory_order_relaxed);
  Prng prng(options_.seed ^ (std::uint64_t{from} << 40) ^ number);
  return static_cast<std::int64_t>(prng.below(static_cast<std::uint64_t>(options_.jitter_ns) + 1));
}

/// A packet that begins during data delays later data by its time.
void Wire::charge_data(Line& line, std::int64_t begin_ns, std::int64_t duration_ns) {
  if (begin_ns < line.data_end_ns.load(std::memory_order_relaxed))
    line.owed_ns.fetch_add(duration_ns, std::memory_order_relaxed);
}

/// Takes the outgoing line for a packet, from now on or when earlier packets have left; returns the
/// start.
std::int64_t Wire::take_out(Line& line, std::int64_t now_ns, std::int64_t duration_ns) {
  std::int64_t free_ns = line.packets_end_ns.load(std::memory_order_relaxed);
  std::int64_t begin_ns = 0;
  do {
    begin_ns = std::max(free_ns, now_ns);
  } while (!line.packets_end_ns.compare_exchange_weak(free_ns, begin_ns + duration_ns,
                                                      std::memory_order_relaxed));
  charge_data(line, begin_ns, duration_ns);
  return begin_ns;
}

/// Takes the incoming line for a packet that is at the switch at `first_ns`; returns its arrival.
std::int64_t Wire::take_in(std::uint32_t from,
                           std::uint32_t to,
                           std::int64_t now_ns,
                           std::int64_t first_ns,
                           std::int64_t duration_ns) {
  SORREL_ASSERT(duration_ns > 0, "two packets would arrive at one time");
  Node& node = nodes_[to];
  const std::scoped_lock lock(node.arriving);
  if (node.last_from_ns.empty()) node.last_from_ns.resize(options_.node_count);
  node.packets.forget_before(now_ns);
  const std::int64_t begin_ns =
      node.packets.free_for(std::max(first_ns, node.last_from_ns[from]), duration_ns);
  const std::int64_t end_ns = begin_ns + duration_ns;
  node.packets.add({begin_ns, end_ns});
  node.last_from_ns[from] = end_ns;
  // Written here only.
  node.in.packets_end_ns.store(
      std::max(node.in.packets_end_ns.load(std::memory_order_relaxed), end_ns),
      std::memory_order_relaxed);
  charge_data(node.in, begin_ns, duration_ns);
  return end_ns;
}

std::int64_t Wire::arrival_ns(std::uint32_t from,
                              std::uint32_t to,
                              std::int64_t now_ns,
                              std::size_t bytes) {
  SORREL_ASSERT(from != to && from < options_.node_count && to < options_.node_count);
  const std::int64_t duration_ns = duration_of(bytes, options_.bytes_per_ns);
  const std::int64_t leaves_ns = take_out(nodes_[from].out, now_ns, duration_ns);
  const std::int64_t first_ns = leaves_ns + options_.latency_ns + jitter_ns(from);
  return take_in(from, to, now_ns, first_ns, duration_ns);
}

std::int64_t Wire::answer_ns(std::uint32_t by,
                             std::uint32_t of,
                             std::int64_t now_ns,
                             std::size_t bytes) {
  const std::int64_t asked_ns = arrival_ns(by, of, now_ns, header_bytes);
  Line& out = nodes_[of].out;
  Line& in = nodes_[by].in;
  const std::int64_t way_ns = options_.latency_ns + jitter_ns(of);
  const std::scoped_lock lock(planning_);
  std::int64_t left_ns = duration_of(bytes, options_.bytes_per_ns) +
                         std::max(out.owed_ns.exchange(0, std::memory_order_relaxed),
                                  in.owed_ns.exchange(0, std::memory_order_relaxed));
  std::int64_t at_ns = std::max({asked_ns, out.packets_end_ns.load(std::memory_order_relaxed),
                                 in.packets_end_ns.load(std::memory_order_relaxed) - way_ns});
  out.plan.forget_before(now_ns);
  in.plan.forget_before(now_ns);
  while (left_ns > 0) {
    const Busy out_free = out.plan.free_from(at_ns);
    const Busy in_free = in.plan.free_from(out_free.begin_ns + way_ns);
    at_ns = in_free.begin_ns - way_ns;
    if (at_ns >= out_free.end_ns) continue;
    const std::int64_t piece_ns =
        std::min({left_ns, out_free.end_ns - at_ns, in_free.end_ns - in_free.begin_ns});
    out.plan.add({at_ns, at_ns + piece_ns});
    in.plan.add({at_ns + way_ns, at_ns + way_ns + piece_ns});
    at_ns += piece_ns;
    left_ns -= piece_ns;
  }
  const std::int64_t end_ns = at_ns + way_ns;
  // Written here only.
  out.data_end_ns.store(std::max(out.data_end_ns.load(std::memory_order_relaxed), at_ns),
                        std::memory_order_relaxed);
  in.data_end_ns.store(std::max(in.data_end_ns.load(std::memory_order_relaxed), end_ns),
                       std::memory_order_relaxed);
  return end_ns;
}

// ---- the plan of a line
// --------------------------------------------------------------------------

Wire::Busy Wire::Plan::free_from(std::int64_t earliest_ns) const {
  auto next = std::lower_bound(busy_.begin(), busy_.end(), earliest_ns,
                               [](const Busy& busy, std::int64_t ns) { return busy.end_ns <= ns; });
  // Adjacent intervals are merged, so after each one there is room.
  if (next != busy_.end() && next->begin_ns <= earliest_ns) {
    earliest_ns = next->end_ns;
    ++next;
  }
  return {earliest_ns,
          next == busy_.end() ? std::numeric_limits<std::int64_t>::max() : next->begin_ns};
}

std::int64_t Wire::Plan::free_for(std::int64_t earliest_ns, std::int64_t duration_ns) const {
  Busy gap = free_from(earliest_ns);
  while (gap.end_ns - gap.begin_ns < duration_ns)
    gap = free_from(gap.end_ns);
  return gap.begin_ns;
}

void Wire::Plan::add(const Busy& busy) {
  const auto next =
      std::lower_bound(busy_.begin(), busy_.end(), busy.begin_ns,
                       [](const Busy& other, std::int64_t ns) { return other.end_ns < ns; });
  const bool touches_before = next != busy_.end() && next->end_ns == busy.begin_ns;
  const auto behind = touches_before ? next + 1 : next;
  SORREL_ASSERT(
      busy.begin_ns < busy.end_ns && (behind == busy_.end() || behind->begin_ns >= busy.end_ns),
      "two transfers at one time on a line");
  const bool touches_behind = behind != busy_.end() && behind->begin_ns == busy.end_ns;
  if (touches_before) {
    next->end_ns = touches_behind ? behind->end_ns : busy.end_ns;
    if (touches_behind) busy_.erase(behind);
  } else if (touches_behind) {
    behind->begin_ns = busy.begin_ns;
  } else {
    busy_.insert(next, busy);
  }
}

void Wire::Plan::forget_before(std::int64_t ns) {
  const auto first =
      std::find_if(busy_.begin(), busy_.end(), [ns](const Busy& busy) { return busy.end_ns > ns; });
  busy_.erase(busy_.begin(), first);
}

}  // namespace sorrel::transport
