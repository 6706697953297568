//! RankChildren - the child processes of a rank that it has not waited for.
//!
//! Any thread of the rank.
#pragma once

#include <algorithm>
#include <mutex>
#include <sys/types.h>
#include <vector>

namespace sorrel::program {

class RankChildren {
 public:
  void add(pid_t child) {
    const std::scoped_lock lock(mutex_);
    children_.push_back(child);
  }

  void remove(pid_t child) {
    const std::scoped_lock lock(mutex_);
    std::erase(children_, child);
  }

  [[nodiscard]] std::vector<pid_t> all() const {
    const std::scoped_lock lock(mutex_);
    return children_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<pid_t> children_;
};

}  // namespace sorrel::program
