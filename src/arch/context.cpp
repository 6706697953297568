#include "arch/context.hpp"

#include <cstdint>
#include <cstring>

namespace sorrel::arch {

extern "C" void sorrel_context_start();

namespace {

std::byte* aligned_top(void* stack_bottom, std::size_t stack_bytes) {
  auto top = reinterpret_cast<std::uintptr_t>(stack_bottom) + stack_bytes;
  return reinterpret_cast<std::byte*>(top & ~std::uintptr_t{15});
}

}  // namespace

#if defined(__x86_64__)

namespace {

/// The frame that context_x86_64.S loads.
struct Frame {
  std::uint32_t sse_control;
  std::uint16_t x87_control;
  std::uint16_t padding;
  std::uint64_t r15, r14, r13, r12, rbx, rbp;
  void (*return_address)();
};

static_assert(sizeof(Frame) == 64 && offsetof(Frame, r12) == 32 &&
              offsetof(Frame, return_address) == 56);

}  // namespace

Context make_context(void* stack_bottom,
                     std::size_t stack_bytes,
                     ContextEntry entry,
                     void* argument) {
  // After the return the stack pointer must be 16-byte aligned: sorrel_context_start makes the call
  // itself.
  std::byte* top = aligned_top(stack_bottom, stack_bytes) - 16;
  auto* frame = reinterpret_cast<Frame*>(top - sizeof(Frame));
  std::memset(frame, 0, sizeof(Frame) + 16);
  asm("stmxcsr %0" : "=m"(frame->sse_control));
  asm("fnstcw %0" : "=m"(frame->x87_control));
  frame->r12 = reinterpret_cast<std::uint64_t>(entry);
  frame->r13 = reinterpret_cast<std::uint64_t>(argument);
  frame->return_address = &sorrel_context_start;
  return frame;
}

#elif defined(__aarch64__)

namespace {

/// The frame that context_aarch64.S loads.
struct Frame {
  std::uint64_t x19, x20, x21_to_x29[9];
  void (*x30)();
  double d8_to_d15[8];
  std::uint64_t fpcr;
  std::uint64_t padding;
};

static_assert(sizeof(Frame) == 176 && offsetof(Frame, x30) == 88 && offsetof(Frame, fpcr) == 160);

}  // namespace

Context make_context(void* stack_bottom,
                     std::size_t stack_bytes,
                     ContextEntry entry,
                     void* argument) {
  auto* frame = reinterpret_cast<Frame*>(aligned_top(stack_bottom, stack_bytes) - sizeof(Frame));
  std::memset(frame, 0, sizeof(Frame));
  asm("mrs %0, fpcr" : "=r"(frame->fpcr));
  frame->x19 = reinterpret_cast<std::uint64_t>(entry);
  frame->x20 = reinterpret_cast<std::uint64_t>(argument);
  frame->x30 = &sorrel_context_start;
  return frame;
}

#else
#error "Sorrel runs on x86_64 and aarch64"
#endif

}  // namespace sorrel::arch
