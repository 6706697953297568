//! SpawnedProgram - the program of a command of MPI_Comm_spawn, found in the file system, with its
//! arguments.
#pragma once

#include <string>
#include <vector>

#include "mpi/comm/spawn_command.hpp"

namespace sorrel::runtime {

class SpawnedProgram {
 public:
  /// Looks for the program as a shell does, unless the command says where it is. Check error().
  explicit SpawnedProgram(const mpi::SpawnCommand& command);
  SpawnedProgram(const SpawnedProgram&) = delete;
  SpawnedProgram& operator=(const SpawnedProgram&) = delete;

  /// Why it cannot be started, for a user; "": it was found.
  [[nodiscard]] const std::string& error() const { return error_; }

  /// Whether it is the file that this process runs, or the interpreter in whose place it runs, or a
  /// script of it.
  [[nodiscard]] bool is_own() const { return is_own_; }

  /// Absolute.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// The working directory of its ranks; "": that in which the job began.
  [[nodiscard]] const std::string& directory() const { return directory_; }

  [[nodiscard]] int argument_count() const { return static_cast<int>(words_.size()); }

  /// With the name of the program, ended by null. The texts last as long as this object.
  [[nodiscard]] char** arguments() const { return pointers_.data(); }

 private:
  [[nodiscard]] std::string find(const mpi::SpawnCommand& command) const;

  std::string error_;
  std::string path_;
  const std::string directory_;
  bool is_own_ = false;
  std::vector<std::string> words_;
  mutable std::vector<char*> pointers_;
};

}  // namespace sorrel::runtime
