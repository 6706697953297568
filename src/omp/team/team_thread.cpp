#include "omp/team/team_thread.hpp"

#include <algorithm>

namespace sorrel::omp {

void TeamThreads::add(TeamThread& thread) {
  if (count_ == room_) {
    const std::uint32_t room = std::max(16U, room_ * 2);
    auto** threads = new Thread*[room];
    std::copy_n(threads_, count_, threads);
    // The old array stays: another thread may be reading it.
    threads_ = threads;
    room_ = room;
  }
  threads_[count_++] = &thread;
  filled_ = std::max(filled_, count_);
}

}  // namespace sorrel::omp
