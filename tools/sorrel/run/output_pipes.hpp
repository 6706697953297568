//! OutputPipes - the standard output and error of a job's processes, written by the launcher in
//! whole lines.
//!
//! A process splits its output where its buffer is full, and the system splits writes to a pipe
//! after 4 KiB, so lines of several processes would mix. Each process therefore gets pipes of its
//! own if the job's output is a file or a pipe, or if lines are to be labelled.
//! Limits: what a process writes to output and to error at the same time may change order; a line
//! longer than line_bytes_max (labelled_bytes_max with labels) is written in parts.
//!
//! Made before the processes are started; one thread reads from begin() to finish(). If the pipes
//! cannot be made (too many open files), is_valid() is false and nothing is redirected.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace sorrel::tool {

class OutputPipes {
 public:
  static constexpr std::size_t line_bytes_max = 1u << 20;
  static constexpr std::size_t labelled_bytes_max = 64u << 10;

  /// By process: what every line begins with, or "". With any label, all output is collected.
  explicit OutputPipes(const std::vector<std::string>& labels);
  OutputPipes(const OutputPipes&) = delete;
  OutputPipes& operator=(const OutputPipes&) = delete;
  ~OutputPipes();

  [[nodiscard]] bool is_valid() const { return is_valid_; }

  /// In the child that executes process `index`.
  void redirect(std::uint32_t index) const;

  /// In the parent, after the last process has been started.
  void begin();

  /// Returns when all that the processes have written so far is written out, or after a second.
  void catch_up();

  /// After the last process has ended: writes the rest of the pipes. Returns whether all was
  /// written within `limit`.
  [[nodiscard]] bool finish(std::chrono::milliseconds limit);

  /// Discards the rest.
  void abandon();

  /// Empty, or which write has failed and why. On a failure this process receives SIGCHLD.
  [[nodiscard]] std::string error();

 private:
  struct Stream;

  /// The target of the job's output.
  struct Destination {
    int descriptor = 1;
    bool is_collected = false;
    bool is_pipe = false;
    int error = 0;  ///< of a write; nothing more is written
    /// The stream whose line is not complete.
    const Stream* within_line_of = nullptr;
  };

  struct Stream {
    int read_end = -1;
    int write_end = -1;
    int source = 1;  ///< the child's descriptor
    Destination* destination = nullptr;
    std::string label;
    std::string line;  ///< the incomplete line read so far
  };

  void find_destinations();
  void add_streams(const std::string& label);
  void raise_file_limit();
  void forward();
  /// Reads what is available; false at the end of the stream.
  bool take_from(Stream& stream);
  void write_lines(Stream& stream, bool is_end);
  void write_all(Destination& destination, std::string_view text);
  bool wait_for_room(const Destination& destination) const;
  void wake() const;
  void finish_round(std::uint64_t request);

  const bool has_labels_;
  Destination output_;
  Destination error_{.descriptor = 2};
  Destination* destination_of_error_ = &error_;  ///< output_ if they are the same file
  std::vector<Stream> streams_;
  std::vector<std::size_t> first_streams_;  ///< of each process, and the end
  rlimit files_before_{};
  int event_descriptor_ = -1;
  int abandon_descriptor_ = -1;
  bool is_valid_ = true;
  std::thread reader_;

  std::mutex lock_;
  std::condition_variable changed_;
  // Under the lock.
  std::uint64_t requests_ = 0;  ///< to read all streams
  std::uint64_t answers_ = 0;
  bool is_stopping_ = false;
  bool has_ended_ = false;
  std::string write_error_;
};

}  // namespace sorrel::tool
