#include "runtime/live/view_requests.hpp"

#include <array>
#include <atomic>
#include <cstdint>

#include "base/check.hpp"

namespace sorrel::runtime {

namespace {

/// 0: free. Relaxed: a request is one word.
std::array<std::atomic<std::uint64_t>, 8> waiting{};

constexpr int slot_shift = report::ViewRequest::number_bits;
constexpr int sender_shift = 2 * report::ViewRequest::number_bits;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << report::ViewRequest::number_bits) - 1;

}  // namespace

void add_view_request(const report::ViewRequest& request) {
  SORREL_ASSERT(request.slot <= number_mask && request.descriptor <= number_mask,
                "slot %u of descriptor %u", request.slot, request.descriptor);
  const std::uint64_t word = std::uint64_t{static_cast<std::uint32_t>(request.sender)}
                                 << sender_shift |
                             std::uint64_t{request.slot} << slot_shift | request.descriptor;
  for (std::atomic<std::uint64_t>& place : waiting) {
    std::uint64_t free = 0;
    if (place.compare_exchange_strong(free, word, std::memory_order_relaxed)) return;
  }
}

std::optional<report::ViewRequest> take_view_request() {
  for (std::atomic<std::uint64_t>& place : waiting) {
    const std::uint64_t word = place.exchange(0, std::memory_order_relaxed);
    if (word == 0) continue;
    return report::ViewRequest{
        .sender = static_cast<pid_t>(word >> sender_shift),
        .descriptor = static_cast<std::uint32_t>(word & number_mask),
        .slot = static_cast<std::uint32_t>(word >> slot_shift & number_mask)};
  }
  return std::nullopt;
}

}  // namespace sorrel::runtime
