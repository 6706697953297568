//! ErrorDetail - an error class together with the sentence that says which value was wrong.
//!
//! For functions that know what is wrong but not whose call it is: they fill one in and return the
//! class, and the face that made the call hands both to the error handler. Belongs to its caller.
#pragma once

#include <array>

namespace sorrel::mpi {

class ErrorDetail {
 public:
  /// Empty after a success.
  [[nodiscard]] const char* text() const { return text_.data(); }

  /// Remembers the sentence (printf format, cut at 255 bytes) and returns the class.
  [[nodiscard, gnu::cold, gnu::format(printf, 3, 4)]] int fail(int error_class,
                                                               const char* format,
                                                               ...);

 private:
  std::array<char, 256> text_{};
};

}  // namespace sorrel::mpi
