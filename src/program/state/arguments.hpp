//! Arguments - a rank's own argv, because programs write into it (getopt permutes it, strtok cuts
//! it).
#pragma once

#include <memory>

namespace sorrel::program {

class Arguments {
 public:
  Arguments(int argc, char** argv);

  [[nodiscard]] int count() const { return count_; }

  /// `count()` strings and a null pointer.
  [[nodiscard]] char** values() const { return values_.get(); }

 private:
  int count_;
  std::unique_ptr<char*[]> values_;
  std::unique_ptr<char[]> text_;
};

}  // namespace sorrel::program
