#include "runtime/live/rank_stack.hpp"

#include <cstdint>
#include <unwind.h>

#include "arch/interrupted.hpp"
#include "arch/suspended_calls.hpp"
#include "base/check.hpp"
#include "runtime/live/rank_activity.hpp"
#include "symbols/backtrace.hpp"

namespace sorrel::runtime {

namespace {

/// Whether the thread is between two contexts: its registers are those of neither.
bool is_in_switch(const void* context) {
  const auto at = arch::interrupted_at(context);
  return _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(at)) ==
         reinterpret_cast<void*>(&arch::sorrel_switch_context);
}

}  // namespace

struct RankStack::Walk {
  RankStack& stack;
  /// The frames so far are those of the signal's handler.
  bool is_before = true;

  static _Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<Walk*>(argument);
    int is_interrupted = 0;
    const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
    walk.is_before = walk.is_before && is_interrupted == 0;
    if (walk.is_before) return _URC_NO_REASON;
    // The caller of a context's first function.
    if (address == 0) return _URC_END_OF_STACK;
    RankStack& stack = walk.stack;
    // The interrupted frame is at an instruction, the frames above are behind a call.
    stack.addresses_[stack.end_++] =
        reinterpret_cast<const void*>(is_interrupted != 0 ? address + 1 : address);
    return stack.end_ < depth_max ? _URC_NO_REASON : _URC_END_OF_STACK;
  }
};

void RankStack::take_of_interruption() {
  Walk walk{.stack = *this};
  _Unwind_Backtrace(Walk::visit, &walk);
}

void RankStack::take_of_suspended(const core::Fiber& fiber) {
  const auto unwind = [](void* argument) {
    Walk walk{.stack = *static_cast<RankStack*>(argument), .is_before = false};
    _Unwind_Backtrace(Walk::visit, &walk);
  };
  arch::sorrel_call_behind_context(fiber.context, unwind, this);
}

/// In a process that is a rank: the program's first function, and those of the C library that it
/// calls.
void RankStack::leave_out_start() {
  const bool is_whole = end_ < depth_max;
  if (!is_whole || end_ < 2 || !symbols::is_of_c_library(addresses_[end_ - 2])) return;
  --end_;
  while (end_ > begin_ && symbols::is_of_c_library(addresses_[end_ - 1]))
    --end_;
}

void RankStack::leave_out_library() {
  while (end_ > begin_ && symbols::is_of_this_library(addresses_[end_ - 1]))
    --end_;
  bool is_in_library = false;
  for (std::size_t i = 0; i < end_; ++i) {
    const bool is_library = symbols::is_of_this_library(addresses_[i]);
    is_in_library = is_in_library || is_library;
    if (is_library || symbols::is_of_c_library(addresses_[i])) continue;
    if (is_in_library) begin_ = i;
    return;
  }
  if (is_in_library) begin_ = end_;
}

void RankStack::take(const JobView& job, const mpi::RankState& rank, const void* context) {
  begin_ = end_ = 0;
  const core::Fiber& fiber = rank.fiber;
  const auto stack = job.stacks().location_of(arch::interrupted_stack(context));
  const bool is_on_own_stack =
      job.place_count() == 1 || (stack && stack->index == job.index_of(rank));
  if (fiber.state == core::FiberState::ended || fiber.state == core::FiberState::lent) return;
  if (is_on_own_stack) {
    if (!is_in_switch(context)) take_of_interruption();
    if (job.is_process_mode()) leave_out_start();
  } else if (!fiber.is_guest && fiber.context != nullptr && stays_suspended(fiber)) {
    take_of_suspended(fiber);
  }
  leave_out_library();
  SORREL_ASSERT(begin_ <= end_ && end_ <= depth_max, "calls %zu to %zu", begin_, end_);
}

}  // namespace sorrel::runtime
