//! Processors - those that this process may use, and what each shares with others: read from the
//! system's files, at each call.
//!
//! Any thread. A machine without these files has processors that share nothing but the machine.
#pragma once

#include <vector>

namespace sorrel::os {

/// A group is named by its first processor, allowed or not.
struct Processor {
  int cpu = 0;
  int core = 0;
  int cache = 0;  ///< of the last level
  int socket = 0;
  int node = 0;  ///< of memory; by its number, 0 if there is one

  bool operator==(const Processor&) const = default;
};

/// By their numbers, ascending.
[[nodiscard]] std::vector<Processor> allowed_processors();

}  // namespace sorrel::os
