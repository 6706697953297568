#include "os/clock.hpp"

#include <ctime>

namespace sorrel::os {

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void sleep_ns(std::int64_t duration_ns) {
  const timespec duration{.tv_sec = duration_ns / 1'000'000'000,
                          .tv_nsec = duration_ns % 1'000'000'000};
  nanosleep(&duration, nullptr);
}

}  // namespace sorrel::os
