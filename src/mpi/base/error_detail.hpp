//! ErrorDetail - an error class with a sentence that names the wrong value.
//!
//! For functions that do not know the calling rank. They fill one in and return the class, and the
//! binding of the call passes both to the error handler. Belongs to its caller.
#pragma once

#include <array>

namespace sorrel::mpi {

class ErrorDetail {
 public:
  /// Empty after a success.
  [[nodiscard]] const char* text() const { return text_.data(); }

  /// Stores the sentence (printf format, cut at 255 bytes) and returns the class.
  [[nodiscard, gnu::cold, gnu::format(printf, 3, 4)]] int fail(int error_class,
                                                               const char* format,
                                                               ...);

 private:
  std::array<char, 256> text_{};
};

}  // namespace sorrel::mpi
