#include "runtime/moves/give_up.hpp"

#include <atomic>
#include <cstdint>

#include "runtime/request_signal.hpp"

namespace sorrel::runtime {

namespace {

// Relaxed: nothing is read through it.
std::atomic<std::uint32_t> request_count{0};

}  // namespace

void watch_for_give_up() {
  watch_requests([] { request_count.fetch_add(1, std::memory_order_relaxed); });
}

bool is_give_up_wanted() {
  return request_count.load(std::memory_order_relaxed) % 2 != 0;
}

}  // namespace sorrel::runtime
