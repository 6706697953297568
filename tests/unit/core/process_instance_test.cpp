#include "core/process_instance.hpp"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace sorrel::core {
namespace {

struct Counted {
  void deregister() {}

  static void on_fork() { ++fork_count; }

  static inline std::atomic<int> made_count{0};
  static inline int fork_count = 0;
};

using Instance = ProcessInstance<Counted>;

Counted* make() {
  ++Counted::made_count;
  return new Counted;
}

TEST(ProcessInstanceTest, IsMadeOnceByAnyThread) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([] { (void)Instance::get(make); });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(Counted::made_count, 1);
  EXPECT_EQ(Instance::get_if_made(), &Instance::get(make));
}

TEST(ProcessInstanceTest, AChildMakesItsOwn) {
  const Counted* mine = &Instance::get(make);
  const pid_t child = fork();
  if (child == 0) {
    const bool is_forgotten = Instance::get_if_made() == nullptr && Counted::fork_count == 1;
    const bool is_new = &Instance::get(make) != mine;
    _exit(is_forgotten && is_new ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Instance::get_if_made(), mine);
}

struct Ending {
  void deregister() { std::fputs("deregistered\n", stderr); }

  static void on_fork() {}
};

TEST(ProcessInstanceTest, IsDeregisteredAsItsProcessEnds) {
  EXPECT_EXIT(
      {
        (void)ProcessInstance<Ending>::get([] { return new Ending; });
        std::exit(0);
      },
      testing::ExitedWithCode(0), "deregistered");
}

}  // namespace
}  // namespace sorrel::core
