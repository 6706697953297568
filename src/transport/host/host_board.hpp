//! HostBoard - what a process under a host MPI tells `sorrel run`, its parent, so that somebody can
//! say who it was when it is gone. In memory that the two share.
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::transport {

enum class HostPhase : std::uint32_t {
  starting,  ///< The host MPI has not started.
  joined,    ///< It has; the words below are set.
  finished,  ///< The process needs nobody any more.
  ending,    ///< It ends the job early, and says why.
};

struct HostBoard {
  /// Release by the process, acquire by the parent.
  std::atomic<HostPhase> phase{HostPhase::starting};
  std::uint32_t process = 0;
  std::uint32_t process_count = 1;
  std::int32_t first_rank = 0;
  /// One behind.
  std::int32_t last_rank = 0;
};

}  // namespace sorrel::transport
