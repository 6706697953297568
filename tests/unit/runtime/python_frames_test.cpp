#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <string_view>

#include "program/base/user_memory.hpp"
#include "runtime/python/frames.hpp"

// Tests have no module `program`.
bool sorrel::program::copy_from_user(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return true;
}

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

/// Memory of a structure of the interpreter's.
class Object {
 public:
  template <class Value>
  Object& put(std::size_t offset, const Value& value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }

  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }

 private:
  alignas(16) std::array<std::byte, 256> bytes_{};
};

const int code_type = 0;
const int text_type = 0;

/// A text of ASCII, as from 3.12 on.
Object text_of(std::string_view characters) {
  constexpr std::uint32_t ascii_of_bytes = 1 << 2 | 1 << 5 | 1 << 6;
  Object text;
  text.put(8, static_cast<const void*>(&text_type)).put(16, characters.size());
  text.put(32, ascii_of_bytes);
  for (std::size_t i = 0; i < characters.size(); ++i)
    text.put(40 + i, characters[i]);
  return text;
}

/// A thread of 3.14: a function, called by another through a frame of the interpreter's own.
class ThreadOf314 : public testing::Test {
 protected:
  ThreadOf314() {
    const void* const type = &code_type;
    const std::size_t instruction_count = 20;
    for (Object* code : {&inner_code_, &outer_code_}) {
      code->put(8, type).put(16, instruction_count).put(112, file_.data());
      code->put(68, code == &inner_code_ ? 40 : 7);
    }
    inner_code_.put(120, inner_name_.data());
    outer_code_.put(120, outer_name_.data());
    constexpr std::uint8_t of_thread = 0;
    constexpr std::uint8_t of_interpreter = 3;
    thread_.put(72, inner_.data());
    inner_.put(0, inner_code_.data()).put(8, entry_.data()).put(74, of_thread);
    inner_.put(56, inner_code_.data() + 208 + 6);
    entry_.put(0, gone).put(8, outer_.data()).put(74, of_interpreter);
    // A reference that is not counted.
    outer_.put(0, outer_code_.data() + 1).put(8, std::uintptr_t{0}).put(74, of_thread);
    outer_.put(56, outer_code_.data() + 208 + 2);
  }

  Object file_ = text_of("/home/me/solver.py");
  Object inner_name_ = text_of("exchange");
  Object outer_name_ = text_of("step");
  Object thread_;
  Object inner_, entry_, outer_;
  Object inner_code_, outer_code_;
};

TEST_F(ThreadOf314, HasTheFunctionsOfItsFramesAndTheirLines) {
  const auto layout = python_layout("3.14.10 (main, Dec  1 2026, 10:00:00) [GCC 15.2.0]");
  ASSERT_TRUE(layout);
  const PythonTypes types{.line_of = [](const void*, int offset) { return 100 + offset; },
                          .code = &code_type,
                          .text = &text_type};
  PythonFrames frames(*layout, types, PythonMemory::trusted, thread_.data());
  symbols::SourceText text;
  ASSERT_TRUE(frames.next(text));
  EXPECT_STREQ(text.data(), "exchange (solver.py:106)");
  ASSERT_TRUE(frames.next(text));
  EXPECT_STREQ(text.data(), "step (solver.py:102)");
  EXPECT_FALSE(frames.next(text));
}

TEST(PythonLayoutTest, ReleasesWithALockHaveOne) {
  for (const char* version : {"3.9.18 (main", "3.11.2 | packaged", "3.13.0", "3.15.2 (main"})
    EXPECT_TRUE(python_layout(version)) << version;
  for (const char* version : {"3.8.18 (main", "3.16.0 (main", "3.14.0rc1 (main", "3.14.0+ (heads",
                              "3.14", "", "2.9.1 (main", "3.14.10 free-threading build (main",
                              "3.13.0 experimental free-threading build (main"})
    EXPECT_FALSE(python_layout(version)) << version;
}

}  // namespace
}  // namespace sorrel::runtime
