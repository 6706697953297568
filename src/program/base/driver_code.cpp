#include "program/base/driver_code.hpp"

#include <array>
#include <atomic>
#include <cstddef>

#include "program/base/libc.hpp"

namespace sorrel::program {

namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// NVIDIA's driver consists of about 15 libraries, of which a process loads a few.
constexpr std::size_t range_count_max = 32;

std::array<Range, range_count_max> ranges;
// (D) release, when a range is written; acquire where the ranges are read.
std::atomic<std::size_t> range_count{0};

void (*driver_hook)() = nullptr;

}  // namespace

bool has_driver_code() {
  return range_count.load(std::memory_order_acquire) != 0;  // (D)
}

bool is_driver_code(const void* code) {
  const std::size_t count = range_count.load(std::memory_order_acquire);  // (D)
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  for (std::size_t i = 0; i < count; ++i) {
    if (address - ranges[i].begin < ranges[i].end - ranges[i].begin) return true;
  }
  return false;
}

bool is_of_process(const void* code) {
  return is_of_this_library(code) || is_driver_code(code);
}

void add_driver_code(std::uintptr_t begin, std::uintptr_t end) {
  // Relaxed: only the caller writes it.
  const std::size_t count = range_count.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i) {
    if (ranges[i].begin == begin) return;
  }
  if (count == range_count_max) return;
  ranges[count] = {begin, end};
  range_count.store(count + 1, std::memory_order_release);  // (D)
}

void set_driver_hook(void (*hook)()) {
  driver_hook = hook;
}

void call_driver_hook() {
  if (driver_hook != nullptr) driver_hook();
}

}  // namespace sorrel::program
