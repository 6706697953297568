//! ChildCommand - a program that runs beside this command: its output is read as it arrives, its
//! time is taken, and it ends at a limit.
//!
//! It blocks no signals, and gets SIGTERM if this command dies. What it has started and left behind
//! becomes a child of this command after adopt_left_children().
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <sys/types.h>
#include <vector>

namespace sorrel::tool {

struct ChildSettings {
  std::vector<std::string> environment = {};  ///< NAME=value, beside or in place of the caller's
  int input = -1;                             ///< its standard input; -1: empty
  bool joins_streams = false;                 ///< both streams go into output(), in their order
  /// About how many bytes of a stream are kept, of its end; 0: output_bytes_max of its beginning.
  std::size_t last_bytes = 0;
};

class ChildCommand {
 public:
  using Clock = std::chrono::steady_clock;

  /// Starts the program `words`, by name or path, with its arguments.
  ChildCommand(std::vector<std::string> words, const ChildSettings& settings);
  /// Ends the program if it runs.
  ~ChildCommand();
  ChildCommand(const ChildCommand&) = delete;
  ChildCommand& operator=(const ChildCommand&) = delete;

  /// Waits up to `limit` for output or the end. False: the program has ended, and its output is
  /// complete.
  bool progress(std::chrono::milliseconds limit);

  /// Waits up to `limit` for the end. False: the program runs.
  bool wait(std::chrono::milliseconds limit);

  /// Returns when the program has ended. False: it had to be ended at the limit.
  bool run_to_end(std::chrono::milliseconds limit);

  /// Ends the program: by SIGTERM, and SIGKILL after a second.
  void end();

  /// Sends a signal to the program.
  void send(int number) const;

  /// errno, if the program could not be started.
  [[nodiscard]] int error() const { return error_; }

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// The status of waitpid(), when it has ended.
  [[nodiscard]] int status() const { return status_; }

  /// Ended with status 0.
  [[nodiscard]] bool has_succeeded() const;

  /// "ended with status 3", "ended by signal 9", "cannot be started: ...".
  [[nodiscard]] std::string text_of_end() const;

  /// From its start to its end, or until now.
  [[nodiscard]] double seconds() const;

  /// What it has written so far, as much as the settings say.
  [[nodiscard]] const std::string& output() const { return output_; }

  [[nodiscard]] const std::string& errors() const { return errors_; }

  static constexpr std::size_t output_bytes_max = std::size_t{64} << 20;

 private:
  void start(std::vector<std::string>& words, const ChildSettings& settings);
  void take_status(int flags);
  void read_available(int& pipe, std::string& text) const;
  void close_all();

  pid_t pid_ = -1;
  int process_ = -1;  ///< a descriptor that is readable when the program has ended; or -1
  int pipes_[2] = {-1, -1};
  const std::size_t last_bytes_;
  int error_ = 0;
  int status_ = 0;
  bool has_ended_ = false;
  std::string output_;
  std::string errors_;
  Clock::time_point begin_;
  Clock::time_point end_;
};

/// From now on programs that outlive the children that have started them become children of this
/// process.
void adopt_left_children();

}  // namespace sorrel::tool
