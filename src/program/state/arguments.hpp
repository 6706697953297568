//! Arguments - a rank's own argv, because programs write into it (getopt permutes it, strtok cuts
//! it).
#pragma once

#include <cstddef>
#include <memory>

namespace sorrel::program {

class Arguments {
 public:
  Arguments(int argc, char** argv);

  [[nodiscard]] int count() const { return count_; }

  /// `count()` strings and a null pointer.
  [[nodiscard]] char** values() const { return values_; }

  /// Bytes that move_to() needs.
  [[nodiscard]] std::size_t bytes() const;

  /// Before the rank runs: copies array and texts to `place`, which is aligned for pointers and
  /// outlives this object.
  void move_to(void* place);

 private:
  void copy_to(void* place, char* const* values);

  int count_;
  std::unique_ptr<std::byte[]> memory_;
  char** values_;
};

}  // namespace sorrel::program
