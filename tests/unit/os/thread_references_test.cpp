#include "os/thread_references.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <ctype.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <thread>
#include <vector>

namespace sorrel::os {
namespace {

thread_local int variable = 0;

std::uintptr_t number_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

template <class T>
MemoryRange range_of(const T& object) {
  return {number_of(&object), number_of(&object) + sizeof object};
}

class ReferencesToThisThread : public testing::Test {
 protected:
  void SetUp() override {
    const auto thread = ThreadIdentity::of_calling_thread();
    ASSERT_TRUE(thread.has_value());
    threads_.push_back(*thread);
  }

  [[nodiscard]] ThreadReferences references() const { return ThreadReferences(threads_); }

  std::vector<ThreadIdentity> threads_;
};

TEST_F(ReferencesToThisThread, BlockHoldsItsThreadLocalsAndTheCLibrarys) {
  EXPECT_TRUE(references().is_of_thread(number_of(&errno)));
  EXPECT_TRUE(references().is_of_thread(number_of(&variable)));
  EXPECT_TRUE(references().is_of_thread(number_of(__ctype_b_loc())));
  EXPECT_TRUE(references().is_of_thread(pthread_self()));
  const int local = 0;
  EXPECT_FALSE(references().is_of_thread(number_of(&local)));
}

TEST_F(ReferencesToThisThread, FindsAnAddress) {
  std::array<std::uint64_t, 8> words{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_FALSE(references().find(range_of(words)).has_value());
  words[5] = number_of(&errno);
  const auto found = references().find(range_of(words));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->at, number_of(&words[5]));
  EXPECT_FALSE(found->is_lock);
}

TEST_F(ReferencesToThisThread, LeavesOutThoseOfOtherThreads) {
  std::thread([this] {
    std::array<std::uint64_t, 2> words{number_of(&errno), pthread_self()};
    EXPECT_FALSE(references().find(range_of(words)).has_value());
    const auto own = ThreadIdentity::of_calling_thread();
    ASSERT_TRUE(own.has_value());
    threads_.push_back(*own);
    EXPECT_TRUE(references().find(range_of(words)).has_value());
  }).join();
}

TEST_F(ReferencesToThisThread, ReadsWholeWordsWithinTheRangeOnly) {
  std::array<std::uint64_t, 3> words{number_of(&errno), 0, number_of(&errno)};
  const MemoryRange middle{number_of(words.data()) + 1, number_of(&words[2]) + 7};
  EXPECT_FALSE(references().find(middle).has_value());
}

TEST_F(ReferencesToThisThread, FindsALockedMutexOfEachKind) {
  for (const int kind : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK}) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);

    struct {
      std::array<std::uint64_t, 2> before{};
      pthread_mutex_t mutex{};
    } object;

    pthread_mutex_init(&object.mutex, &attributes);
    EXPECT_FALSE(references().find(range_of(object)).has_value()) << kind;
    pthread_mutex_lock(&object.mutex);
    const auto found = references().find(range_of(object));
    ASSERT_TRUE(found.has_value()) << kind;
    EXPECT_TRUE(found->is_lock);
    pthread_mutex_unlock(&object.mutex);
    EXPECT_FALSE(references().find(range_of(object)).has_value()) << kind;
    pthread_mutex_destroy(&object.mutex);
    pthread_mutexattr_destroy(&attributes);
  }
}

TEST_F(ReferencesToThisThread, FindsALockForOneWriter) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_wrlock(&lock);
  const auto found = references().find(range_of(lock));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->is_lock);
  pthread_rwlock_unlock(&lock);
  EXPECT_FALSE(references().find(range_of(lock)).has_value());
}

TEST_F(ReferencesToThisThread, TakesItsNumberAloneForNoLock) {
  const std::array<std::uint64_t, 4> words{0, 0, static_cast<std::uint64_t>(threads_[0].number), 0};
  EXPECT_FALSE(references().find(range_of(words)).has_value());
}

}  // namespace
}  // namespace sorrel::os
