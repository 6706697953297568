// Reading memory of another process: of a child that waits.
#include "os/peer_memory.hpp"

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "os/page_bytes.hpp"

namespace sorrel::os {
namespace {

/// A child with other contents in the same private memory.
class Child {
 public:
  Child(std::byte* memory, std::size_t bytes) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      for (std::size_t i = 0; i < bytes; ++i)
        memory[i] = static_cast<std::byte>(i * 31 + i / 4096);
      (void)!write(ready[1], "", 1);
      for (;;)
        pause();
    }
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }

  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(PeerMemory, BringsManyRangesToTheirOwnAddresses) {
  // More than one call of the system takes.
  const std::size_t bytes = 1300 * page_bytes();
  auto* memory = static_cast<std::byte*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const Child child(memory, bytes);
  std::vector<MemoryRange> ranges;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  for (std::size_t page = 0; page < 1300; ++page)
    ranges.push_back(
        {begin + page * page_bytes() + page % 7, begin + (page + 1) * page_bytes() - 3});
  std::uint64_t probe = 0;
  if (!read_peer_memory(child.pid(), &probe, begin, sizeof probe))
    GTEST_SKIP() << "the system does not allow it";
  ASSERT_TRUE(read_equal_memory(child.pid(), ranges));
  for (const MemoryRange& range : ranges) {
    for (std::uintptr_t at = range.begin - range.begin % page_bytes();
         at < range.begin - range.begin % page_bytes() + page_bytes(); ++at) {
      const std::size_t i = at - begin;
      const bool is_in = at >= range.begin && at < range.end;
      const auto expected = is_in ? static_cast<std::byte>(i * 31 + i / 4096) : std::byte{0};
      ASSERT_EQ(memory[i], expected) << "byte " << i;
    }
  }
  ASSERT_EQ(mprotect(memory, page_bytes(), PROT_NONE), 0);
  EXPECT_FALSE(read_equal_memory(child.pid(), ranges)) << "a range that cannot be written";
  munmap(memory, bytes);
}

}  // namespace
}  // namespace sorrel::os
