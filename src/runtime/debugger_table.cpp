#include "runtime/debugger_table.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "arch/context.hpp"

extern "C" {
/// Also in a stripped library: version, number of ranks, number of the first one, address of an
/// array of pointers to their fibers, offsets of context and state in a fiber, lowest address of
/// the first stack, distance between stacks, bytes of a stack (0: the rank is the first thread of
/// the process), and the function that switches contexts.
[[gnu::visibility("default")]] std::uint64_t sorrel_ranks[10];
}

namespace sorrel::runtime {

namespace {

std::vector<const core::Fiber*> published;

}  // namespace

void publish_ranks_to_debuggers(std::vector<const core::Fiber*> fibers,
                                std::int32_t first_rank,
                                const os::StackSlab* stacks,
                                std::size_t first_stack) {
  static_assert(std::is_standard_layout_v<core::Fiber>);
  published = std::move(fibers);
  sorrel_ranks[1] = published.size();
  sorrel_ranks[2] = static_cast<std::uint64_t>(first_rank);
  sorrel_ranks[3] = reinterpret_cast<std::uintptr_t>(published.data());
  sorrel_ranks[4] = offsetof(core::Fiber, context);
  sorrel_ranks[5] = offsetof(core::Fiber, state);
  if (stacks != nullptr) {
    sorrel_ranks[6] = reinterpret_cast<std::uintptr_t>(stacks->bottom(first_stack));
    sorrel_ranks[7] = stacks->stack_bytes() + stacks->guard_bytes();
    sorrel_ranks[8] = stacks->stack_bytes();
  }
  sorrel_ranks[9] = reinterpret_cast<std::uintptr_t>(&arch::sorrel_switch_context);
  sorrel_ranks[0] = 1;  // the layout's version
}

}  // namespace sorrel::runtime
