//! ThreadBonds - what binds a rank to the threads of its workers: whether it may get a thread
//! control block of its own while it waits in a call.
//!
//! Code that ran with a thread's control block may have kept an address of it, and a lock the
//! number of the thread. So all that the rank has is searched: its stack with its registers, its
//! globals, its heap. What cannot be searched binds the rank, too. Decision 41.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "os/thread_references.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::runtime {

class ThreadBonds {
 public:
  /// Before any rank runs: by each thread that runs workers, one at a time.
  void add_calling_thread();

  /// Why the rank is bound, for a user; "": it is not. `memory`: its globals and heap. On the
  /// thread of the rank's worker, in a poll. A rank that is not suspended is bound: its registers
  /// are not on its stack.
  [[nodiscard]] std::string reason_bound(program::RankProcess& process,
                                         std::span<const os::MemoryRange> memory) const;

 private:
  [[nodiscard]] static const char* reason_in_process(program::RankProcess& process);
  [[nodiscard]] static std::string reason_in_fiber(const program::RankProcess& process,
                                                   const os::ThreadReferences& references);
  [[nodiscard]] static std::string reason_in_memory(std::span<const os::MemoryRange> memory,
                                                    const os::ThreadReferences& references);

  std::vector<os::ThreadIdentity> threads_;
  /// The C library does not tell of each thread where its control block ends.
  bool has_unknown_ = false;
};

}  // namespace sorrel::runtime
