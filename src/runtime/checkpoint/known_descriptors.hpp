//! KnownDescriptors - the open files of the process that belong to no rank.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sorrel::runtime {

/// What the kernel says that a descriptor of the process stands for, such as a path; "" if it is
/// closed.
[[nodiscard]] std::string target_of_descriptor(int descriptor);

/// Descriptors of the process that no rank has opened.
class KnownDescriptors {
 public:
  /// Before any rank runs.
  void read();

  /// The first one that has been opened since and is not in `files`, for a user; "" if there is
  /// none. One that is closed after a few calls of `wait` does not count: threads of this library
  /// read files for a moment, such as the limits of a control group.
  [[nodiscard]] std::string find_new(std::vector<int> files,
                                     const std::function<void()>& wait = wait_a_moment) const;

 private:
  static void wait_a_moment();
  /// `files`: ascending, with those known.
  static std::string first_but(const std::vector<int>& files);

  std::vector<int> known_;
};

}  // namespace sorrel::runtime
