#include <array>
#include <cstring>
#include <gtest/gtest.h>

#include "runtime/python/frames.hpp"

namespace sorrel::runtime {
namespace {

/// The first words of a PyThreadState.
struct Thread {
  const void* newer = nullptr;
  const void* older = nullptr;
};

/// An address without memory.
const void* const gone = reinterpret_cast<const void*>(std::uintptr_t{0x5000});

const void* first_of(const void* newest) {
  return first_python_thread(newest, [](const void*& value, const void* address) {
    const bool is_there = address < gone || address >= static_cast<const Thread*>(gone) + 1;
    if (is_there) std::memcpy(&value, address, sizeof value);
    return is_there;
  });
}

TEST(PythonFramesTest, TheFirstThreadIsTheLastOfTheList) {
  std::array<Thread, 3> threads;
  threads[0].older = &threads[1];
  threads[1].older = &threads[2];
  EXPECT_EQ(first_of(threads.data()), &threads[2]);
  EXPECT_EQ(first_of(&threads[2]), &threads[2]);
  EXPECT_EQ(first_of(nullptr), nullptr);
}

TEST(PythonFramesTest, AListOfThreadsWithoutEndHasNoFirstThread) {
  std::array<Thread, 2> threads;
  threads[0].older = &threads[1];
  threads[1].older = threads.data();
  EXPECT_EQ(first_of(threads.data()), nullptr);
}

TEST(PythonFramesTest, AThreadWhoseMemoryIsGoneDoesNoHarm) {
  Thread thread;
  thread.older = gone;
  EXPECT_EQ(first_of(&thread), nullptr);
}

}  // namespace
}  // namespace sorrel::runtime
