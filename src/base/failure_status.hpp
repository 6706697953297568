//! failure_status() - the exit status of a failure that has a code: the low byte, which is all of a
//! code that reaches the parent; 1 where that is 0, since a failure must not look like success.
#pragma once

namespace sorrel {

[[nodiscard]] constexpr int failure_status(int code) {
  const int low_byte = code & 0xff;
  return low_byte != 0 ? low_byte : 1;
}

}  // namespace sorrel
