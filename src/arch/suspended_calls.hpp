//! The calls in progress in a suspended context, for unwinders that begin at their caller.
#pragma once

#include "arch/context.hpp"

namespace sorrel::arch {

/// Calls function(argument). To an unwinder, the caller of that call is the one of
/// sorrel_switch_context() that has saved `context`: it finds the calls of the context. Neither the
/// context nor its stack is written. The context must stay suspended meanwhile.
extern "C" void sorrel_call_behind_context(Context context,
                                           void (*function)(void* argument),
                                           void* argument);

}  // namespace sorrel::arch
