// C++ exceptions belong to a fiber, whatever other fibers throw and catch between its switches.
#include <exception>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

#include "base/prng.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

std::string what_is_handled() {
  const std::exception_ptr handled = std::current_exception();
  if (handled == nullptr) return "nothing";
  try {
    std::rethrow_exception(handled);
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(ExceptionTest, AHandlerKeepsItsExceptionAcrossSwitches) {
  FiberRun run;
  for (const std::string name : {"first", "second", "third"}) {
    run.add(0, [name](Worker& worker) {
      EXPECT_EQ(what_is_handled(), "nothing");
      try {
        throw std::runtime_error(name);
      } catch (const std::runtime_error& error) {
        for (int i = 0; i < 5; ++i) {
          worker.yield();
          EXPECT_EQ(error.what(), name);
          EXPECT_EQ(what_is_handled(), name);
        }
      }
      worker.yield();
      EXPECT_EQ(what_is_handled(), "nothing");
    });
  }
  run.run();
}

TEST(ExceptionTest, RethrowingThrowsTheFibersOwn) {
  FiberRun run;
  for (const std::string name : {"first", "second"}) {
    run.add(0, [name](Worker& worker) {
      std::string caught;
      try {
        try {
          throw std::runtime_error(name);
        } catch (...) {
          worker.yield();
          throw;
        }
      } catch (const std::runtime_error& error) {
        worker.yield();
        caught = error.what();
      }
      EXPECT_EQ(caught, name);
    });
  }
  run.run();
}

TEST(ExceptionTest, HandlersEndInAnyOrderAmongFibers) {
  FiberRun run;
  for (int yield_count = 1; yield_count <= 4; ++yield_count) {
    run.add(0, [yield_count](Worker& worker) {
      const std::string name = std::to_string(yield_count);
      try {
        throw std::runtime_error(name);
      } catch (const std::runtime_error&) {
        // The one that came last leaves first.
        for (int i = 4; i > yield_count; --i)
          worker.yield();
        EXPECT_EQ(what_is_handled(), name);
      }
      EXPECT_EQ(what_is_handled(), "nothing");
    });
  }
  run.run();
}

/// Switches while an exception unwinds the stack.
struct YieldsWhenUnwound {
  Worker& worker;

  ~YieldsWhenUnwound() {
    EXPECT_EQ(std::uncaught_exceptions(), 1);
    worker.yield();
    EXPECT_EQ(std::uncaught_exceptions(), 1);
  }
};

TEST(ExceptionTest, ASwitchInTheMiddleOfUnwindingIsAllowed) {
  FiberRun run;
  for (const std::string name : {"first", "second", "third"}) {
    run.add(0, [name](Worker& worker) {
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      std::string caught;
      try {
        const YieldsWhenUnwound guard{worker};
        throw std::runtime_error(name);
      } catch (const std::runtime_error& error) {
        caught = error.what();
      }
      EXPECT_EQ(caught, name);
    });
    run.add(0, [](Worker& worker) {
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(std::uncaught_exceptions(), 0);
        worker.yield();
      }
    });
  }
  run.run();
}

/// Throws at a random depth, switches in every handler on the way out.
void descend(Worker& worker, Prng& prng, int depth, const std::string& name) {
  if (depth == 0) throw std::runtime_error(name);
  if (prng.below(3) == 0) worker.yield();
  try {
    descend(worker, prng, depth - 1, name);
  } catch (const std::runtime_error& error) {
    if (prng.below(2) == 0) worker.yield();
    ASSERT_EQ(error.what(), name);
    ASSERT_EQ(what_is_handled(), name);
    throw;
  }
}

TEST(ExceptionTest, ManyFibersThrowAndCatchAtRandom) {
  const std::uint64_t seed = test_seed();
  FiberRun run;
  for (std::uint64_t fiber = 0; fiber < 16; ++fiber) {
    run.add(0, [seed, fiber](Worker& worker) {
      Prng prng(seed + fiber);
      for (int i = 0; i < 20; ++i) {
        const std::string name = std::to_string(fiber) + "/" + std::to_string(i);
        try {
          descend(worker, prng, static_cast<int>(prng.below(5)), name);
          ADD_FAILURE() << "nothing thrown";
        } catch (const std::runtime_error& error) {
          ASSERT_EQ(error.what(), name);
        }
        ASSERT_EQ(what_is_handled(), "nothing");
      }
    });
  }
  run.run();
}

TEST(ExceptionTest, FibersOfDifferentWorkersDoNotMeet) {
  FiberRun run(2);
  for (std::uint32_t fiber = 0; fiber < 8; ++fiber) {
    run.add(fiber % 2, [fiber](Worker& worker) {
      const std::string name = std::to_string(fiber);
      for (int i = 0; i < 50; ++i) {
        try {
          throw std::runtime_error(name);
        } catch (const std::runtime_error&) {
          worker.yield();
          ASSERT_EQ(what_is_handled(), name);
        }
      }
    });
  }
  run.run();
}

}  // namespace
}  // namespace sorrel::core
