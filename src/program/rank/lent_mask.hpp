//! LentMask - while one exists, the calling thread has the mask of signals of the rank that it
//! runs: for a child process or a thread, which inherits it.
//!
//! Threads that a rank has started have their own masks.
#pragma once

#include <csignal>

namespace sorrel::program {

class LentMask {
 public:
  LentMask();
  ~LentMask();

  LentMask(const LentMask&) = delete;
  LentMask& operator=(const LentMask&) = delete;

  /// In the child process: the thread keeps the mask.
  void keep() { is_lent_ = false; }

 private:
  bool is_lent_ = false;
  sigset_t of_thread_;
};

}  // namespace sorrel::program
