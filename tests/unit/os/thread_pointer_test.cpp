#include "os/thread_pointer.hpp"

#include <cerrno>
#include <cstddef>
#include <gtest/gtest.h>

#include "os/tls_donor.hpp"

namespace sorrel::os {
namespace {

/// The statement is for compilers, which take the address for one that never changes.
[[gnu::noinline]] int* address_of_errno() {
  asm volatile("" ::: "memory");
  return &errno;
}

TEST(ThreadPointerTest, TheSystemCallChangesTheBlockOfTheThread) {
#if !defined(__x86_64__) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "another processor, or a sanitizer, which knows threads by their blocks";
#endif
  constexpr std::size_t stack_bytes = 16 * 1024;
  int* of_donor = nullptr;
  TlsDonor donor;
  ASSERT_TRUE(donor.start(
      stack_bytes, [](void* address) { *static_cast<int**>(address) = address_of_errno(); },
      &of_donor));
  // Read here, and not when it is used: compilers take it for a constant, too.
  const volatile auto own = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  int* const before = address_of_errno();
  set_thread_pointer(donor.thread_pointer());
  int* const during = address_of_errno();
  set_thread_pointer(own);
  EXPECT_EQ(during, of_donor);
  EXPECT_EQ(address_of_errno(), before);
  EXPECT_NE(before, during);
}

}  // namespace
}  // namespace sorrel::os
