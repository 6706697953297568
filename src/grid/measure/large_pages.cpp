#include "grid/measure/large_pages.hpp"

#include <sys/mman.h>
#include <utility>

#include "base/check.hpp"

namespace sorrel::grid {
namespace {

constexpr std::size_t large_page = std::size_t{2} << 20;
// A small page and a cache line: not a power of two.
constexpr std::size_t color_bytes = 4096 + 64;
constexpr int color_count = 32;

constexpr std::size_t rounded_up(std::size_t bytes) {
  return (bytes + large_page - 1) / large_page * large_page;
}

}  // namespace

LargePages::LargePages(std::size_t bytes, int color) {
  const std::size_t shift = static_cast<std::size_t>(color % color_count) * color_bytes;
  const std::size_t room = rounded_up(bytes + shift) + large_page;
  void* mapped = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  SORREL_CHECK(mapped != MAP_FAILED, "no memory for %zu bytes", room);
  mapped_ = {static_cast<std::byte*>(mapped), room};
  const auto address = reinterpret_cast<std::size_t>(mapped);
  std::byte* begin = mapped_.data() + (rounded_up(address) - address);
  // Without support, small pages are used.
  madvise(begin, room - large_page, MADV_HUGEPAGE);
  bytes_ = {begin + shift, bytes};
}

LargePages::LargePages(LargePages&& other) noexcept
    : mapped_(std::exchange(other.mapped_, {})), bytes_(std::exchange(other.bytes_, {})) {}

LargePages& LargePages::operator=(LargePages&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

LargePages::~LargePages() {
  if (!mapped_.empty()) munmap(mapped_.data(), mapped_.size());
}

}  // namespace sorrel::grid
