//! RankStreams - a rank's standard input, output and error.
//!
//! Output is a stdio stream of the rank's own, made at first use, that ends in a LineWriter. Whole
//! lines leave in one write(2) under a lock, so lines of ranks never mix. Input is the real one for
//! rank 0 and empty for every other rank. Used by the rank, or by a thread that the rank has made:
//! the streams lock themselves, as stdio does. A write that fails ends the process with one line
//! and status 1: the reader has closed the pipe, or the disk is full.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"

namespace sorrel::program {

struct OutputFormat {
  /// Each line begins with "[rank] ".
  bool has_rank_labels = false;
  /// A last line without a newline gets one, so that the next rank's output begins a new line.
  bool completes_last_line = true;
};

/// Cuts a rank's output into lines for one file descriptor. Not thread-safe: its stream's lock
/// protects it.
class LineWriter {
 public:
  LineWriter(int descriptor, int rank, const OutputFormat& format);

  /// Writes the lines that `size` bytes at `text` complete and keeps the rest.
  void write(const char* text, std::size_t size);

  /// Writes the unfinished line as it is, for example a prompt on a terminal.
  void flush_partial_line();

  /// Writes the unfinished line as a last line.
  void finish();

  /// What comes after the last complete line, and whether a line has been begun.
  void save(ByteWriter& to) const;
  void restore(ByteCursor& from);

 private:
  void send_lines(const char* text, std::size_t size);
  void send(const char* text, std::size_t size);

  const int descriptor_;
  const OutputFormat format_;
  std::string label_;
  std::string pending_;
  bool is_at_line_start_ = true;
};

/// One output stream.
class RankOutput {
 public:
  RankOutput(int descriptor, int rank, const OutputFormat& format)
      : descriptor_(descriptor), rank_(rank), format_(format) {}

  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;

  /// Closes the stream that open() has made. An unfinished line is not written.
  ~RankOutput();

  [[nodiscard]] FILE* stream();

  /// freopen: from now on the rank writes to `file`.
  void replace(FILE* file);

  /// Writes in whole lines, in the place of write(2) to the descriptor. False if the stream is a
  /// file instead: nothing is written.
  [[nodiscard]] bool write_lines(std::string_view text);
  int flush();
  /// As flush(), for the stream that open() has made, also after replace().
  void flush_made();
  void finish_line();

  /// The one that open() has made; null: it has not.
  [[nodiscard]] const FILE* made() const { return made_; }

  /// For a rank whose memory is saved and restored. Flushed before.
  void save(ByteWriter& to) const;
  void restore(ByteCursor& from);

 private:
  FILE* open();

  /// Null before its first use.
  [[nodiscard]] FILE* stream_if_used() const { return stream_.load(std::memory_order_relaxed); }

  /// Whether freopen() has made the rank write to a file.
  [[nodiscard]] bool is_replaced() const { return stream_if_used() != made_; }

  const int descriptor_;
  const int rank_;
  const OutputFormat format_;
  std::unique_ptr<LineWriter> writer_;
  std::unique_ptr<char[]> buffer_;
  std::mutex opening_;
  /// Null before open().
  FILE* made_ = nullptr;
  // (O) release in open() and replace(), acquire in stream(): a helper thread of the rank sees a
  // complete stream.
  std::atomic<FILE*> stream_{nullptr};
};

class RankStreams {
 public:
  RankStreams(int rank, const OutputFormat& format)
      : rank_(rank),
        output_(output_descriptor, rank, format),
        error_(error_descriptor, rank, format) {}

  [[nodiscard]] RankOutput& output() { return output_; }

  [[nodiscard]] RankOutput& error() { return error_; }

  /// The rank's stream for the program's `stream`: the rank's own for the three standard streams.
  [[nodiscard]] FILE* own(FILE* stream);

  void replace_input(FILE* file) { input_ = file; }

  /// The output of a descriptor, or null.
  [[nodiscard]] RankOutput* output_of(int descriptor) {
    if (descriptor == output_descriptor) return &output_;
    return descriptor == error_descriptor ? &error_ : nullptr;
  }

  /// Whether Fortran's library is linked into the program.
  [[nodiscard]] bool has_linked_fortran() const { return has_linked_fortran_; }

  void set_linked_fortran() { has_linked_fortran_ = true; }

  /// Makes all streams, so that they lie in no rank's memory. Not on the stack of a rank.
  void open();

  /// Writes what is complete lines.
  void flush() {
    output_.flush();
    error_.flush();
  }

  /// Before save(), in the process where the rank runs: as flush(), but writes nothing into files
  /// that have replaced the outputs. Also what the process's output has: wide characters. Notes how
  /// far the process's input was read, before the rank reads on.
  void prepare_save();

  /// Flushes both outputs and completes their last lines.
  void finish();

  /// For a rank whose memory is saved and restored, with the files in the place of standard streams
  /// (freopen), and what it has not taken of the input that was read. After prepare_save().
  void save(ByteWriter& to) const;
  void restore(ByteCursor& from);

  /// Whether the rank has read wide characters of the process's input, which save() leaves out.
  [[nodiscard]] bool has_wide_input() const;

  /// The streams of the C library that this object has made.
  void add_made_to(std::vector<const FILE*>& streams) const;

  /// Completes last lines without flushing, as _exit does not.
  void finish_lines();

 private:
  static constexpr int output_descriptor = 1;
  static constexpr int error_descriptor = 2;

  [[nodiscard]] FILE* input();

  /// Rank 0, until freopen() has given it another one.
  [[nodiscard]] bool reads_input_of_process() const { return rank_ == 0 && input_ == nullptr; }

  const int rank_;
  RankOutput output_;
  RankOutput error_;
  FILE* input_ = nullptr;
  /// At prepare_save(); below 0: the input is no regular file.
  off_t input_offset_ = -1;
  bool has_linked_fortran_ = false;
};

}  // namespace sorrel::program
