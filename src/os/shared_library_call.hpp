//! SharedLibraryCall - the calling thread is inside a library that all ranks of the process share,
//! which keeps what it allocates: the allocator takes no memory of a rank for it.
//!
//! The mark is the thread's, or that of the rank that it runs and whose thread-locals it then has.
//! So no fiber may be switched meanwhile. Calls may nest.
#pragma once

namespace sorrel::os {

class SharedLibraryCall {
 public:
  SharedLibraryCall();
  ~SharedLibraryCall();
  SharedLibraryCall(const SharedLibraryCall&) = delete;
  SharedLibraryCall& operator=(const SharedLibraryCall&) = delete;

  /// Whether the calling thread has one.
  [[nodiscard]] static bool is_in_progress();
};

}  // namespace sorrel::os
