#include "os/touched_pages.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/page_bytes.hpp"

namespace sorrel::os {
namespace {

/// Private pages of zeros, or of a file.
class Pages {
 public:
  explicit Pages(std::size_t count, int file = -1)
      : bytes_(count * page_bytes()),
        begin_(static_cast<char*>(::mmap(nullptr,
                                         bytes_,
                                         PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | (file < 0 ? MAP_ANONYMOUS : 0),
                                         file,
                                         0))) {
    // A large page would be touched as a whole.
    ::madvise(begin_, bytes_, MADV_NOHUGEPAGE);
  }

  ~Pages() { ::munmap(begin_, bytes_); }

  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  [[nodiscard]] volatile char& first_byte_of(std::size_t page) const {
    return begin_[page * page_bytes()];
  }

  [[nodiscard]] std::uintptr_t address(std::size_t page) const {
    return reinterpret_cast<std::uintptr_t>(begin_) + page * page_bytes();
  }

  [[nodiscard]] MemoryRange range(std::size_t first, std::size_t end) const {
    return {address(first), address(end)};
  }

 private:
  std::size_t bytes_;
  char* begin_;
};

std::vector<MemoryRange> runs_in(const MemoryRange& range) {
  std::vector<MemoryRange> runs;
  EXPECT_EQ(TouchedPages().add_runs(range, runs), "");
  return runs;
}

TEST(TouchedPagesTest, RunsAreThePagesThatWereWritten) {
  const Pages pages(8);
  for (const std::size_t page : {1, 2, 5})
    pages.first_byte_of(page) = 1;
  EXPECT_EQ(runs_in(pages.range(0, 8)), (std::vector{pages.range(1, 3), pages.range(5, 6)}));
}

TEST(TouchedPagesTest, PagesThatWereGivenBackAreNotTouched) {
  const Pages pages(4);
  for (std::size_t page = 0; page < 4; ++page)
    pages.first_byte_of(page) = 1;
  ::madvise(reinterpret_cast<void*>(pages.address(1)), 2 * page_bytes(), MADV_DONTNEED);
  EXPECT_EQ(runs_in(pages.range(0, 4)), (std::vector{pages.range(0, 1), pages.range(3, 4)}));
}

TEST(TouchedPagesTest, ARangeMayBeginAndEndWithinPages) {
  const Pages pages(4);
  for (std::size_t page = 0; page < 4; ++page)
    pages.first_byte_of(page) = 1;
  const MemoryRange range{pages.address(1) + 100, pages.address(3) + 7};
  EXPECT_EQ(runs_in(range), std::vector{range});
  EXPECT_TRUE(runs_in({pages.address(1), pages.address(1)}).empty());
}

TEST(TouchedPagesTest, ARunMayBeLongerThanWhatIsReadAtATime) {
  constexpr std::size_t count = 9000;
  const Pages pages(count);
  for (std::size_t page = 10; page < count - 10; ++page)
    pages.first_byte_of(page) = 1;
  EXPECT_EQ(runs_in(pages.range(0, count)), std::vector{pages.range(10, count - 10)});
}

TEST(TouchedPagesTest, RunsAreAddedBehindThoseThatAreThere) {
  const Pages pages(3);
  pages.first_byte_of(0) = 1;
  pages.first_byte_of(1) = 1;
  std::vector<MemoryRange> runs;
  const TouchedPages touched;
  EXPECT_EQ(touched.add_runs(pages.range(0, 1), runs), "");
  EXPECT_EQ(touched.add_runs(pages.range(1, 3), runs), "");
  EXPECT_EQ(runs, (std::vector{pages.range(0, 1), pages.range(1, 2)}));
}

TEST(TouchedPagesTest, OfAFileOnlyWrittenPagesAre) {
  char name[] = "/tmp/touched_pages_XXXXXX";
  const int file = ::mkstemp(name);
  ASSERT_GE(file, 0);
  ::unlink(name);
  ASSERT_EQ(::ftruncate(file, static_cast<off_t>(4 * page_bytes())), 0);
  const Pages pages(4, file);
  ::close(file);
  EXPECT_EQ(pages.first_byte_of(1), 0);
  pages.first_byte_of(2) = 1;
  EXPECT_EQ(runs_in(pages.range(0, 4)), std::vector{pages.range(2, 3)});
}

TEST(TouchedPagesTest, AChildHasThePagesOfItsParent) {
  const Pages pages(4);
  pages.first_byte_of(1) = 1;
  const pid_t child = ::fork();
  if (child == 0) {
    // Its own write must not count for the parent, which looks later.
    pages.first_byte_of(3) = 1;
    const bool is_right =
        runs_in(pages.range(0, 4)) == std::vector{pages.range(1, 2), pages.range(3, 4)};
    ::_exit(is_right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(runs_in(pages.range(0, 4)), std::vector{pages.range(1, 2)});
}

TEST(TouchedPagesTest, WithoutTheSystemsTableThereIsAnError) {
  std::vector<MemoryRange> runs;
  // Addresses of the kernel have no entries.
  const MemoryRange nowhere{~std::uintptr_t{0} - 8 * page_bytes(),
                            ~std::uintptr_t{0} - page_bytes()};
  EXPECT_NE(TouchedPages().add_runs(nowhere, runs).find("/proc/self/pagemap"), std::string::npos);
  EXPECT_TRUE(runs.empty());
}

}  // namespace
}  // namespace sorrel::os
