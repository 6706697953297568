//! ProcessNumber - the number of the calling process in its PID namespace.
#pragma once

#include <unistd.h>

namespace sorrel::os {

inline int process_number() {
  return getpid();
}

}  // namespace sorrel::os
