//! WorkingDirectory - a directory that ranks have made their working directory, held open.
//!
//! Ranks with the same directory share one object, and so one descriptor. The objects take at most
//! the upper half of the descriptors that a process may have; further ones are held by their path.
//! Any thread.
#pragma once

#include <memory>
#include <string>
#include <sys/stat.h>

namespace sorrel::program {

class WorkingDirectory {
 public:
  /// That of the calling thread. Null if it cannot be held; errno has the reason.
  [[nodiscard]] static std::shared_ptr<const WorkingDirectory> of_thread();

  /// `file`: its descriptor, or negative.
  WorkingDirectory(int file, const struct stat& status, std::string path)
      : file_(file), device_(status.st_dev), number_(status.st_ino), path_(std::move(path)) {}

  ~WorkingDirectory();
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;

  /// Makes it that of the calling thread. Ends the process if the system refuses it: the program
  /// has closed a descriptor that it did not open, or a directory held by its path has moved.
  void enter() const;

 private:
  [[nodiscard]] bool enter_path() const;

  const int file_;
  const dev_t device_;
  const ino_t number_;
  const std::string path_;
};

}  // namespace sorrel::program
