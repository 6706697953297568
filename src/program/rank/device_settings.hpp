//! DeviceSettings - the current context of a GPU's driver, as a further setting of a rank's thread
//! beside ThreadSettings.
//!
//! A fiber with a context refers to a pair of ThreadSettings and context (core::Fiber::settings);
//! ranks with equal pairs share one, so that a switch between them compares two addresses. Fibers
//! without a context refer to ThreadSettings.
#pragma once

#include "program/state/thread_settings.hpp"

namespace sorrel::core {
struct Fiber;
class Worker;
}  // namespace sorrel::core

namespace sorrel::program {

/// Any thread, before a rank has a context: what makes one current on the calling thread. Keeps
/// errno.
void set_device_context_setter(void (*setter)(void* context));

/// On the worker of `fiber`, which runs: the context becomes that of the fiber, and of the thread.
/// Null: none.
void use_device_context(core::Fiber& fiber, void* context);

/// What `fiber` shall refer to, with `settings` and the context that it has.
[[nodiscard]] const void* with_device_context(const core::Fiber& fiber,
                                              const ThreadSettings* settings);

/// The part of core::Fiber::settings without the context.
[[nodiscard]] const ThreadSettings* thread_settings_of(const void* settings);

/// On the thread of `worker`, which is about to run a fiber with these settings.
void apply_device_context(const core::Worker& worker, const void* settings);

}  // namespace sorrel::program
