//! KeptErrno - restores errno of the calling thread: where a program does not expect that it
//! changes, in constructs of a language, such as a barrier of OpenMP, and in handlers of signals.
#pragma once

#include <cerrno>

namespace sorrel::os {

class KeptErrno {
 public:
  KeptErrno() = default;

  ~KeptErrno() { errno = error_; }

  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  const int error_ = errno;
};

}  // namespace sorrel::os
