//! LabelPipes - `--label` where every rank is a process: their output goes through pipes to the
//! parent, which writes whole lines with the rank in front.
//!
//! Made before the processes are started; one thread reads from begin() to finish(). A line longer
//! than line_bytes_max is written in pieces, each with its label. Where the pipes cannot be made
//! (too many open files) is_valid() is false and nothing is redirected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace sorrel::tool {

class LabelPipes {
 public:
  static constexpr std::size_t line_bytes_max = 64u << 10;

  explicit LabelPipes(std::uint32_t process_count);
  LabelPipes(const LabelPipes&) = delete;
  LabelPipes& operator=(const LabelPipes&) = delete;
  ~LabelPipes();

  [[nodiscard]] bool is_valid() const { return is_valid_; }

  /// In the child that becomes process `index`.
  void redirect(std::uint32_t index) const;

  /// In the parent, after the last start.
  void begin();

  /// After the last process has gone: writes what is left in the pipes.
  void finish();

 private:
  struct Stream {
    int read_end = -1;
    int write_end = -1;
    int destination = 1;
    std::string label;
    std::string line;  ///< the part that has come
  };

  void forward();
  /// Takes what is there; false at the end of the stream.
  bool take_from(Stream& stream);
  static void write_lines(Stream& stream, bool is_end);

  std::vector<Stream> streams_;
  int stop_descriptor_ = -1;
  bool is_valid_ = true;
  std::thread reader_;
};

}  // namespace sorrel::tool
