#include "runtime/clock_watch.hpp"

#include "program/base/clock_watch.hpp"

namespace sorrel::runtime {

void watch_clock_reads(void (*on_read)(std::int64_t now_ns)) {
  program::clock_watch.store(on_read, std::memory_order_relaxed);
}

}  // namespace sorrel::runtime
