//! A call on the same stack, some distance below the frame of its caller, which can be resumed
//! without the frames in between.
#pragma once

#include <cstddef>

#include "arch/context.hpp"

namespace sorrel::arch {

/// Saves the caller into *save and calls entry(argument), about `distance` bytes below the caller's
/// frame. Returns when something switches back to *save. A context that is made there would be
/// overwritten by the handler of a signal that comes before the switch; here, nothing lies below
/// the stack pointer at any moment. distance >= 256. entry must never return.
extern "C" void sorrel_call_below(Context* save,
                                  std::size_t distance,
                                  ContextEntry entry,
                                  void* argument);

}  // namespace sorrel::arch
