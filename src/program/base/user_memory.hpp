//! Memory that a program has passed to an interposed function, read and written as the system does:
//! an address that is not valid is an error of the call (EFAULT), not a crash.
//!
//! Any thread, also in a signal handler. A system call each; errno stays.
#pragma once

#include <cstddef>

namespace sorrel::program {

/// Copies from the program's memory; false if a part of it cannot be read.
[[nodiscard]] bool copy_from_user(void* to, const void* from, std::size_t bytes);

/// Copies into the program's memory; false and EFAULT if a part of it cannot be written.
[[nodiscard]] bool copy_to_user(void* to, const void* from, std::size_t bytes);

/// Whether an object may be read. Not null.
template <class Object>
[[nodiscard]] bool can_read(const Object* object) {
  Object copy;
  return copy_from_user(&copy, object, sizeof copy);
}

/// Stores a result, unless the program has passed null for it; false and EFAULT as above.
template <class Object>
[[nodiscard]] bool give(Object* to, const Object& value) {
  return to == nullptr || copy_to_user(to, &value, sizeof value);
}

}  // namespace sorrel::program
