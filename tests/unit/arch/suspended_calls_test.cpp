#include "arch/suspended_calls.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <unwind.h>
#include <vector>

namespace sorrel::arch {
namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

struct Flow {
  Context own = nullptr;
  Context caller = nullptr;
  int depth = 0;
  bool has_ended = false;
};

using Functions = std::vector<const void*>;

_Unwind_Reason_Code add_function(_Unwind_Context* context, void* functions) {
  static_cast<Functions*>(functions)->push_back(
      reinterpret_cast<const void*>(_Unwind_GetRegionStart(context)));
  return _URC_NO_REASON;
}

void unwind(void* functions) {
  _Unwind_Backtrace(add_function, functions);
}

/// Suspends below `depth` calls of itself, which keep values in saved registers.
[[gnu::noinline]] int suspend_below(Flow& flow, int depth) {
  if (depth == 0) {
    sorrel_switch_context(&flow.own, flow.caller);
    return 0;
  }
  const int result = suspend_below(flow, depth - 1) + depth;
  asm volatile("" ::: "memory");
  return result;
}

void entry(void* argument) {
  Flow& flow = *static_cast<Flow*>(argument);
  flow.depth = suspend_below(flow, 5);
  flow.has_ended = true;
  sorrel_switch_context(&flow.own, flow.caller);
  __builtin_trap();
}

template <class Function>
std::ptrdiff_t count_of(const Functions& functions, Function* function) {
  return std::ranges::count(functions, reinterpret_cast<const void*>(function));
}

// Sanitizers follow switches between fibers only.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(SuspendedCalls, shows_an_unwinder_the_calls_of_a_context_and_leaves_it_as_it_is) {
  const auto stack = std::make_unique<std::byte[]>(stack_bytes);
  Flow flow;
  flow.own = make_context(stack.get(), stack_bytes, entry, &flow);
  sorrel_switch_context(&flow.caller, flow.own);
  const std::vector<std::byte> before(stack.get(), stack.get() + stack_bytes);
  Functions functions;
  sorrel_call_behind_context(flow.own, unwind, &functions);
  EXPECT_EQ(count_of(functions, &suspend_below), 6);
  EXPECT_EQ(count_of(functions, &entry), 1);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), stack.get()));
  sorrel_switch_context(&flow.caller, flow.own);
  EXPECT_TRUE(flow.has_ended);
  EXPECT_EQ(flow.depth, 15);
}

#endif

TEST(SuspendedCalls, ends_at_a_context_that_has_not_run) {
  const auto stack = std::make_unique<std::byte[]>(stack_bytes);
  Flow flow;
  flow.own = make_context(stack.get(), stack_bytes, entry, &flow);
  Functions functions;
  sorrel_call_behind_context(flow.own, unwind, &functions);
  EXPECT_EQ(count_of(functions, &entry), 0);
  EXPECT_LE(functions.size(), 4U);
}

}  // namespace
}  // namespace sorrel::arch
