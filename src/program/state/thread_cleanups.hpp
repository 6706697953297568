//! ThreadCleanups - a rank's state for pthread_exit() in its main thread; used by the rank alone.
#pragma once

#include <pthread.h>
#include <unwind.h>

namespace sorrel::program {

struct ThreadCleanups {
  /// The handler that pthread_cleanup_push() has pushed last; it links to the one before it.
  __pthread_unwind_buf_t* last = nullptr;
  /// Outlives the frames that are unwound.
  _Unwind_Exception exception{};
  /// The unwinding has reached a frame of the program.
  bool is_past_call = false;
};

}  // namespace sorrel::program
