#include "arch/context.hpp"

#include <cfenv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "arch/call_below.hpp"
#include "core/sanitizer.hpp"

// sorrel_test_switch_keeps(save, load, pattern): fills the callee-saved registers with values
// derived from `pattern`, switches, and returns whether they were restored.
#if defined(__x86_64__)
asm(R"(
    .text
    .globl sorrel_test_switch_keeps
    .type sorrel_test_switch_keeps, @function
sorrel_test_switch_keeps:
    pushq %rbx
    pushq %rbp
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    pushq %rdx
    leaq 1(%rdx), %rbx
    leaq 2(%rdx), %rbp
    leaq 3(%rdx), %r12
    leaq 4(%rdx), %r13
    leaq 5(%rdx), %r14
    leaq 6(%rdx), %r15
    call sorrel_switch_context
    popq %rdx
    subq %rdx, %rbx
    subq %rdx, %rbp
    subq %rdx, %r12
    subq %rdx, %r13
    subq %rdx, %r14
    subq %rdx, %r15
    xorl %eax, %eax
    cmpq $1, %rbx
    jne 1f
    cmpq $2, %rbp
    jne 1f
    cmpq $3, %r12
    jne 1f
    cmpq $4, %r13
    jne 1f
    cmpq $5, %r14
    jne 1f
    cmpq $6, %r15
    jne 1f
    movl $1, %eax
1:  popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbp
    popq %rbx
    ret
    .size sorrel_test_switch_keeps, .-sorrel_test_switch_keeps
)");
#elif defined(__aarch64__)
asm(R"(
    .text
    .globl sorrel_test_switch_keeps
    .type sorrel_test_switch_keeps, %function
sorrel_test_switch_keeps:
    sub sp, sp, #176
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    str x2, [sp, #160]
    .irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
    add x\n, x2, #\n
    .endr
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    add x9, x2, #\n
    fmov d\n, x9
    .endr
    bl sorrel_switch_context
    ldr x2, [sp, #160]
    mov x0, #1
    .irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
    add x9, x2, #\n
    cmp x9, x\n
    csel x0, x0, xzr, eq
    .endr
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    add x9, x2, #\n
    fmov x10, d\n
    cmp x9, x10
    csel x0, x0, xzr, eq
    .endr
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #176
    ret
    .size sorrel_test_switch_keeps, .-sorrel_test_switch_keeps
)");
#endif
extern "C" bool sorrel_test_switch_keeps(sorrel::arch::Context* save,
                                         sorrel::arch::Context load,
                                         std::uint64_t pattern);

namespace sorrel::arch {
namespace {

/// A second flow of control, with explicit switches to it and back.
class Flow {
 public:
  explicit Flow(void (*body)(Flow&)) : body_(body), stack_(std::size_t{256} << 10) {
    outside_sanitizer_.adopt_thread();
    inside_sanitizer_.create(stack_.data(), stack_.size());
    inside_ = make_context(stack_.data(), stack_.size(), start, this);
  }

  ~Flow() { inside_sanitizer_.destroy(); }

  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  bool enter(std::uint64_t pattern) {
    outside_sanitizer_.before_switch_to(inside_sanitizer_, false);
    const bool kept = sorrel_test_switch_keeps(&outside_, inside_, pattern);
    outside_sanitizer_.after_switch();
    return kept;
  }

  bool leave(std::uint64_t pattern) {
    inside_sanitizer_.before_switch_to(outside_sanitizer_, false);
    const bool kept = sorrel_test_switch_keeps(&inside_, outside_, pattern);
    inside_sanitizer_.after_switch();
    return kept;
  }

  bool holds(const void* address) const {
    const auto* byte = static_cast<const std::byte*>(address);
    return byte >= stack_.data() && byte < stack_.data() + stack_.size();
  }

  bool inside_kept = true;
  std::uintptr_t first_frame = 0;

 private:
  static void start(void* argument) {
    auto& flow = *static_cast<Flow*>(argument);
    flow.inside_sanitizer_.after_switch();
    flow.first_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    flow.body_(flow);
    for (;;)
      flow.leave(0);
  }

  void (*body_)(Flow&);
  std::vector<std::byte> stack_;
  Context inside_ = nullptr;
  Context outside_ = nullptr;
  core::SanitizerFiber inside_sanitizer_;
  core::SanitizerFiber outside_sanitizer_;
};

TEST(ContextTest, BothSidesKeepTheirRegisters) {
  Flow flow([](Flow& self) {
    for (std::uint64_t i = 0; i < 100; ++i)
      self.inside_kept &= self.leave(0x5555'0000'0000 + i);
  });
  for (std::uint64_t i = 0; i < 101; ++i)
    ASSERT_TRUE(flow.enter(0x2222'0000'0000 + i));
  EXPECT_TRUE(flow.inside_kept);
}

TEST(ContextTest, RunsOnTheGivenStackAlignedAsTheAbiWants) {
  Flow flow([](Flow&) {});
  flow.enter(0);
  EXPECT_TRUE(flow.holds(reinterpret_cast<void*>(flow.first_frame)));
  EXPECT_EQ(flow.first_frame % 16, 0U);
}

TEST(ContextTest, AFreshContextInheritsTheRoundingMode) {
  ASSERT_EQ(std::fesetround(FE_DOWNWARD), 0);
  static int seen_mode;
  Flow flow([](Flow&) { seen_mode = std::fegetround(); });
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
  flow.enter(0);
  EXPECT_EQ(seen_mode, FE_DOWNWARD);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

/// One third, rounded in the current mode.
double third() {
  volatile double one = 1.0;
  volatile double three = 3.0;
  return one / three;
}

TEST(ContextTest, EachSideKeepsItsRoundingMode) {
  static double inside_before;
  static double inside_after;
  const double nearest = third();
  Flow flow([](Flow& self) {
    std::fesetround(FE_UPWARD);
    inside_before = third();
    self.leave(0);
    inside_after = third();
  });
  flow.enter(0);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(third(), nearest);
  flow.enter(0);
  EXPECT_EQ(third(), nearest);
  EXPECT_GT(inside_before, nearest);
  EXPECT_EQ(inside_after, inside_before);
}

TEST(ContextTest, TheArgumentReachesTheEntry) {
  static Flow* seen;
  Flow flow([](Flow& self) { seen = &self; });
  flow.enter(0);
  EXPECT_EQ(seen, &flow);
}

/// What is called below the frame of the caller.
struct CallBelow {
  Context resume = nullptr;
  Context ended = nullptr;
  std::uintptr_t frame = 0;
  int rounding_mode = 0;

  static void enter(void* argument) {
    auto& call = *static_cast<CallBelow*>(argument);
    call.frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    call.rounding_mode = std::fegetround();
    sorrel_switch_context(&call.ended, call.resume);
  }
};

constexpr std::size_t distance_below = 1024;

TEST(ContextTest, ACallBelowRunsAtItsDistanceAlignedAsTheAbiWants) {
  ASSERT_EQ(std::fesetround(FE_DOWNWARD), 0);
  CallBelow call;
  sorrel_call_below(&call.resume, distance_below, CallBelow::enter, &call);
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
  const auto saved = reinterpret_cast<std::uintptr_t>(call.resume);
  EXPECT_LE(call.frame, saved - distance_below);
  EXPECT_GT(call.frame, saved - distance_below - 256);
  EXPECT_EQ(call.frame % 16, 0U);
  EXPECT_EQ(call.rounding_mode, FE_DOWNWARD);
}

// The thread sanitizer delivers signals later.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

/// While it exists, the processor raises SIGTRAP after each instruction, and the frame of its
/// handler covers what lies below the stack pointer.
class SignalAfterEveryInstruction {
 public:
  SignalAfterEveryInstruction() {
    struct sigaction action{};
    action.sa_handler = overwrite_stack;
    sigaction(SIGTRAP, &action, &before_);
    // Below the red zone.
    asm volatile(
        "leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), "
        "%%rsp" ::
            : "memory", "cc");
  }

  ~SignalAfterEveryInstruction() {
    asm volatile(
        "leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq $-257, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), "
        "%%rsp" ::
            : "memory", "cc");
    sigaction(SIGTRAP, &before_, nullptr);
  }

  SignalAfterEveryInstruction(const SignalAfterEveryInstruction&) = delete;
  SignalAfterEveryInstruction& operator=(const SignalAfterEveryInstruction&) = delete;

  static inline volatile int count = 0;

 private:
  static void overwrite_stack(int /*number*/) {
    volatile unsigned char frame[4096];
    for (volatile unsigned char& byte : frame)
      byte = 0xff;
    count = count + 1;
  }

  struct sigaction before_{};
};

TEST(ContextTest, ASignalAfterAnyInstructionOfACallBelowDoesNoHarm) {
  CallBelow call;
  {
    const SignalAfterEveryInstruction signals;
    sorrel_call_below(&call.resume, distance_below, CallBelow::enter, &call);
  }
  EXPECT_NE(call.frame, 0U);
  // More than the instructions of both functions.
  EXPECT_GT(SignalAfterEveryInstruction::count, 40);
}

TEST(ContextTest, ASignalAfterAnyInstructionOfASwitchDoesNoHarm) {
  Flow flow([](Flow& self) {
    for (std::uint64_t i = 0; i < 3; ++i)
      self.inside_kept &= self.leave(0x5555'0000'0000 + i);
  });
  bool outside_kept = true;
  {
    const SignalAfterEveryInstruction signals;
    for (std::uint64_t i = 0; i < 4; ++i)
      outside_kept &= flow.enter(0x2222'0000'0000 + i);
  }
  EXPECT_TRUE(outside_kept);
  EXPECT_TRUE(flow.inside_kept);
}

#endif

}  // namespace
}  // namespace sorrel::arch
