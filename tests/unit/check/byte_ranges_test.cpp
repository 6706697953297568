#include "check/byte_ranges.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <vector>

#include "os/page_bytes.hpp"

namespace sorrel::check {
namespace {

/// Memory of which no page has been touched.
class UntouchedMemory {
 public:
  explicit UntouchedMemory(std::size_t bytes)
      : bytes_(bytes),
        data_(static_cast<std::byte*>(::mmap(nullptr,
                                             bytes,
                                             PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                             -1,
                                             0))) {
    // Each touched page counts alone.
    ::madvise(data_, bytes, MADV_NOHUGEPAGE);
  }

  ~UntouchedMemory() { ::munmap(data_, bytes_); }

  UntouchedMemory(const UntouchedMemory&) = delete;
  UntouchedMemory& operator=(const UntouchedMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }

  [[nodiscard]] std::size_t touched_page_count() const {
    std::vector<unsigned char> pages(bytes_ / os::page_bytes());
    EXPECT_EQ(::mincore(data_, bytes_, pages.data()), 0);
    return static_cast<std::size_t>(
        std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; }));
  }

 private:
  const std::size_t bytes_;
  std::byte* const data_;
};

ByteRanges ranges_of(const void* buffer, std::size_t bytes) {
  ByteRanges ranges;
  ranges.add(buffer, bytes, *mpi::datatype_from_handle(MPI_BYTE));
  return ranges;
}

TEST(ByteRangesTest, AHashOfALargeBufferReadsFewPages) {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  const UntouchedMemory memory(bytes);
  EXPECT_TRUE(ranges_of(memory.data(), bytes).hash().has_value());
  const std::size_t touched = memory.touched_page_count();
  EXPECT_GE(touched, 512U);
  EXPECT_LE(touched, 1024U);
}

TEST(ByteRangesTest, AHashOfALargeBufferSeesThatAllOfItHasChanged) {
  constexpr std::size_t bytes = std::size_t{16} << 20;
  const UntouchedMemory memory(bytes);
  const ByteRanges ranges = ranges_of(memory.data(), bytes);
  const auto before = ranges.hash();
  std::fill_n(memory.data(), bytes, std::byte{1});
  EXPECT_NE(ranges.hash(), before);
}

TEST(ByteRangesTest, AHashOfASmallBufferSeesEachByte) {
  std::vector<char> buffer(100'000);
  const ByteRanges ranges = ranges_of(buffer.data(), buffer.size());
  const auto before = ranges.hash();
  for (const std::size_t at : {std::size_t{0}, std::size_t{4095}, std::size_t{4096},
                               std::size_t{50'000}, std::size_t{99'999}}) {
    buffer[at] = 1;
    EXPECT_NE(ranges.hash(), before) << at;
    buffer[at] = 0;
    EXPECT_EQ(ranges.hash(), before) << at;
  }
}

TEST(ByteRangesTest, MemoryThatIsGoneHasNoHash) {
  const UntouchedMemory memory(1 << 16);
  const ByteRanges ranges = ranges_of(memory.data(), 1 << 16);
  EXPECT_TRUE(ranges.hash().has_value());
  ::mprotect(memory.data() + (1 << 15), os::page_bytes(), PROT_NONE);
  EXPECT_FALSE(ranges.hash().has_value());
}

}  // namespace
}  // namespace sorrel::check
